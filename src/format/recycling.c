#include "format/recycling.h"

#include "base/memory.h"
#include "base/vec.h"
#include "format/layout.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES ((size_t)HEURT_CELL_UNITS * HEURT_UNIT_BYTES)
#define LEAST_CELLS 16u
#define FREE_PART 4u /* so much of the ring, one in, is free or about to be */

struct recycling {
    char *bytes;
    struct heurt_cells *cells; /* in the file; recorded processes write it, too */
    uint64_t first_unit, count;
    struct vec free; /* uint64_t: units that are cleared, and not given out */
    struct vec used; /* struct used_cell: as found by a look */
    uint64_t whole_tick;
};

/* A cell with a chunk in it. */
struct used_cell {
    uint64_t unit, tick, sequence;
    uint64_t end_tick; /* nothing in it is later */
    uint32_t kind, process, thread, pid, tid;
};

struct recycling *recycling__new(char *bytes, uint64_t units)
{
    struct heurt_session *session = (struct heurt_session *)bytes;
    struct recycling *recycling = memory__zeroed(1, sizeof *recycling);
    uint64_t count = units / HEURT_CELL_UNITS;
    recycling->bytes = bytes;
    recycling->count = count < LEAST_CELLS ? LEAST_CELLS : count;
    recycling->free = VEC_OF(uint64_t);
    recycling->used = VEC_OF(struct used_cell);
    session->cells_unit = session->next_unit;
    recycling->first_unit = session->cells_unit + 1;
    session->next_unit = recycling->first_unit + recycling->count * HEURT_CELL_UNITS;
    if (session->next_unit > session->limit_units)
        return recycling; /* it is too large, which the caller sees */
    struct heurt_chunk *chunk = (void *)(bytes + session->cells_unit * HEURT_UNIT_BYTES);
    *chunk = (struct heurt_chunk){.magic = HEURT_CHUNK_MAGIC,
                                  .kind = HEURT_CHUNK_CELLS,
                                  .units = 1,
                                  .process = HEURT_NO_SERIAL,
                                  .thread = HEURT_NO_SERIAL,
                                  .pid = session->recorder_pid,
                                  .tid = session->recorder_pid};
    recycling->cells = (struct heurt_cells *)(chunk + 1);
    for (uint64_t i = recycling->count; i-- > 0;) {
        uint64_t unit = recycling->first_unit + i * HEURT_CELL_UNITS;
        vec__push(&recycling->free, &unit);
    }
    return recycling;
}

void recycling__free(struct recycling *recycling)
{
    if (!recycling)
        return;
    vec__free(&recycling->free);
    vec__free(&recycling->used);
    free(recycling);
}

static struct heurt_chunk *chunk_at(const struct recycling *recycling, uint64_t unit)
{
    return (struct heurt_chunk *)(recycling->bytes + unit * HEURT_UNIT_BYTES);
}

/* ---- what is in them --------------------------------------------------------------------------
 */

static bool are_of_one(const struct used_cell *a, const struct used_cell *b)
{
    return a->kind == b->kind && a->process == b->process && a->thread == b->thread;
}

static int by_writer(const void *a, const void *b)
{
    const struct used_cell *x = a, *y = b;
    return ORDER(x->kind, y->kind) ?: ORDER(x->process, y->process)
                                  ?: ORDER(x->thread, y->thread) ?: ORDER(x->sequence, y->sequence);
}

static int by_age(const void *a, const void *b)
{
    const struct used_cell *x = a, *y = b;
    return ORDER(x->tick, y->tick) ?: ORDER(x->unit, y->unit);
}

static void find_used(struct recycling *recycling)
{
    recycling->used.count = 0;
    for (uint64_t i = 0; i < recycling->count; i++) {
        uint64_t unit = recycling->first_unit + i * HEURT_CELL_UNITS;
        const struct heurt_chunk *chunk = chunk_at(recycling, unit);
        if (__atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) != HEURT_CHUNK_MAGIC)
            continue;
        struct used_cell cell = {unit,        chunk->start.tick, chunk->sequence, chunk->start.tick,
                                 chunk->kind, chunk->process,    chunk->thread,   chunk->pid,
                                 chunk->tid};
        vec__push(&recycling->used, &cell);
    }
}

/* A thread that is no more writes nothing; one that cannot be asked for is taken to live. */
static bool is_gone(const struct used_cell *cell)
{
    return cell->kind == HEURT_CHUNK_EVENTS && kill((pid_t)cell->pid, 0) < 0 && errno == ESRCH;
}

/* Whether the thread has said that it ends. */
static bool has_ended(const struct recycling *recycling, const struct used_cell *cell)
{
    const struct heurt_chunk *chunk = chunk_at(recycling, cell->unit);
    const uint64_t *first = (const uint64_t *)(chunk + 1);
    const uint64_t *at = (const uint64_t *)((const char *)chunk + CELL_BYTES);
    while (at > first && !at[-1])
        at--;
    for (int i = 0; i < 3 && at-- > first; i++)
        if ((*at & ((1u << HEURT_ID_BITS) - 1)) == HEURT_EVENT_THREAD_END)
            return cell->kind == HEURT_CHUNK_EVENTS &&
                   (kill((pid_t)cell->tid, 0) < 0 && errno == ESRCH);
    return false;
}

/* Leaves in used those that nobody writes any more: behind which their writer has another one. */
static void keep_left(struct recycling *recycling)
{
    struct used_cell *cells = recycling->used.items;
    size_t kept = 0, count = recycling->used.count;
    vec__sort(&recycling->used, by_writer);
    for (size_t i = 0; i < count; i++) {
        bool has_next = i + 1 < count && are_of_one(&cells[i], &cells[i + 1]);
        if (has_next)
            cells[i].end_tick = cells[i + 1].tick;
        if (has_next || is_gone(&cells[i]) || has_ended(recycling, &cells[i]))
            cells[kept++] = cells[i];
    }
    recycling->used.count = kept;
}

/* ---- taking back ------------------------------------------------------------------------------
 */

static void take_back(struct recycling *recycling, uint64_t unit)
{
    struct heurt_chunk *chunk = chunk_at(recycling, unit);
    __atomic_store_n(&chunk->magic, 0, __ATOMIC_RELEASE);
    memset(chunk, 0, CELL_BYTES);
    vec__push(&recycling->free, &unit);
}

static uint64_t count_given(const struct recycling *recycling)
{
    uint64_t given = 0;
    for (size_t i = 0; i < HEURT_CELLS_MAX; i++)
        given += __atomic_load_n(&recycling->cells->units[i], __ATOMIC_RELAXED) != 0;
    return given;
}

static void take_back_oldest(struct recycling *recycling, uint64_t wanted)
{
    find_used(recycling);
    keep_left(recycling);
    vec__sort(&recycling->used, by_age);
    VEC_EACH (cell, &recycling->used, struct used_cell)
        if (wanted && wanted--) {
            bool is_newer =
                cell->kind == HEURT_CHUNK_EVENTS && cell->end_tick > recycling->whole_tick;
            recycling->whole_tick = is_newer ? cell->end_tick : recycling->whole_tick;
            take_back(recycling, cell->unit);
        }
}

uint64_t recycling__whole_tick(const struct recycling *recycling)
{
    return recycling->whole_tick;
}

bool recycling__look(struct recycling *recycling)
{
    uint64_t given = count_given(recycling), free = recycling->free.count + given;
    uint64_t wanted = recycling->count / FREE_PART;
    bool is_full = given >= HEURT_CELLS_MAX;
    if (free < wanted)
        take_back_oldest(recycling, wanted - free);
    uint64_t before = recycling->free.count;
    for (size_t i = 0; i < HEURT_CELLS_MAX && recycling->free.count && !is_full; i++) {
        uint64_t none = 0;
        const uint64_t *last = VEC_AT(&recycling->free, uint64_t, recycling->free.count - 1);
        if (__atomic_compare_exchange_n(&recycling->cells->units[i], &none, *last, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            recycling->free.count--;
    }
    return before != recycling->free.count;
}

uint64_t recycling__take(struct recycling *recycling)
{
    for (size_t i = HEURT_CELLS_MAX; i-- > 0;) {
        uint64_t unit = __atomic_exchange_n(&recycling->cells->units[i], 0, __ATOMIC_ACQUIRE);
        bool is_cell = unit >= recycling->first_unit &&
                       (unit - recycling->first_unit) % HEURT_CELL_UNITS == 0 &&
                       (unit - recycling->first_unit) / HEURT_CELL_UNITS < recycling->count;
        if (is_cell)
            return unit;
    }
    return 0;
}
