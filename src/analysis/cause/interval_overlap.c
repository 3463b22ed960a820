#include "analysis/cause/interval_overlap.h"

#include "analysis/events/occurrences.h"
#include "base/memory.h"

#include <stdlib.h>

/* While it is built, depth is how much the depth changes at the tick. */

static void steps_of_one(struct cover *cover, const struct vec *intervals)
{
    cover->count = 2 * intervals->count;
    cover->steps = memory__zeroed(cover->count, sizeof *cover->steps);
    struct cover_step *step = cover->steps;
    VEC_EACH (interval, intervals, struct interval) {
        *step++ = (struct cover_step){.tick = interval->begin, .depth = 1};
        *step++ = (struct cover_step){.tick = interval->end, .depth = -1};
    }
}

static void merge(struct cover *into, const struct cover *left, const struct cover *right)
{
    into->count = left->count + right->count;
    into->steps = memory__zeroed(into->count, sizeof *into->steps);
    size_t l = 0, r = 0;
    for (size_t i = 0; i < into->count; i++) {
        bool from_left =
            r == right->count || (l < left->count && left->steps[l].tick <= right->steps[r].tick);
        into->steps[i] = from_left ? left->steps[l++] : right->steps[r++];
    }
}

/* Halves are merged, so it is as deep as the logarithm of count. */
static void steps_of(struct cover *cover, const struct vec *const *intervals, size_t count)
{
    if (count == 1) {
        steps_of_one(cover, intervals[0]);
        return;
    }
    struct cover left, right;
    steps_of(&left, intervals, count / 2);
    steps_of(&right, intervals + count / 2, count - count / 2);
    merge(cover, &left, &right);
    cover__free(&left);
    cover__free(&right);
}

void cover__of(struct cover *cover, const struct vec *const *intervals, size_t count)
{
    *cover = (struct cover){0};
    if (!count)
        return;
    steps_of(cover, intervals, count);
    struct cover_step before = {0};
    for (size_t i = 0; i < cover->count; i++) {
        struct cover_step *step = &cover->steps[i];
        step->sum = before.sum + (uint64_t)before.depth * (step->tick - before.tick);
        step->depth += before.depth;
        before = *step;
    }
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
