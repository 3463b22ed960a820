/* The critical path: of traces whose path is known by hand, and of random programs, where two ways
 * of finding it must agree. */
#include "analysis/critical_path/path.h"

#include "analysis/critical_path/internal.h"
#include "base/memory.h"
#include "fixture.h"
#include "lock_programs.h"

#include <glob.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- finding and checking -------------------------------------------------------------------- */

static uint64_t piece_ticks(const struct path_result *result)
{
    uint64_t ticks = 0;
    VEC_EACH (piece, &result->pieces, struct path_piece) {
        assert_true(piece->end >= piece->start);
        ticks += piece->end - piece->start;
    }
    return ticks;
}

static uint64_t thread_ticks(const struct path_result *result)
{
    uint64_t ticks = 0;
    VEC_EACH (thread, &result->threads, uint64_t)
        ticks += *thread;
    return ticks;
}

/* Whatever the path is, its parts add up. */
static void check_sums(const struct path_result *result)
{
    uint64_t length = result->end - result->start;
    assert_int_equal(length, thread_ticks(result) + result->hand_over);
    assert_true(result->in_sections <= thread_ticks(result));
    if (!result->pieces.count)
        return;
    assert_int_equal(length, piece_ticks(result) + result->hand_over);
    assert_int_equal(result->pieces.count, result->hand_overs + 1);
    assert_int_equal(VEC_AT(&result->pieces, struct path_piece, 0)->start, result->start);
    assert_int_equal(VEC_AT(&result->pieces, struct path_piece, result->pieces.count - 1)->end,
                     result->end);
}

/* The walk goes to its end. Returns how many branches there were at most. */
static size_t find_path(const struct trace *trace, struct sync_events *walk, bool keep_pieces,
                        struct path_result *result)
{
    struct path *path = path__start(trace, walk, keep_pieces);
    struct sync_event sync_event;
    size_t most = 0;
    while (sync_events__next(walk, &sync_event)) {
        path__take(path, &sync_event);
        most = path__branches(path) > most ? path__branches(path) : most;
    }
    assert_int_equal(path__branches(path), 1); /* the end */
    path__finish(path, result);
    path__free(path);
    check_sums(result);
    return most;
}

static void check_same_figures(const struct path_result *a, const struct path_result *b)
{
    assert_int_equal(a->start, b->start);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->hand_over, b->hand_over);
    assert_int_equal(a->hand_overs, b->hand_overs);
    assert_int_equal(a->in_sections, b->in_sections);
    assert_int_equal(a->threads.count, b->threads.count);
    assert_memory_equal(a->threads.items, b->threads.items, a->threads.count * sizeof(uint64_t));
    assert_int_equal(a->locks.count, b->locks.count);
    for (size_t i = 0; i < a->locks.count; i++) {
        const struct path_lock *left = VEC_AT(&a->locks, struct path_lock, i);
        const struct path_lock *right = VEC_AT(&b->locks, struct path_lock, i);
        assert_int_equal(left->object, right->object);
        assert_int_equal(left->acquisitions, right->acquisitions);
        assert_int_equal(left->contended, right->contended);
        assert_int_equal(left->wait, right->wait);
        assert_int_equal(left->hold, right->hold);
    }
}

static void check_same_pieces(const struct path_result *a, const struct path_result *b)
{
    assert_int_equal(a->pieces.count, b->pieces.count);
    for (size_t i = 0; i < a->pieces.count; i++) {
        const struct path_piece *left = VEC_AT(&a->pieces, struct path_piece, i);
        const struct path_piece *right = VEC_AT(&b->pieces, struct path_piece, i);
        assert_int_equal(left->thread, right->thread);
        assert_int_equal(left->start, right->start);
        assert_int_equal(left->end, right->end);
        assert_int_equal(left->object, right->object);
        assert_int_equal(left->how, right->how);
    }
}

/* ---- paths known by hand --------------------------------------------------------------------- */

static const char *how_text(enum sync_event_type how)
{
    switch (how) {
    case SYNC_EVENT_STARTED:
        return "started";
    case SYNC_EVENT_ACQUIRED:
        return "acquired";
    case SYNC_EVENT_WOKEN:
        return "woken";
    case SYNC_EVENT_LEFT:
        return "left";
    case SYNC_EVENT_JOINED:
        return "joined";
    default:
        return "?";
    }
}

static void write_piece(FILE *file, const struct sync_events *walk, const struct path_piece *piece)
{
    fprintf(file, "piece %u %" PRIu64 " %" PRIu64 " %s", piece->thread, piece->start, piece->end,
            how_text(piece->how));
    if (piece->object != SYNC_EVENT_NO_OBJECT)
        fprintf(file, " %" PRIx64, sync_events__object(walk, piece->object)->address);
    fputc('\n', file);
}

static const struct sync_events *sorting; /* qsort's comparison has no room for it */

static int by_address(const void *left, const void *right)
{
    const struct sync_object *a =
        sync_events__object(sorting, ((const struct path_lock *)left)->object);
    const struct sync_object *b =
        sync_events__object(sorting, ((const struct path_lock *)right)->object);
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

/* By address, as who writes a fixture thinks of them. */
static void write_locks(FILE *file, const struct sync_events *walk, const struct vec *locks)
{
    struct vec rows = VEC_OF(struct path_lock);
    VEC_EACH (lock, locks, struct path_lock)
        vec__push(&rows, lock);
    sorting = walk;
    if (rows.count)
        qsort(rows.items, rows.count, rows.item_bytes, by_address);
    VEC_EACH (lock, &rows, struct path_lock)
        fprintf(file,
                "lock %" PRIx64 " acquisitions %" PRIu64 " contended %" PRIu64 " wait %" PRIu64
                " hold %" PRIu64 "\n",
                sync_events__object(walk, lock->object)->address, lock->acquisitions,
                lock->contended, lock->wait, lock->hold);
    vec__free(&rows);
}

static char *text_of(const struct sync_events *walk, const struct path_result *result)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    VEC_EACH (piece, &result->pieces, struct path_piece)
        write_piece(file, walk, piece);
    write_locks(file, walk, &result->locks);
    fprintf(file, "in sections %" PRIu64 "\n", result->in_sections);
    if (result->blocked)
        fprintf(file, "blocked %" PRIu64 "\n", result->blocked);
    fprintf(file, "hand-over %" PRIu64 " in %" PRIu64 "\n", result->hand_over, result->hand_overs);
    fprintf(file, "path %" PRIu64 " %" PRIu64 "\n", result->start, result->end);
    fclose(file);
    return text;
}

static char *read_file(const char *name)
{
    FILE *file = fopen(name, "re");
    char *text = memory__zeroed(1 << 16, 1);
    assert_non_null(file);
    size_t bytes = fread(text, 1, (1 << 16) - 1, file);
    assert_true(bytes > 0 && feof(file));
    fclose(file);
    return text;
}

static bool knows_locks_only(const struct sync_events *walk)
{
    for (uint32_t i = 0; i < sync_events__objects(walk); i++) {
        if (sync_events__object(walk, i)->kind != CLASS_LOCK)
            return false;
    }
    return true;
}

static void check_fixture(const char *name)
{
    char *fixture = read_file(name);
    char *expected_name = memory__format("%.*s.expected", (int)(strlen(name) - 6), name);
    char *expected = read_file(expected_name);
    struct trace *trace = fixture__open(fixture);
    struct sync_events *walk = sync_events__start(trace), *again = sync_events__start(trace);
    struct path_result kept, figures;
    find_path(trace, walk, true, &kept);
    find_path(trace, again, false, &figures);
    char *text = text_of(walk, &kept);
    if (strcmp(text, expected) != 0)
        print_message("%s\n", name);
    assert_string_equal(text, expected);
    check_same_figures(&kept, &figures);
    assert_int_equal(figures.pieces.count, 0);
    if (knows_locks_only(walk)) {
        struct path_result marked;
        path__mark(trace, &marked);
        check_sums(&marked);
        check_same_figures(&kept, &marked);
        check_same_pieces(&kept, &marked);
        path_result__free(&marked);
    }
    path_result__free(&kept);
    path_result__free(&figures);
    sync_events__free(walk);
    sync_events__free(again);
    trace__close(trace);
    free(text);
    free(expected);
    free(expected_name);
    free(fixture);
}

static void paths_known_by_hand(void **state)
{
    glob_t found;
    (void)state;
    assert_int_equal(glob(GOLDEN_DIRECTORY "/paths/*.trace", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 20);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_fixture(found.gl_pathv[i]);
    globfree(&found);
}

/* ---- two ways to find it --------------------------------------------------------------------- */

#define SEEDS 400

/* A branch is held by a thread, a lock's last two releases, a creation that is to begin, or the end
 * of a thread that may be joined; and there is one between any two. */
#define BRANCHES_AT_MOST (2 * (3 * LOCK_PROGRAM_THREADS + 2 * LOCK_PROGRAM_LOCKS + 1))

static uint64_t check_seed(uint64_t seed)
{
    char *fixture = lock_program__trace(seed);
    struct trace *trace = fixture__open(fixture);
    struct sync_events *walk = sync_events__start(trace), *again = sync_events__start(trace);
    struct path_result kept, figures, marked;
    find_path(trace, walk, true, &kept);
    assert_true(find_path(trace, again, false, &figures) <= BRANCHES_AT_MOST);
    path__mark(trace, &marked);
    check_sums(&marked);
    check_same_figures(&kept, &figures);
    check_same_figures(&kept, &marked);
    check_same_pieces(&kept, &marked);
    uint64_t hand_overs = kept.hand_overs;
    path_result__free(&kept);
    path_result__free(&figures);
    path_result__free(&marked);
    sync_events__free(walk);
    sync_events__free(again);
    trace__close(trace);
    free(fixture);
    return hand_overs;
}

static void both_ways_agree_on_locks(void **state)
{
    uint64_t hand_overs = 0;
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        hand_overs += check_seed(seed);
    assert_true(hand_overs > 10 * SEEDS); /* the programs are not too easy */
}

/* ---- long chains ----------------------------------------------------------------------------- */

#define HAND_OVERS 1000000
#define THREADS 4u
#define LOCKS 3u

/* Four threads and three locks, which the walk meets as objects 0 to 2. */
static const char crowd[] = "thread 0 main\n1000 thread_start 0x11 0xffffffff 0x400000\n"
                            "1001 lock_acquired 0x1/0 0x70\n1002 lock_released 0x1/0 0x70\n"
                            "1003 lock_acquired 0x1/0 0x71\n1004 lock_released 0x1/0 0x71\n"
                            "1005 lock_acquired 0x1/0 0x72\n1006 lock_released 0x1/0 0x72\n"
                            "thread 1 a\n1010 thread_start 0x22 0 0x400000\n"
                            "thread 2 b\n1010 thread_start 0x33 0 0x400000\n"
                            "thread 3 c\n1010 thread_start 0x44 0 0x400000\n";

static struct sync_event sync_event_of(enum sync_event_type type, uint32_t thread, uint64_t tick,
                                       uint32_t object)
{
    return (struct sync_event){.type = type,
                               .thread = thread,
                               .tick = tick,
                               .object = object,
                               .weight = 1,
                               .by = SYNC_EVENT_NOBODY};
}

static void take(struct path *path, enum sync_event_type type, uint32_t thread, uint64_t tick,
                 uint32_t object)
{
    struct sync_event sync_event = sync_event_of(type, thread, tick, object);
    path__take(path, &sync_event);
}

/* The n-th hand-over, from tick on: thread n, which has lock n, lets thread n + 1 have it 10 ticks
 * after that began to wait; 2 ticks go by until it goes on. Thread n + 2 waits, too, and gets the
 * lock of another one that never matters again. */
static void hand_over(struct path *path, uint64_t n, uint64_t tick)
{
    uint32_t lock = n % LOCKS, giver = n % THREADS, taker = (n + 1) % THREADS;
    struct sync_event acquired = sync_event_of(SYNC_EVENT_ACQUIRED, taker, tick + 12, lock);
    take(path, SYNC_EVENT_ACQUIRED, giver, tick - 1, lock);
    take(path, SYNC_EVENT_WAITS, taker, tick, lock);
    take(path, SYNC_EVENT_WAITS, (n + 2) % THREADS, tick + 1, lock);
    take(path, SYNC_EVENT_RELEASED, giver, tick + 10, lock);
    acquired.since = tick;
    acquired.by = giver;
    acquired.by_tick = tick + 10;
    path__take(path, &acquired);
    take(path, SYNC_EVENT_RELEASED, taker, tick + 14, lock);
    take(path, SYNC_EVENT_GAVE_UP, (n + 2) % THREADS, tick + 15, lock);
}

static void check_long_chain(bool keep_pieces)
{
    struct trace *trace = fixture__open(crowd);
    struct sync_events *walk = sync_events__start(trace);
    struct sync_event sync_event;
    struct path_result result;
    while (sync_events__next(walk, &sync_event))
        ;
    struct path *path = path__start(trace, walk, keep_pieces);
    for (uint32_t i = 0; i < THREADS; i++)
        take(path, SYNC_EVENT_STARTED, i, 1000, SYNC_EVENT_NO_OBJECT);
    for (uint64_t n = 0; n < HAND_OVERS; n++) {
        hand_over(path, n, 2000 + 20 * n);
        assert_true(path__branches(path) <= 2 * THREADS); /* nobody waits */
    }
    uint64_t end = 2000 + 20 * (uint64_t)HAND_OVERS;
    for (uint32_t i = 0; i < THREADS; i++)
        take(path, SYNC_EVENT_ENDED, i, end + (i == HAND_OVERS % THREADS), SYNC_EVENT_NO_OBJECT);
    path__finish(path, &result);
    check_sums(&result);
    assert_int_equal(result.start, 1000);
    assert_int_equal(result.end, end + 1);
    assert_int_equal(result.hand_overs, HAND_OVERS);
    assert_int_equal(result.hand_over, 2 * (uint64_t)HAND_OVERS);
    assert_int_equal(result.in_sections, (11 + 2) * (uint64_t)HAND_OVERS);
    assert_int_equal(result.locks.count, LOCKS);
    assert_int_equal(result.pieces.count, keep_pieces ? HAND_OVERS + 1 : 0);
    path_result__free(&result);
    path__free(path);
    sync_events__free(walk);
    trace__close(trace);
}

static void memory_is_bounded_by_threads_and_locks(void **state)
{
    (void)state;
    check_long_chain(false);
}

static void long_chains_of_pieces_are_kept_and_freed(void **state)
{
    (void)state;
    check_long_chain(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_known_by_hand),
        cmocka_unit_test(both_ways_agree_on_locks),
        cmocka_unit_test(memory_is_bounded_by_threads_and_locks),
        cmocka_unit_test(long_chains_of_pieces_are_kept_and_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
