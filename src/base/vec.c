#include "base/vec.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void vec__reserve(struct vec *vec, size_t count)
{
    size_t capacity = vec->capacity ? vec->capacity * 2 : 8;
    vec->capacity = capacity < vec->count + count ? vec->count + count : capacity;
    vec->items = memory__resize(vec->items, vec->capacity, vec->item_bytes);
}

void vec__append(struct vec *vec, const struct vec *from)
{
    if (from->count)
        memcpy(vec__extend(vec, from->count), from->items, from->count * from->item_bytes);
}

void *vec__push(struct vec *vec, const void *item)
{
    void *place = vec__extend(vec, 1);
    if (item)
        memcpy(place, item, vec->item_bytes);
    else
        memset(place, 0, vec->item_bytes);
    return place;
}

int order__u32(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return ORDER(*a, *b);
}

int order__u64(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return ORDER(*a, *b);
}

void vec__sort(struct vec *vec, int (*order)(const void *, const void *))
{
    if (vec->count > 1)
        qsort(vec->items, vec->count, vec->item_bytes, order);
}

void vec__trim(struct vec *vec)
{
    if (vec->count == vec->capacity)
        return;
    if (!vec->count) {
        vec__free(vec);
        return;
    }
    vec->items = memory__resize(vec->items, vec->count, vec->item_bytes);
    vec->capacity = vec->count;
}

void vec__free(struct vec *vec)
{
    free(vec->items);
    vec->items = NULL;
    vec->count = vec->capacity = 0;
}
