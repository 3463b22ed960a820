#include "recorder/tracepoints.h"

#include "base/clock.h"
#include "base/memory.h"
#include "kernel/wakes.h"
#include "recorder/off_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#define META "tracepoints"

struct tracepoints {
    struct wakes *wakes; /* NULL: none can be seen */
    struct wake_clock clock;
    clockid_t wakes_clock; /* CLOCK_MONOTONIC_RAW runs evenly with the time-stamp counter */
    bool by_counter;       /* the trace's ticks are the counter's, else ns of CLOCK_MONOTONIC */
};

/* The most exact of a few: the one whose reading was framed most closely. */
static struct heurt_clock_pair pair_of(const struct tracepoints *tracepoints)
{
    struct heurt_clock_pair best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = __rdtsc();
        uint64_t ns = clock__ns(tracepoints->wakes_clock);
        uint64_t after = __rdtsc();
        if (after - before >= least)
            continue;
        least = after - before;
        best.monotonic_ns = ns;
        best.tick = tracepoints->by_counter ? before + least / 2 : best.monotonic_ns;
    }
    return best;
}

struct tracepoints *tracepoints__attach(pid_t pid, struct trace_writer *writer)
{
    struct tracepoints *tracepoints = memory__zeroed(1, sizeof *tracepoints);
    const struct heurt_session *session = trace_writer__session(writer);
    struct error error;
    if (!(session->flags & HEURT_SESSION_KERNEL))
        return tracepoints; /* there will be nothing to complete */
    tracepoints->by_counter = session->clock == HEURT_CLOCK_TSC;
    tracepoints->wakes_clock = tracepoints->by_counter ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC;
    if (session->flags & HEURT_SESSION_AGGREGATE) {
        trace_writer__meta(writer, META,
                           "none: a run with --aggregate keeps no events to complete");
        return tracepoints;
    }
    if (wakes__open(pid, tracepoints->wakes_clock, &tracepoints->wakes, &error) < 0) {
        char *text = memory__format("none: %s", error.text);
        trace_writer__meta(writer, META, text);
        free(text);
    } else {
        wakes__limit(tracepoints->wakes, session->overhead_permille);
    }
    tracepoints->clock.first = pair_of(tracepoints);
    return tracepoints;
}

void tracepoints__free(struct tracepoints *tracepoints)
{
    if (tracepoints)
        wakes__close(tracepoints->wakes);
    free(tracepoints);
}

int tracepoints__fd(const struct tracepoints *tracepoints)
{
    return tracepoints && tracepoints->wakes ? wakes__fd(tracepoints->wakes) : -1;
}

void tracepoints__look(struct tracepoints *tracepoints)
{
    if (tracepoints && tracepoints->wakes)
        wakes__drain(tracepoints->wakes, false);
}

static char *until(const char *what, uint64_t ns)
{
    return ns ? memory__format("; %s until %.2f s, as they are too many", what, (double)ns / 1e9)
              : memory__text("");
}

static void write_meta(struct wakes *wakes, struct trace_writer *writer)
{
    const struct wake_log *log = wakes__log(wakes);
    char *futexes = until("calls of futex", wakes__futexes_end_ns(wakes));
    char *wakings = until("wake-ups", wakes__wakings_end_ns(wakes));
    char lost[64] = "", dropped[64] = "";
    if (log->lost)
        snprintf(lost, sizeof lost, "; %llu records were lost", (unsigned long long)log->lost);
    if (log->dropped)
        snprintf(dropped, sizeof dropped, "; the last %llu wake-ups were not kept",
                 (unsigned long long)log->dropped);
    char *text =
        memory__format("sched_waking%s%s%s%s%s%s", wakes__sees_futex(wakes) ? " futex" : "",
                       wakes__sees_block(wakes) ? " block" : "", lost, dropped, futexes, wakings);
    trace_writer__meta(writer, META, text);
    free(text);
    free(futexes);
    free(wakings);
}

void tracepoints__stop(struct tracepoints *tracepoints, struct trace_writer *writer)
{
    if (!tracepoints || !tracepoints->wakes)
        return;
    wakes__drain(tracepoints->wakes, true);
    wakes__end(tracepoints->wakes);
    tracepoints->clock.last = pair_of(tracepoints);
    write_meta(tracepoints->wakes, writer);
}

int tracepoints__complete(struct tracepoints *tracepoints, const struct trace *trace,
                          const char *directory, struct error *error)
{
    if (!tracepoints || !tracepoints->wakes)
        return 0;
    return off_cpu__complete(trace, directory, wakes__log(tracepoints->wakes), &tracepoints->clock,
                             error);
}
