#include "base/map.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct map_slot {
    void *key; /* NULL: free */
    size_t key_bytes;
    uint64_t hash;
    uint64_t value;
};

/* FNV-1a (Fowler, Noll, Vo), folded once more so that the low bits see the high ones. */
static uint64_t hash_of(const unsigned char *key, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ key[i]) * 0x100000001b3ull;
    return hash ^ hash >> 32;
}

static struct map_slot *find(const struct map *map, const void *key, size_t bytes, uint64_t hash)
{
    size_t i = hash & (map->capacity - 1);
    for (;; i = (i + 1) & (map->capacity - 1)) {
        struct map_slot *slot = &map->slots[i];
        if (!slot->key ||
            (slot->hash == hash && slot->key_bytes == bytes && memcmp(slot->key, key, bytes) == 0))
            return slot;
    }
}

static void grow(struct map *map)
{
    struct map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 16;
    map->slots = memory__zeroed(map->capacity, sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++) {
        struct map_slot *slot = &old.slots[i];
        if (slot->key)
            *find(map, slot->key, slot->key_bytes, slot->hash) = *slot;
    }
    free(old.slots);
}

uint64_t map__get(const struct map *map, const void *key, size_t key_bytes)
{
    if (!map->capacity)
        return MAP_ABSENT;
    struct map_slot *slot = find(map, key, key_bytes, hash_of(key, key_bytes));
    return slot->key ? slot->value : MAP_ABSENT;
}

uint64_t map__put(struct map *map, const void *key, size_t key_bytes, uint64_t value)
{
    if (map->count * 4 >= map->capacity * 3)
        grow(map);
    uint64_t hash = hash_of(key, key_bytes);
    struct map_slot *slot = find(map, key, key_bytes, hash);
    if (slot->key)
        return slot->value;
    slot->key = memory__zeroed(key_bytes + 1, 1);
    memcpy(slot->key, key, key_bytes);
    slot->key_bytes = key_bytes;
    slot->hash = hash;
    slot->value = value;
    map->count++;
    return value;
}

void map__free(struct map *map)
{
    for (size_t i = 0; i < map->capacity; i++)
        free(map->slots[i].key);
    free(map->slots);
    *map = (struct map){0};
}
