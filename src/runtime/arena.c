#include "runtime/arena.h"

#include <sys/mman.h>

/* A piece of private memory; what it holds begins behind this. */
struct arena_piece {
    struct arena_piece *before;
    size_t bytes;
};

#define PIECE_BYTES 65536u

void *pages__map(size_t bytes)
{
    long memory = RAW6(mmap, 0, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory < 0 && memory > -4096 ? NULL : (void *)memory;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

bool quota__has(enum quota quota, uint32_t units)
{
    uint64_t next = __atomic_load_n(&heurt_state.session->next_unit, __ATOMIC_RELAXED);
    uint64_t bound = heurt_state.mapped_units;
    if (quota <= QUOTA_KEPT_THREADS && bound > MODEST_UNITS)
        bound = MODEST_UNITS;
    uint64_t most = bound / QUOTA_ALL * quota;
    return next <= most && units <= most - next;
}

static struct heurt_chunk *take_given_back(void)
{
    spin__lock(&heurt_state.chunks_lock);
    struct heurt_chunk *chunk = heurt_state.chunks_free;
    if (chunk)
        heurt_state.chunks_free = chunk__at(chunk->reserved[0]);
    spin__unlock(&heurt_state.chunks_lock);
    return chunk;
}

struct heurt_chunk *chunk__take(uint32_t units, enum heurt_chunk_kind kind, uint32_t thread,
                                uint64_t sequence)
{
    struct heurt_chunk *chunk = units == ARENA_UNITS ? take_given_back() : NULL;
    if (!chunk)
        return chunk__claim(units, kind, thread, sequence);
    chunk__begin(chunk, units, kind, thread, sequence);
    return chunk;
}

void chunk__give_back(struct heurt_chunk *chunk)
{
    uint32_t units = chunk__units(chunk);
    if (chunk->events_lost)
        __atomic_fetch_add(&heurt_state.session->events_lost, chunk->events_lost, __ATOMIC_RELAXED);
    for (uint32_t i = units / ARENA_UNITS; i-- > 0;) {
        struct heurt_chunk *part = (void *)((char *)chunk + (size_t)i * ARENA_BYTES);
        words__clear(part, ARENA_BYTES / 8);
        chunk__begin(part, ARENA_UNITS, HEURT_CHUNK_FREE, HEURT_NO_SERIAL, 0);
        spin__lock(&heurt_state.chunks_lock);
        part->reserved[0] = chunk__unit(heurt_state.chunks_free);
        heurt_state.chunks_free = part;
        spin__unlock(&heurt_state.chunks_lock);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static bool add_chunk(struct arena *arena, uint32_t bytes, enum quota quota)
{
    uint32_t units =
        (uint32_t)((bytes + sizeof(struct heurt_chunk) + ARENA_BYTES - 1) / ARENA_BYTES) *
        ARENA_UNITS;
    if (!quota__has(quota, units) && !(units == ARENA_UNITS && heurt_state.chunks_free))
        return false;
    struct heurt_chunk *chunk =
        chunk__take(units, HEURT_CHUNK_AGGREGATES, arena->thread, arena->sequence);
    if (!chunk)
        return false;
    arena->sequence++;
    chunk->reserved[0] = chunk__unit(arena->chunks);
    arena->chunks = chunk;
    arena->next = (uint8_t *)(chunk + 1);
    arena->end = (uint8_t *)chunk + (size_t)units * HEURT_UNIT_BYTES;
    return true;
}

void *arena__record(struct arena *arena, uint32_t bytes, enum quota quota)
{
    if ((size_t)(arena->end - arena->next) < bytes && !add_chunk(arena, bytes, quota))
        return NULL;
    void *record = arena->next;
    arena->next += bytes;
    return record;
}

void record__publish(void *record, uint32_t bytes, enum heurt_record_type type)
{
    struct heurt_record *header = record;
    header->bytes = bytes;
    __atomic_store_n(&header->type, type, __ATOMIC_RELEASE);
}

/* ---- private memory -------------------------------------------------------------------------- */

void *arena__own(struct arena *arena, size_t bytes)
{
    if ((size_t)(arena->own_end - arena->own_next) < bytes) {
        struct arena_piece *piece = pages__map(PIECE_BYTES);
        if (!piece)
            return NULL;
        *piece = (struct arena_piece){arena->pieces, PIECE_BYTES};
        arena->pieces = piece;
        arena->own_next = (uint8_t *)(piece + 1);
        arena->own_end = (uint8_t *)piece + PIECE_BYTES;
    }
    void *memory = arena->own_next;
    arena->own_next += bytes;
    return memory;
}

void arena__forget(struct arena *arena)
{
    while (arena->pieces) {
        struct arena_piece *piece = arena->pieces;
        arena->pieces = piece->before;
        RAW2(munmap, piece, piece->bytes);
    }
}

void arena__free(struct arena *arena)
{
    arena__forget(arena);
    while (arena->chunks) {
        struct heurt_chunk *chunk = arena->chunks;
        arena->chunks = chunk__at(chunk->reserved[0]);
        chunk__give_back(chunk);
    }
}
