#include "locks_fixture.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull
#define MILLISECOND 1000000ull
#define MICROSECOND 1000ull
#define START 1000 /* tick of the session's start: ticks are ns */
#define STEPS 120

enum { AT_TABLE_LOCK = 0x4a0100, AT_GATE = 0x4a0080, AT_STATS_LOCK = 0x4a0200 };

static void name_variable(struct locks_fixture *locks, uint64_t address, const char *variable)
{
    const struct symbol symbol = {.function = variable,
                                  .module = "/opt/ingest/bin/ingest",
                                  .file = "/src/ingest/table.c",
                                  .line = 12,
                                  .named = true};
    symbols__put_variable(locks->fixture.symbols, 0, address, &symbol);
}

/* Durations around mean_ns, one of them max_ns. */
static struct lock_times times_of(uint64_t count, uint64_t mean_ns, uint64_t max_ns)
{
    struct lock_times times = {.count = count, .sum_ns = count * mean_ns, .max_ns = max_ns};
    if (count == 0)
        return (struct lock_times){0};
    unsigned middle = 63u - (unsigned)__builtin_clzll(mean_ns | 1);
    times.buckets[middle] = count - count / 4 - 1;
    times.buckets[middle ? middle - 1 : 0] += count / 4;
    times.buckets[63u - (unsigned)__builtin_clzll(max_ns | 1)]++;
    return times;
}

static struct lock_row *add_row(struct locks_fixture *locks, enum class_kind kind, uint64_t address)
{
    struct lock_row *row = vec__push(&locks->result.rows, NULL);
    row->object =
        (struct sync_object){.kind = kind, .address = address, .initialised_by = SYNC_EVENT_NOBODY};
    row->last_arriver = SYNC_EVENT_NOBODY;
    row->sites = VEC_OF(struct lock_site);
    row->pairs = VEC_OF(struct lock_pair);
    row->longest = VEC_OF(struct lock_wait);
    return row;
}

static void share_out(struct locks_fixture *locks, struct lock_row *row)
{
    row->wait_share = (double)(row->exclusive.wait.sum_ns + row->shared.wait.sum_ns) /
                      (double)locks->result.lifetime_sum_ns;
}

static void add_site(struct lock_row *row, uint64_t site, uint64_t acquisitions, uint64_t contended,
                     uint64_t wait_ns, uint64_t hold_ns)
{
    const struct lock_site entry = {site, acquisitions, contended, wait_ns, hold_ns};
    vec__push(&row->sites, &entry);
}

static void add_pair(struct lock_row *row, uint64_t holder, uint64_t waiter, uint64_t waits,
                     uint64_t wait_ns)
{
    const struct lock_pair pair = {holder, waiter, waits, wait_ns};
    vec__push(&row->pairs, &pair);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void add_queue_lock(struct locks_fixture *locks)
{
    struct lock_row *row = add_row(locks, CLASS_LOCK, AT_QUEUE_LOCK);
    row->object.initialised_site = AT_LOAD;
    row->object.initialised_by = 0;
    row->exclusive = (struct lock_side){.acquisitions = 2000,
                                        .contended = 1800,
                                        .busy = 12,
                                        .gave_up = 1,
                                        .wait = times_of(1800, 22 * MILLISECOND, 40 * MILLISECOND),
                                        .hold = times_of(2000, 4 * MILLISECOND, 19 * MILLISECOND)};
    row->wake = times_of(1790, 52 * MICROSECOND, 900 * MICROSECOND);
    row->on_path = (struct lock_on_path){1600, 1500, 31 * SECOND, 7700 * MILLISECOND};
    add_site(row, AT_PUSH, 1500, 1400, 30 * SECOND, 2 * SECOND);
    add_site(row, AT_WRITE_BATCH, 300, 300, 9 * SECOND, 5900 * MILLISECOND);
    add_site(row, 0x401fff, 200, 100, 600 * MILLISECOND, 100 * MILLISECOND);
    add_pair(row, AT_WRITE_BATCH, AT_PUSH, 1300, 29 * SECOND);
    add_pair(row, AT_PUSH, AT_WRITE_BATCH, 290, 8700 * MILLISECOND);
    add_pair(row, AT_STEAL, AT_PUSH, 100, SECOND);
    static const uint64_t frames[] = {AT_PUSH, AT_PARSE_CALLER, AT_WORKER};
    const struct lock_wait waits[] = {
        {3, 2, AT_PUSH, AT_WRITE_BATCH, 4 * SECOND, 40 * MILLISECOND, frames, 3},
        {4, SYNC_EVENT_NOBODY, AT_PUSH, 0, 9 * SECOND, 31 * MILLISECOND, NULL, 0}};
    for (size_t i = 0; i < 2; i++)
        vec__push(&row->longest, &waits[i]);
    share_out(locks, row);
}

static void add_table_lock(struct locks_fixture *locks)
{
    struct lock_row *row = add_row(locks, CLASS_LOCK, AT_TABLE_LOCK);
    name_variable(locks, AT_TABLE_LOCK, "tables[3].lock");
    row->object.lock = HEURT_LOCK_WRITE;
    row->exclusive = (struct lock_side){.acquisitions = 400,
                                        .contended = 100,
                                        .wait = times_of(100, 30 * MILLISECOND, 80 * MILLISECOND),
                                        .hold = times_of(400, 120 * MICROSECOND, MILLISECOND)};
    row->shared = (struct lock_side){.acquisitions = 1234567,
                                     .contended = 900,
                                     .wait = times_of(900, MILLISECOND, 9 * MILLISECOND),
                                     .hold = times_of(1234567, 300, 70 * MICROSECOND)};
    row->on_path = (struct lock_on_path){120, 40, 1100 * MILLISECOND, 37 * MILLISECOND};
    add_site(row, AT_LOAD, 1234967, 1000, 3900 * MILLISECOND, 418 * MILLISECOND);
    add_pair(row, AT_LOAD, AT_LOAD, 1000, 3900 * MILLISECOND);
    share_out(locks, row);
}

static void add_small_locks(struct locks_fixture *locks)
{
    struct lock_row *spin = add_row(locks, CLASS_LOCK, 0x7ffc12345678);
    spin->object.lock = HEURT_LOCK_SPIN;
    spin->object.initialised_site = AT_PARSE_CALLER;
    spin->exclusive = (struct lock_side){.acquisitions = 50000,
                                         .contended = 400,
                                         .wait = times_of(400, MICROSECOND, 30 * MICROSECOND),
                                         .hold = times_of(50000, 80, 20 * MICROSECOND)};
    share_out(locks, spin);
    struct lock_row *stats = add_row(locks, CLASS_LOCK, AT_STATS_LOCK);
    name_variable(locks, AT_STATS_LOCK, "stats_lock");
    stats->exclusive = (struct lock_side){.acquisitions = 10, .hold = times_of(10, 90, 200)};
    for (uint64_t i = 0; i < 3; i++)
        add_row(locks, CLASS_LOCK, 0x7ffc20000000 + i * 64)->exclusive.acquisitions = 1;
}

/* ---- meetings -------------------------------------------------------------------------------- */

static void add_condition(struct locks_fixture *locks)
{
    struct lock_row *row = add_row(locks, CLASS_CONDITION, 0x7ffc30000000);
    row->object.mutex = AT_QUEUE_LOCK;
    row->exclusive = (struct lock_side){.acquisitions = 120,
                                        .contended = 120,
                                        .gave_up = 3,
                                        .wait = times_of(120, 9 * MILLISECOND, 55 * MILLISECOND)};
    row->signals = 150;
    row->broadcasts = 2;
    row->signals_for_nobody = 31;
    row->wake = times_of(117, 61 * MICROSECOND, 2100 * MICROSECOND);
    add_pair(row, AT_LOOP, AT_CXX_LOCK, 117, 1050 * MILLISECOND);
    share_out(locks, row);
}

static void add_semaphore(struct locks_fixture *locks)
{
    struct lock_row *row = add_row(locks, CLASS_SEMAPHORE, 0x7ffc40000000);
    row->is_idle = true;
    row->exclusive = (struct lock_side){.acquisitions = 800,
                                        .contended = 200,
                                        .wait = times_of(200, 2 * MILLISECOND, 7 * MILLISECOND)};
    row->signals = 801;
    row->wake = times_of(200, 48 * MICROSECOND, 130 * MICROSECOND);
    share_out(locks, row);
}

static void add_barrier(struct locks_fixture *locks)
{
    struct lock_row *row = add_row(locks, CLASS_BARRIER, AT_GATE);
    name_variable(locks, AT_GATE, "gate");
    row->exclusive = (struct lock_side){.acquisitions = 800,
                                        .contended = 700,
                                        .wait = times_of(700, 3 * MILLISECOND, 30 * MILLISECOND)};
    row->rounds = 100;
    row->spread = times_of(100, 5 * MILLISECOND, 30 * MILLISECOND);
    row->last_arriver = 5;
    row->last_arrivals = 91;
    add_pair(row, AT_PARSE_CALLER, AT_LOAD, 700, 2100 * MILLISECOND);
    share_out(locks, row);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void add_totals(struct locks_fixture *locks)
{
    struct locks_result *result = &locks->result;
    VEC_EACH (row, &result->rows, struct lock_row) {
        const struct lock_side *sides[] = {&row->exclusive, &row->shared};
        for (int i = 0; i < 2 && row->object.kind == CLASS_LOCK; i++) {
            result->acquisitions += sides[i]->acquisitions;
            result->contended += sides[i]->contended;
            result->wait_ns += sides[i]->wait.sum_ns;
            result->hold_sum_ns += sides[i]->hold.sum_ns;
        }
    }
    result->wait_share = (double)result->wait_ns / (double)result->lifetime_sum_ns;
    result->hold_covered_ns = result->hold_sum_ns - 300 * MILLISECOND;
    result->on_path = (struct lock_on_path){1720, 1540, 32100 * MILLISECOND, 7730 * MILLISECOND};
    result->path_ns = result->wall_ns;
    result->path_blocked_ns = result->wall_ns / 10;
}

/* A third of the run is quiet, then comes a phase in which most of the waiting is. */
static void add_pressure(struct locks_fixture *locks)
{
    struct locks_result *result = &locks->result;
    result->steps = STEPS;
    result->step_ns = result->wall_ns / STEPS;
    result->acquiring_ns = memory__zeroed(STEPS, sizeof(uint64_t));
    result->running_ns = memory__zeroed(STEPS, sizeof(uint64_t));
    for (size_t r = 0; r < 3; r++)
        VEC_AT(&result->rows, struct lock_row, r)->acquiring_ns =
            memory__zeroed(STEPS, sizeof(uint64_t));
    for (size_t i = 0; i < STEPS; i++) {
        result->running_ns[i] = i == 77 ? 0 : 320 * MILLISECOND;
        for (size_t r = 0; r < 3; r++) {
            uint64_t part = i < STEPS / 3 ? i % 3 : i < STEPS / 2 ? 600 : i > 110 ? 0 : 40 + i % 20;
            uint64_t *steps = VEC_AT(&result->rows, struct lock_row, r)->acquiring_ns;
            steps[i] = i == 77 ? 0 : part * MILLISECOND / (r * r * r * 9 + 1);
            result->acquiring_ns[i] += steps[i];
        }
    }
}

static void add_inversion(struct locks_fixture *locks, const uint32_t *rows, size_t count,
                          bool guarded)
{
    struct lock_inversion *inversion = vec__push(&locks->result.inversions, NULL);
    *inversion = (struct lock_inversion){
        .objects = VEC_OF(uint32_t), .sites = VEC_OF(uint64_t), .times = VEC_OF(uint64_t)};
    const uint64_t sites[] = {AT_PUSH, AT_STEAL, AT_LOAD};
    inversion->guarded = guarded;
    inversion->one_thread = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t times = 1 + 11 * (i % 2);
        vec__push(&inversion->objects, &rows[i]);
        vec__push(&inversion->sites, &sites[i]);
        vec__push(&inversion->times, &times);
    }
}

static void add_piece(struct locks_fixture *locks, uint32_t thread, uint64_t from_ns,
                      uint64_t to_ns, uint32_t object, enum sync_event_type how)
{
    struct critical_path *path = &locks->critical;
    const struct critical_piece piece = {thread, object, how, from_ns, to_ns, to_ns - from_ns};
    vec__push(&path->pieces, &piece);
    *VEC_AT(&path->threads_ns, uint64_t, thread) += piece.length_ns;
    VEC_EACH (lock, &path->locks, struct critical_lock)
        lock->hand_overs += lock->object == object;
}

/* Two threads in turns, 2 ms between them; the whole is joined by the first one. */
static void add_pieces(struct locks_fixture *locks)
{
    add_piece(locks, 0, 0, 100 * MILLISECOND, SYNC_EVENT_NO_OBJECT, SYNC_EVENT_STARTED);
    add_piece(locks, 2, 102 * MILLISECOND, 400 * MILLISECOND, SYNC_EVENT_NO_OBJECT,
              SYNC_EVENT_STARTED);
    for (uint64_t i = 1; i < 30; i++)
        add_piece(locks, 2 + i % 2, i * 400 * MILLISECOND + 2 * MILLISECOND,
                  (i + 1) * 400 * MILLISECOND, i % 5 ? 0 : 1 + i / 5 % 2,
                  i % 5       ? SYNC_EVENT_ACQUIRED
                  : i / 5 % 2 ? SYNC_EVENT_WOKEN
                              : SYNC_EVENT_LEFT);
    add_piece(locks, 0, 12002 * MILLISECOND, 12410 * MILLISECOND, SYNC_EVENT_NO_OBJECT,
              SYNC_EVENT_JOINED);
}

static void add_path(struct locks_fixture *locks)
{
    struct critical_path *path = &locks->critical;
    static const size_t rows[] = {0, 2, 3}; /* the queue's lock, the gate, the condition */
    *path = (struct critical_path){.to_ns = 12410 * MILLISECOND,
                                   .length_ns = 12410 * MILLISECOND,
                                   .hand_over_ns = 62 * MILLISECOND,
                                   .hand_overs = 31,
                                   .in_sections_ns = 7730 * MILLISECOND,
                                   .locks = VEC_OF(struct critical_lock),
                                   .threads_ns = VEC_OF(uint64_t),
                                   .pieces = VEC_OF(struct critical_piece)};
    for (int i = 0; i < 8; i++)
        vec__push(&path->threads_ns, NULL);
    const struct critical_lock lock = {0, 1600, 1500, 31 * SECOND, 7700 * MILLISECOND, 0};
    vec__push(&path->locks, &lock);
    locks->critical.objects = VEC_OF(struct sync_object);
    for (size_t i = 0; i < 3; i++)
        vec__push(&locks->critical.objects,
                  &VEC_AT(&locks->result.rows, struct lock_row, rows[i])->object);
    add_pieces(locks);
}

static void add_checks(struct locks_fixture *locks)
{
    static const struct locks_check checks[] = {
        {"waits of locks", "objects", "threads", 43500000000, 43500000000, false, true},
        {"sections of locks, nested ones counted once", "threads", "objects", 8120000000,
         8420000000, true, true}};
    for (size_t i = 0; i < 2; i++)
        vec__push(&locks->result.checks, &checks[i]);
}

static void start_tables(struct locks_fixture *locks)
{
    locks->result =
        (struct locks_result){.rows = VEC_OF(struct lock_row),
                              .inversions = VEC_OF(struct lock_inversion),
                              .warnings = VEC_OF(char *),
                              .checks = VEC_OF(struct locks_check),
                              .wall_ns = locks->fixture.profile.wall_ns,
                              .lifetime_sum_ns = locks->fixture.profile.lifetime_sum_ns};
    locks->filter = (struct locks_filter){0};
    locks->critical = (struct critical_path){0};
    locks->report =
        (struct locks_report){&locks->fixture.report, &locks->result, &locks->filter, NULL};
}

void locks_fixture__busy(struct locks_fixture *locks)
{
    static const uint32_t both[] = {0, 1}, circle[] = {0, 1, 6};
    fixture__ledger(&locks->fixture);
    start_tables(locks);
    add_queue_lock(locks);
    add_table_lock(locks);
    add_barrier(locks);
    add_condition(locks);
    add_semaphore(locks);
    add_small_locks(locks);
    add_totals(locks);
    add_pressure(locks);
    add_inversion(locks, both, 2, false);
    add_inversion(locks, circle, 3, true);
    add_path(locks);
    add_checks(locks);
    char *warning = memory__text("3 sections were open at the end");
    vec__push(&locks->result.warnings, &warning);
}

void locks_fixture__many(struct locks_fixture *locks, size_t count)
{
    fixture__ledger(&locks->fixture);
    start_tables(locks);
    for (size_t i = 0; i < count; i++) {
        struct lock_row *row = add_row(locks, CLASS_LOCK, 0x7ffc50000000 + i * 64);
        row->exclusive.acquisitions = 10;
        row->exclusive.contended = count - i > 5;
        row->exclusive.wait = times_of(row->exclusive.contended, (count - i) * 1000, 100000);
        share_out(locks, row);
    }
    add_totals(locks);
}

void locks_fixture__none(struct locks_fixture *locks)
{
    fixture__ledger(&locks->fixture);
    start_tables(locks);
}

void locks_fixture__empty(struct locks_fixture *locks)
{
    fixture__empty(&locks->fixture);
    start_tables(locks);
}

void locks_fixture__hostile(struct locks_fixture *locks)
{
    static const uint32_t rows[] = {0, 99};
    fixture__hostile(&locks->fixture);
    start_tables(locks);
    struct lock_row *row = add_row(locks, CLASS_LOCK, 0x10);
    row->object.initialised_site = 0x10;
    row->object.initialised_by = 77;
    row->exclusive =
        (struct lock_side){.acquisitions = 1,
                           .contended = UINT64_MAX,
                           .wait = {.count = 1, .sum_ns = UINT64_MAX, .max_ns = UINT64_MAX},
                           .hold = {.count = UINT64_MAX, .max_ns = UINT64_MAX}};
    row->exclusive.wait.buckets[63] = UINT64_MAX;
    add_site(row, 0x10, 1, 2, UINT64_MAX, UINT64_MAX);
    add_pair(row, 0x10, 0xffffffffffff, UINT64_MAX, UINT64_MAX);
    const struct lock_wait wait = {99, 98, 0x10, 0x11, UINT64_MAX / 2, UINT64_MAX, NULL, 0};
    vec__push(&row->longest, &wait);
    add_row(locks, CLASS_BARRIER, 0x20)->last_arriver = 99;
    add_row(locks, CLASS_CONDITION, 0)->object.mutex = 0x10;
    locks->result.path_ns = 1;
    locks->result.on_path.hold_ns = UINT64_MAX;
    add_inversion(locks, rows, 2, false);
    char *warning = memory__text("\x1b[31m\xff\n");
    vec__push(&locks->result.warnings, &warning);
}

void locks_fixture__free(struct locks_fixture *locks)
{
    VEC_EACH (row, &locks->result.rows, struct lock_row) {
        vec__free(&row->sites);
        vec__free(&row->pairs);
        vec__free(&row->longest);
        free(row->acquiring_ns);
    }
    vec__free(&locks->result.rows);
    VEC_EACH (inversion, &locks->result.inversions, struct lock_inversion) {
        vec__free(&inversion->objects);
        vec__free(&inversion->sites);
        vec__free(&inversion->times);
    }
    vec__free(&locks->result.inversions);
    VEC_EACH (warning, &locks->result.warnings, char *)
        free(*warning);
    vec__free(&locks->result.warnings);
    vec__free(&locks->result.checks);
    free(locks->result.acquiring_ns);
    free(locks->result.running_ns);
    vec__free(&locks->critical.locks);
    vec__free(&locks->critical.threads_ns);
    vec__free(&locks->critical.pieces);
    vec__free(&locks->critical.objects);
    fixture__free(&locks->fixture);
}
