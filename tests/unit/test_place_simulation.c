/* What placements bring on a described machine. */
#include "place_patterns.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TO_ORACLE 1.15
#define TO_NOTHING 1.05

/* Against the oracle, and doing nothing. */
struct figures {
    struct place_result of[PLACE_STRATEGIES];
};

static struct figures run_all(const struct place_stream *stream)
{
    struct place_simulation simulation = place_simulation__usual();
    struct place_machine machine = pattern__machine();
    struct figures figures;
    for (enum place_strategy strategy = 0; strategy < PLACE_STRATEGIES; strategy++)
        figures.of[strategy] = place_simulation__run(&simulation, stream, &machine, strategy);
    return figures;
}

static double times(const struct figures *figures, enum place_strategy one,
                    enum place_strategy other)
{
    return figures->of[one].ns / figures->of[other].ns;
}

static void print_row(const char *name, const struct figures *figures)
{
    print_message("%-20s", name);
    for (enum place_strategy strategy = 0; strategy < PLACE_STRATEGIES; strategy++)
        print_message(" %8.2f", figures->of[strategy].ns / 1e9);
    print_message("  %6.3f %6.3f  %6.3f  %.2f %.2f %lu\n",
                  times(figures, STRATEGY_CARREFOUR, STRATEGY_ORACLE),
                  times(figures, STRATEGY_CARREFOUR_COPIES, STRATEGY_ORACLE_COPIES),
                  times(figures, STRATEGY_CARREFOUR, STRATEGY_FIRST_TOUCH),
                  figures->of[STRATEGY_CARREFOUR].local, figures->of[STRATEGY_CARREFOUR].imbalance,
                  figures->of[STRATEGY_CARREFOUR].moved);
}

static void twelve_programs_come_near_the_oracle(void **state)
{
    unsigned far = 0;
    (void)state;
    print_message("%-20s", "seconds");
    for (enum place_strategy strategy = 0; strategy < PLACE_STRATEGIES; strategy++)
        print_message(" %8.8s", place_strategy__name(strategy));
    print_message("  oracle copies nothing local imbalance moved\n");
    for (enum pattern pattern = 0; pattern < PATTERNS; pattern++) {
        struct place_stream stream = pattern__stream(pattern);
        struct figures figures = run_all(&stream);
        print_row(pattern__name(pattern), &figures);
        far += times(&figures, STRATEGY_CARREFOUR, STRATEGY_ORACLE) > TO_ORACLE;
        far += times(&figures, STRATEGY_CARREFOUR, STRATEGY_FIRST_TOUCH) > TO_NOTHING;
        far += times(&figures, STRATEGY_CARREFOUR_COPIES, STRATEGY_FIRST_TOUCH) > TO_NOTHING;
        place_stream__free(&stream);
    }
    assert_int_equal(far, 0);
}

static void a_block_that_all_read_gains_by_copies_and_by_interleaving(void **state)
{
    (void)state;
    struct place_stream stream = stream__like_streamcluster();
    struct figures figures = run_all(&stream);
    print_row("like streamcluster", &figures);
    assert_true(times(&figures, STRATEGY_FIRST_TOUCH, STRATEGY_INTERLEAVE) > 1.15);
    assert_true(times(&figures, STRATEGY_FIRST_TOUCH, STRATEGY_CARREFOUR) > 1.15);
    assert_true(times(&figures, STRATEGY_CARREFOUR, STRATEGY_CARREFOUR_COPIES) > 1.15);
    /* Who moves pages to who used them last moves them in vain. */
    assert_true(times(&figures, STRATEGY_AUTONUMA, STRATEGY_CARREFOUR_COPIES) > 1.15);
    place_stream__free(&stream);
}

static void a_local_program_is_left_alone(void **state)
{
    (void)state;
    struct place_stream stream = pattern__stream(PATTERN_LOCAL);
    struct figures figures = run_all(&stream);
    assert_int_equal(figures.of[STRATEGY_CARREFOUR].moved, 0);
    assert_true(times(&figures, STRATEGY_CARREFOUR, STRATEGY_FIRST_TOUCH) <= 1.01);
    assert_true(times(&figures, STRATEGY_INTERLEAVE, STRATEGY_CARREFOUR) > 1.15);
    place_stream__free(&stream);
}

static void decisions_come_too_late_where_each_second_has_other_pages(void **state)
{
    (void)state;
    struct place_stream stream = stream__like_is();
    struct figures figures = run_all(&stream);
    print_row("like IS.D", &figures);
    assert_true(times(&figures, STRATEGY_FIRST_TOUCH, STRATEGY_ORACLE) > 1.3);
    assert_true(times(&figures, STRATEGY_FIRST_TOUCH, STRATEGY_CARREFOUR) < 1.05);
    assert_true(times(&figures, STRATEGY_CARREFOUR, STRATEGY_FIRST_TOUCH) <= TO_NOTHING);
    place_stream__free(&stream);
}

/* ---- the model --------------------------------------------------------------------------------
 */

/* One thread and one page, at that node. */
static double step_ns(uint16_t node, double accesses, double busy_ns)
{
    struct place_stream stream = place_stream__of(1, 1);
    struct place_machine machine = pattern__machine();
    place_stream__page(&stream, (struct stream_page){.page = 1, .node = node});
    place_stream__thread(&stream, (struct stream_thread){0, busy_ns, 0});
    place_stream__access(&stream, 0, 0, accesses, 0);
    place_stream__step(&stream, 0, 0);
    double ns = place_static__ns(&stream, &machine, &node, NULL);
    place_stream__free(&stream);
    return ns;
}

static void a_thread_alone_takes_the_latencies_and_hardly_waits(void **state)
{
    (void)state;
    assert_float_equal(step_ns(0, 1e6, 0), 1e8 * (1 + 0.00148), 1e5);
    assert_float_equal(step_ns(3, 1e6, 5e7), 5e7 + 2.2e8, 1e6);
    assert_float_equal(step_ns(1, 0, 5e7), 5e7, 1);
}

/* An M/D/1 queue: T = n (100 ns + s ρ / (2 (1 − ρ))) with ρ = 16 n s / T, solved by hand. */
static void queues_are_as_pollaczek_and_khinchine_say(void **state)
{
    enum { THREADS = 16 };
    struct place_stream stream = place_stream__of(THREADS, 1);
    struct place_machine machine = {.nodes = 1, .controller_ns = 5, .link_ns = 10};
    double count = 1e6;
    (void)state;
    machine.latency_ns[0] = 100;
    place_stream__page(&stream, (struct stream_page){.page = 1});
    for (uint32_t i = 0; i < THREADS; i++) {
        place_stream__thread(&stream, (struct stream_thread){0});
        place_stream__access(&stream, i, 0, count, 0);
    }
    place_stream__step(&stream, 0, 0);
    uint16_t node = 0;
    double ns = place_static__ns(&stream, &machine, &node, NULL), use = THREADS * count * 5 / ns;
    assert_float_equal(ns / count, 100 + 5 * use / (2 * (1 - use)), 1e-3);
    assert_true(use > 0.7 && use < 0.8);
    place_stream__free(&stream);
}

/* Of recorded times accesses are made that take these times. */
static void times_become_accesses_and_these_the_times_again(void **state)
{
    enum { THREADS = 8 };
    struct place_stream stream = place_stream__of(THREADS, 1);
    struct place_machine machine = pattern__machine();
    uint16_t node[THREADS];
    (void)state;
    for (uint32_t i = 0; i < THREADS; i++) {
        node[i] = (uint16_t)(i % 2);
        place_stream__page(&stream, (struct stream_page){.page = i, .node = node[i]});
        place_stream__thread(&stream, (struct stream_thread){(uint16_t)(i / 2), 1e8, 2e8});
        place_stream__access(&stream, i, i, 6e8, 1e8);
    }
    place_stream__step(&stream, 0, 0);
    place_stream__calibrate(&stream, &machine);
    assert_float_equal(place_static__ns(&stream, &machine, node, NULL), 1e9, 1e6);
    place_stream__free(&stream);
}

static void imbalance_is_the_deviation_of_the_mean(void **state)
{
    static const double one[4] = {8, 0, 0, 0}, even[4] = {2, 2, 2, 2}, two[2] = {3, 1},
                        none[4] = {0};
    (void)state;
    assert_float_equal(place_loads__imbalance(one, 4), sqrt(3), 1e-12);
    assert_float_equal(place_loads__imbalance(even, 4), 0, 1e-12);
    assert_float_equal(place_loads__imbalance(two, 2), 0.5, 1e-12);
    assert_true(isnan(place_loads__imbalance(none, 4)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twelve_programs_come_near_the_oracle),
        cmocka_unit_test(a_block_that_all_read_gains_by_copies_and_by_interleaving),
        cmocka_unit_test(a_local_program_is_left_alone),
        cmocka_unit_test(decisions_come_too_late_where_each_second_has_other_pages),
        cmocka_unit_test(a_thread_alone_takes_the_latencies_and_hardly_waits),
        cmocka_unit_test(queues_are_as_pollaczek_and_khinchine_say),
        cmocka_unit_test(times_become_accesses_and_these_the_times_again),
        cmocka_unit_test(imbalance_is_the_deviation_of_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
