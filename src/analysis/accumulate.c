#include "analysis/accumulate.h"

/* This file is also compiled into the recorded program: no calls to libc, not even those that a
 * compiler makes of a loop.  An empty statement that it cannot see through keeps loops loops. */
#define KEEP_LOOP() __asm__ volatile("")

#define STEP_BITS 3
_Static_assert(HISTOGRAM_STEPS == 1 << STEP_BITS, "steps are a power of two");

unsigned histogram__bucket(uint64_t duration)
{
    if (duration < HISTOGRAM_STEPS)
        return (unsigned)duration;
    unsigned octave = 63u - (unsigned)__builtin_clzll(duration) - STEP_BITS;
    return (octave + 1) * HISTOGRAM_STEPS + (unsigned)(duration >> octave & (HISTOGRAM_STEPS - 1));
}

uint64_t histogram__lower(unsigned bucket)
{
    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    unsigned octave = bucket / HISTOGRAM_STEPS - 1;
    return (uint64_t)(HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS) << octave;
}

static uint64_t upper_of(unsigned bucket)
{
    return bucket + 1 < HISTOGRAM_BUCKETS ? histogram__lower(bucket + 1) - 1 : UINT64_MAX;
}

void accumulator__clear(struct accumulator *accumulator)
{
    accumulator->count = accumulator->sum = 0;
    accumulator->minimum = accumulator->maximum = 0;
    accumulator->nested_count = accumulator->nested_sum = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        KEEP_LOOP();
        accumulator->component_sum[i] = accumulator->component_reference[i] = 0;
    }
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        KEEP_LOOP();
        accumulator->histogram[i] = 0;
    }
}

static void set_reference(struct accumulator *accumulator, uint64_t minimum,
                          const uint64_t components[COMPONENTS])
{
    accumulator->minimum = minimum;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        KEEP_LOOP();
        accumulator->component_reference[i] = components[i];
    }
}

static inline void add(struct accumulator *accumulator, uint64_t duration,
                       const uint64_t components[COMPONENTS])
{
    if (!accumulator->count || duration < accumulator->minimum)
        set_reference(accumulator, duration, components);
    if (duration > accumulator->maximum)
        accumulator->maximum = duration;
    accumulator->count++;
    accumulator->sum += duration;
    accumulator->histogram[histogram__bucket(duration)]++;
}

void accumulator__add(struct accumulator *accumulator, uint64_t duration,
                      const uint64_t components[COMPONENTS])
{
    add(accumulator, duration, components);
    for (unsigned i = 0; i < COMPONENTS; i++)
        accumulator->component_sum[i] += components[i];
}

void accumulator__add_nested(struct accumulator *accumulator, uint64_t duration,
                             const uint64_t components[COMPONENTS])
{
    add(accumulator, duration, components);
    accumulator->nested_count++;
    accumulator->nested_sum += duration;
}

void accumulator__merge(struct accumulator *into, const struct accumulator *from)
{
    if (!from->count)
        return;
    if (!into->count || from->minimum < into->minimum)
        set_reference(into, from->minimum, from->component_reference);
    if (from->maximum > into->maximum)
        into->maximum = from->maximum;
    into->count += from->count;
    into->sum += from->sum;
    into->nested_count += from->nested_count;
    into->nested_sum += from->nested_sum;
    for (unsigned i = 0; i < COMPONENTS; i++)
        into->component_sum[i] += from->component_sum[i];
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->histogram[i] += from->histogram[i];
}

static uint64_t outermost_count(const struct accumulator *accumulator)
{
    return accumulator->count - accumulator->nested_count;
}

uint64_t accumulator__excess(const struct accumulator *accumulator, uint64_t minimum)
{
    return accumulator->sum - accumulator->nested_sum - outermost_count(accumulator) * minimum;
}

int64_t accumulator__component_excess(const struct accumulator *accumulator, enum component which)
{
    return (int64_t)(accumulator->component_sum[which] -
                     outermost_count(accumulator) * accumulator->component_reference[which]);
}

static uint64_t clamped(const struct accumulator *accumulator, uint64_t duration)
{
    if (duration < accumulator->minimum)
        return accumulator->minimum;
    return duration > accumulator->maximum ? accumulator->maximum : duration;
}

/* The nearest rank: the smallest bucket at whose end at least share of all are behind. */
uint64_t accumulator__quantile(const struct accumulator *accumulator, double share)
{
    double wanted = share * (double)accumulator->count;
    uint64_t seen = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += accumulator->histogram[i];
        if (seen && (double)seen >= wanted) {
            uint64_t lower = histogram__lower(i);
            return clamped(accumulator, lower + (upper_of(i) - lower) / 2);
        }
    }
    return accumulator->maximum;
}
