/* sample_cost.h: what it costs a thread that its code is sampled.
 *
 * In goes nothing, out come nanoseconds a sample: the same work is done on this thread with a timer
 * that samples often and without it, by turns, and the fastest of each are held against each other.
 * It costs some ms of CPU time, and stands on libc and base/. */
#ifndef HEURT_KERNEL_SAMPLE_COST_H
#define HEURT_KERNEL_SAMPLE_COST_H

#include <stdint.h>

/* 0: not known, as where this user may sample nothing. */
uint64_t sample_cost__measure(void);

#endif
