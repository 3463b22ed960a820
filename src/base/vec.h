/* vec.h: a growing array of equal items in one block. Items move when it grows.
 *
 * In go items, which are copied; out come their places, valid until the next one is pushed.
 * Pushing costs O(1) on the average. It stands on memory.h. Several threads may read at once; who
 * pushes is alone. */
#ifndef HEURT_BASE_VEC_H
#define HEURT_BASE_VEC_H

#include <stddef.h>

struct vec {
    void *items;
    size_t count;
    size_t capacity;
    size_t item_bytes;
};

#define VEC_OF(type) ((struct vec){.item_bytes = sizeof(type)})
#define VEC_AT(vec, type, index) (&((type *)(vec)->items)[index])
#define VEC_EACH(item, vec, type) \
    for (type *item = (vec)->items; item && item < (type *)(vec)->items + (vec)->count; item++)

/* Appends a copy of *item (zeroes when item is NULL) and returns its place. */
void *vec__push(struct vec *vec, const void *item);
/* Appends count items that the caller fills, and returns the place of the first. */
void *vec__extend(struct vec *vec, size_t count);
void vec__free(struct vec *vec); /* leaves it empty and usable */

#endif
