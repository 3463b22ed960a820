/* span_feed.c: see span_feed.h. */
#include "cmd/span_feed.h"

#include "analysis/events/span_walk.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/load.h"
#include "cmd/span_counters.h"
#include "cmd/span_messages.h"
#include "present/export/span_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_A_LOOK 4096u /* at whether what was written could be */

#define WORDS_MOST 4u /* of an event whose words are not told as they are */

struct span_feed {
    struct span_taker taker; /* first: the walk gives this */
    const struct trace *trace;
    const struct span_exporter *exporter;
    struct span_export export;
    struct span_names *names;
    struct span_counters *counters; /* NULL: nobody asks */
    struct vec messages; /* struct message_end, by tick; those up to next_message are told */
    struct vec ranks;    /* uint32_t: threads, by rank */
    size_t next_message;
    uint32_t calls;
    uint64_t last_tick, last_ns; /* what the one became */
    uint64_t words[WORDS_MOST];  /* of the event that is told */
};

static uint64_t ns_of(struct span_feed *feed, uint64_t tick)
{
    if (tick != feed->last_tick || !tick) {
        feed->last_tick = tick;
        feed->last_ns = trace__since_start_ns(feed->trace, tick);
    }
    return feed->last_ns;
}

/* Those that are sent or have come until then. */
static void tell_messages(struct span_feed *feed, uint64_t tick)
{
    for (; feed->next_message < feed->messages.count; feed->next_message++) {
        const struct message_end *end =
            VEC_AT(&feed->messages, struct message_end, feed->next_message);
        if (end->tick > tick)
            return;
        struct span_message message = end->message;
        message.ns = trace__since_start_ns(feed->trace, end->tick);
        feed->exporter->message(&feed->export, &message);
    }
}

/* A disk that is full ends the walk soon. */
static struct span_feed *feed_of(struct span_taker *taker, uint64_t tick)
{
    struct span_feed *feed = (struct span_feed *)taker;
    tell_messages(feed, tick);
    if (++feed->calls % CALLS_A_LOOK == 0)
        taker->is_full = ferror(feed->export.out) || feed->export.failed;
    return feed;
}

static uint32_t process_of(const struct span_feed *feed, uint32_t thread)
{
    return trace__thread_at(feed->trace, thread)->process;
}

static const struct span_object *object_of(struct span_feed *feed, const struct sync_object *object)
{
    return object ? span_names__object(feed->names, object) : NULL;
}

static const struct span_place *place_of(struct span_feed *feed, uint32_t thread, uint64_t address)
{
    return span_names__place(feed->names, trace__serial_of(feed->trace, thread), address);
}

/* By its number in the trace; UINT32_MAX: there is none. */
static uint32_t thread_of(const struct span_feed *feed, uint32_t serial)
{
    const struct vec *threads = trace__threads(feed->trace);
    const struct trace_thread *found = VEC_FIND(threads, struct trace_thread, serial, serial);
    return found ? (uint32_t)(found - VEC_AT(threads, struct trace_thread, 0)) : UINT32_MAX;
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* Times of the trace's own clock, and numbers of its own, mean nothing to others. */
static void add_words(struct span_feed *feed, const struct event *event, struct span_enter *enter)
{
    uint32_t site = span_names__has_site(event);
    enter->words = event->payload + site;
    enter->word_count = event->words - site;
    if (event->words != 3 ||
        (event->id != HEURT_EVENT_THREAD_START && event->id != HEURT_EVENT_THREAD_CREATED &&
         event->id != HEURT_EVENT_LOCK_HELD))
        return;
    memcpy(feed->words, event->payload, 3 * sizeof *feed->words);
    if (event->id == HEURT_EVENT_THREAD_START)
        feed->words[1] = thread_of(feed, (uint32_t)feed->words[1]);
    else
        feed->words[2] = trace__ns(feed->trace, feed->words[2]);
    enter->words = feed->words + site;
}

static struct span_enter enter_of(struct span_feed *feed, uint32_t thread, uint64_t tick,
                                  const struct event *event, const struct sync_object *object)
{
    bool is_function = event->id >= HEURT_EVENT_FUNCTIONS;
    struct span_enter enter = {
        .ns = ns_of(feed, tick),
        .label = span_names__label(feed->names, process_of(feed, thread), event),
        .object = object_of(feed, object),
        .weight = 1,
        .values = event->payload,
        .value_count = is_function ? event->words : 0,
    };
    add_words(feed, event, &enter);
    return enter;
}

static void entered(struct span_taker *taker, uint32_t thread, uint64_t tick,
                    const struct event *event, const struct sync_object *object,
                    struct walked_span *span)
{
    struct span_feed *feed = feed_of(taker, tick);
    struct span_enter enter = enter_of(feed, thread, tick, event, object);
    enter.weight = span->weight;
    span->own[0] = enter.label;
    span->own[1] = enter.object;
    if (feed->counters && !class_kind__is_code(enter.label->kind))
        span_counters__wait(feed->counters, thread, enter.ns, 1);
    if (feed->exporter->enter)
        feed->exporter->enter(&feed->export, thread, &enter);
}

static void add_cause(struct span_feed *feed, const struct span_cause *cause,
                      struct span_leave *leave)
{
    leave->by = cause->by;
    leave->by_ns = trace__since_start_ns(feed->trace, cause->by_tick);
    leave->by_place = place_of(feed, cause->by, cause->by_site);
}

static void left(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct walked_span *span, const struct span_cause *cause,
                 enum span_ending ending)
{
    struct span_feed *feed = feed_of(taker, tick);
    struct span_leave leave = {
        .ns = ns_of(feed, tick),
        .label = span->own[0],
        .object = span->own[1],
        .weight = span->weight,
        .end = ending == SPAN_LEFT  ? SPAN_END_SEEN
               : ending == SPAN_CUT ? SPAN_END_NOT_SEEN
                                    : SPAN_END_OF_RUN,
        .by = SPAN_BY_NOBODY,
        .result = span->result,
        .has_result = span->has_result,
    };
    leave.from_ns = trace__since_start_ns(feed->trace, span->tick);
    if (cause)
        add_cause(feed, cause, &leave);
    if (feed->counters && !class_kind__is_code(leave.label->kind))
        span_counters__wait(feed->counters, thread, leave.ns, -1);
    if (feed->exporter->leave)
        feed->exporter->leave(&feed->export, thread, &leave);
}

static void point(struct span_taker *taker, uint32_t thread, uint64_t tick,
                  const struct event *event, const struct sync_object *object)
{
    struct span_feed *feed = feed_of(taker, tick);
    const struct span_enter point = enter_of(feed, thread, tick, event, object);
    if (feed->exporter->point)
        feed->exporter->point(&feed->export, thread, &point);
}

static void mark(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct event *event, const struct sync_object *object, uint32_t weight)
{
    struct span_feed *feed = feed_of(taker, tick);
    struct span_enter mark = enter_of(feed, thread, tick, event, object);
    mark.weight = weight;
    feed->exporter->mark(&feed->export, thread, &mark);
}

/* ---- what belongs to them -------------------------------------------------------------------- */

static void state(struct span_taker *taker, uint32_t thread, uint64_t tick, enum component state)
{
    struct span_feed *feed = feed_of(taker, tick);
    uint64_t ns = ns_of(feed, tick);
    if (feed->counters)
        span_counters__state(feed->counters, thread, ns, state);
    if (feed->exporter->state)
        feed->exporter->state(&feed->export, thread, ns, state);
}

static void began(struct span_taker *taker, uint32_t thread, uint64_t tick)
{
    struct span_feed *feed = feed_of(taker, tick);
    uint64_t ns = ns_of(feed, tick);
    if (feed->counters)
        span_counters__alive(feed->counters, thread, ns, true);
    if (feed->exporter->began)
        feed->exporter->began(&feed->export, thread, ns);
}

static void ended(struct span_taker *taker, uint32_t thread, uint64_t tick)
{
    struct span_feed *feed = feed_of(taker, tick);
    uint64_t ns = ns_of(feed, tick);
    if (feed->counters)
        span_counters__alive(feed->counters, thread, ns, false);
    if (feed->exporter->ended)
        feed->exporter->ended(&feed->export, thread, ns);
}

static void held(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct sync_object *object, uint64_t site, bool is_shared)
{
    struct span_feed *feed = feed_of(taker, tick);
    if (feed->exporter->hold)
        feed->exporter->hold(&feed->export, thread, ns_of(feed, tick), object_of(feed, object),
                             place_of(feed, thread, site), is_shared);
}

static void released(struct span_taker *taker, uint32_t thread, uint64_t tick,
                     const struct sync_object *object, uint64_t since)
{
    struct span_feed *feed = feed_of(taker, tick);
    uint64_t ns = ns_of(feed, tick);
    if (feed->exporter->release)
        feed->exporter->release(&feed->export, thread, ns, object_of(feed, object),
                                trace__since_start_ns(feed->trace, since));
}

static const struct span_taker taker_of_feed = {.entered = entered,
                                                .left = left,
                                                .point = point,
                                                .state = state,
                                                .began = began,
                                                .ended = ended,
                                                .held = held,
                                                .released = released};

/* ---- the run --------------------------------------------------------------------------------- */

static struct span_process *processes_of(const struct trace *trace)
{
    const struct vec *processes = trace__processes(trace);
    struct span_process *all = memory__zeroed(processes->count + 1, sizeof *all);
    for (size_t i = 0; i < processes->count; i++) {
        const struct trace_process *process = VEC_AT(processes, struct trace_process, i);
        all[i] = (struct span_process){process->serial, process->pid, process->parent_pid,
                                       trace__since_start_ns(trace, process->tick), process->path};
    }
    return all;
}

static char *name_of(const struct trace_thread *thread)
{
    return *thread->name ? memory__text(thread->name) : memory__format("thread %u", thread->tid);
}

static struct span_thread *threads_of(const struct trace *trace)
{
    const struct vec *threads = trace__threads(trace);
    struct span_thread *all = memory__zeroed(threads->count + 1, sizeof *all);
    for (size_t i = 0; i < threads->count; i++) {
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, i);
        all[i] = (struct span_thread){thread->serial,
                                      thread->tid,
                                      thread->process,
                                      name_of(thread),
                                      trace__since_start_ns(trace, thread->start_tick),
                                      trace__since_start_ns(trace, thread->end_tick)};
    }
    return all;
}

/* What a clock of the session's start showed at the start of the run. */
static uint64_t at_start(const struct trace *trace, uint64_t clock_ns)
{
    const struct heurt_session *session = trace__session(trace);
    uint64_t zero = trace__tick(trace, 0);
    return clock_ns && zero >= session->start.tick
               ? clock_ns + trace__ns(trace, zero - session->start.tick)
               : clock_ns;
}

static struct span_run run_of(const struct trace *trace)
{
    const struct heurt_session *session = trace__session(trace);
    const char *command = trace__meta(trace, "command"), *cpus = trace__meta(trace, "cpus");
    struct span_run run = {
        .command = command ? command : "",
        .processes = processes_of(trace),
        .threads = threads_of(trace),
        .process_count = (uint32_t)trace__processes(trace)->count,
        .thread_count = (uint32_t)trace__threads(trace)->count,
        .start_realtime_ns = at_start(trace, session->start_realtime_ns),
        .start_monotonic_ns = at_start(trace, session->start.monotonic_ns),
        .cpus = cpus ? (uint32_t)strtoul(cpus, NULL, 10) : 0,
    };
    trace__bounds_ns(trace, &run.from_ns, &run.to_ns);
    return run;
}

static void free_run(struct span_run *run)
{
    for (uint32_t i = 0; i < run->thread_count; i++)
        free((void *)run->threads[i].name);
    free((void *)run->threads);
    free((void *)run->processes);
}

static void tell_count(void *own, uint64_t ns, enum span_counter counter, double value)
{
    struct span_feed *feed = own;
    feed->exporter->count(&feed->export, ns, counter, value);
}

/* Without the kernel's records a thread is on a CPU unless it waits. */
static bool knows_cpu(const struct trace *trace)
{
    uint32_t told = HEURT_SESSION_KERNEL | HEURT_SESSION_KERNEL_LOG;
    return trace__session(trace)->flags & told;
}

static struct span_counters *counters_of(struct span_feed *feed, const struct span_run *run)
{
    return feed->exporter->count ? span_counters__new(run, knows_cpu(feed->trace), tell_count, feed)
                                 : NULL;
}

/* Why an earlier write failed, another one tells. */
static int failure_of(FILE *out)
{
    errno = 0;
    if (!ferror(out))
        return fflush(out) != 0 ? errno : 0;
    clearerr(out);
    fputc('\n', out);
    fflush(out);
    return errno ? errno : EIO;
}

int span_feed__tell(const struct report *report, const struct span_request *request, FILE *out,
                    struct vec *remarks)
{
    const struct span_exporter *exporter = request->exporter;
    struct span_run run = run_of(report->trace);
    struct span_feed feed = {
        .taker = taker_of_feed,
        .trace = report->trace,
        .exporter = exporter,
        .export = {.run = &run,
                   .out = out,
                   .of = request->of,
                   .directory = request->directory,
                   .remarks = remarks},
        .names = span_names__new(report),
        .messages = VEC_OF(struct message_end),
        .ranks = VEC_OF(uint32_t),
    };
    feed.taker.mark = exporter->mark ? mark : NULL;
    feed.counters = counters_of(&feed, &run);
    if (exporter->message && trace__has_mpi(report->trace))
        span_messages__find(report, request->chosen, &feed.messages, &feed.ranks);
    run.ranks = feed.ranks.items;
    run.rank_count = (uint32_t)feed.ranks.count;
    if (exporter->begin)
        exporter->begin(&feed.export);
    span_walk__tell(report->trace,
                    exporter->order == SPANS_IN_TIME ? SPANS_BY_TIME : SPANS_BY_THREAD,
                    request->chosen, &feed.taker);
    tell_messages(&feed, UINT64_MAX);
    span_counters__end(feed.counters);
    if (exporter->finish)
        exporter->finish(&feed.export);
    int failed = feed.export.failed ? feed.export.failed : failure_of(out);
    span_names__free(feed.names);
    vec__free(&feed.messages);
    vec__free(&feed.ranks);
    free_run(&run);
    return failed;
}
