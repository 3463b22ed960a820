#include "fold/accumulate.h"

/* This file is also compiled into the recorded program: no calls to libc, not even those that a
 * compiler makes of a loop, and no floating point.  An empty statement that the compiler cannot see
 * through keeps loops loops. */
#define KEEP_LOOP() __asm__ volatile("")

uint64_t histogram__lower(unsigned bucket)
{
    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    unsigned octave = bucket / HISTOGRAM_STEPS - 1;
    return (uint64_t)(HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS) << octave;
}

void accumulator__clear(struct accumulator *accumulator)
{
    accumulator->count = accumulator->sum = 0;
    accumulator->recorded = accumulator->drawn_squares = 0;
    accumulator->minimum = accumulator->maximum = 0;
    accumulator->nested_count = accumulator->nested_sum = 0;
    accumulator->own_sum = accumulator->own_minimum = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        KEEP_LOOP();
        accumulator->component_sum[i] = accumulator->component_reference[i] = 0;
    }
}

void accumulator__set_reference(struct accumulator *accumulator, uint64_t minimum,
                                const uint64_t components[COMPONENTS])
{
    accumulator->minimum = minimum;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        KEEP_LOOP();
        accumulator->component_reference[i] = components[i];
    }
}

void accumulator__set_whole_reference(struct accumulator *accumulator, uint64_t minimum,
                                      enum component component)
{
    uint64_t components[COMPONENTS] = {0};
    components[component] = minimum;
    accumulator__set_reference(accumulator, minimum, components);
}

void accumulator__merge(struct accumulator *into, const struct accumulator *from)
{
    if (!from->count)
        return;
    if (!into->count || from->minimum < into->minimum)
        accumulator__set_reference(into, from->minimum, from->component_reference);
    if (!into->count || from->own_minimum < into->own_minimum)
        into->own_minimum = from->own_minimum;
    if (from->maximum > into->maximum)
        into->maximum = from->maximum;
    into->count += from->count;
    into->recorded += from->recorded;
    into->drawn_squares += from->drawn_squares;
    into->sum += from->sum;
    into->nested_count += from->nested_count;
    into->nested_sum += from->nested_sum;
    into->own_sum += from->own_sum;
    for (unsigned i = 0; i < COMPONENTS; i++)
        into->component_sum[i] += from->component_sum[i];
}

void accumulator__compare_with_nothing(struct accumulator *accumulator)
{
    static const uint64_t nothing[COMPONENTS];
    accumulator__set_reference(accumulator, 0, nothing);
    accumulator->own_minimum = 0;
}

static uint64_t outermost_count(const struct accumulator *accumulator)
{
    return accumulator->count - accumulator->nested_count;
}

uint64_t accumulator__excess(const struct accumulator *accumulator, uint64_t minimum)
{
    return accumulator->sum - accumulator->nested_sum - outermost_count(accumulator) * minimum;
}

uint64_t accumulator__own_excess(const struct accumulator *accumulator, uint64_t own_minimum)
{
    return accumulator->own_sum - accumulator->count * own_minimum;
}

int64_t accumulator__component_excess(const struct accumulator *accumulator, enum component which)
{
    return (int64_t)(accumulator->component_sum[which] -
                     outermost_count(accumulator) * accumulator->component_reference[which]);
}
