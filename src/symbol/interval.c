#include "symbol/interval.h"

#include <stdlib.h>

void intervals__add(struct vec *intervals, uint64_t start, uint64_t end, uint32_t rank,
                    uint32_t value)
{
    struct interval interval = {.start = start, .end = end, .rank = rank, .value = value};
    if (start < end)
        vec__push(intervals, &interval);
}

static int compare(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

void intervals__sort(struct vec *intervals)
{
    if (intervals->count)
        qsort(intervals->items, intervals->count, sizeof(struct interval), compare);
    uint64_t reach = 0;
    VEC_EACH (interval, intervals, struct interval) {
        if (interval->end > reach)
            reach = interval->end;
        interval->reach = reach;
    }
}

const struct interval *intervals__find(const struct vec *intervals, uint64_t address)
{
    size_t low = 0, high = intervals->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (VEC_AT(intervals, struct interval, middle)->start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0) {
        const struct interval *interval = VEC_AT(intervals, struct interval, low);
        if (interval->reach <= address)
            return NULL;
        if (interval->end > address)
            return interval;
    }
    return NULL;
}
