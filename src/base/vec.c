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

/* Puts them by one byte, those of one value in the order that they had. */
static void sort_by_byte(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
    size_t places[256] = {0}, place = 0;
    for (size_t i = 0; i < count; i++)
        places[from[i] >> shift & 255]++;
    for (unsigned value = 0; value < 256; value++) {
        size_t of_value = places[value];
        places[value] = place;
        place += of_value;
    }
    for (size_t i = 0; i < count; i++)
        to[places[from[i] >> shift & 255]++] = from[i];
}

void vec__sort_numbers(struct vec *vec)
{
    uint64_t *from = vec->items, differs = 0;
    for (size_t i = 1; i < vec->count; i++)
        differs |= from[i] ^ from[0];
    if (!differs)
        return;
    uint64_t *to = memory__resize(NULL, vec->count, sizeof *to);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differs >> shift & 255))
            continue;
        sort_by_byte(from, to, vec->count, shift);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    free(to);
    vec->items = from;
    vec->capacity = vec->count;
}

void vec__trim(struct vec *vec)
{
    if (vec->count == vec->capacity)
        return;
    if (!vec->count) {
        vec__free(vec);
        return;
    }
    struct vec trimmed = {.item_bytes = vec->item_bytes};
    trimmed.items = memory__resize(NULL, vec->count, vec->item_bytes);
    trimmed.count = trimmed.capacity = vec->count;
    memcpy(trimmed.items, vec->items, vec->count * vec->item_bytes);
    free(vec->items);
    *vec = trimmed;
}

void vec__free(struct vec *vec)
{
    free(vec->items);
    vec->items = NULL;
    vec->count = vec->capacity = 0;
}
