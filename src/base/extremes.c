#include "base/extremes.h"

#include "base/heap.h"

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

HEAP_OF(kept, struct extreme, is_less)

void extremes__offer(struct extremes *extremes, const struct extreme *extreme)
{
    struct extreme *heap = extremes->kept.items;
    struct extreme new = *extreme;
    new.offer = extremes->offers++;
    if (extremes->kept.count < extremes->limit) {
        vec__push(&extremes->kept, &new);
        kept__rise(extremes->kept.items, extremes->kept.count - 1);
    } else if (extremes->limit && is_less(heap, &new)) {
        heap[0] = new;
        kept__sink(heap, extremes->kept.count, 0);
    }
}

static int by_key(const void *left, const void *right)
{
    return is_less(left, right) - is_less(right, left);
}

void extremes__sort(struct extremes *extremes)
{
    vec__sort(&extremes->kept, by_key);
}

void extremes__free(struct extremes *extremes)
{
    vec__free(&extremes->kept);
}
