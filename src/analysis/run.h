/* run.h: the walk by threads: each thread of a trace once, on all CPUs, with the same result to the
 * bit as one after the other.
 *
 *     CPU 1   thread 0 ──► part ──────────► thread 2 ──► part
 *     CPU 2   thread 1 ──► part ► thread 3 …             │
 *             in the order of threads: join 0, join 1, join 2, …
 *
 * A part is made of nothing but the trace and what nobody changes during the walk. Memory: the
 * parts of threads that ended before an earlier one did. For analysis/ only. */
#ifndef HEURT_ANALYSIS_RUN_H
#define HEURT_ANALYSIS_RUN_H

#include <stdint.h>

struct thread_walk {
    /* The part of that thread; NULL: it has none. lane: 0 … lanes - 1; those that have one lane
     * follow one another, and may share what belongs to it. */
    void *(*thread)(void *self, unsigned lane, uint32_t thread);
    /* One at a time, in the order of threads; of all threads, and frees the part. */
    void (*join)(void *self, uint32_t thread, void *part);
};

/* How many lanes pay for so many threads on the CPUs that this process may use: 1 or more. */
unsigned run__lanes(uint32_t threads);

/* Returns when all threads are joined. */
void run__threads(const struct thread_walk *walk, void *self, uint32_t threads, unsigned lanes);

#endif
