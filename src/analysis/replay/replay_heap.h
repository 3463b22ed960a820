/* replay_heap.h: the replay's heap of threads by a key; the least on top. Each thread stands in it
 * once at most.  Equal keys stand by thread, so that a replay gives the same result every time. */
#ifndef HEURT_ANALYSIS_REPLAY_REPLAY_HEAP_H
#define HEURT_ANALYSIS_REPLAY_REPLAY_HEAP_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct heap_entry {
    uint64_t key;
    uint32_t thread;
};

struct heap {
    struct heap_entry *entries;
    uint32_t *places; /* of each thread in it; of no meaning for one that is not */
    uint32_t count;
};

static inline struct heap heap__make(uint32_t threads)
{
    return (struct heap){.entries = memory__zeroed(threads, sizeof(struct heap_entry)),
                         .places = memory__zeroed(threads, sizeof(uint32_t))};
}

static inline void heap__free(struct heap *heap)
{
    free(heap->entries);
    free(heap->places);
}

static inline bool heap__before(struct heap_entry a, struct heap_entry b)
{
    return a.key != b.key ? a.key < b.key : a.thread < b.thread;
}

static inline void heap__set(struct heap *heap, uint32_t place, struct heap_entry entry)
{
    heap->entries[place] = entry;
    heap->places[entry.thread] = place;
}

static inline void heap__rise(struct heap *heap, uint32_t place, struct heap_entry entry)
{
    for (; place > 0; place = (place - 1) / 2) {
        struct heap_entry above = heap->entries[(place - 1) / 2];
        if (heap__before(above, entry))
            break;
        heap__set(heap, place, above);
    }
    heap__set(heap, place, entry);
}

static inline void heap__sink(struct heap *heap, uint32_t place, struct heap_entry entry)
{
    for (uint32_t below; (below = 2 * place + 1) < heap->count; place = below) {
        if (below + 1 < heap->count && heap__before(heap->entries[below + 1], heap->entries[below]))
            below++;
        if (heap__before(entry, heap->entries[below]))
            break;
        heap__set(heap, place, heap->entries[below]);
    }
    heap__set(heap, place, entry);
}

static inline void heap__push(struct heap *heap, uint64_t key, uint32_t thread)
{
    heap__rise(heap, heap->count++, (struct heap_entry){key, thread});
}

/* The thread stands in it; likewise below. */
static inline void heap__remove(struct heap *heap, uint32_t thread)
{
    uint32_t place = heap->places[thread];
    struct heap_entry last = heap->entries[--heap->count];
    if (place == heap->count)
        return;
    if (heap__before(last, heap->entries[place]))
        heap__rise(heap, place, last);
    else
        heap__sink(heap, place, last);
}

/* The new key is no less than the old one. */
static inline void heap__put_off(struct heap *heap, uint32_t thread, uint64_t key)
{
    heap__sink(heap, heap->places[thread], (struct heap_entry){key, thread});
}

static inline uint64_t heap__key(const struct heap *heap, uint32_t thread)
{
    return heap->entries[heap->places[thread]].key;
}

#endif
