/* merge.c: all threads' events by time: a binary heap with one entry a thread. */
#include "base/heap.h"
#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>

struct heap_entry {
    uint64_t tick; /* of event */
    size_t thread; /* index into the trace's threads, and into cursors */
    struct event event;
};

struct trace_merge {
    struct trace_cursor *cursors;
    size_t threads;
    struct heap_entry *heap; /* heap[0] is the earliest */
    size_t count;
    bool given;      /* heap[0] was given out: move on before the next */
    bool of_threads; /* only what threads wrote themselves */
};

/* At the same tick the older thread comes first, so that the order is always the same. */
static bool is_earlier(const struct heap_entry *a, const struct heap_entry *b)
{
    return a->tick < b->tick || (a->tick == b->tick && a->thread < b->thread);
}

HEAP_OF(entries, struct heap_entry, is_earlier)

/* Reads the entry's next event. Where a tick steps back within a thread the event is simply the
 * earliest of all: a thread's own order stays. */
static bool advance(struct trace_merge *merge, struct heap_entry *entry)
{
    do {
        if (!trace_cursor__next(&merge->cursors[entry->thread], &entry->event))
            return false;
    } while (merge->of_threads && event__is_told_late(entry->event.id));
    entry->tick = entry->event.tick;
    return true;
}

static struct trace_merge *start(const struct trace *trace, bool of_threads)
{
    struct trace_merge *merge = memory__zeroed(1, sizeof *merge);
    merge->of_threads = of_threads;
    size_t threads = merge->threads = trace->threads.count;
    merge->cursors = memory__zeroed(threads, sizeof *merge->cursors);
    merge->heap = memory__zeroed(threads, sizeof *merge->heap);
    for (size_t i = 0; i < threads; i++) {
        struct heap_entry *entry = &merge->heap[merge->count];
        trace_cursor__start(&merge->cursors[i], trace,
                            VEC_AT(&trace->threads, struct trace_thread, i));
        entry->thread = i;
        if (advance(merge, entry))
            merge->count++;
    }
    entries__order(merge->heap, merge->count);
    return merge;
}

struct trace_merge *trace_merge__start(const struct trace *trace)
{
    return start(trace, false);
}

struct trace_merge *trace_merge__start_of_threads(const struct trace *trace)
{
    return start(trace, true);
}

bool trace_merge__next(struct trace_merge *merge, struct event *event, size_t *thread)
{
    if (merge->given) {
        if (!advance(merge, &merge->heap[0]))
            merge->heap[0] = merge->heap[--merge->count];
        if (merge->count)
            entries__sink(merge->heap, merge->count, 0);
    }
    merge->given = merge->count > 0;
    if (!merge->count)
        return false;
    *event = merge->heap[0].event;
    *thread = merge->heap[0].thread;
    return true;
}

void trace_merge__free(struct trace_merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->threads; i++)
        trace_cursor__stop(&merge->cursors[i]);
    free(merge->cursors);
    free(merge->heap);
    free(merge);
}
