#include "base/extremes.h"

#include <stdlib.h>

struct extremes extremes__of(size_t limit)
{
    return (struct extremes){.kept = VEC_OF(struct extreme), .limit = limit};
}

/* Whether left is the one to go first. */
static bool is_less(const struct extreme *left, const struct extreme *right)
{
    return left->key != right->key ? left->key < right->key : left->offer > right->offer;
}

static void swap(struct extreme *left, struct extreme *right)
{
    struct extreme kept = *left;
    *left = *right;
    *right = kept;
}

static void sift_up(struct extreme *heap, size_t place)
{
    for (size_t up; place && is_less(&heap[place], &heap[up = (place - 1) / 2]); place = up)
        swap(&heap[place], &heap[up]);
}

static void sift_down(struct extreme *heap, size_t count)
{
    for (size_t place = 0, down; (down = 2 * place + 1) < count; place = down) {
        if (down + 1 < count && is_less(&heap[down + 1], &heap[down]))
            down++;
        if (!is_less(&heap[down], &heap[place]))
            return;
        swap(&heap[place], &heap[down]);
    }
}

void extremes__offer(struct extremes *extremes, const struct extreme *extreme)
{
    struct extreme *heap = extremes->kept.items;
    struct extreme new = *extreme;
    new.offer = extremes->offers++;
    if (extremes->kept.count < extremes->limit) {
        vec__push(&extremes->kept, &new);
        sift_up(extremes->kept.items, extremes->kept.count - 1);
    } else if (extremes->limit && is_less(heap, &new)) {
        heap[0] = new;
        sift_down(heap, extremes->kept.count);
    }
}

static int by_key(const void *left, const void *right)
{
    return is_less(left, right) - is_less(right, left);
}

void extremes__sort(struct extremes *extremes)
{
    if (extremes->kept.count)
        qsort(extremes->kept.items, extremes->kept.count, sizeof(struct extreme), by_key);
}

void extremes__free(struct extremes *extremes)
{
    vec__free(&extremes->kept);
}
