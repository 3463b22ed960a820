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

/* The least place below count at which the condition holds; count: at none. Where it holds it holds
 * at all places behind, too. Several searches may not stand in one condition. */
#define FIRST_WHERE(place, count, condition)                         \
    __extension__({                                                  \
        size_t first_low = 0, first_high = (count);                  \
        while (first_low < first_high) {                             \
            size_t place = first_low + (first_high - first_low) / 2; \
            if (condition)                                           \
                first_high = place;                                  \
            else                                                     \
                first_low = place + 1;                               \
        }                                                            \
        first_low;                                                   \
    })
/* The place of the first item of which the condition holds. */
#define VEC_FIRST(item, vec, type, condition)                                      \
    FIRST_WHERE(first_place, (vec)->count, __extension__({                         \
                    const __typeof__(type) *item = VEC_AT(vec, type, first_place); \
                    (condition);                                                   \
                }))

/* The item whose member has that value, or NULL. They stand in the order of that member. */
#define VEC_FIND(vec, type, member, value)                                                 \
    __extension__({                                                                        \
        size_t find_place = VEC_FIRST(find_item, vec, type, find_item->member >= (value)); \
        type *find_found = VEC_AT(vec, type, find_place);                                  \
        find_place < (vec)->count && find_found->member == (value) ? find_found : NULL;    \
    })

/* -1, 0, 1: to be returned to qsort. */
#define ORDER(left, right) (((left) > (right)) - ((left) < (right)))
/* Numbers by size; of structs, those that they begin with. */
int order__u32(const void *left, const void *right);
int order__u64(const void *left, const void *right);

/* Appends a copy of *item (zeroes when item is NULL) and returns its place. */
void *vec__push(struct vec *vec, const void *item);
/* The item at that place; items of zeroes are appended until there is one. */
#define VEC_REACH(vec, type, index)         \
    __extension__({                         \
        const size_t reach_index = (index); \
        while ((vec)->count <= reach_index) \
            vec__push(vec, NULL);           \
        VEC_AT(vec, type, reach_index);     \
    })
/* Room for so many more; vec__extend asks. */
void vec__reserve(struct vec *vec, size_t count);
/* Appends count items that the caller fills, and returns the place of the first. */
static inline void *vec__extend(struct vec *vec, size_t count)
{
    if (vec->capacity - vec->count < count)
        vec__reserve(vec, count);
    vec->count += count;
    return (char *)vec->items + (vec->count - count) * vec->item_bytes;
}
/* The items of another vec of the same type. */
void vec__append(struct vec *vec, const struct vec *from);
void vec__sort(struct vec *vec, int (*order)(const void *, const void *));
/* uint64_t, by size: a pass for each byte in which they differ. */
void vec__sort_numbers(struct vec *vec);
void vec__trim(struct vec *vec); /* gives back the room for more */
void vec__free(struct vec *vec); /* leaves it empty and usable */

#endif
