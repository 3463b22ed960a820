/* accumulate.h: the one accumulator of a class of occurrences.
 *
 * Used by the analyses now and inside the recorded program later (aggregated runs), hence: no
 * allocation, no libc, fixed size.  Times are ticks of the trace's clock.
 *
 *     excess = sum over occurrences of (duration - minimum)          (RDAM, SCI, dispersion)
 *
 * is kept as sum and count and minimum, so that accumulators of several threads can be merged and
 * the minimum is the one of all of them. */
#ifndef HEURT_ANALYSIS_ACCUMULATE_H
#define HEURT_ANALYSIS_ACCUMULATE_H

#include <stdint.h>

/* What an occurrence's duration is made of; the parts do not overlap and add up to it. */
enum component {
    COMPONENT_LOCK,
    COMPONENT_CONDITION, /* condition variables and semaphores */
    COMPONENT_BARRIER,
    COMPONENT_DISK,
    COMPONENT_NETWORK,
    COMPONENT_MESSAGE, /* reserved */
    COMPONENT_SLEEP,
    COMPONENT_OTHER_BLOCKED, /* join, poll, pipes, raw futexes */
    COMPONENT_REST, /* all else: running, waiting for a CPU, page faults, until the kernel's
                       records divide it */
    COMPONENTS
};

/* Log histogram: 8 buckets to a factor of two, relative width ≤ 12.5 %. */
#define HISTOGRAM_STEPS 8
#define HISTOGRAM_BUCKETS (61 * HISTOGRAM_STEPS + HISTOGRAM_STEPS)

/* A function that calls itself has occurrences inside occurrences of its own class.  These nested
 * ones count for count, sum, minimum, maximum and histogram, but not for the excess, whose time
 * would be counted twice: excess and component_sum are of the outermost ones. */
struct accumulator {
    uint64_t count;
    uint64_t sum, minimum, maximum; /* all 0 while count is 0 */
    uint64_t nested_count, nested_sum;
    uint64_t component_sum[COMPONENTS];       /* add up to sum − nested_sum */
    uint64_t component_reference[COMPONENTS]; /* of the (first) fastest occurrence */
    uint64_t histogram[HISTOGRAM_BUCKETS];
};

void accumulator__clear(struct accumulator *accumulator);
/* components add up to duration. */
void accumulator__add(struct accumulator *accumulator, uint64_t duration,
                      const uint64_t components[COMPONENTS]);
/* An occurrence inside another one of the same class. */
void accumulator__add_nested(struct accumulator *accumulator, uint64_t duration,
                             const uint64_t components[COMPONENTS]);
/* Of two equal minima the reference of into is kept. */
void accumulator__merge(struct accumulator *into, const struct accumulator *from);

/* Σ (duration − minimum), with the minimum of the whole class (≤ the accumulator's own). */
uint64_t accumulator__excess(const struct accumulator *accumulator, uint64_t minimum);
/* Σ (component − reference); may be negative for one component; all add up to the excess with the
 * accumulator's own minimum. */
int64_t accumulator__component_excess(const struct accumulator *accumulator, enum component which);
/* The duration below which a share (0 … 1) of the occurrences lies; exact to the bucket, clamped
 * to minimum and maximum. */
uint64_t accumulator__quantile(const struct accumulator *accumulator, double share);
/* The bucket of a duration, and the first duration of a bucket (< HISTOGRAM_BUCKETS). */
unsigned histogram__bucket(uint64_t duration);
uint64_t histogram__lower(unsigned bucket);

#endif
