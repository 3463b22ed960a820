#include "analysis/cause/interval_overlap.h"

#include "analysis/events/occurrences.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* While it is built, each begin and end of an interval is a number, in whose order they are. */

static uint64_t *put_ends(uint64_t *into, const struct vec *intervals)
{
    VEC_EACH (interval, intervals, struct interval) {
        *into++ = interval->begin << 1 | 1;
        *into++ = interval->end << 1;
    }
    return into;
}

/* Two rows, one behind the other, each in order. */
static void merge(uint64_t *into, const uint64_t *left, const uint64_t *right, const uint64_t *end)
{
    const uint64_t *left_end = right;
    while (left < left_end && right < end) {
        bool is_left = *left <= *right;
        *into++ = is_left ? *left : *right;
        left += is_left;
        right += !is_left;
    }
    memcpy(into, left, (size_t)(left_end - left) * sizeof *into);
    memcpy(into + (left_end - left), right, (size_t)(end - right) * sizeof *into);
}

/* In order into into; room has as much of it. Returns the end of both. Halves are merged, so it is
 * as deep as the logarithm of count. */
static uint64_t *order_ends(uint64_t *into, uint64_t *room, const struct vec *const *intervals,
                            size_t count)
{
    if (count == 1)
        return put_ends(into, intervals[0]);
    uint64_t *middle = order_ends(room, into, intervals, count / 2);
    uint64_t *end =
        order_ends(middle, into + (middle - room), intervals + count / 2, count - count / 2);
    merge(into, room, middle, end);
    return into + (end - room);
}

/* The ends stand in the last third of the steps' memory, so that none is overwritten unread. */
static void take_steps(struct cover *cover, const uint64_t *ends)
{
    struct cover_step before = {0};
    for (size_t i = 0; i < cover->count; i++) {
        uint64_t tick = ends[i] >> 1;
        before = (struct cover_step){
            .tick = tick,
            .sum = before.sum + (uint64_t)before.depth * (tick - before.tick),
            .depth = before.depth + (ends[i] & 1 ? 1 : -1),
        };
        cover->steps[i] = before;
    }
}

_Static_assert(sizeof(struct cover_step) == 3 * sizeof(uint64_t),
               "two rows of ends behind a third");

void cover__of(struct cover *cover, const struct vec *const *intervals, size_t count)
{
    cover->count = 0;
    for (size_t i = 0; i < count; i++)
        cover->count += 2 * intervals[i]->count;
    if (!cover->count)
        return;
    if (cover->room < cover->count) {
        free(cover->steps);
        cover->steps = memory__resize(NULL, cover->count, sizeof *cover->steps);
        cover->room = cover->count;
    }
    uint64_t *room = (uint64_t *)cover->steps + cover->count, *ends = room + cover->count;
    order_ends(ends, room, intervals, count);
    take_steps(cover, ends);
}

void cover__free(struct cover *cover)
{
    free(cover->steps);
    *cover = (struct cover){0};
}

/* The last step at or before the tick, between low, which is one, and high, which is none. */
static size_t halve(const struct cover *cover, uint64_t tick, size_t low, size_t high)
{
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (cover->steps[middle].tick <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The last step at or before the tick, which is not before the first one. Strides double away from
 * near until they have passed it. */
static size_t find(const struct cover *cover, uint64_t tick, size_t near)
{
    size_t stride = 1, last = cover->count - 1;
    if (cover->steps[near].tick <= tick) {
        size_t low = near;
        while (stride <= last - low && cover->steps[low + stride].tick <= tick) {
            low += stride;
            stride *= 2;
        }
        return halve(cover, tick, low, stride <= last - low ? low + stride : last + 1);
    }
    size_t high = near;
    while (stride <= high && cover->steps[high - stride].tick > tick) {
        high -= stride;
        stride *= 2;
    }
    return halve(cover, tick, stride <= high ? high - stride : 0, high);
}

/* Ticks covered before the tick. */
static uint64_t covered_before(const struct cover *cover, uint64_t tick, size_t *near)
{
    if (!cover->count || tick <= cover->steps[0].tick)
        return 0;
    *near = find(cover, tick, *near);
    const struct cover_step *step = &cover->steps[*near];
    return step->sum + (uint64_t)step->depth * (tick - step->tick);
}

uint64_t cover__between(const struct cover *cover, uint64_t begin, uint64_t end, size_t *near)
{
    uint64_t before = covered_before(cover, begin, near);
    return covered_before(cover, end, near) - before;
}
