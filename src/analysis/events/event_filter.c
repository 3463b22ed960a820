#include "analysis/events/event_filter.h"

#include <stdlib.h>

static int by_first(const void *left, const void *right)
{
    const struct kept_range *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

void kept__join(struct vec *ranges)
{
    size_t joined = 0;
    if (!ranges->count)
        return;
    qsort(ranges->items, ranges->count, sizeof(struct kept_range), by_first);
    VEC_EACH (range, ranges, const struct kept_range) {
        struct kept_range *last = VEC_AT(ranges, struct kept_range, joined);
        if (range->first <= last->last + 1)
            last->last = range->last > last->last ? range->last : last->last;
        else
            *VEC_AT(ranges, struct kept_range, ++joined) = *range;
    }
    ranges->count = joined + 1;
}

bool kept_walk__keeps(struct kept_walk *walk)
{
    uint64_t number = walk->number++;
    if (!walk->ranges)
        return true;
    while (walk->next < walk->ranges->count &&
           VEC_AT(walk->ranges, struct kept_range, walk->next)->last < number)
        walk->next++;
    return walk->next < walk->ranges->count &&
           VEC_AT(walk->ranges, struct kept_range, walk->next)->first <= number;
}

void kept_gap__add(struct kept_gap *gap, uint64_t tick)
{
    if (!gap->events++)
        gap->from = tick;
    gap->to = tick;
}
