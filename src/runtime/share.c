#include "runtime/share.h"

#include <stdbool.h>

#define RECORDING_PART 4

static uint32_t block_for(uint32_t occurrences, uint64_t rate)
{
    uint64_t block = (occurrences + rate - 1) / rate;
    return block < BLOCK_LEAST ? BLOCK_LEAST : block > BLOCK_MOST ? BLOCK_MOST : (uint32_t)block;
}

static bool all_fits(struct share *shares, unsigned count, uint64_t allowance)
{
    uint64_t whole = 0;
    for (unsigned i = 0; i < count; i++)
        whole += (uint64_t)shares[i].occurrences * shares[i].recorded;
    for (unsigned i = 0; i < count; i++)
        shares[i].block = whole <= allowance;
    return whole <= allowance;
}

/* What may be spent on recording those that are sampled, beside what recording the others whole and
 * leaving out costs. Even if that is all there is, a part is for recording: what is rare must not
 * be lost because something else is too frequent. */
static uint64_t left_for_sampled(const struct share *shares, unsigned count,
                                 const struct costs *costs, uint64_t allowance)
{
    uint64_t whole = 0, left_out = 0, least = allowance / RECORDING_PART;
    for (unsigned i = 0; i < count; i++) {
        if (shares[i].block)
            whole += (uint64_t)shares[i].occurrences * shares[i].recorded;
        else
            left_out += (uint64_t)shares[i].occurrences * costs->left_out;
    }
    if (allowance > whole + left_out && allowance - left_out > least)
        return allowance - whole - left_out;
    return least > whole ? least - whole : 0;
}

static uint64_t cost_of_one_each(const struct share *shares, unsigned count,
                                 const struct costs *costs)
{
    uint64_t cost = 1;
    for (unsigned i = 0; i < count; i++)
        cost += shares[i].block ? 0 : shares[i].recorded + costs->drawn;
    return cost;
}

/* Water-filling: as long as the common rate passes over what one of them has, that one is recorded
 * whole, and the others share what it leaves. */
void share__divide(struct share *shares, unsigned count, const struct costs *costs,
                   uint64_t allowance)
{
    unsigned sampled = count;
    if (all_fits(shares, count, allowance))
        return;
    uint64_t rate = 1;
    for (unsigned before = count + 1; sampled && sampled < before;) {
        before = sampled;
        rate = left_for_sampled(shares, count, costs, allowance) /
               cost_of_one_each(shares, count, costs);
        rate = rate ? rate : 1;
        for (unsigned i = 0; i < count; i++) {
            if (shares[i].block || shares[i].occurrences > rate)
                continue;
            shares[i].block = 1;
            sampled--;
        }
    }
    for (unsigned i = 0; i < count; i++)
        if (!shares[i].block)
            shares[i].block = block_for(shares[i].occurrences, rate);
}
