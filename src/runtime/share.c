#include "runtime/share.h"

#include <stdbool.h>

static uint32_t block_for(uint32_t occurrences, uint64_t rate)
{
    uint64_t block = (occurrences + rate - 1) / rate;
    return block < BLOCK_LEAST ? BLOCK_LEAST : block > BLOCK_MOST ? BLOCK_MOST : (uint32_t)block;
}

static bool all_fits(struct share *shares, unsigned count, const struct costs *costs,
                     uint64_t allowance)
{
    uint64_t whole = 0;
    for (unsigned i = 0; i < count; i++)
        whole += (uint64_t)shares[i].occurrences * costs->recorded;
    for (unsigned i = 0; i < count; i++)
        shares[i].block = whole <= allowance;
    return whole <= allowance;
}

/* Water-filling: as long as the common rate passes over what one of them has, that one is recorded
 * whole, and the others share what it leaves. left is below 0 when leaving out costs it all. */
void share__divide(struct share *shares, unsigned count, const struct costs *costs,
                   uint64_t allowance)
{
    int64_t left = (int64_t)allowance;
    unsigned sampled = count;
    if (all_fits(shares, count, costs, allowance))
        return;
    for (unsigned i = 0; i < count; i++)
        left -= (int64_t)shares[i].occurrences * costs->left_out;
    uint64_t rate = 1;
    for (unsigned before = count + 1; sampled && sampled < before;) {
        before = sampled;
        rate = left > 0 ? (uint64_t)left / (costs->recorded + costs->drawn) / sampled : 0;
        rate = rate ? rate : 1;
        for (unsigned i = 0; i < count; i++) {
            if (shares[i].block || shares[i].occurrences > rate)
                continue;
            shares[i].block = 1;
            sampled--;
            left += (int64_t)shares[i].occurrences *
                    ((int64_t)costs->left_out - (int64_t)costs->recorded);
        }
    }
    for (unsigned i = 0; i < count; i++)
        if (!shares[i].block)
            shares[i].block = block_for(shares[i].occurrences, rate);
}
