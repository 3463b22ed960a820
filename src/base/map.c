#include "base/map.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_BYTES 24 /* keys up to so long lie in the slot */

struct map_slot {
    union {
        unsigned char near[NEAR_BYTES];
        void *far;
    };
    size_t key_bytes; /* and one more; 0: the slot is free */
    uint64_t hash;
    uint64_t value;
};

/* Words at a time, each mixed in by a multiplication whose high bits come down again. */
static uint64_t hash_of(const unsigned char *key, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325ull ^ bytes;
    for (; bytes; key += 8) {
        size_t some = bytes < 8 ? bytes : 8;
        uint64_t word = 0;
        if (some == 8)
            memcpy(&word, key, 8);
        else
            memcpy(&word, key, some);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
        bytes -= some;
    }
    return hash;
}

static const void *key_of(const struct map_slot *slot)
{
    return slot->key_bytes > NEAR_BYTES + 1 ? slot->far : slot->near;
}

static bool is_of(const struct map_slot *slot, const void *key, size_t bytes, uint64_t hash)
{
    return slot->hash == hash && slot->key_bytes == bytes + 1 &&
           memcmp(key_of(slot), key, bytes) == 0;
}

static struct map_slot *find(const struct map *map, const void *key, size_t bytes, uint64_t hash)
{
    size_t i = hash & (map->capacity - 1);
    while (map->slots[i].key_bytes && !is_of(&map->slots[i], key, bytes, hash))
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

/* Where one with that hash is put that is not there yet. */
static struct map_slot *free_slot(const struct map *map, uint64_t hash)
{
    size_t i = hash & (map->capacity - 1);
    while (map->slots[i].key_bytes)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

static void grow(struct map *map)
{
    struct map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 16;
    map->slots = memory__zeroed(map->capacity, sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++) {
        struct map_slot *slot = &old.slots[i];
        if (slot->key_bytes)
            *free_slot(map, slot->hash) = *slot;
    }
    free(old.slots);
}

uint64_t map__get(const struct map *map, const void *key, size_t key_bytes)
{
    if (!map->capacity)
        return MAP_ABSENT;
    struct map_slot *slot = find(map, key, key_bytes, hash_of(key, key_bytes));
    return slot->key_bytes ? slot->value : MAP_ABSENT;
}

uint64_t map__put(struct map *map, const void *key, size_t key_bytes, uint64_t value)
{
    if (map->count * 4 >= map->capacity * 3)
        grow(map);
    uint64_t hash = hash_of(key, key_bytes);
    struct map_slot *slot = find(map, key, key_bytes, hash);
    if (slot->key_bytes)
        return slot->value;
    if (key_bytes > NEAR_BYTES)
        slot->far = memory__zeroed(key_bytes, 1);
    slot->key_bytes = key_bytes + 1;
    memcpy((void *)key_of(slot), key, key_bytes);
    slot->hash = hash;
    slot->value = value;
    map->count++;
    return value;
}

void map__free(struct map *map)
{
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key_bytes > NEAR_BYTES + 1)
            free(map->slots[i].far);
    free(map->slots);
    *map = (struct map){0};
}
