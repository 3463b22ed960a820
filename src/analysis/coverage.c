#include "analysis/coverage.h"

#include "analysis/occurrences.h"
#include "base/memory.h"

#include <stdlib.h>

/* While it is built, depth is how much the depth changes at the tick. */

static void steps_of_one(struct coverage *coverage, const struct vec *intervals)
{
    coverage->count = 2 * intervals->count;
    coverage->steps = memory__zeroed(coverage->count, sizeof *coverage->steps);
    struct coverage_step *step = coverage->steps;
    VEC_EACH(interval, intervals, struct interval)
    {
        *step++ = (struct coverage_step){.tick = interval->begin, .depth = 1};
        *step++ = (struct coverage_step){.tick = interval->end, .depth = -1};
    }
}

static void merge(struct coverage *into, const struct coverage *left, const struct coverage *right)
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
static void steps_of(struct coverage *coverage, const struct vec *const *intervals, size_t count)
{
    if (count == 1) {
        steps_of_one(coverage, intervals[0]);
        return;
    }
    struct coverage left, right;
    steps_of(&left, intervals, count / 2);
    steps_of(&right, intervals + count / 2, count - count / 2);
    merge(coverage, &left, &right);
    coverage__free(&left);
    coverage__free(&right);
}

void coverage__of(struct coverage *coverage, const struct vec *const *intervals, size_t count)
{
    *coverage = (struct coverage){0};
    if (!count)
        return;
    steps_of(coverage, intervals, count);
    struct coverage_step before = {0};
    for (size_t i = 0; i < coverage->count; i++) {
        struct coverage_step *step = &coverage->steps[i];
        step->sum = before.sum + (uint64_t)before.depth * (step->tick - before.tick);
        step->depth += before.depth;
        before = *step;
    }
}

void coverage__free(struct coverage *coverage)
{
    free(coverage->steps);
    *coverage = (struct coverage){0};
}

/* The last step at or before the tick, between low, which is one, and high, which is none. */
static size_t halve(const struct coverage *coverage, uint64_t tick, size_t low, size_t high)
{
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (coverage->steps[middle].tick <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The last step at or before the tick, which is not before the first one. Strides double away from
 * near until they have passed it. */
static size_t find(const struct coverage *coverage, uint64_t tick, size_t near)
{
    size_t stride = 1, last = coverage->count - 1;
    if (coverage->steps[near].tick <= tick) {
        size_t low = near;
        while (stride <= last - low && coverage->steps[low + stride].tick <= tick) {
            low += stride;
            stride *= 2;
        }
        return halve(coverage, tick, low, stride <= last - low ? low + stride : last + 1);
    }
    size_t high = near;
    while (stride <= high && coverage->steps[high - stride].tick > tick) {
        high -= stride;
        stride *= 2;
    }
    return halve(coverage, tick, stride <= high ? high - stride : 0, high);
}

/* Ticks covered before the tick. */
static uint64_t until(const struct coverage *coverage, uint64_t tick, size_t *near)
{
    if (!coverage->count || tick <= coverage->steps[0].tick)
        return 0;
    *near = find(coverage, tick, *near);
    const struct coverage_step *step = &coverage->steps[*near];
    return step->sum + (uint64_t)step->depth * (tick - step->tick);
}

uint64_t coverage__between(const struct coverage *coverage, uint64_t begin, uint64_t end,
                           size_t *near)
{
    uint64_t before = until(coverage, begin, near);
    return until(coverage, end, near) - before;
}
