/* cursor.c: walking the events of one thread. */
#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>
#include <sys/mman.h>

/* ---- chunks of the file ---------------------------------------------------------------------- */

const char *trace__chunk_end(const struct trace *trace, const struct heurt_chunk *chunk)
{
    size_t left = trace->size - (size_t)((const char *)chunk - trace->bytes);
    uint64_t bytes = (uint64_t)chunk->units * trace__unit_bytes(trace);
    return (const char *)chunk + (bytes < left ? bytes : left);
}

void trace__mark_damaged(const struct trace *trace, const struct heurt_chunk *chunk)
{
    size_t unit = (size_t)((const char *)chunk - trace->bytes) / trace__unit_bytes(trace);
    uint64_t bit = 1ull << unit % 64;
    struct damage *damage = trace->damage;
    if (!(__atomic_fetch_or(&damage->chunks[unit / 64], bit, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_add(&damage->places, 1, __ATOMIC_RELAXED);
}

/* ---- packed chunks --------------------------------------------------------------------------- */

struct block_unpacker *trace__take_unpacker(const struct trace *trace)
{
    struct block_unpacker *unpacker = NULL;
    for (unsigned i = 0; i < UNPACKERS && !unpacker; i++)
        unpacker = __atomic_exchange_n(&trace->unpackers[i], NULL, __ATOMIC_ACQUIRE);
    return unpacker ? unpacker : block_unpacker__new();
}

void trace__give_unpacker(const struct trace *trace, struct block_unpacker *unpacker)
{
    for (unsigned i = 0; i < UNPACKERS && unpacker; i++)
        unpacker = __atomic_exchange_n(&trace->unpackers[i], unpacker, __ATOMIC_ACQ_REL);
    block_unpacker__free(unpacker);
}

/* The words of a block into the cursor's memory, as which they are walked. */
static bool unpack(struct trace_cursor *cursor, const struct heurt_packed_block *block)
{
    if (block->words > cursor->unpacked_words) {
        free(cursor->unpacked);
        cursor->unpacked = memory__resize(NULL, block->words, sizeof *cursor->unpacked);
        cursor->unpacked_words = block->words;
    }
    struct block_unpacker *unpacker = trace__take_unpacker(cursor->trace);
    bool good =
        block_unpacker__unpack(unpacker, block, cursor->chunk->start.tick, cursor->unpacked);
    trace__give_unpacker(cursor->trace, unpacker);
    cursor->at = cursor->unpacked;
    cursor->end = cursor->unpacked + block->words;
    return good;
}

/* Goes to the start of the chunk's next block that can be unpacked. */
static bool go_to_block(struct trace_cursor *cursor)
{
    while (cursor->next_block) {
        const void *block = cursor->next_block;
        size_t length = block__length(block, (size_t)(cursor->blocks_end - cursor->next_block));
        bool is_block = length && length != SIZE_MAX;
        cursor->next_block = is_block ? cursor->next_block + length : NULL;
        if (is_block && unpack(cursor, block))
            return true;
        if (length)
            trace__mark_damaged(cursor->trace, cursor->chunk);
        cursor->at = cursor->end = NULL;
    }
    return false;
}

/* ---- cursors --------------------------------------------------------------------------------- */

void trace_cursor__go_to(struct trace_cursor *cursor, const struct heurt_chunk *chunk)
{
    const char *end = trace__chunk_end(cursor->trace, chunk);
    cursor->chunk = chunk;
    cursor->tick = chunk->start.tick;
    cursor->at = cursor->end = NULL;
    cursor->next_block = NULL;
    if (trace__is_packed(cursor->trace, chunk)) {
        cursor->next_block = (const char *)(chunk + 1);
        cursor->blocks_end = end;
        return;
    }
    cursor->at = (const uint64_t *)(chunk + 1);
    cursor->end = cursor->at + (end - (const char *)cursor->at) / (ptrdiff_t)sizeof *cursor->at;
}

/* Passes what an aggregated run has folded of the chunk. */
static void pass_folded(struct trace_cursor *cursor)
{
    const struct trace_aggregate *aggregate = cursor->thread->aggregate;
    if (!aggregate || !cursor->at) /* at: aggregated runs are never packed */
        return;
    const struct heurt_thread_record *record = aggregate->record;
    size_t words = (size_t)(cursor->end - cursor->at);
    if (cursor->chunk->sequence < record->folded_sequence || record->folded_words > words)
        cursor->at = cursor->end;
    else if (cursor->chunk->sequence == record->folded_sequence)
        cursor->at += record->folded_words;
}

/* Chunks that are shorter than what trace__drop_pages gives back stay, so that a trace of many
 * short threads would be in memory as a whole: after so many all of it goes, and what is in use is
 * mapped again. */
#define CHUNKS_DROPPED 1024u

static void drop_passed(const struct trace_cursor *cursor)
{
    const struct trace *trace = cursor->trace;
    trace__drop_pages(trace, cursor->chunk);
    if (trace->mapped_bytes && trace__chunks_walked(trace) % CHUNKS_DROPPED == 0)
        madvise((char *)(uintptr_t)trace->bytes, trace->mapped_bytes, MADV_DONTNEED);
}

/* Goes to the start of the thread's chunk with that index; false when there is none. */
static bool go_to_chunk(struct trace_cursor *cursor, size_t index)
{
    cursor->at = cursor->end = NULL;
    if (cursor->chunk && cursor->trace->size > TRACE_KEPT_BYTES)
        drop_passed(cursor);
    if (index >= cursor->thread->chunks.count)
        return false;
    cursor->next_chunk = index + 1;
    __atomic_fetch_add(&cursor->trace->walked->chunks, 1, __ATOMIC_RELAXED);
    trace_cursor__go_to(cursor,
                        *VEC_AT(&cursor->thread->chunks, const struct heurt_chunk *, index));
    pass_folded(cursor);
    return true;
}

/* Goes to the words that stand in for what is not in a part. */
static void go_to_edge(struct trace_cursor *cursor, const struct vec *words, uint64_t tick)
{
    cursor->tick = tick;
    cursor->at = words->items;
    cursor->end = words->count ? cursor->at + words->count : cursor->at;
}

/* Passes what the chunks have behind the part, once; false: there is no closing of it. */
static bool go_to_closing(struct trace_cursor *cursor)
{
    const struct trace_thread *thread = cursor->thread;
    bool is_open = !cursor->closes && thread->closing.count;
    cursor->closes = true;
    cursor->next_chunk = thread->chunks.count;
    cursor->next_block = NULL;
    cursor->at = cursor->end = NULL;
    if (is_open)
        go_to_edge(cursor, &thread->closing, cursor->trace->behind_tick - 1);
    return is_open;
}

uint64_t trace__chunks_walked(const struct trace *trace)
{
    return __atomic_load_n(&trace->walked->chunks, __ATOMIC_RELAXED);
}

uint64_t trace__cursors_started(const struct trace *trace)
{
    return __atomic_load_n(&trace->walked->cursors, __ATOMIC_RELAXED);
}

void trace_cursor__start(struct trace_cursor *cursor, const struct trace *trace,
                         const struct trace_thread *thread)
{
    const struct trace_process *process =
        VEC_AT(&trace->processes, struct trace_process, thread->process);
    *cursor = (struct trace_cursor){
        .trace = trace,
        .thread = thread,
        .payload_words = process->payload_words,
        .payload_ids = process->payload_ids,
        .kernel = thread->life ? kernel_cursor__new(trace, thread) : NULL,
        .next_chunk = thread->first_chunk,
    };
    cursor->recorded_until = cursor->kernel ? 0 : trace->behind_tick;
    go_to_edge(cursor, &thread->opening, trace->from_tick);
    __atomic_fetch_add(&trace->walked->cursors, 1, __ATOMIC_RELAXED);
}

/* Words of a FUNCTION event behind its first: the id, then what that function's events have. */
static size_t function_words(const struct trace_cursor *cursor, const uint64_t *at, size_t left)
{
    if (left == 0 || at[1] < HEURT_EVENT_FUNCTIONS || at[1] + 1 >= cursor->payload_ids || at[1] % 2)
        return SIZE_MAX;
    size_t words = cursor->payload_words[at[1] | (*at & 1)];
    return words ? words : SIZE_MAX;
}

/* Payload words of the event at at, or SIZE_MAX when it cannot be understood. */
static inline size_t payload_words(const struct trace_cursor *cursor, const uint64_t *at)
{
    uint32_t id = event__id(*at);
    size_t left = (size_t)(cursor->end - at) - 1;
    if (id >= cursor->payload_ids || !cursor->payload_words[id])
        return SIZE_MAX;
    size_t words = cursor->payload_words[id] - 1u;
    if ((id | 1) == (HEURT_EVENT_FUNCTION | 1))
        words = function_words(cursor, at, left);
    if (words == PAYLOAD_VARIABLE - 1u) {
        if (left == 0 || at[1] >= left)
            return SIZE_MAX;
        words = at[1] + 1;
    }
    return words <= left ? words : SIZE_MAX;
}

/* Whether an event can begin here, behind words that were never written. */
static bool is_event_behind_hole(const struct trace_cursor *cursor, const uint64_t *at)
{
    uint64_t end = cursor->trace->session.end.tick;
    uint64_t tick = event__whole_tick(cursor->tick, *at);
    return payload_words(cursor, at) != SIZE_MAX && event__follows(cursor->tick, *at) &&
           (!end || tick <= end);
}

/* Words that are zero end a chunk, but some may lie between events: a signal handler that jumped
 * away (siglongjmp) had interrupted the runtime between claiming room and writing. Goes behind
 * them, or to the end. */
static __attribute__((noinline)) bool skip_hole(struct trace_cursor *cursor)
{
    const uint64_t *at = cursor->at;
    while (at < cursor->end && (*at == 0 || !is_event_behind_hole(cursor, at)))
        at++;
    cursor->at = at;
    return at < cursor->end;
}

/* The next event of the chunk, or of the block of it, that the cursor is in. */
static inline bool next_in_words(struct trace_cursor *cursor, struct event *event)
{
    if (cursor->at >= cursor->end || (*cursor->at == 0 && !skip_hole(cursor)))
        return false;
    const uint64_t *at = cursor->at;
    size_t words = payload_words(cursor, at);
    if (words == SIZE_MAX) {
        trace__mark_damaged(cursor->trace, cursor->chunk);
        cursor->next_block = NULL;
        return false;
    }
    event->tick = cursor->tick = event__whole_tick(cursor->tick, *at);
    event->id = event__id(*at);
    event->words = (uint32_t)words;
    event->payload = at + 1;
    cursor->event = at;
    cursor->at = at + 1 + words;
    if ((event->id | 1) == (HEURT_EVENT_FUNCTION | 1)) {
        event->id = (uint32_t)at[1] | (event->id & 1);
        event->words--;
        event->payload++;
    }
    return true;
}

bool trace_cursor__next_in_chunk(struct trace_cursor *cursor, struct event *event)
{
    while (!next_in_words(cursor, event))
        if (!go_to_block(cursor))
            return false;
    return true;
}

bool trace_cursor__is_at_end(const struct trace_cursor *cursor)
{
    return cursor->at >= cursor->end;
}

static bool is_time_off(const struct event *event)
{
    return (event->id == HEURT_EVENT_OFF_CPU || event->id == HEURT_EVENT_FAULT) &&
           event->words == CUT_WORDS;
}

bool trace_cursor__next_recorded(struct trace_cursor *cursor, struct event *event)
{
    const struct trace *trace = cursor->trace;
    for (;;) {
        if (!next_in_words(cursor, event)) {
            if (!go_to_block(cursor) && !go_to_chunk(cursor, cursor->next_chunk) &&
                !go_to_closing(cursor))
                return false;
        } else if (event->tick >= trace->behind_tick) {
            go_to_closing(cursor);
        } else if (event->tick >= trace->from_tick) {
            if (trace->from_tick && is_time_off(event))
                event__cut(event, trace->from_tick, UINT64_MAX, cursor->cut);
            return true;
        }
    }
}

bool trace_cursor__next_any(struct trace_cursor *cursor, struct event *event)
{
    bool taken = cursor->recorded_until && next_in_words(cursor, event);
    if (taken && event->tick < cursor->recorded_until)
        return true;
    if (taken && event->tick >= cursor->trace->behind_tick) {
        go_to_closing(cursor);
        taken = false;
    }
    bool has = cursor->kernel ? kernel_cursor__next(cursor->kernel, cursor, taken, event)
                              : trace_cursor__next_recorded(cursor, event);
    if (!has)
        trace_cursor__stop(cursor);
    return has;
}

/* Passes events of functions that stand in the words one after the other. */
static void pass_functions(struct trace_cursor *cursor)
{
    const uint64_t *at = cursor->at;
    uint64_t tick = cursor->tick;
    while (at < cursor->end) {
        uint32_t id = event__id(*at);
        size_t words = id < cursor->payload_ids ? cursor->payload_words[id] : 0;
        uint64_t next = event__whole_tick(tick, *at);
        if (id < HEURT_EVENT_FUNCTIONS || !words || words > (size_t)(cursor->end - at) ||
            next >= cursor->recorded_until)
            break;
        tick = next;
        at += words;
    }
    cursor->at = at;
    cursor->tick = tick;
}

bool trace_cursor__next_fixed(struct trace_cursor *cursor, struct event *event)
{
    do {
        pass_functions(cursor);
        if (!trace_cursor__next_any(cursor, event))
            return false;
    } while (event->id >= HEURT_EVENT_FUNCTIONS);
    return true;
}

void trace_cursor__stop(struct trace_cursor *cursor)
{
    kernel_cursor__free(cursor->kernel);
    cursor->kernel = NULL;
    free(cursor->unpacked);
    cursor->unpacked = NULL;
    cursor->unpacked_words = 0;
    cursor->at = cursor->end = NULL;
    cursor->next_block = NULL;
}

/* ---- bounds of threads ----------------------------------------------------------------------- */

static void keep_start(struct trace_thread *thread, const struct event *event)
{
    thread->start_tick = event->tick;
    thread->start_routine = event->words >= 3 ? event->payload[2] : 0;
}

static void find_start(struct trace_cursor *cursor, struct trace_thread *thread)
{
    struct event event;
    if (!go_to_chunk(cursor, 0))
        return;
    thread->start_tick = cursor->tick;
    while (trace_cursor__next_in_chunk(cursor, &event))
        if (event.id == HEURT_EVENT_THREAD_START) {
            keep_start(thread, &event);
            return;
        }
}

/* Looks for the end of the thread in one chunk; whether there was any event. */
static bool find_end(struct trace_cursor *cursor, struct trace_thread *thread, size_t chunk)
{
    struct event event;
    bool any = false;
    go_to_chunk(cursor, chunk);
    for (; trace_cursor__next_in_chunk(cursor, &event); any = true) {
        if (event.tick > thread->end_tick || !any)
            thread->end_tick = event.tick;
        if (event.id != HEURT_EVENT_THREAD_END)
            continue;
        thread->end_tick = event.tick;
        thread->ended = true;
        thread->cpu_ns = event.payload[0];
        thread->runnable_ns = event.payload[1];
        return true;
    }
    return any;
}

/* What was folded is in the record; behind it come the few events that were not. */
static void find_aggregate_bounds(struct trace_cursor *cursor, struct trace_thread *thread)
{
    const struct heurt_thread_record *record = thread->aggregate->record;
    thread->start_tick = record->start_tick;
    thread->end_tick = record->end_tick;
    thread->ended = record->ended;
    thread->cpu_ns = record->cpu_ns;
    thread->runnable_ns = record->runnable_ns;
    struct event event;
    while (trace_cursor__next(cursor, &event)) {
        if (event.id == HEURT_EVENT_THREAD_START)
            keep_start(thread, &event);
        if (!thread->ended)
            thread->end_tick = event.tick;
        if (event.id == HEURT_EVENT_THREAD_END) {
            thread->ended = true;
            thread->cpu_ns = event.payload[0];
            thread->runnable_ns = event.payload[1];
        }
    }
}

/* THREAD_START is in the first chunk and THREAD_END in the last one that holds anything: only
 * these are read. */
void trace_thread__find_bounds(const struct trace *trace, struct trace_thread *thread)
{
    struct trace_cursor cursor;
    thread->cpu_ns = thread->runnable_ns = UINT64_MAX;
    trace_cursor__start(&cursor, trace, thread);
    if (thread->aggregate) {
        find_aggregate_bounds(&cursor, thread);
    } else {
        find_start(&cursor, thread);
        thread->end_tick = thread->start_tick;
        for (size_t i = thread->chunks.count; i-- > 0;)
            if (find_end(&cursor, thread, i))
                break;
    }
    if (thread->end_tick < thread->start_tick)
        thread->end_tick = thread->start_tick;
    trace_cursor__stop(&cursor);
}
