/* Spreads: how many durations of usual kinds stand out by chance, and what is found for certain. */
#include "analysis/outliers/spread.h"
#include "chance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* What is usual, as a multiple of the median: of several modes the slowest. */
struct kind {
    const char *name;
    double (*draw)(void);
    double usual;
    /* By chance at most so many of a million stand out, of 100 and of 10,000 durations. */
    double of_few, of_many;
    /* What is so many times the usual is found, among 100 and among 10,000. */
    double found_of_few, found_of_many;
};

static double normal_5(void)
{
    return 1 + 0.05 * normal();
}

static double log_normal_2(void)
{
    return exp(0.2 * normal());
}

static double log_normal_5(void)
{
    return exp(0.5 * normal());
}

static double log_normal_10(void)
{
    return exp(normal());
}

static double exponential(void)
{
    return -log(share());
}

static double pareto_2(void)
{
    return pow(share(), -1 / 2.0);
}

static double pareto_1(void)
{
    return pow(share(), -1);
}

static double two_modes(void)
{
    return (share() < 0.3 ? 10 : 1) * (1 + 0.05 * normal());
}

static double a_rare_mode(void)
{
    return (share() < 0.03 ? 10 : 1) * (1 + 0.05 * normal());
}

static const struct kind kinds[] = {
    {"normal, 5 %", normal_5, 1, 1, 1, 2.3, 2.3},
    {"log-normal, 0.2", log_normal_2, 1, 1000, 10, 3, 3},
    {"log-normal, 0.5", log_normal_5, 1, 12000, 1000, 5, 9},
    {"log-normal, 1", log_normal_10, 1, 40000, 2500, 10, 60},
    {"exponential", exponential, 0.7, 20000, 1000, 9, 20},
    {"Pareto, 2", pareto_2, 1.4, 50000, 2500, 6, 40},
    {"Pareto, 1", pareto_1, 2, 80000, 4000, 20, 500},
    {"two modes, 30 % slow", two_modes, 10, 1, 1, 2.3, 2.3},
    {"two modes, 3 % slow", a_rare_mode, 10, 40000, 1, 2.3, 2.3},
};
#define KINDS (sizeof kinds / sizeof kinds[0])
#define MEDIAN 10000.0 /* ticks */

struct outcome {
    double by_chance; /* of a million */
    double found;     /* the mean bound, over the usual */
};

static struct outcome try(const struct kind *kind, size_t count)
{
    size_t trials = count < 1000 ? 2000 : 40;
    uint64_t *drawn = calloc(count, sizeof *drawn);
    struct outcome outcome = {0};
    for (size_t trial = 0; trial < trials; trial++) {
        struct spread spread = {0};
        for (size_t i = 0; i < count; i++) {
            double duration = MEDIAN * kind->draw();
            drawn[i] = duration < 1 ? 1 : (uint64_t)duration;
            spread__add(&spread, drawn[i]);
        }
        struct spread_limits limits = spread__limits(&spread);
        for (size_t i = 0; i < count; i++)
            outcome.by_chance += drawn[i] >= limits.bound;
        outcome.found += (double)limits.bound / MEDIAN / kind->usual;
        spread__free(&spread);
    }
    free(drawn);
    outcome.by_chance *= 1e6 / (double)(trials * count);
    outcome.found /= (double)trials;
    return outcome;
}

static void few_of_usual_kinds_stand_out(void **unused)
{
    (void)unused;
    state = 1;
    print_message("%-22s %28s %28s\n", "", "100 durations", "10,000 durations");
    for (size_t i = 0; i < KINDS; i++) {
        struct outcome few = try(&kinds[i], 100), many = try(&kinds[i], 10000);
        print_message("%-22s %8.0f ppm, found %6.1f x %8.0f ppm, found %6.1f x\n", kinds[i].name,
                      few.by_chance, few.found, many.by_chance, many.found);
        assert_true(few.by_chance <= kinds[i].of_few);
        assert_true(many.by_chance <= kinds[i].of_many);
        assert_true(few.found <= kinds[i].found_of_few);
        assert_true(many.found <= kinds[i].found_of_many);
    }
}

/* As long as no more than one in eight of few, or one in a hundred, were made long. */
static void what_is_long_does_not_hide_itself(void **unused)
{
    (void)unused;
    for (unsigned count = 8; count <= 100000; count = count * 5 / 4 + 1) {
        struct spread spread = {0};
        unsigned few = count / 8 < 32 ? count / 8 : 32;
        unsigned made_long = count / 100 > few ? count / 100 : few;
        state = count;
        for (unsigned i = 0; i < count - made_long; i++)
            spread__add(&spread, (uint64_t)(MEDIAN * normal_5()));
        for (unsigned i = 0; i < made_long; i++)
            spread__add(&spread, (uint64_t)(MEDIAN * (3 + 100 * share())));
        assert_true(spread__limits(&spread).bound < (uint64_t)(3 * MEDIAN));
        spread__free(&spread);
    }
}

static void too_few_are_not_compared(void **unused)
{
    struct spread spread = {0};
    (void)unused;
    assert_int_equal(spread__limits(&spread).usual, 0);
    for (uint64_t i = 1; i < SPREAD_MIN; i++) {
        spread__add(&spread, 1000);
        assert_true(spread__limits(&spread).bound == UINT64_MAX);
        assert_in_range(spread__limits(&spread).usual, 900, 1100);
    }
    spread__add(&spread, 1000);
    assert_in_range(spread__limits(&spread).bound, 1800, 2300);
    spread__free(&spread);
}

/* Most take no time, as locks that are free. */
static void durations_of_nothing(void **unused)
{
    struct spread spread = {0};
    (void)unused;
    for (int i = 0; i < 10000; i++)
        spread__add(&spread, 0);
    assert_in_range(spread__limits(&spread).bound, 0, 10);
    spread__add(&spread, UINT64_MAX);
    assert_in_range(spread__limits(&spread).bound, 0, 10);
    spread__free(&spread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_of_usual_kinds_stand_out),
        cmocka_unit_test(what_is_long_does_not_hide_itself),
        cmocka_unit_test(too_few_are_not_compared),
        cmocka_unit_test(durations_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
