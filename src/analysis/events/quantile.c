#include "analysis/events/quantile.h"

#include <math.h>

static uint64_t clamped(const struct accumulator *accumulator, uint64_t duration)
{
    if (duration < accumulator->minimum)
        return accumulator->minimum;
    return duration > accumulator->maximum ? accumulator->maximum : duration;
}

/* Of the durations in a bucket. */
static uint64_t middle_of(const struct accumulator *accumulator, unsigned bucket)
{
    uint64_t lower = histogram__lower(bucket);
    return clamped(accumulator, lower + (histogram__upper(bucket) - lower) / 2);
}

/* The nearest rank: the smallest bucket at whose end at least share of all are behind. */
uint64_t quantile__of(const struct accumulator *accumulator,
                      const uint64_t histogram[HISTOGRAM_BUCKETS], double share)
{
    double wanted = share * (double)accumulator->count;
    uint64_t seen = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram[i];
        if (seen && (double)seen >= wanted)
            return middle_of(accumulator, i);
    }
    return accumulator->maximum;
}

uint64_t quantile__sum_error(const struct accumulator *accumulator,
                             const uint64_t histogram[HISTOGRAM_BUCKETS])
{
    if (!accumulator->drawn_squares)
        return 0;
    double count = (double)accumulator->count, mean = (double)accumulator->sum / count;
    double variance = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        double away = (double)middle_of(accumulator, i) - mean;
        variance += (double)histogram[i] / count * away * away;
    }
    double error = sqrt(variance * (double)accumulator->drawn_squares);
    return error < 0x1p63 ? (uint64_t)error : UINT64_MAX;
}
