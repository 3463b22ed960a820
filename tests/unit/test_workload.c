/* A value's share of the differences between durations is what was put into them. */
#include "analysis/cause/workload.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST 20000u

struct data {
    double durations[MOST], parts[MOST];
    uint64_t values[MOST];
    size_t count;
    uint64_t seed;
};

static struct data data;

static uint64_t random_of(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* 0 … 1 */
static double even(void)
{
    return (double)(random_of(&data.seed) >> 11) / (double)(1ull << 53);
}

/* Most often small, sometimes very large: one in a hundred is more than twenty times the mean. */
static double heavy(void)
{
    return pow(1 - even(), -1 / 1.3) - 1;
}

static void begin(size_t count, uint64_t seed)
{
    data.count = count;
    data.seed = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    for (unsigned i = 0; i < 20; i++)
        random_of(&data.seed);
}

static bool fit(enum value_sort sort, struct workload_fit *answer)
{
    struct workload_values values = {data.durations, data.values, data.count, sort};
    return workload__fit(&values, data.parts, answer);
}

/* Σ (duration − least) */
static double differences(void)
{
    double least = INFINITY, sum = 0;
    for (size_t i = 0; i < data.count; i++)
        least = fmin(least, data.durations[i]);
    for (size_t i = 0; i < data.count; i++)
        sum += data.durations[i] - least;
    return sum;
}

static void assert_share(const struct workload_fit *answer, double expected, double away)
{
    if (!(fabs(answer->share - expected) <= away))
        fail_msg("the share is %f, not %f", answer->share, expected);
}

/* What the value makes of the durations, as a share of all differences. */
static double put(double (*work)(uint64_t value), double (*noise)(void), double noise_size)
{
    double sum = 0, least = INFINITY;
    for (size_t i = 0; i < data.count; i++)
        least = fmin(least, work(data.values[i]));
    for (size_t i = 0; i < data.count; i++) {
        data.durations[i] = work(data.values[i]) + noise_size * noise();
        sum += work(data.values[i]) - least;
    }
    return sum / differences();
}

static void even_values(uint64_t most)
{
    for (size_t i = 0; i < data.count; i++)
        data.values[i] = random_of(&data.seed) % most;
}

static double linear(uint64_t value)
{
    return 1000 + 10. * (double)value;
}

static double squared(uint64_t value)
{
    return 1000 + (double)value * (double)value;
}

static double nothing(uint64_t value)
{
    (void)value;
    return 1000;
}

/* In no order of the values. */
static double scattered(uint64_t value)
{
    return 1000 + (double)(value * 7919 % 13) * 300;
}

static void few_values_are_found(void **state)
{
    (void)state;
    struct workload_fit answer;
    begin(2000, 1);
    even_values(7);
    double truth = put(scattered, even, 400);
    assert_true(truth > 0.85 && truth < 0.95);
    assert_true(fit(VALUE_NUMBER, &answer));
    assert_share(&answer, truth, 0.03);
    assert_true(fit(VALUE_LABEL, &answer));
    assert_share(&answer, truth, 0.03);
    assert_true(answer.explained > 0.9 && answer.null < 0.2);
}

static void many_values_are_found(void **state)
{
    (void)state;
    struct workload_fit answer;
    begin(MOST, 2);
    even_values(1000000);
    double truth = put(squared, even, 1e11);
    assert_true(fit(VALUE_NUMBER, &answer));
    assert_share(&answer, truth, 0.05);
    begin(500, 3);
    even_values(1000);
    truth = put(linear, even, 1000);
    assert_true(truth > 0.85 && truth < 0.95);
    assert_true(fit(VALUE_NUMBER, &answer));
    assert_share(&answer, truth, 0.07);
}

/* Noise that is rare and large is not the value's, though it is most of the differences. */
static void heavy_noise_is_left(void **state)
{
    (void)state;
    struct workload_fit answer;
    begin(5000, 4);
    even_values(10);
    double truth = put(linear, heavy, 20);
    assert_true(truth > 0.2 && truth < 0.7);
    assert_true(fit(VALUE_NUMBER, &answer));
    assert_share(&answer, truth, 0.1);
}

static void parts_add_up_to_the_share(void **state)
{
    (void)state;
    struct workload_fit answer;
    double sum = 0, least = INFINITY;
    begin(5000, 5);
    even_values(300);
    put(linear, heavy, 200);
    assert_true(fit(VALUE_NUMBER, &answer));
    for (size_t i = 0; i < data.count; i++)
        least = fmin(least, data.durations[i]);
    for (size_t i = 0; i < data.count; i++) {
        assert_true(data.parts[i] >= 0 && data.durations[i] - data.parts[i] >= least - 1e-6);
        sum += data.parts[i];
    }
    assert_share(&answer, sum / differences(), 1e-6);
}

/* With few durations a value, even the fastest differ by chance: on the average that is taken off.
 */
static void chance_is_taken_off(void **state)
{
    (void)state;
    struct workload_fit answer;
    double sum = 0, expected = 0, found = 0;
    for (unsigned seed = 0; seed < 50; seed++) {
        begin(240, 200 + seed);
        for (size_t i = 0; i < data.count; i++)
            data.values[i] = i % 13;
        double truth = put(scattered, even, 4000);
        if (!fit(VALUE_LABEL, &answer))
            continue;
        found++;
        sum += answer.share;
        expected += truth;
    }
    assert_true(found > 40);
    if (fabs(sum / found - expected / found) > 0.01)
        fail_msg("%f, not %f", sum / found, expected / found);
}

static unsigned false_finds(size_t count, uint64_t most, enum value_sort sort,
                            double (*noise)(void))
{
    unsigned found = 0;
    struct workload_fit answer;
    for (unsigned seed = 0; seed < 50; seed++) {
        begin(count, 100 + seed);
        even_values(most);
        put(nothing, noise, 300);
        found += fit(sort, &answer);
    }
    return found;
}

static void what_has_nothing_to_do_with_it_explains_nothing(void **state)
{
    (void)state;
    assert_in_range(false_finds(100, 4, VALUE_NUMBER, heavy), 0, 2);
    assert_in_range(false_finds(100, 12, VALUE_LABEL, heavy), 0, 2);
    assert_in_range(false_finds(100, 100000, VALUE_NUMBER, heavy), 0, 2);
    assert_in_range(false_finds(3000, 20, VALUE_NUMBER, heavy), 0, 2);
    assert_in_range(false_finds(3000, 100000, VALUE_NUMBER, heavy), 0, 2);
    assert_in_range(false_finds(100, 6, VALUE_NUMBER, even), 0, 2);
    assert_in_range(false_finds(150, 12, VALUE_LABEL, even), 0, 2);
    assert_in_range(false_finds(300, 100000, VALUE_NUMBER, even), 0, 2);
}

/* A number that counts up: a slope is its own, a time that was disturbed is not. */
static void a_counter_needs_a_slope(void **state)
{
    (void)state;
    struct workload_fit answer;
    begin(2000, 6);
    for (size_t i = 0; i < data.count; i++)
        data.values[i] = i;
    put(linear, even, 1000);
    assert_true(fit(VALUE_COUNTER, &answer));
    for (size_t i = 0; i < data.count; i++)
        data.durations[i] = (i / 300 % 3 == 1 ? 3000 : 1000) + 100 * even();
    assert_true(fit(VALUE_NUMBER, &answer));
    assert_false(fit(VALUE_COUNTER, &answer));
    for (size_t i = 0; i < data.count; i++)
        data.durations[i] = (i > 1200 ? 3000 : 1000) + 100 * even();
    assert_false(fit(VALUE_COUNTER, &answer));
}

static void edges(void **state)
{
    (void)state;
    struct workload_fit answer;
    begin(WORKLOAD_LEAST - 1, 7);
    even_values(2);
    put(linear, even, 0);
    assert_false(fit(VALUE_NUMBER, &answer));
    data.count = 0;
    assert_false(fit(VALUE_NUMBER, &answer));
    begin(1000, 8);
    even_values(1); /* one value */
    put(linear, even, 10);
    assert_false(fit(VALUE_NUMBER, &answer));
    even_values(10); /* one duration */
    put(nothing, even, 0);
    assert_false(fit(VALUE_NUMBER, &answer));
    for (size_t i = 0; i < data.count; i++) /* the largest there are */
        data.values[i] = UINT64_MAX - i % 10;
    for (size_t i = 0; i < data.count; i++)
        data.durations[i] = 1e15 * (double)(i % 10);
    assert_true(fit(VALUE_NUMBER, &answer));
    assert_share(&answer, 1, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_are_found),
        cmocka_unit_test(many_values_are_found),
        cmocka_unit_test(heavy_noise_is_left),
        cmocka_unit_test(parts_add_up_to_the_share),
        cmocka_unit_test(chance_is_taken_off),
        cmocka_unit_test(what_has_nothing_to_do_with_it_explains_nothing),
        cmocka_unit_test(a_counter_needs_a_slope),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
