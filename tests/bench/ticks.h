/* ticks.h: the ticks of a recorded, unpacked trace: how much chance is in them, and the same trace
 * as a finer clock could have made it. */
#ifndef HEURT_BENCH_TICKS_H
#define HEURT_BENCH_TICKS_H

#include "base/error.h"

#include <stdint.h>

/* Shannon's conditional entropy of an event's tick, less the one before in the thread, where the
 * event's id is known, bytes an event: what no packer can do without that knows how often which
 * difference comes behind which id, and nothing else. *step: of the clock, ticks. */
int ticks__entropy(const char *directory, double *entropy_bytes, uint64_t *step,
                   struct error *error);

/* Adds to each tick a chance part below step, so that the clock now counts every tick. The order
 * of a thread's ticks stays. */
int ticks__refine(const char *directory, uint64_t step, struct error *error);

#endif
