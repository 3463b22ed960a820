#include "cmd/event_walk.h"

#include "analysis/callsite/rules.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/command.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>

struct event_filter event_filter__all(void)
{
    return (struct event_filter){
        .threads = VEC_OF(const char *), .functions = VEC_OF(const char *), .to_ns = UINT64_MAX};
}

int event_filter__check(const struct event_filter *selection, const struct trace *trace,
                        struct error *error)
{
    int code = 0;
    VEC_EACH (wanted, &selection->threads, const char *)
        code = code ? code : rule__find_thread(*wanted, trace, error);
    return code;
}

void event_filter__free(struct event_filter *selection)
{
    vec__free(&selection->threads);
    vec__free(&selection->functions);
}

/* ---- which ----------------------------------------------------------------------------------- */

/* A thread of the walk. */
struct walked_thread {
    bool is_wanted;
    struct kept_walk kept;
    struct kept_gap gap;
};

static bool is_thread_wanted(const struct event_filter *selection,
                             const struct trace_thread *thread)
{
    VEC_EACH (wanted, &selection->threads, const char *)
        if (rule__is_thread(*wanted, thread))
            return true;
    return selection->threads.count == 0;
}

static struct walked_thread *make_threads(const struct trace *trace,
                                          const struct event_filter *selection)
{
    const struct vec *threads = trace__threads(trace);
    struct walked_thread *all = memory__zeroed(threads->count, sizeof *all);
    for (size_t i = 0; i < threads->count; i++) {
        all[i].is_wanted = is_thread_wanted(selection, VEC_AT(threads, struct trace_thread, i));
        all[i].kept.ranges = selection->kept ? &selection->kept[i] : NULL;
    }
    return all;
}

/* A name of events that is asked for. */
struct wanted_name {
    const char *glob;
    bool is_met;            /* by an event */
    struct nearest nearest; /* among the names of the others, while it is not */
};

/* struct wanted_name. */
static struct vec wanted_names(const struct event_filter *selection)
{
    struct vec names = VEC_OF(struct wanted_name);
    VEC_EACH (glob, &selection->functions, const char *)
        vec__push(&names, &(struct wanted_name){*glob, false, nearest__to(*glob)});
    return names;
}

static bool is_named(struct wanted_name *wanted, const char *name)
{
    if (!name)
        return false;
    if (fnmatch(wanted->glob, name, 0) == 0)
        return wanted->is_met = true;
    if (!wanted->is_met)
        nearest__offer(&wanted->nearest, name);
    return false;
}

/* Says which names no event has, and frees them. */
static void check_names(struct vec *names)
{
    VEC_EACH (wanted, names, struct wanted_name) {
        char *question = nearest__question(&wanted->nearest);
        if (!wanted->is_met)
            say("--function: no event that was asked for has the name '%s'%s", wanted->glob,
                question);
        free(question);
    }
    vec__free(names);
}

static bool is_wanted(const struct trace *trace, const struct event_filter *selection,
                      struct vec *names, const struct shown_event *what)
{
    uint64_t ns = trace__since_start_ns(trace, what->event->tick);
    bool is_one = selection->functions.count == 0;
    if (ns < selection->from_ns || ns > selection->to_ns)
        return false;
    const char *kind = is_one ? NULL : event__name(what->event->id & ~1u);
    VEC_EACH (wanted, names, struct wanted_name)
        is_one |= is_named(wanted, what->title.name) || is_named(wanted, kind);
    return is_one;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void tell_gap(struct event_taker *taker, const struct shown_thread *thread,
                     struct kept_gap *gap)
{
    if (gap->events)
        taker->gap(taker, thread, gap);
    *gap = (struct kept_gap){0};
}

static void tell_event(struct event_taker *taker, struct walked_thread *walked,
                       const struct shown_event *what)
{
    tell_gap(taker, what->thread, &walked->gap);
    taker->event(taker, what);
}

static int failure_of(FILE *out)
{
    return !ferror(out) ? 0 : errno ? errno : EIO;
}

/* The marks from *next on that are before tick. */
static void tell_marks(const struct trace *trace, const struct event_filter *selection,
                       uint64_t tick, struct event_taker *taker, size_t *next)
{
    const struct vec *marks = trace__marks(trace);
    for (; *next < marks->count; ++*next) {
        const struct trace_mark *mark = VEC_AT(marks, struct trace_mark, *next);
        uint64_t ns = trace__since_start_ns(trace, mark->tick);
        if (mark->tick > tick)
            return;
        if (taker->mark && ns >= selection->from_ns && ns <= selection->to_ns)
            taker->mark(taker, mark);
    }
}

static int tell_all(struct shown_trace *shown, const struct event_filter *selection,
                    struct walked_thread *threads, struct event_taker *taker)
{
    struct trace_merge *merge = trace_merge__start(shown->trace);
    struct vec names = wanted_names(selection);
    struct event event;
    size_t thread, marks = 0;
    int failed = 0;
    while (!failed && trace_merge__next(merge, &event, &thread)) {
        tell_marks(shown->trace, selection, event.tick, taker, &marks);
        struct walked_thread *walked = &threads[thread];
        struct shown_event what = shown_trace__next(shown, thread, &event);
        bool is_kept = kept_walk__keeps(&walked->kept);
        if (!walked->is_wanted || !is_wanted(shown->trace, selection, &names, &what))
            continue;
        errno = 0;
        if (is_kept)
            tell_event(taker, walked, &what);
        else
            kept_gap__add(&walked->gap, event.tick);
        failed = failure_of(taker->out);
    }
    tell_marks(shown->trace, selection, UINT64_MAX, taker, &marks);
    trace_merge__free(merge);
    check_names(&names);
    return failed;
}

int event_walk__tell(struct shown_trace *shown, const struct event_filter *selection,
                     struct event_taker *taker)
{
    struct walked_thread *threads = make_threads(shown->trace, selection);
    int failed = tell_all(shown, selection, threads, taker);
    for (size_t i = 0; !failed && i < trace__threads(shown->trace)->count; i++)
        tell_gap(taker, &shown->threads[i], &threads[i].gap);
    free(threads);
    return failed;
}

/* ---- what such commands have in common ------------------------------------------------------- */

struct symbols *symbols__load_any(const char *directory)
{
    struct symbols *symbols = NULL;
    struct error error = {""};
    int code = symbols__load(directory, &symbols, &error);
    if (code < 0 && code != -ENOENT)
        say("%s", error.text);
    return symbols;
}

void say_if_aggregated(const struct trace *trace)
{
    if (trace__is_aggregated(trace))
        say("the run was recorded with --aggregate: of its events only the last ones, which no "
            "class has counted, are there; heurt report shows what the others came to");
}

void say_what_is_missing(const struct trace *trace)
{
    uint64_t lost = trace__events_lost(trace), damaged = trace__damaged_chunks(trace);
    if (lost)
        say("%" PRIu64 " events are missing: the trace was full when they happened (record again "
            "with a larger --max-size)",
            lost);
    if (damaged)
        say("%" PRIu64 " place%s of the trace could not be understood; the events there are "
            "missing",
            damaged, damaged == 1 ? "" : "s");
}
