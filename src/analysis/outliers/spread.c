#include "analysis/outliers/spread.h"

#include "base/memory.h"

#include <stdlib.h>

void spread__add(struct spread *spread, uint64_t duration)
{
    unsigned bucket = histogram__bucket(duration);
    uint32_t **block = &spread->blocks[bucket / HISTOGRAM_BLOCK_BUCKETS];
    if (!*block)
        *block = memory__zeroed(HISTOGRAM_BLOCK_BUCKETS, sizeof **block);
    uint32_t *count = &(*block)[bucket % HISTOGRAM_BLOCK_BUCKETS];
    if (*count < UINT32_MAX) {
        (*count)++;
        spread->count++;
    }
}

void spread__free(struct spread *spread)
{
    for (unsigned i = 0; i < HISTOGRAM_BLOCKS; i++)
        free(spread->blocks[i]);
    *spread = (struct spread){0};
}

/* The bucket of the duration that so many others are above of. */
static unsigned bucket_below(const struct spread *spread, uint64_t above)
{
    uint64_t seen = 0;
    for (unsigned block = HISTOGRAM_BLOCKS; block-- > 0;)
        for (unsigned i = HISTOGRAM_BLOCK_BUCKETS; spread->blocks[block] && i-- > 0;) {
            seen += spread->blocks[block][i];
            if (seen > above)
                return block * HISTOGRAM_BLOCK_BUCKETS + i;
        }
    return 0;
}

/* How many may stand out. */
static uint64_t rare_of(uint64_t count)
{
    uint64_t few = count / 8 < 32 ? count / 8 : 32, share = count / 100;
    uint64_t rare = share > few ? share : few;
    return rare ? rare : 1;
}

#define FACTOR_MIN 1.5
#define FACTOR_MAX 4.0
#define FACTOR_MAX_OF_FEW 2.0
#define FEW 400u

/* The largest duration of those that are left when so many longer ones are put aside. */
static double without(const struct spread *spread, uint64_t longer)
{
    return (double)histogram__upper(
        bucket_below(spread, longer < spread->count ? longer : spread->count - 1));
}

/* How the tail goes on. Below the reach a rare mode looks like a long tail, above it what stands
 * out does. */
static double factor_of(const struct spread *spread, uint64_t rare)
{
    double most = spread->count < FEW ? FACTOR_MAX_OF_FEW : FACTOR_MAX;
    double reach = without(spread, rare);
    double below = reach / (without(spread, 4 * rare) + 1),
           above = without(spread, rare / 4) / (reach + 1);
    double ratio = below < above ? below : above, factor = ratio * ratio;
    return factor < FACTOR_MIN ? FACTOR_MIN : factor > most ? most : factor;
}

struct spread_limits spread__limits(const struct spread *spread)
{
    struct spread_limits limits = {.count = spread->count, .bound = UINT64_MAX};
    if (!spread->count)
        return limits;
    unsigned middle = bucket_below(spread, spread->count / 2);
    limits.usual =
        histogram__lower(middle) + (histogram__upper(middle) - histogram__lower(middle)) / 2;
    if (spread->count < SPREAD_MIN)
        return limits;
    uint64_t rare = rare_of(spread->count);
    double bound = without(spread, rare) * factor_of(spread, rare);
    double twice = 2 * (double)limits.usual;
    bound = bound > twice ? bound : twice;
    limits.bound = bound < 0x1p63 ? (uint64_t)bound : UINT64_MAX;
    return limits;
}
