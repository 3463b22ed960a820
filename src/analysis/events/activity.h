/* activity.h: how many threads are on a CPU at a time, exactly, from the kernel's records of
 * switches.
 *
 *     thread 1   |-------|        |-----|
 *     thread 2       |---------|
 *                1   2   1     0  1           Σ of their times / time in which one ran at least
 *
 * Threads of which the kernel told nothing are not in it; if it told of none, there is no result.
 * One walk by threads; memory: 32 bytes a switch. Who needs it only now and then has a function
 * that walks over what is not of functions, thread by thread. */
#ifndef HEURT_ANALYSIS_EVENTS_ACTIVITY_H
#define HEURT_ANALYSIS_EVENTS_ACTIVITY_H

#include <stdint.h>

struct analysis;
struct trace;

struct cpu_activity {
    uint64_t service_ns; /* Σ of the threads' times on a CPU */
    uint64_t active_ns;  /* one at least was on one */
    uint64_t single_ns;  /* exactly one */
    uint32_t most;       /* at a time */
};

extern const struct analysis activity_analysis;

/* All 0: nothing is known. */
struct cpu_activity cpu_activity__of(const struct trace *trace);

#endif
