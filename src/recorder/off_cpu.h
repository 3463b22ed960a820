/* off_cpu.h: OFF_CPU events completed from a log of wakes. Pure but for the trace's file. */
#ifndef HEURT_RECORDER_OFF_CPU_H
#define HEURT_RECORDER_OFF_CPU_H

#include "format/reader.h"
#include "kernel/wake_log.h"

/* The log's clock tied to the trace's ticks at two instants. */
struct wake_clock {
    struct heurt_clock_pair first, last; /* monotonic_ns is of the log's clock */
};

/* Completes the trace that was opened from directory, which must not be packed. */
int off_cpu__complete(const struct trace *trace, const char *directory, struct wake_log *log,
                      const struct wake_clock *clock, struct error *error);

#endif
