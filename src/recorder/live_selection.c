#include "recorder/live_selection.h"

#include "base/clock.h"
#include "base/memory.h"
#include "recorder/live_patch.h"
#include "recorder/selection.h"

#include <math.h>
#include <stdlib.h>

/* LOOK_PART: a further choice waits until so many times as long has passed as the last one took of
 * the CPU, so that choosing takes no more than a twentieth of one. */
enum { REST_MS = 1000, SAMPLES_MS = 100, LOOP_PERCENT = 2, LOOK_PART = 20 };

struct automatic {
    struct plan_request *request;
    struct planner *planner;
    struct trace_writer *writer;
    void (*say)(const char *format, ...);
    uint64_t after_ns;
    uint64_t started_ns;
    struct selection *selection;  /* NULL: nothing can be sampled */
    struct live *live;            /* NULL: nothing can be sampled */
    bool follows;                 /* functions that are entered once, into their loops */
    unsigned choices;             /* made so far */
    uint64_t chosen_ns, spent_ns; /* when the last one was made, and what it has taken since then */
    char *told_choices;           /* what the trace says of them */
    bool told;                    /* of the trouble */
};

struct automatic *automatic__new(const char *directory, struct plan_request *request,
                                 struct planner *planner, struct trace_writer *writer,
                                 uint64_t after_ns, bool follows,
                                 void (*say)(const char *format, ...))
{
    struct automatic *automatic = memory__zeroed(1, sizeof *automatic);
    automatic->request = request;
    automatic->planner = planner;
    automatic->writer = writer;
    automatic->after_ns = after_ns;
    automatic->follows = follows;
    automatic->say = say;
    if (directory)
        automatic->live = live__new(directory, planner, writer);
    planner->remembers = automatic->live != NULL;
    return automatic;
}

void automatic__free(struct automatic *automatic)
{
    if (!automatic)
        return;
    selection__close(automatic->selection);
    live__free(automatic->live);
    free(automatic->told_choices);
    free(automatic);
}

void automatic__tell_stops(struct automatic *automatic, struct stop_log *stops)
{
    if (automatic->live)
        live__tell_stops(automatic->live, stops);
}

void automatic__attach(struct automatic *automatic, pid_t pid)
{
    struct error error;
    const struct access_log_settings settings = {automatic->writer, automatic->live};
    automatic->started_ns = clock__ns(CLOCK_MONOTONIC);
    int code = selection__open(pid, automatic->after_ns, &settings, &automatic->selection, &error);
    if (code < 0 && automatic->after_ns) {
        automatic->say("only the calls that heurt knows are recorded: %s", error.text);
        live__free(automatic->live);
        automatic->live = NULL;
        return;
    }
    if (!automatic->live)
        return;
    __atomic_fetch_or(&trace_writer__session(automatic->writer)->flags, HEURT_SESSION_LIVE,
                      __ATOMIC_SEQ_CST);
}

/* "2 functions were chosen by heurt 0.31 s after the start, …; then 1 more after 4.20 s". */
static void tell_the_trace(struct automatic *automatic, const struct chosen *chosen)
{
    size_t count = chosen->functions.count;
    double after_s = (double)(clock__ns(CLOCK_MONOTONIC) - automatic->started_ns) / 1e9;
    char *before = automatic->told_choices;
    if (before)
        automatic->told_choices =
            memory__format("%s; then %zu more after %.2f s", before, count, after_s);
    else
        automatic->told_choices = memory__format(
            "%zu function%s chosen by heurt %.2f s after the start, after %.2f s of CPU time: %s "
            "with at least %.0f %% of the %llu samples in the program's own code and libraries",
            count, count == 1 ? " was" : "s were", after_s, (double)chosen->sampled_ns / 1e9,
            count == 1 ? "the one" : "those", CHOICE_PERCENT, (unsigned long long)chosen->samples);
    free(before);
    trace_writer__meta(automatic->writer, "choice", automatic->told_choices);
}

static void ask_for(struct automatic *automatic, const struct chosen *chosen)
{
    VEC_EACH (function, &chosen->functions, const struct chosen_function) {
        char *pattern = function->pattern ? memory__text(function->pattern) : NULL;
        if (pattern)
            vec__push(&automatic->request->functions, &pattern);
        else
            trace_writer__refuse(automatic->writer, HEURT_NO_SERIAL, function->name, function->path,
                                 function->reason);
    }
}

static void choose(struct automatic *automatic)
{
    struct chosen chosen = selection__make(automatic->selection);
    size_t before = automatic->request->functions.count;
    if (chosen.functions.count || !automatic->choices)
        tell_the_trace(automatic, &chosen);
    ask_for(automatic, &chosen);
    automatic->choices++;
    automatic->planner->is_chosen = true;
    if (automatic->request->functions.count > before)
        live__start(automatic->live);
    if (automatic->request->functions.count && automatic->follows) {
        double percent = fmax(LOOP_PERCENT, chosen.least_percent);
        live__follow_inwards(automatic->live, selection__places(automatic->selection),
                             (uint64_t)((double)chosen.sampled_ns * percent / 100));
    }
    selection__accept(automatic->selection, &chosen);
    chosen__free(&chosen);
    automatic->chosen_ns = clock__ns(CLOCK_MONOTONIC);
    automatic->spent_ns = 0;
}

static bool may_choose(const struct automatic *automatic)
{
    return automatic->selection &&
           (!automatic->choices ||
            clock__ns(CLOCK_MONOTONIC) - automatic->chosen_ns >= automatic->spent_ns * LOOK_PART);
}

int automatic__look(struct automatic *automatic)
{
    if (!automatic->selection && !automatic->live)
        return REST_MS;
    uint64_t begun_ns = clock__ns(CLOCK_THREAD_CPUTIME_ID);
    if (!automatic->live) {
        selection__look(automatic->selection);
        return SAMPLES_MS;
    }
    if (may_choose(automatic) && selection__look(automatic->selection))
        choose(automatic);
    int wait_ms = live__look(automatic->live);
    automatic->spent_ns += clock__ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
    if (live__trouble(automatic->live) && !automatic->told) {
        automatic->told = true;
        automatic->say("functions are not recorded in each process: %s",
                       live__trouble(automatic->live));
    }
    return wait_ms;
}

void automatic__conclude(struct automatic *automatic, const char *program, bool quiet)
{
    if (automatic->live && automatic->after_ns && !automatic->choices && !quiet)
        automatic->say("%s was too short to choose functions; for those: heurt record --hot "
                       "CMD",
                       program);
}
