/* How much longer a program takes while a resource is taken from it: lines of known slopes. */
#include "analysis/scaling/sensitivity.h"
#include "base/memory.h"
#include "chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const double levels[] = {0, 0.25, 0.5, 0.75};
#define LEVELS (sizeof levels / sizeof *levels)

static void add(struct vec *samples, double taken, double ns, uint32_t round)
{
    vec__push(samples, &(struct sensitivity_sample){taken, ns, round});
}

static void a_line_is_found_whatever_the_rounds_have(void **unused)
{
    (void)unused;
    struct vec samples = VEC_OF(struct sensitivity_sample);
    const double rounds[] = {900, 1000, 1100}; /* a machine that becomes slower */
    double ns;
    for (uint32_t round = 0; round < 3; round++)
        for (size_t i = 0; i < LEVELS; i++)
            add(&samples, levels[i], rounds[round] + 400 * levels[i], round);
    struct law_interval more = sensitivity__of(&samples, &ns);
    vec__free(&samples);
    assert_float_equal(ns, 1000, 1e-6);
    assert_float_equal(more.value, 0.4, 1e-9);
    assert_float_equal(more.low, 0.4, 1e-6);
    assert_float_equal(more.high, 0.4, 1e-6);
}

static void what_cannot_be_known_is_not_told(void **unused)
{
    (void)unused;
    struct vec samples = VEC_OF(struct sensitivity_sample);
    double ns;
    assert_true(isnan(sensitivity__of(&samples, &ns).value));
    add(&samples, 0.5, 10, 0); /* one level */
    add(&samples, 0.5, 12, 0);
    add(&samples, 0.5, 12, 0);
    assert_true(isnan(sensitivity__of(&samples, &ns).value));
    samples.count = 0;
    add(&samples, 0, 10, 0); /* two points are a line, and show nothing of their scatter */
    add(&samples, 0.5, 12, 0);
    struct law_interval more = sensitivity__of(&samples, &ns);
    assert_float_equal(more.value, 0.4, 1e-9);
    assert_true(isnan(more.low) && isnan(more.high));
    vec__free(&samples);
}

/* Of 1,000 programs how many intervals hold the truth. Where the machine's speed itself changes by
 * much, slopes change with it, and intervals are wider than they need be. */
static unsigned held_of_thousand(double truth, double scatter)
{
    unsigned held = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct vec samples = VEC_OF(struct sensitivity_sample);
        double ns;
        for (uint32_t round = 0; round < 5; round++) {
            double level = 1000 * (1 + 0.03 * normal());
            for (size_t at = 0; at < LEVELS; at++)
                add(&samples, levels[at], level * (1 + truth * levels[at] + scatter * normal()),
                    round);
        }
        struct law_interval more = sensitivity__of(&samples, &ns);
        held += more.low <= truth && truth <= more.high;
        vec__free(&samples);
    }
    return held;
}

static void intervals_hold_the_truth_as_often_as_they_say(void **unused)
{
    (void)unused;
    state = 21;
    assert_in_range(held_of_thousand(0, 0.02), 930, 980);
    assert_in_range(held_of_thousand(0.4, 0.02), 930, 980);
    assert_in_range(held_of_thousand(1.5, 0.05), 930, 980);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct run_figures *figures_of(const char *const *keys, const double *values, size_t count)
{
    struct run_figures *figures = memory__zeroed(1, sizeof *figures);
    *figures = (struct run_figures){.wall_ns = 1000, .rows = VEC_OF(struct figures_row)};
    for (size_t i = 0; i < count; i++)
        vec__push(&figures->rows, &(struct figures_row){.key = memory__text(keys[i]),
                                                        .label = memory__text(keys[i]),
                                                        .value = values[i]});
    return figures;
}

static void classes_are_told_by_their_calls(void **unused)
{
    (void)unused;
    static const char *const keys[] = {"flat", "steep", "rare"};
    struct vec runs = VEC_OF(struct contended_run);
    for (uint32_t round = 0; round < 2; round++)
        for (size_t i = 0; i < LEVELS; i++) {
            double calls = 10 + round; /* how often it is called changes nothing */
            const double counts[] = {calls, 5, 1},
                         times[] = {calls * 40, 5 * (100 + 100 * levels[i]), 3};
            struct contended_run run = {.asked = levels[i], .taken = levels[i], .round = round};
            run.wall_ns = 1000 + 200 * levels[i];
            vec__push(&runs, &run);
            run.wall_ns = NAN;
            run.times = figures_of(keys, times, i ? 2 : 3);
            run.counts = figures_of(keys, counts, i ? 2 : 3);
            vec__push(&runs, &run);
        }
    struct sensitivities told = sensitivities__of(&runs);
    assert_int_equal(told.levels.count, LEVELS);
    assert_int_equal(told.rows.count, 4);
    const struct sensitivity_row *rows = told.rows.items;
    assert_null(rows[0].label);
    assert_float_equal(rows[0].more.value, 0.2, 1e-9);
    assert_string_equal(rows[1].label, "steep"); /* 500 of 1000 ns, the other 420 */
    assert_float_equal(rows[1].share, 0.5, 1e-9);
    assert_float_equal(rows[1].more.value, 1, 1e-9);
    assert_float_equal(*VEC_AT(&rows[1].at, double, 2), 150, 1e-9);
    assert_string_equal(rows[2].label, "flat");
    assert_float_equal(rows[2].more.value, 0, 1e-9);
    assert_false(sensitivity_row__is_shown(&rows[2]));
    assert_true(sensitivity_row__is_shown(&rows[1]));
    assert_true(isnan(rows[3].more.value)); /* it was seen at one level */
    sensitivities__free(&told);
    VEC_EACH (run, &runs, struct contended_run)
        if (run->times) {
            run_figures__free(run->times);
            run_figures__free(run->counts);
            free(run->times);
            free(run->counts);
        }
    vec__free(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found_whatever_the_rounds_have),
        cmocka_unit_test(what_cannot_be_known_is_not_told),
        cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
        cmocka_unit_test(classes_are_told_by_their_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
