#include "format/retime.h"

#include "format/access_layout.h"

#include <string.h>

/* The chunk, and its copy at the same place of which things are changed. */
struct retiming {
    const struct trace *trace;
    const struct heurt_chunk *chunk;
    char *copy;
    size_t bytes;
    const struct clock_map *map;
};

/* What is at that place of the chunk in the copy. */
static void *changed(const struct retiming *retiming, const void *at)
{
    return retiming->copy + ((const char *)at - (const char *)retiming->chunk);
}

static void retime_tick(const struct retiming *retiming, uint64_t *tick)
{
    if (*tick && *tick != UINT64_MAX)
        *tick = clock_map__tick(retiming->map, *tick);
}

static void retime_ns(const struct retiming *retiming, uint64_t *ns)
{
    *ns = clock_map__ns(retiming->map, *ns);
}

static void retime_pair(const struct clock_map *map, struct heurt_clock_pair *pair)
{
    pair->tick = clock_map__tick(map, pair->tick);
    pair->monotonic_ns = clock_map__ns(map, pair->monotonic_ns);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void retime_span(const struct retiming *retiming, uint64_t *ticks)
{
    *ticks = (uint64_t)((double)*ticks * retiming->map->rate);
}

/* Ticks in the low bits, something else above them. */
static void retime_low_span(const struct retiming *retiming, uint64_t *word)
{
    uint64_t ticks = HEURT_SITE_ADDRESS(*word);
    if (ticks == HEURT_NOT_KNOWN)
        return;
    retime_span(retiming, &ticks);
    *word = HEURT_SITE(ticks, HEURT_SITE_HOW(*word));
}

static void retime_payload(const struct retiming *retiming, uint32_t id, uint64_t *words)
{
    switch (id) {
    case HEURT_EVENT_OFF_CPU:
        retime_low_span(retiming, &words[0]);
        retime_low_span(retiming, &words[1]);
        return;
    case HEURT_EVENT_FAULT:
        retime_low_span(retiming, &words[0]);
        return;
    case HEURT_EVENT_LOCK_HELD:
    case HEURT_EVENT_THREAD_CREATED:
        retime_span(retiming, &words[2]);
        return;
    case HEURT_EVENT_PAUSED:
        retime_span(retiming, &words[0]);
        return;
    case HEURT_EVENT_OPENMP_END:
        retime_span(retiming, &words[1]);
        return;
    default:
        return;
    }
}

/* word: the first one of an event, in the trace. */
static void retime_event(const struct retiming *retiming, const uint64_t *word, uint64_t tick)
{
    uint32_t id = event__id(*word);
    uint64_t *at = changed(retiming, word);
    *at = clock_map__tick(retiming->map, tick) << HEURT_ID_BITS | id;
    retime_payload(retiming, id, at + 1);
}

static const struct trace_thread *thread_of(const struct trace *trace, uint32_t serial)
{
    VEC_EACH (thread, &trace->threads, const struct trace_thread)
        if (thread->serial == serial)
            return thread;
    return NULL;
}

static void retime_events(const struct retiming *retiming)
{
    const struct trace_thread *thread = thread_of(retiming->trace, retiming->chunk->thread);
    struct trace_cursor cursor;
    struct event event;
    if (!thread)
        return;
    trace_cursor__start(&cursor, retiming->trace, thread);
    trace_cursor__go_to(&cursor, retiming->chunk);
    while (trace_cursor__next_in_chunk(&cursor, &event))
        retime_event(retiming, cursor.event, event.tick);
    trace_cursor__stop(&cursor);
}

static const char *end_of(const struct retiming *retiming)
{
    return (const char *)retiming->chunk + retiming->bytes;
}

static void retime_run(const struct retiming *retiming, const struct heurt_run *run)
{
    struct trace_cursor words = {.trace = retiming->trace,
                                 .payload_words = event_payload_words,
                                 .payload_ids = HEURT_EVENT_FUNCTIONS,
                                 .chunk = retiming->chunk,
                                 .tick = run->tick,
                                 .at = (const uint64_t *)(run + 1),
                                 .end = (const uint64_t *)((const char *)run + run->bytes)};
    struct event event;
    while (trace_cursor__next_in_chunk(&words, &event))
        retime_event(retiming, words.event, event.tick);
    struct heurt_run *copy = changed(retiming, run);
    uint64_t wait_ticks = run->life.wait_ticks;
    retime_tick(retiming, &copy->tick);
    retime_tick(retiming, &copy->life.start_tick);
    retime_tick(retiming, &copy->life.end_tick);
    retime_tick(retiming, &copy->life.exec_tick);
    retime_span(retiming, &wait_ticks);
    copy->life.wait_ticks = wait_ticks < UINT32_MAX ? (uint32_t)wait_ticks : UINT32_MAX;
}

static void retime_runs(const struct retiming *retiming)
{
    const char *at = (const char *)(retiming->chunk + 1), *end = end_of(retiming);
    while ((size_t)(end - at) >= sizeof(struct heurt_run)) {
        const struct heurt_run *run = (const void *)at;
        if (run->bytes < sizeof *run || run->bytes % 8 || run->bytes > (size_t)(end - at))
            return;
        retime_run(retiming, run);
        at += run->bytes;
    }
}

static void retime_counts(const struct retiming *retiming)
{
    const char *at = (const char *)(retiming->chunk + 1) + sizeof(struct heurt_counts_head);
    const struct heurt_access_count *count = (const void *)at;
    for (; (const char *)(count + 1) <= end_of(retiming) && count->count; count++) {
        struct heurt_access_count *copy = changed(retiming, count);
        retime_tick(retiming, &copy->tick);
    }
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* Rows of so many bytes that begin with a time of CLOCK_MONOTONIC. */
static void retime_rows(const struct retiming *retiming, char *at, size_t bytes, size_t row_bytes)
{
    for (; bytes >= row_bytes; at += row_bytes, bytes -= row_bytes)
        retime_ns(retiming, (uint64_t *)at);
}

/* Where in a definition of that type a tick is; SIZE_MAX: there is none. */
static size_t tick_in(uint32_t type)
{
    switch (type) {
    case HEURT_DEFINITION_PROCESS:
        return offsetof(struct heurt_process, tick);
    case HEURT_DEFINITION_MODULE:
        return offsetof(struct heurt_module, tick);
    case HEURT_DEFINITION_MODULE_GONE:
        return offsetof(struct heurt_module_gone, tick);
    case HEURT_DEFINITION_OBJECT:
        return offsetof(struct heurt_object_name, tick);
    case HEURT_DEFINITION_CLOCK:
        return offsetof(struct heurt_host_clock, tick);
    default:
        return SIZE_MAX;
    }
}

/* 0: it is not of rows. */
static size_t row_bytes_of(uint32_t type)
{
    return type == HEURT_DEFINITION_SAMPLES   ? sizeof(struct heurt_sample)
           : type == HEURT_DEFINITION_PLACED  ? sizeof(struct heurt_placed)
           : type == HEURT_DEFINITION_PAGES   ? sizeof(struct heurt_page)
           : type == HEURT_DEFINITION_ANSWERS ? sizeof(struct heurt_answer)
                                              : 0;
}

static void retime_definitions(const struct retiming *retiming)
{
    char *at = retiming->copy + sizeof *retiming->chunk, *end = retiming->copy + retiming->bytes;
    struct heurt_definition head;
    while ((size_t)(end - at) >= sizeof head) {
        memcpy(&head, at, sizeof head);
        if (head.bytes < sizeof head || head.bytes % 8 || head.bytes > (size_t)(end - at))
            return;
        char *body = at + sizeof head;
        size_t bytes = head.bytes - sizeof head, tick = tick_in(head.type);
        if (tick < bytes)
            retime_tick(retiming, (uint64_t *)(body + tick));
        if (row_bytes_of(head.type))
            retime_rows(retiming, body, bytes, row_bytes_of(head.type));
        at += head.bytes;
    }
}

/* ---- a chunk --------------------------------------------------------------------------------- */

void trace__retime_chunk(const struct trace *trace, const struct heurt_chunk *chunk, void *copy,
                         size_t bytes, const struct clock_map *map)
{
    const struct retiming retiming = {trace, chunk, copy, bytes, map};
    if (bytes < sizeof *chunk)
        return;
    switch (chunk->kind) {
    case HEURT_CHUNK_EVENTS:
        retime_events(&retiming);
        break;
    case HEURT_CHUNK_KERNEL:
        retime_runs(&retiming);
        break;
    case HEURT_CHUNK_DEFINITIONS:
        retime_definitions(&retiming);
        break;
    case HEURT_CHUNK_COUNTS:
        retime_counts(&retiming);
        break;
    default:
        break;
    }
    retime_pair(map, &((struct heurt_chunk *)copy)->start);
}

void session__retime(struct heurt_session *session, const struct clock_map *map)
{
    retime_pair(map, &session->start);
    if (session->finished)
        retime_pair(map, &session->end);
    if (session->full_tick)
        session->full_tick = clock_map__tick(map, session->full_tick);
}
