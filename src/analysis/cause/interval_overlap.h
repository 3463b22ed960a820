/* interval_overlap.h: for how long intervals of several threads cover a stretch of time.
 *
 *     one thread      ----======----======--------
 *     another         -------======---------------
 *     depth            0   1  2  1  0   1    0
 *
 * A moment that two threads cover counts twice. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_INTERVAL_OVERLAP_H
#define HEURT_ANALYSIS_CAUSE_INTERVAL_OVERLAP_H

#include "base/vec.h"

#include <stdint.h>

/* From a tick on so many threads cover; sum: what they covered before it, in ticks. */
struct cover_step {
    uint64_t tick, sum;
    int64_t depth;
};

struct cover {
    struct cover_step *steps; /* by tick */
    size_t count;             /* 0: nothing is covered */
    size_t room;              /* of steps */
};

/* Of vecs of struct interval (occurrences.h), each in order and without overlap. What it was of
 * before, or {0}, is gone; its memory is used again. Free it. */
void cover__of(struct cover *cover, const struct vec *const *intervals, size_t count);
void cover__free(struct cover *cover);

/* Ticks from begin to end that are covered. near: where the last question's answer was found, which
 * makes the next one cheap when it is for nearby; begin with 0. */
uint64_t cover__between(const struct cover *cover, uint64_t begin, uint64_t end, size_t *near);

#endif
