/* map.h: a hash table from keys (byte strings) to numbers, insertion only.
 * The numbers are usually indices into a vec that holds the values.
 *
 * In go keys of any length, which are copied, and numbers; out comes the number of a key. Both
 * cost a hash of the key and O(1) more on the average. It stands on memory.h. Several threads may
 * look up at once; who puts is alone. */
#ifndef HEURT_BASE_MAP_H
#define HEURT_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map {
    struct map_slot *slots;
    size_t count;
    size_t capacity; /* a power of two, or 0 */
};

#define MAP_ABSENT UINT64_MAX

/* The value under key, or MAP_ABSENT. */
uint64_t map__get(const struct map *map, const void *key, size_t key_bytes);

/* The value under key; when absent, value is put there (a copy of key is kept) and returned. */
uint64_t map__put(struct map *map, const void *key, size_t key_bytes, uint64_t value);

void map__free(struct map *map); /* leaves it empty and usable */

#endif
