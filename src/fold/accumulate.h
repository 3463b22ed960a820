/* accumulate.h: the one accumulator of a class of occurrences.
 *
 * Used by the analyses and inside the recorded program (aggregated runs), hence: no allocation, no
 * libc, fixed size.  Times are ticks of the trace's clock.
 *
 *     excess = sum over occurrences of (duration - minimum)          (RDAM, SCI, dispersion)
 *
 * is kept as sum and count and minimum, so that accumulators of several threads can be merged and
 * the minimum is the one of all of them.
 *
 * In go durations and their components, out come count, sums, minimum, maximum and the bucket of a
 * histogram. An occurrence costs a few additions for each component. It stands on nothing. */
#ifndef HEURT_FOLD_ACCUMULATE_H
#define HEURT_FOLD_ACCUMULATE_H

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
    COMPONENT_PAGE_FAULT,
    COMPONENT_RUNNABLE,      /* wanted a CPU and had none */
    COMPONENT_OTHER_BLOCKED, /* join, poll, pipes, raw futexes, and whatever nobody knows */
    COMPONENT_OVERHEAD,      /* recording what happened inside of it */
    COMPONENT_RUNNING,       /* all else; without the kernel's records also RUNNABLE, PAGE_FAULT and
                                what nobody knows of OTHER_BLOCKED */
    COMPONENTS
};

/* The components that events tell, and that what encloses them gets from what is nested in it. */
#define PARTS COMPONENT_OVERHEAD

/* A function that calls itself has occurrences inside occurrences of its own class.  These nested
 * ones count for count, sum, minimum, maximum and histogram, but not for the excess, whose time
 * would be counted twice: excess and component_sum are of the outermost ones.
 * An occurrence has a weight: how many it stands for. Of a sampled function it is that one of a
 * block of so many that was drawn and recorded (docs/accuracy.md); else it is 1. It stands so in
 * AGGREGATES chunks, too. */
struct accumulator {
    uint64_t count;
    uint64_t recorded;      /* occurrences whose durations are known: count, unless sampled */
    uint64_t drawn_squares; /* Σ weight² of those whose weight is not 1 */
    uint64_t sum, minimum, maximum; /* all 0 while count is 0 */
    uint64_t nested_count, nested_sum;
    uint64_t component_sum[COMPONENTS];       /* add up to sum − nested_sum */
    uint64_t component_reference[COMPONENTS]; /* of the (first) fastest occurrence */
    /* Exclusive time: of an occurrence, without the occurrences nested in it. Of all occurrences,
     * inner ones of a function that calls itself, too. */
    uint64_t own_sum, own_minimum; /* both 0 while count is 0 */
};

void accumulator__clear(struct accumulator *accumulator);

/* A faster occurrence than all before it. */
void accumulator__set_reference(struct accumulator *accumulator, uint64_t minimum,
                                const uint64_t components[COMPONENTS]);
void accumulator__set_whole_reference(struct accumulator *accumulator, uint64_t minimum,
                                      enum component component);

/* Its occurrences are compared with none: what they took was lost. Not to be added to any more. */
void accumulator__compare_with_nothing(struct accumulator *accumulator);

/* What every occurrence counts for; own: its exclusive time. Called last. */
static inline void accumulator__add_any(struct accumulator *accumulator, uint64_t duration,
                                        uint64_t own, uint64_t weight)
{
    if (!accumulator->count || own < accumulator->own_minimum)
        accumulator->own_minimum = own;
    accumulator->own_sum += weight * own;
    if (duration > accumulator->maximum)
        accumulator->maximum = duration;
    accumulator->count += weight;
    accumulator->sum += weight * duration;
    accumulator->recorded++;
    if (weight > 1)
        accumulator->drawn_squares += weight * weight;
}

/* All of the duration is of one component. */
static inline void accumulator__add_whole(struct accumulator *accumulator, uint64_t duration,
                                          uint64_t own, enum component component, uint64_t weight)
{
    if (!accumulator->count || duration < accumulator->minimum)
        accumulator__set_whole_reference(accumulator, duration, component);
    accumulator__add_any(accumulator, duration, own, weight);
    accumulator->component_sum[component] += weight * duration;
}

/* Of the duration that much was recording what happened inside, and the rest ran. */
static inline void accumulator__add_running(struct accumulator *accumulator, uint64_t duration,
                                            uint64_t own, uint64_t overhead, uint64_t weight)
{
    if (!accumulator->count || duration < accumulator->minimum) {
        accumulator__set_whole_reference(accumulator, duration, COMPONENT_RUNNING);
        accumulator->component_reference[COMPONENT_OVERHEAD] = overhead;
        accumulator->component_reference[COMPONENT_RUNNING] -= overhead;
    }
    accumulator__add_any(accumulator, duration, own, weight);
    accumulator->component_sum[COMPONENT_OVERHEAD] += weight * overhead;
    accumulator->component_sum[COMPONENT_RUNNING] += weight * (duration - overhead);
}

/* components add up to duration. */
static inline void accumulator__add(struct accumulator *accumulator, uint64_t duration,
                                    uint64_t own, const uint64_t components[COMPONENTS],
                                    uint64_t weight)
{
    if (!accumulator->count || duration < accumulator->minimum)
        accumulator__set_reference(accumulator, duration, components);
    accumulator__add_any(accumulator, duration, own, weight);
    for (unsigned i = 0; i < COMPONENTS; i++)
        accumulator->component_sum[i] += weight * components[i];
}

/* An occurrence inside another one of the same class. */
static inline void accumulator__add_nested(struct accumulator *accumulator, uint64_t duration,
                                           uint64_t own, const uint64_t components[COMPONENTS],
                                           uint64_t weight)
{
    if (!accumulator->count || duration < accumulator->minimum)
        accumulator__set_reference(accumulator, duration, components);
    accumulator__add_any(accumulator, duration, own, weight);
    accumulator->nested_count += weight;
    accumulator->nested_sum += weight * duration;
}

/* Adds from to into. Where both have the same minimum, into keeps its own reference. */
void accumulator__merge(struct accumulator *into, const struct accumulator *from);

/* Σ (duration − minimum), with the minimum of the whole class (≤ the accumulator's own). */
uint64_t accumulator__excess(const struct accumulator *accumulator, uint64_t minimum);
/* Σ (own − smallest own), with the smallest of the whole class. The exclusive excesses of all
 * classes count each moment once: they add up to what the threads spent in occurrences, less what
 * they would have spent had each taken the smallest exclusive time of its class. */
uint64_t accumulator__own_excess(const struct accumulator *accumulator, uint64_t own_minimum);
/* Σ (component − reference); may be negative for one component; all add up to the excess with the
 * accumulator's own minimum. */
int64_t accumulator__component_excess(const struct accumulator *accumulator, enum component which);

/* Log histogram: 8 buckets to a factor of two, relative width ≤ 12.5 %.  Buckets come in blocks,
 * so that room is needed only for those that have any occurrences. */
#define HISTOGRAM_STEP_BITS 3
#define HISTOGRAM_STEPS (1u << HISTOGRAM_STEP_BITS)
#define HISTOGRAM_BUCKETS (61 * HISTOGRAM_STEPS + HISTOGRAM_STEPS)
#define HISTOGRAM_BLOCK_BUCKETS 32
#define HISTOGRAM_BLOCKS \
    ((HISTOGRAM_BUCKETS + HISTOGRAM_BLOCK_BUCKETS - 1) / HISTOGRAM_BLOCK_BUCKETS)

/* The bucket of a duration, and the first duration of a bucket (< HISTOGRAM_BUCKETS). */
static inline unsigned histogram__bucket(uint64_t duration)
{
    if (duration < HISTOGRAM_STEPS)
        return (unsigned)duration;
    unsigned octave = 63u - (unsigned)__builtin_clzll(duration) - HISTOGRAM_STEP_BITS;
    return (octave + 1) * HISTOGRAM_STEPS + (unsigned)(duration >> octave & (HISTOGRAM_STEPS - 1));
}
uint64_t histogram__lower(unsigned bucket);
/* Its last one. */
static inline uint64_t histogram__upper(unsigned bucket)
{
    return bucket + 1 < HISTOGRAM_BUCKETS ? histogram__lower(bucket + 1) - 1 : UINT64_MAX;
}

#endif
