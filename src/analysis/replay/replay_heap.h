/* replay_heap.h: the replay's heap of threads by a key; the least on top. Each thread stands in it
 * once at most.  Equal keys stand by thread, so that a replay gives the same result every time. */
#ifndef HEURT_ANALYSIS_REPLAY_REPLAY_HEAP_H
#define HEURT_ANALYSIS_REPLAY_REPLAY_HEAP_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct thread_heap_entry {
    uint64_t key;
    uint32_t thread;
};

struct thread_heap {
    struct thread_heap_entry *entries;
    uint32_t *places; /* of each thread in it; of no meaning for one that is not */
    uint32_t count;
};

static inline struct thread_heap thread_heap__make(uint32_t threads)
{
    return (struct thread_heap){.entries =
                                    memory__zeroed(threads, sizeof(struct thread_heap_entry)),
                                .places = memory__zeroed(threads, sizeof(uint32_t))};
}

static inline void thread_heap__free(struct thread_heap *heap)
{
    free(heap->entries);
    free(heap->places);
}

static inline bool thread_heap__before(struct thread_heap_entry a, struct thread_heap_entry b)
{
    return a.key != b.key ? a.key < b.key : a.thread < b.thread;
}

static inline void thread_heap__set(struct thread_heap *heap, uint32_t place,
                                    struct thread_heap_entry entry)
{
    heap->entries[place] = entry;
    heap->places[entry.thread] = place;
}

static inline void thread_heap__rise(struct thread_heap *heap, uint32_t place,
                                     struct thread_heap_entry entry)
{
    for (; place > 0; place = (place - 1) / 2) {
        struct thread_heap_entry above = heap->entries[(place - 1) / 2];
        if (thread_heap__before(above, entry))
            break;
        thread_heap__set(heap, place, above);
    }
    thread_heap__set(heap, place, entry);
}

static inline void thread_heap__sink(struct thread_heap *heap, uint32_t place,
                                     struct thread_heap_entry entry)
{
    for (uint32_t below; (below = 2 * place + 1) < heap->count; place = below) {
        if (below + 1 < heap->count &&
            thread_heap__before(heap->entries[below + 1], heap->entries[below]))
            below++;
        if (thread_heap__before(entry, heap->entries[below]))
            break;
        thread_heap__set(heap, place, heap->entries[below]);
    }
    thread_heap__set(heap, place, entry);
}

static inline void thread_heap__push(struct thread_heap *heap, uint64_t key, uint32_t thread)
{
    thread_heap__rise(heap, heap->count++, (struct thread_heap_entry){key, thread});
}

/* The thread stands in it; likewise below. */
static inline void thread_heap__remove(struct thread_heap *heap, uint32_t thread)
{
    uint32_t place = heap->places[thread];
    struct thread_heap_entry last = heap->entries[--heap->count];
    if (place == heap->count)
        return;
    if (thread_heap__before(last, heap->entries[place]))
        thread_heap__rise(heap, place, last);
    else
        thread_heap__sink(heap, place, last);
}

/* The new key is no less than the old one. */
static inline void thread_heap__put_off(struct thread_heap *heap, uint32_t thread, uint64_t key)
{
    thread_heap__sink(heap, heap->places[thread], (struct thread_heap_entry){key, thread});
}

static inline uint64_t thread_heap__key(const struct thread_heap *heap, uint32_t thread)
{
    return heap->entries[heap->places[thread]].key;
}

#endif
