/* quantile.h: what a class's histogram says. */
#ifndef HEURT_ANALYSIS_EVENTS_QUANTILE_H
#define HEURT_ANALYSIS_EVENTS_QUANTILE_H

#include "fold/accumulate.h"

/* The duration below which a share (0 … 1) of the occurrences lies; exact to the bucket, clamped
 * to minimum and maximum. */
uint64_t quantile__of(const struct accumulator *accumulator,
                      const uint64_t histogram[HISTOGRAM_BUCKETS], double share);

/* The standard error of the sum of a sampled class's durations (docs/accuracy.md): σ √Σ weight².
 * Ticks; 0 when it is not sampled. */
uint64_t quantile__sum_error(const struct accumulator *accumulator,
                             const uint64_t histogram[HISTOGRAM_BUCKETS]);

#endif
