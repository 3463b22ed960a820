/* heap.h: a binary heap in an array: items[0] is the one that goes first.
 *
 *     static bool is_earlier(const struct entry *a, const struct entry *b) …
 *     HEAP_OF(entries, struct entry, is_earlier)
 *
 *     entries__order(items, count);      any array becomes a heap: O(count)
 *     entries__sink(items, count, 0);    items[0] was changed, or replaced by the last one
 *     entries__rise(items, count - 1);   an item was put behind the others
 *
 * In goes an array and an order, which must be strict; nothing comes out but that order. Sinking
 * and rising cost O(log count). The array stays the caller's. It stands on nothing. The functions
 * are made for one type, so that the comparison is not called through a pointer: merging by time
 * does several an event. */
#ifndef HEURT_BASE_HEAP_H
#define HEURT_BASE_HEAP_H

#include <stddef.h>

#define HEAP_OF(name, type, is_before)                                                       \
    static inline void name##__sink(type *items, size_t count, size_t place)                 \
    {                                                                                        \
        type item = items[place];                                                            \
        for (size_t child; (child = 2 * place + 1) < count; place = child) {                 \
            child += child + 1 < count && is_before(&items[child + 1], &items[child]);       \
            if (!is_before(&items[child], &item))                                            \
                break;                                                                       \
            items[place] = items[child];                                                     \
        }                                                                                    \
        items[place] = item;                                                                 \
    }                                                                                        \
    __attribute__((unused)) static inline void name##__order(type *items, size_t count)      \
    {                                                                                        \
        for (size_t place = count / 2; place-- > 0;)                                         \
            name##__sink(items, count, place);                                               \
    }                                                                                        \
    __attribute__((unused)) static inline void name##__rise(type *items, size_t place)       \
    {                                                                                        \
        type item = items[place];                                                            \
        for (size_t up; place && is_before(&item, &items[up = (place - 1) / 2]); place = up) \
            items[place] = items[up];                                                        \
        items[place] = item;                                                                 \
    }

#endif
