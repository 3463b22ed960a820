#include "format/excerpt.h"

#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

size_t excerpt__put_event(uint64_t *at, const struct event *event)
{
    bool is_wide = event->id >> HEURT_ID_BITS;
    uint32_t id = is_wide ? HEURT_EVENT_FUNCTION | (event->id & 1) : event->id;
    memmove(at + 1 + is_wide, event->payload, event->words * sizeof *at);
    *at = event->tick << HEURT_ID_BITS | id;
    if (is_wide)
        at[1] = event->id & ~1u;
    return 1 + is_wide + event->words;
}

static size_t bytes_of(const struct excerpt_thread *thread)
{
    size_t bytes = sizeof(struct heurt_chunk) + thread->words.count * sizeof(uint64_t);
    return (bytes + HEURT_PACKED_UNIT_BYTES - 1) / HEURT_PACKED_UNIT_BYTES *
           HEURT_PACKED_UNIT_BYTES;
}

/* The words into a chunk at at; the thread has no other. */
static void put_chunk(struct trace_thread *thread, struct excerpt_thread *events, char *at)
{
    struct heurt_chunk *chunk = (struct heurt_chunk *)at;
    *chunk = (struct heurt_chunk){.magic = HEURT_CHUNK_MAGIC,
                                  .kind = HEURT_CHUNK_EVENTS,
                                  .units = (uint32_t)(bytes_of(events) / HEURT_PACKED_UNIT_BYTES),
                                  .thread = thread->serial,
                                  .start = {.tick = events->start_tick}};
    if (events->words.count)
        memcpy(chunk + 1, events->words.items, events->words.count * sizeof(uint64_t));
    vec__free(&events->words);
    thread->chunks = VEC_OF(const struct heurt_chunk *);
    vec__push(&thread->chunks, &chunk);
    thread->start_tick = events->start_tick;
    thread->end_tick = events->end_tick;
    thread->cpu_ns = thread->runnable_ns = UINT64_MAX;
    thread->aggregate = NULL;
    thread->life = NULL;
    thread->first_chunk = 0;
    thread->opening = thread->closing = VEC_OF(uint64_t);
    thread->stacked = VEC_OF(struct earlier_call);
}

static void put_threads(struct trace *excerpt, const struct trace *trace,
                        struct excerpt_thread *threads)
{
    size_t bytes = 0;
    for (size_t i = 0; i < trace->threads.count; i++)
        bytes += bytes_of(&threads[i]);
    char *at = memory__zeroed(bytes, 1);
    excerpt->bytes = excerpt->copy = at;
    excerpt->size = bytes;
    excerpt->first_tick = trace->threads.count ? UINT64_MAX : trace->first_tick;
    excerpt->last_tick = 0;
    for (size_t i = 0; i < trace->threads.count; i++) {
        struct trace_thread *thread =
            vec__push(&excerpt->threads, VEC_AT(&trace->threads, struct trace_thread, i));
        size_t length = bytes_of(&threads[i]);
        put_chunk(thread, &threads[i], at);
        at += length;
        if (thread->start_tick < excerpt->first_tick)
            excerpt->first_tick = thread->start_tick;
        if (thread->end_tick > excerpt->last_tick)
            excerpt->last_tick = thread->end_tick;
    }
}

struct trace *trace__excerpt(const struct trace *trace, struct excerpt_thread *threads,
                             uint64_t end_tick)
{
    struct trace *excerpt = memory__zeroed(1, sizeof *excerpt);
    *excerpt = *trace;
    excerpt->threads = VEC_OF(struct trace_thread);
    excerpt->session.packed_bytes = 1; /* its units are the small ones */
    excerpt->session.end.tick = end_tick;
    excerpt->from_tick = 0;
    excerpt->behind_tick = UINT64_MAX;
    put_threads(excerpt, trace, threads);
    excerpt->damage = memory__zeroed(1, sizeof *excerpt->damage);
    excerpt->damage->chunks =
        memory__zeroed(excerpt->size / HEURT_PACKED_UNIT_BYTES / 64 + 1, sizeof(uint64_t));
    return excerpt;
}

void trace__empty_excerpt(struct trace *excerpt)
{
    VEC_EACH (thread, &excerpt->threads, struct trace_thread)
        vec__free(&thread->chunks);
    free(excerpt->copy);
    excerpt->bytes = excerpt->copy = NULL;
    excerpt->size = 0;
}

void trace__close_excerpt(struct trace *excerpt)
{
    if (!excerpt)
        return;
    trace__empty_excerpt(excerpt);
    vec__free(&excerpt->threads);
    free(excerpt->damage->chunks);
    free(excerpt->damage);
    free(excerpt);
}
