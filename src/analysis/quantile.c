#include "analysis/quantile.h"

static uint64_t upper_of(unsigned bucket)
{
    return bucket + 1 < HISTOGRAM_BUCKETS ? histogram__lower(bucket + 1) - 1 : UINT64_MAX;
}

static uint64_t clamped(const struct accumulator *accumulator, uint64_t duration)
{
    if (duration < accumulator->minimum)
        return accumulator->minimum;
    return duration > accumulator->maximum ? accumulator->maximum : duration;
}

/* The nearest rank: the smallest bucket at whose end at least share of all are behind. */
uint64_t quantile__of(const struct accumulator *accumulator,
                      const uint64_t histogram[HISTOGRAM_BUCKETS], double share)
{
    double wanted = share * (double)accumulator->count;
    uint64_t seen = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram[i];
        if (seen && (double)seen >= wanted) {
            uint64_t lower = histogram__lower(i);
            return clamped(accumulator, lower + (upper_of(i) - lower) / 2);
        }
    }
    return accumulator->maximum;
}
