/* What of the time that calls lose is told by samples at shared lines. Calls of f take CALM; in the
 * second half of the run each also waits for a line that the other thread writes, SHARED longer. */
#include "scene.h"

#include "analysis/ledger/profile.h"
#include "analysis/timeline/wall_ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

enum {
    F = 1024,
    G = 1026, /* what calls f */
    CODE = 0x401000,
    CODE_OF_G = 0x402000,
    LINE = 0x8000,
    CALLS = 200,
    CALM = 2,
    SHARED = 3
};

/* Address 0: at one of many instructions that access no memory. */
static void put_sample(struct scene *scene, uint32_t thread, uint64_t ms, uint64_t address)
{
    struct heurt_sample sample = {.monotonic_ns = 1000 + ms * MS + MS / 2 + thread * 1000,
                                  .instruction = CODE + (address ? 4 : 8 + ms % 31),
                                  .address = address,
                                  .pid = 100,
                                  .tid = 1000 + thread,
                                  .weight_ns = MS,
                                  .access = address ? HEURT_ACCESS_UPDATE : HEURT_ACCESS_NONE,
                                  .bytes = 8};
    assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SAMPLES,
                                          &sample, sizeof sample),
                     0);
}

/* Where the machine has several nodes, threads are on the first one and memory on the second. */
static void put_nodes(struct scene *scene)
{
    trace_writer__meta(scene->writer, "nodes", "0:0-1;1:2-3");
    trace_writer__meta(scene->writer, "node_distances", "10 20;20 10");
    for (uint32_t thread = 0; thread < 2; thread++)
        for (uint64_t ms = 0; ms < CALLS * (CALM + SHARED); ms++) {
            struct heurt_placed placed = {1000 + ms * MS + MS / 2 + thread * 1000, 1000 + thread, 0,
                                          1};
            assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL,
                                                  HEURT_DEFINITION_PLACED, &placed, sizeof placed),
                             0);
        }
}

/* distance: of the bytes that each thread writes. */
static void call(struct scene *scene, uint32_t thread, uint64_t *ms, uint64_t shared_ms,
                 uint64_t distance)
{
    PUT(scene, thread, 1000 + *ms * MS, G);
    PUT(scene, thread, 1000 + *ms * MS + 10, F);
    for (uint64_t i = 0; i < CALM + shared_ms; i++)
        put_sample(scene, thread, *ms + i, i < CALM ? 0 : LINE + thread * distance);
    *ms += CALM + shared_ms;
    PUT(scene, thread, 1000 + *ms * MS - 10, F | 1);
    PUT(scene, thread, 1000 + *ms * MS, G | 1);
}

/* first_ms: how long those of the first half wait for the line. */
static const struct profile_class *run_calls(struct scene *scene, uint64_t first_ms,
                                             uint64_t distance, const char *name)
{
    scene__function(scene, 0, F, CODE, "f", "");
    scene__function(scene, 0, G, CODE_OF_G, "g", "");
    for (uint32_t thread = 0; thread < 2; thread++) {
        uint64_t ms = 0;
        scene__start(scene, thread, 1000);
        for (unsigned i = 0; i < CALLS; i++)
            call(scene, thread, &ms, i < CALLS / 2 ? first_ms : SHARED, distance);
        scene__end(scene, thread, 1000 + ms * MS);
        scene->end = (struct heurt_clock_pair){1000 + ms * MS, 1000 + ms * MS};
    }
    scene__profile(scene);
    VEC_EACH (class, &scene->profile->classes, struct profile_class)
        if (strcmp(class->what.at.function, name) == 0)
            return class;
    fail_msg("no class %s", name);
    return NULL;
}

static void check_sum(const struct profile_class *class)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < REASONS; i++)
        sum += class->why_ns[i];
    assert_int_equal(sum, class->excess_ns);
    struct profile_sides sides = profile_class__sides(class);
    assert_int_equal(sides.excess, sides.components);
}

static double share_of(const struct profile_class *class, enum reason reason)
{
    return (double)class->why_ns[reason] / (double)class->excess_ns;
}

static void what_lines_cost_is_no_longer_unexplained(void **state)
{
    const struct profile_class *f = run_calls(*state, 0, 16, "f");
    check_sum(f);
    assert_true(share_of(f, REASON_FALSE_SHARING) > 0.9);
    assert_true(f->why_ns[REASON_UNEXPLAINED] >= 0);
    assert_int_equal(f->why_ns[REASON_TRUE_SHARING], 0);
    assert_int_equal(f->cause, REASON_FALSE_SHARING);
    assert_int_equal(f->verdict, VERDICT_INTERFERENCE);
    const struct profile_evidence *evidence = VEC_AT(&f->evidence, struct profile_evidence, 0);
    assert_int_equal(evidence->reason, REASON_FALSE_SHARING);
    assert_int_equal(evidence->confidence, CONFIDENCE_ESTIMATED);
    assert_int_equal(evidence->line, LINE);
}

static void it_is_in_the_time_of_callers_too(void **state)
{
    const struct profile_class *g = run_calls(*state, 0, 16, "g");
    check_sum(g);
    assert_true(share_of(g, REASON_FALSE_SHARING) > 0.9);
}

static void the_same_bytes_are_true_sharing(void **state)
{
    const struct profile_class *f = run_calls(*state, 0, 0, "f");
    check_sum(f);
    assert_true(share_of(f, REASON_TRUE_SHARING) > 0.9);
    assert_int_equal(f->why_ns[REASON_FALSE_SHARING], 0);
}

/* By the distance half of the time at the other node's memory is lost, at most. */
static void memory_of_other_nodes_is_no_longer_unexplained(void **state)
{
    put_nodes(*state);
    const struct profile_class *f = run_calls(*state, 0, 8192, "f");
    check_sum(f);
    assert_true(share_of(f, REASON_REMOTE_MEMORY) > 0.45);
    assert_true(share_of(f, REASON_REMOTE_MEMORY) < 0.55);
    assert_int_equal(f->why_ns[REASON_FALSE_SHARING] + f->why_ns[REASON_TRUE_SHARING], 0);
    assert_true(f->why_ns[REASON_UNEXPLAINED] > 0);
}

/* Lines that threads take from each other tell why they wait, wherever these are. */
static void what_is_shared_is_not_remote_as_well(void **state)
{
    put_nodes(*state);
    const struct profile_class *f = run_calls(*state, 0, 16, "f");
    check_sum(f);
    assert_true(share_of(f, REASON_FALSE_SHARING) > 0.9);
    assert_int_equal(f->why_ns[REASON_REMOTE_MEMORY], 0);
}

/* Thread 1 is at the line in h, now and then; meanwhile calls of f on thread 0 take longer. */
static const struct profile_class *run_beside(struct scene *scene, bool is_shared)
{
    enum { H = 1028, CODE_OF_H = 0x403000, AGAIN = 10 };
    scene__function(scene, 0, F, CODE, "f", "");
    scene__function(scene, 0, H, CODE_OF_H, "h", "");
    uint64_t ms = 0;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    for (unsigned i = 0; i < 2 * CALLS; i++) {
        bool is_beside = i / AGAIN % 2;
        uint64_t length = CALM + (is_beside ? SHARED : 0);
        PUT(scene, 0, 1000 + ms * MS + 10, F);
        if (is_beside)
            PUT(scene, 1, 1000 + ms * MS + 20, H);
        for (uint64_t k = 0; k < length; k++) {
            put_sample(scene, 0, ms + k, is_shared && k >= CALM ? LINE : 0);
            if (is_beside)
                put_sample(scene, 1, ms + k, is_shared ? LINE + 16 : 0);
        }
        ms += length;
        PUT(scene, 0, 1000 + ms * MS - 10, F | 1);
        if (is_beside)
            PUT(scene, 1, 1000 + ms * MS - 20, H | 1);
    }
    scene__end(scene, 0, 1000 + ms * MS);
    scene__end(scene, 1, 1000 + ms * MS);
    scene->end = (struct heurt_clock_pair){1000 + ms * MS, 1000 + ms * MS};
    scene__profile(scene);
    VEC_EACH (class, &scene->profile->classes, struct profile_class)
        if (strcmp(class->what.at.function, "f") == 0)
            return class;
    fail_msg("no class f");
    return NULL;
}

static void overlap_without_samples_at_a_line_stays_overlap(void **state)
{
    const struct profile_class *f = run_beside(*state, false);
    check_sum(f);
    assert_true(share_of(f, REASON_OVERLAP) > 0.5);
    assert_int_equal(f->why_ns[REASON_FALSE_SHARING] + f->why_ns[REASON_TRUE_SHARING], 0);
}

static void samples_at_a_line_say_that_overlap_is_sharing(void **state)
{
    const struct profile_class *f = run_beside(*state, true);
    check_sum(f);
    assert_true(share_of(f, REASON_FALSE_SHARING) > 0.9);
    assert_true(share_of(f, REASON_OVERLAP) < 0.1);
    assert_true(f->why_ns[REASON_UNEXPLAINED] >= 0);
}

/* All calls wait for the line alike: what they lose against the fastest is none of it. */
static void no_more_is_sharing_than_is_lost(void **state)
{
    const struct profile_class *f = run_calls(*state, SHARED, 16, "f");
    check_sum(f);
    assert_int_equal(f->excess_ns, 0);
    assert_int_equal(f->why_ns[REASON_FALSE_SHARING], 0);
}

static void all_that_is_lost_may_be_sharing(void **state)
{
    const struct profile_class *f = run_calls(*state, SHARED - 1, 16, "f");
    check_sum(f);
    assert_in_range(f->excess_ns, CALLS * MS * 99 / 100, CALLS * MS * 101 / 100);
    assert_int_equal(f->why_ns[REASON_FALSE_SHARING], f->excess_ns);
    assert_int_equal(f->why_ns[REASON_UNEXPLAINED], 0);
}

static void lines_of_ones_own_cost_nothing(void **state)
{
    const struct profile_class *f = run_calls(*state, 0, 64, "f");
    check_sum(f);
    assert_int_equal(f->why_ns[REASON_FALSE_SHARING], 0);
    assert_true(share_of(f, REASON_UNEXPLAINED) + share_of(f, REASON_OVERLAP) +
                    share_of(f, REASON_SLOW_MACHINE) + share_of(f, REASON_WORKLOAD) >
                0.9);
}

/* Of the wall time and of lives, which add up as before. */
static void check_wall(struct scene *scene, uint64_t shared_ns, unsigned state)
{
    uint64_t wall_ns = 0, lives_ns = 0;
    struct run run = run__of(scene->trace, scene->symbols);
    struct error error = {""};
    run__ask(&run, &wall_ledger_analysis, NULL);
    assert_int_equal(run__analyse(&run, &error), 0);
    const struct wall_ledger *ledger = run__result(&run, &wall_ledger_analysis);
    bool is_found = false;
    VEC_EACH (row, &ledger->rows, struct wall_row) {
        wall_ns += row->wall_ns;
        lives_ns += row->lives_ns;
        if (row->state <= WALL_NOBODY)
            continue;
        assert_int_equal(row->state, state);
        is_found = true;
        assert_string_equal(
            VEC_AT(&scene->profile->classes, struct profile_class, row->class)->what.at.function,
            "f");
        assert_in_range(row->lives_ns, shared_ns * 99 / 100, shared_ns * 101 / 100);
        assert_in_range(row->wall_ns, shared_ns / 2 * 99 / 100, shared_ns / 2 * 101 / 100);
    }
    assert_true(is_found);
    assert_int_equal(wall_ns, ledger->wall_ns);
    assert_int_equal(lives_ns, ledger->lives_ns);
    run__free(&run);
}

static void the_wall_has_it_as_a_row_of_its_own(void **state)
{
    const struct profile_class *f = run_calls(*state, 0, 16, "f");
    check_wall(*state, (uint64_t)f->why_ns[REASON_FALSE_SHARING], WALL_FALSE_SHARING);
}

static void the_wall_has_memory_of_other_nodes_as_well(void **state)
{
    put_nodes(*state);
    const struct profile_class *f = run_calls(*state, 0, 8192, "f");
    check_wall(*state, (uint64_t)f->why_ns[REASON_REMOTE_MEMORY], WALL_REMOTE_MEMORY);
}

/* One call in DRAWN is recorded and stands for all of them; the samples are in the others. */
static void calls_that_are_drawn_have_what_is_sampled_at_their_code(void **state)
{
    enum { DRAWN = 10 };
    struct scene *scene = *state;
    scene__function(scene, 0, F, CODE, "f", "");
    for (uint64_t at = CODE; at < CODE + 40; at++)
        symbols__put(scene->symbols, 0, at, &(struct symbol){.function = "f", .module = "/app"});
    for (uint32_t thread = 0; thread < 2; thread++) {
        uint64_t ms = 0;
        scene__start(scene, thread, 1000);
        for (unsigned i = 0; i < CALLS; i++) {
            uint64_t all_ms = CALM + (i < CALLS / 2 ? 0 : SHARED), begin = 1000 + ms * MS;
            if (i % DRAWN == DRAWN / 2) {
                PUT(scene, thread, begin, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(F, DRAWN));
                PUT(scene, thread, begin + 10, F);
                PUT(scene, thread, begin + all_ms * MS - 10, F | 1);
            }
            for (uint64_t k = 0; k < all_ms && i % DRAWN != DRAWN / 2; k++)
                put_sample(scene, thread, ms + k, k < CALM ? 0 : LINE + thread * 16);
            ms += all_ms;
        }
        scene__end(scene, thread, 1000 + ms * MS);
        scene->end = (struct heurt_clock_pair){1000 + ms * MS, 1000 + ms * MS};
    }
    scene__profile(scene);
    const struct profile_class *f = VEC_AT(&scene->profile->classes, struct profile_class, 0);
    assert_true(f->recorded < f->count);
    check_sum(f);
    assert_true(share_of(f, REASON_FALSE_SHARING) > 0.75);
    assert_true(f->why_ns[REASON_UNEXPLAINED] >= 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_lines_cost_is_no_longer_unexplained),
        TEST(it_is_in_the_time_of_callers_too),
        TEST(memory_of_other_nodes_is_no_longer_unexplained),
        TEST(what_is_shared_is_not_remote_as_well),
        TEST(overlap_without_samples_at_a_line_stays_overlap),
        TEST(samples_at_a_line_say_that_overlap_is_sharing),
        TEST(the_same_bytes_are_true_sharing),
        TEST(no_more_is_sharing_than_is_lost),
        TEST(calls_that_are_drawn_have_what_is_sampled_at_their_code),
        TEST(all_that_is_lost_may_be_sharing),
        TEST(lines_of_ones_own_cost_nothing),
        TEST(the_wall_has_it_as_a_row_of_its_own),
        TEST(the_wall_has_memory_of_other_nodes_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
