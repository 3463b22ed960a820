/* thread_loops.h: the loops near the root of one thread, one by one, and which of them are the
 * outermost. For iterations*.c only.
 *
 *     loop A   |--iteration--|--iteration--|--iteration--|
 *     loop B    |-|-|-|  |-|-|    |-|-|-|       in A: not an outermost one
 *     loop C                                |-|-|-|-|
 *
 * A loop that ran fewer than LOOP_ITERATIONS_LEAST times encloses nothing: what is in it is told
 * instead. Memory: loops times what a iteration_series takes, whatever the number of iterations. */
#ifndef HEURT_ANALYSIS_ITERATIONS_THREAD_LOOPS_H
#define HEURT_ANALYSIS_ITERATIONS_THREAD_LOOPS_H

#include "base/extremes.h"
#include "base/map.h"
#include "fold/accumulate.h"

#define LOOP_ITERATIONS_LEAST 3u
#define ITERATION_SAMPLES_MAX 8192u
#define ITERATION_EXTREMES 32u

/* One iteration of each group of iteration_series.stride. Ticks. */
struct iteration_sample {
    uint64_t start, end; /* of the first one */
    uint64_t longest;    /* of the group */
};

/* Iterations in their order: their times. Ticks. */
struct iteration_series {
    uint64_t count, sum, min, max;
    uint64_t first_start, last_end;
    uint64_t *histogram;   /* HISTOGRAM_BUCKETS; NULL: samples has all of them */
    struct vec samples;    /* struct iteration_sample */
    uint64_t stride;       /* iterations to a sample, a power of two; 1: all */
    struct extremes worst; /* those that took longest */
};

struct iteration_series iteration_series__new(void);
void iteration_series__free(struct iteration_series *series);

enum loop_kind {
    LOOP_OF_CALLS,
    LOOP_OF_MARKS,
    LOOP_OF_WAITS,  /* iterations are what is done between waits for work */
    LOOP_OF_EVENTS, /* likewise between waits for events: poll and its kin */
};

/* What is repeated. No padding. */
struct loop_key {
    uint32_t kind;   /* enum loop_kind */
    uint32_t number; /* a shape; a place, of a mark or wait */
    uint32_t depth;  /* open spans around its iterations */
};

struct thread_loop {
    struct loop_key key;
    struct iteration_series iterations;
    uint64_t outermost; /* ticks in iterations that no other loop's iteration encloses */
    /* Private: of the loop whose iterations are told. */
    uint64_t instance, run_iterations, run_start, run_sum;
};

/* Which loop an instance was lately. */
struct loop_instance {
    uint64_t number;
    uint32_t depth;
    uint32_t loop_and_1; /* 0: unused */
};
#define LOOP_INSTANCES 64u /* a power of two */

struct thread_loops {
    uint32_t thread;
    struct vec loops; /* struct thread_loop */
    /* Private. */
    struct map by_key;
    struct vec stretches; /* struct loop_stretch: not enclosed as far as is known, by start */
    struct loop_instance recent[LOOP_INSTANCES];
};

void thread_loops__start(struct thread_loops *loops, uint32_t thread);
/* An iteration that is in another one is told before it, perhaps with later ones between. instance:
 * of loops of calls, as of struct shape_iteration, for the depth; when its key changes, both keys
 * are the same loop. */
void thread_loops__iteration(struct thread_loops *loops, struct loop_key key, uint64_t instance,
                             uint64_t start, uint64_t end);
/* Fills outermost. */
void thread_loops__end(struct thread_loops *loops);
void thread_loops__free(struct thread_loops *loops);

#endif
