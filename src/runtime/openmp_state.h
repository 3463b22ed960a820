/* openmp_state.h: what the hooks of OpenMP keep, of a thread and of the process: a part of struct
 * thread and one of struct state (runtime.h), for openmp_hooks.h. */
#ifndef HEURT_RUNTIME_OPENMP_STATE_H
#define HEURT_RUNTIME_OPENMP_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* The work-shared loop that a thread is in (openmp_hooks.h). */
struct openmp_loop {
    uint64_t site;               /* 0: none that is told */
    int64_t step;                /* of its counter; 0: its chunks are single sections */
    uint64_t since;              /* when its chunk under way began; 0: there is none */
    uint64_t first, count;       /* of that, in iterations */
    uint64_t chunks, iterations; /* of this thread, until now */
};

/* What is short and frequent, several as one (openmp_hooks.h). */
struct openmp_sum {
    uint64_t site, count, ticks, figure;
};
enum openmp_summed { SUM_TASK_MADE, SUM_TASK, SUM_TASKWAIT, SUM_ENTERED, SUM_SINK, SUMS };
#define SUM_PLACES 4 /* of one kind, at a time */

/* A task of libomp that the thread runs, or that waits for the one behind it. */
#define OPENMP_RUNNING_MOST 256
struct openmp_running {
    const void *task; /* not followed */
    uint64_t data, since, wait_before;
};

/* What a thread does for OpenMP (openmp_hooks.h). */
struct openmp_thread {
    struct openmp_frame {
        uint64_t bodies;     /* of parallel regions that it is in, around each other */
        uint64_t wait_ticks; /* in waits, and in other tasks, of the task that it runs */
        uint64_t task_ticks; /* of tasks that were run in the wait that it is in */
        struct openmp_loop loop;
    } frame; /* of the body that it is in */
    struct openmp_sum sums[SUMS][SUM_PLACES];
    bool has_sums;
    struct {
        uint64_t tick;
        const uint64_t *next; /* the thread's, when that was told */
    } last;                   /* the begin of a region, or the end of a body, whichever came last */
    bool is_told;             /* what it calls of libomp is told already (hook_ompt.c) */
    bool is_alone;            /* in the team of libomp that it began a body in last */
    bool is_meeting;          /* it is in a barrier that it has called */
    uint64_t alloc_ticks;     /* that getting room for its next task took */
    uint64_t making_site;     /* SITE of the call that makes a task; 0: it is in none */
    uint32_t running_count;   /* of the countdowns' running tasks */
    uint64_t joined, joined_since; /* the region of libomp whose end it waits for; 0: none */
};

/* What hook_openmp.c and its kin know. */
#define OPENMP_FUNCTIONS_MAX 192
#define OPENMP_SITES 64
#define OPENMP_TAKEN 64
#define OPENMP_LIVE_REGIONS 1024
struct openmp_site {
    uint64_t key; /* the call's return address; 0: free; 1: being filled in */
    void *function;
    uint32_t which;
};
struct openmp_end { /* of a region of libomp (atomic) */
    uint64_t number, tick;
    uint64_t since;  /* when the last one with such a number began */
    uint64_t master; /* who called it: a name */
};
struct openmp {
    void *functions[OPENMP_FUNCTIONS_MAX]; /* of the program's own runtime; NULL: not asked for */
    bool has_tasks;
    uint64_t region_sites[OPENMP_LIVE_REGIONS]; /* SITE, by number: of those of libomp that run */
    uint64_t region_count;                      /* (atomic) parallel regions that were told */
    struct openmp_end region_ends[OPENMP_LIVE_REGIONS]; /* by number: those that ended lately */
    struct openmp_region {
        uint32_t ticks;      /* (atomic) that it took; 0: not run yet (region__took) */
        uint32_t distance;   /* (atomic) how often it has to be short to be taken for short */
    } regions[OPENMP_SITES]; /* parallel regions, by place */
    struct openmp_site sites[OPENMP_SITES]; /* those of runtimes that only a plugin sees */
    struct {
        uint32_t is_taken; /* a critical section with such an address, as far as is known */
    } __attribute__((aligned(64))) taken[OPENMP_TAKEN];
};

#endif
