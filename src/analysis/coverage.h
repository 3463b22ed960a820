/* coverage.h: for how long intervals of several threads cover a stretch of time.
 *
 *     one thread      ----======----======--------
 *     another         -------======---------------
 *     depth            0   1  2  1  0   1    0
 *
 * A moment that two threads cover counts twice. For analysis/ only. */
#ifndef HEURT_ANALYSIS_COVERAGE_H
#define HEURT_ANALYSIS_COVERAGE_H

#include "base/vec.h"

#include <stdint.h>

/* From a tick on so many threads cover; sum: what they covered before it, in ticks. */
struct coverage_step {
    uint64_t tick, sum;
    int64_t depth;
};

struct coverage {
    struct coverage_step *steps; /* by tick */
    size_t count;                /* 0: nothing is covered */
};

/* Of vecs of struct interval (occurrences.h), each in order and without overlap. Free it. */
void coverage__of(struct coverage *coverage, const struct vec *const *intervals, size_t count);
void coverage__free(struct coverage *coverage);

/* Ticks from begin to end that are covered. near: where the last question's answer was found, which
 * makes the next one cheap when it is for nearby; begin with 0. */
uint64_t coverage__between(const struct coverage *coverage, uint64_t begin, uint64_t end,
                           size_t *near);

#endif
