/* Shifts: how often runs of the same program are called different, and what is found, by the noise
 * of the runs. */
#include "analysis/compare/shift.h"
#include "chance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- noise of runs that take 1 --------------------------------------------------------------- */

/* pair: 0, 1, …; it is set before both of its runs. */
struct machine {
    unsigned pair;
    bool is_busy;
};

static double quiet(struct machine *machine)
{
    (void)machine;
    return 1 + 0.02 * normal();
}

static double skewed(struct machine *machine)
{
    (void)machine;
    return exp(0.01 * normal()) + 0.015 * -log(share());
}

/* It becomes slower by a tenth over ten pairs. */
static double drifting(struct machine *machine)
{
    return 1 + 0.01 * machine->pair + 0.01 * normal();
}

/* A neighbour comes and goes between pairs. */
static double neighbour(struct machine *machine)
{
    return (machine->is_busy ? 1.3 : 1) * (1 + 0.015 * normal());
}

/* It comes and goes between any two runs. */
static double restless(struct machine *machine)
{
    (void)machine;
    return (share() < 0.5 ? 1.3 : 1) * (1 + 0.015 * normal());
}

struct noise {
    const char *name;
    double (*draw)(struct machine *machine);
    double found; /* in at least so many of the cases a difference of a twentieth is found */
};

static const struct noise noises[] = {
    {"quiet", quiet, 0.9},         {"skewed", skewed, 0.9},   {"drifting", drifting, 0.9},
    {"neighbour", neighbour, 0.9}, {"restless", restless, 0},
};
#define NOISES (sizeof noises / sizeof *noises)

#define RUNS_MOST 60

static void draw(const struct noise *noise, size_t count, double factor, double *before,
                 double *after)
{
    struct machine machine = {0};
    for (size_t i = 0; i < count; i++) {
        machine.pair = (unsigned)i;
        machine.is_busy = share() < 0.5;
        before[i] = noise->draw(&machine);
        after[i] = factor * noise->draw(&machine);
    }
}

/* The share of so many comparisons that find a difference. */
static double called_different(const struct noise *noise, size_t count, double factor,
                               unsigned times, bool are_pairs)
{
    unsigned different = 0;
    for (unsigned i = 0; i < times; i++) {
        double before[RUNS_MOST], after[RUNS_MOST];
        draw(noise, count, factor, before, after);
        struct shift shift = shift__between(before, count, after, count, are_pairs, SHIFT_RISK);
        different += shift.verdict == SHIFT_LESS || shift.verdict == SHIFT_MORE;
    }
    return (double)different / times;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void runs_of_the_same_program_are_seldom_called_different(void **context)
{
    static const size_t counts[] = {5, 9, 10, 14};
    (void)context;
    for (size_t n = 0; n < NOISES; n++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int pairs = 0; pairs < 2; pairs++) {
                state = 17 + n;
                double wrong = called_different(&noises[n], counts[c], 1, 1000, pairs);
                assert_true(wrong <= 0.02);
            }
}

static void a_twentieth_is_found_with_ten_pairs(void **context)
{
    (void)context;
    for (size_t n = 0; n < NOISES; n++) {
        state = 4711 + n;
        double found = called_different(&noises[n], 10, 1.05, 2000, true);
        print_message("%s: 5 %% found in %.3f\n", noises[n].name, found);
        assert_true(found >= noises[n].found);
    }
}

static void an_interval_holds_the_truth(void **context)
{
    (void)context;
    for (size_t n = 0; n < NOISES; n++) {
        unsigned held = 0;
        state = 99 + n;
        for (unsigned i = 0; i < 2000; i++) {
            double before[8], after[8];
            draw(&noises[n], 8, 1, before, after);
            for (size_t k = 0; k < 8; k++)
                after[k] += 0.1;
            struct shift shift = shift__between(before, 8, after, 8, true, SHIFT_RISK);
            held += shift.low <= 0.1 && 0.1 <= shift.high;
        }
        assert_true(held >= 1970);
    }
}

static void few_runs_are_too_few(void **context)
{
    const double before[] = {1, 2, 3, 4, 5, 6, 7, 8}, after[] = {11, 12, 13, 14, 15, 16, 17, 18};
    (void)context;
    for (size_t count = 1; count <= 8; count++)
        for (int pairs = 0; pairs < 2; pairs++) {
            struct shift shift = shift__between(before, count, after, count, pairs, SHIFT_RISK);
            bool is_enough = count >= 5;
            assert_int_equal(shift.verdict, is_enough ? SHIFT_MORE : SHIFT_TOO_FEW);
            assert_true(shift.middle == 10);
            assert_true(isnan(shift.low) == !is_enough);
        }
}

/* The tables of the rank sum and of the signed ranks: Hollander, Wolfe, Chicken, A.6 and A.4. */
static void chances_are_those_of_the_tables(void **context)
{
    const double five[] = {1, 2, 3, 4, 5}, higher[] = {6, 7, 8, 9, 10}, mixed[] = {6, 7, 8, 9, 4.5};
    (void)context;
    struct shift shift = shift__between(five, 5, higher, 5, false, SHIFT_RISK);
    assert_true(fabs(shift.chance - 2.0 / 252) < 1e-12);
    shift = shift__between(five, 5, mixed, 5, false, SHIFT_RISK);
    assert_true(fabs(shift.chance - 4.0 / 252) < 1e-12);
    assert_int_equal(shift.verdict, SHIFT_NOT_SHOWN);
}

static void equal_figures_are_no_difference(void **context)
{
    const double same[12] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    (void)context;
    for (int pairs = 0; pairs < 2; pairs++) {
        struct shift shift = shift__between(same, 12, same, 12, pairs, SHIFT_RISK);
        assert_int_equal(shift.verdict, SHIFT_NOT_SHOWN);
        assert_true(shift.chance == 1 && shift.low == 0 && shift.high == 0);
    }
}

static void more_runs_than_are_counted_exactly_agree(void **context)
{
    double before[RUNS_MOST], after[RUNS_MOST];
    (void)context;
    for (size_t count = 39; count <= 42; count++) {
        for (size_t i = 0; i < count; i++) {
            before[i] = (double)(i * 7 % 41);
            after[i] = (double)(i * 11 % 43) + 8;
        }
        struct shift shift = shift__between(before, count, after, count, false, SHIFT_RISK);
        print_message("%zu runs: chance %.4f\n", count, shift.chance);
        assert_true(shift.chance > 0.0005 && shift.chance < 0.05);
    }
}

static void medians(void **context)
{
    (void)context;
    assert_true(shift__median((const double[]){3, 1, 2}, 3) == 2);
    assert_true(shift__median((const double[]){4, 1, 3, 2}, 4) == 2.5);
    assert_true(shift__median((const double[]){4}, 1) == 4);
}

static void several_chances_are_held_together(void **context)
{
    bool held[4];
    (void)context;
    shift__hold((const double[]){0.01, 0.001, 0.5, 0.004}, 4, 0.02, held);
    assert_true(held[1] && held[3] && held[0] && !held[2]);
    shift__hold((const double[]){0.01, 0.006, 0.5, 0.012}, 4, 0.02, held);
    assert_true(!held[0] && !held[1] && !held[2] && !held[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_the_same_program_are_seldom_called_different),
        cmocka_unit_test(a_twentieth_is_found_with_ten_pairs),
        cmocka_unit_test(an_interval_holds_the_truth),
        cmocka_unit_test(few_runs_are_too_few),
        cmocka_unit_test(chances_are_those_of_the_tables),
        cmocka_unit_test(equal_figures_are_no_difference),
        cmocka_unit_test(more_runs_than_are_counted_exactly_agree),
        cmocka_unit_test(medians),
        cmocka_unit_test(several_chances_are_held_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
