/* task_counts.h: what the kernel and the processor count of a program and all that it starts.
 *
 * In go processes, out come counts, or why there is none: counters of the processor (PMU) are not
 * there on most virtual machines. It costs a descriptor a count and thread. Everybody may have
 * these counts of programs of their own (perf_event_paranoid ≤ 2): those of the user's part alone.
 * Used by one thread. */
#ifndef HEURT_KERNEL_TASK_COUNTS_H
#define HEURT_KERNEL_TASK_COUNTS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

enum task_count_kind {
    COUNT_CPU_NS, /* by the kernel's clock of tasks */
    COUNT_MINOR_FAULTS,
    COUNT_MAJOR_FAULTS,
    COUNT_CYCLES,
    COUNT_INSTRUCTIONS,
    COUNT_STALLED_CYCLES,   /* of the back end */
    COUNT_CACHE_REFERENCES, /* of the last level */
    COUNT_CACHE_MISSES,
    TASK_COUNTS,
};

struct task_counts {
    struct vec fds[TASK_COUNTS]; /* int */
    struct vec pids;             /* pid_t: whose the fds of COUNT_CPU_NS are */
    int refused[TASK_COUNTS];    /* 0, or the negative errno why it is not counted */
};

struct task_count {
    bool is_known;
    uint64_t value; /* where the processor took turns with others: scaled up to the whole time */
    double counted; /* the part of the time that it was counted: 1, or less */
};

/* Of nobody as yet. */
struct task_counts task_counts__none(void);
/* Adds a process that waits in front of its exec (from which on they count), or a thread that runs;
 * and all that it starts from now on. open: as perf_event_open(2), or its negative errno; NULL:
 * that one. */
void task_counts__add(struct task_counts *counts, pid_t pid, bool is_running,
                      int (*open)(const struct perf_event_attr *attributes, pid_t pid));
/* By now. */
struct task_count task_counts__read(const struct task_counts *counts, enum task_count_kind kind);
/* Whether that thread is on a CPU now: its CPU time grows. False: it does not, or is not counted.
 */
bool task_counts__is_running(const struct task_counts *counts, pid_t pid);
/* "no PMU", … in a few words; NULL: it is counted. A constant. */
const char *task_counts__why_none(const struct task_counts *counts, enum task_count_kind kind);
void task_counts__close(struct task_counts *counts);

#endif
