#include "symbol/interval.h"

#include <stdlib.h>

void intervals__add(struct vec *intervals, uint64_t start, uint64_t end, uint32_t rank,
                    uint32_t value)
{
    struct address_interval interval = {.start = start, .end = end, .rank = rank, .value = value};
    if (start < end)
        vec__push(intervals, &interval);
}

static int compare(const void *left, const void *right)
{
    const struct address_interval *a = left, *b = right;
    int order = ORDER(a->start, b->start) ?: ORDER(a->rank, b->rank);
    return order ?: ORDER(a->value, b->value);
}

void intervals__sort(struct vec *intervals)
{
    vec__sort(intervals, compare);
    uint64_t reach = 0;
    VEC_EACH (interval, intervals, struct address_interval) {
        if (interval->end > reach)
            reach = interval->end;
        interval->reach = reach;
    }
}

const struct address_interval *intervals__find(const struct vec *intervals, uint64_t address)
{
    size_t low = VEC_FIRST(interval, intervals, struct address_interval, interval->start > address);
    while (low-- > 0) {
        const struct address_interval *interval = VEC_AT(intervals, struct address_interval, low);
        if (interval->reach <= address)
            return NULL;
        if (interval->end > address)
            return interval;
    }
    return NULL;
}
