#include "analysis/events/quantile.h"
#include "fold/accumulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(struct accumulator *accumulator, const uint64_t *durations, size_t count)
{
    accumulator__clear(accumulator);
    for (size_t i = 0; i < count; i++) {
        uint64_t components[COMPONENTS] = {[COMPONENT_RUNNING] = durations[i]};
        accumulator__add(accumulator, durations[i], durations[i], components, 1);
    }
}

static void buckets_follow_each_other(void **state)
{
    (void)state;
    assert_int_equal(histogram__lower(0), 0);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t lower = histogram__lower(i);
        assert_int_equal(histogram__bucket(lower), i);
        if (i + 1 == HISTOGRAM_BUCKETS)
            break;
        uint64_t next = histogram__lower(i + 1);
        assert_true(next > lower);
        assert_int_equal(histogram__bucket(next - 1), i);
        assert_true(lower < 8 || (next - lower) * 8 <= lower);
    }
    assert_int_equal(histogram__bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
    /* Eight to an octave. */
    assert_int_equal(histogram__bucket(2048) - histogram__bucket(1024), 8);
}

static void excess_is_what_goes_beyond_the_minimum(void **state)
{
    (void)state;
    struct accumulator accumulator;
    fill(&accumulator, (uint64_t[]){150, 100, 300, 100}, 4);
    assert_int_equal(accumulator.count, 4);
    assert_int_equal(accumulator.sum, 650);
    assert_int_equal(accumulator.minimum, 100);
    assert_int_equal(accumulator.maximum, 300);
    assert_int_equal(accumulator__excess(&accumulator, accumulator.minimum), 250);
    assert_int_equal(accumulator__excess(&accumulator, 90), 290);
    assert_int_equal(accumulator__component_excess(&accumulator, COMPONENT_RUNNING), 250);
    assert_int_equal(accumulator__component_excess(&accumulator, COMPONENT_LOCK), 0);
}

static void reference_is_the_first_fastest(void **state)
{
    (void)state;
    struct accumulator accumulator;
    accumulator__clear(&accumulator);
    accumulator__add(&accumulator, 50, 50, (uint64_t[COMPONENTS]){[COMPONENT_DISK] = 50}, 1);
    accumulator__add(&accumulator, 10, 10,
                     (uint64_t[COMPONENTS]){[COMPONENT_LOCK] = 8, [COMPONENT_RUNNING] = 2}, 1);
    accumulator__add(&accumulator, 10, 10, (uint64_t[COMPONENTS]){[COMPONENT_RUNNING] = 10}, 1);
    assert_int_equal(accumulator.component_reference[COMPONENT_LOCK], 8);
    /* 8 of lock in all, 3 * 8 at the reference's rate. */
    assert_int_equal(accumulator__component_excess(&accumulator, COMPONENT_LOCK), -16);
    assert_int_equal(accumulator__component_excess(&accumulator, COMPONENT_DISK), 50);
    assert_int_equal(accumulator__component_excess(&accumulator, COMPONENT_RUNNING), 12 - 6);

    struct accumulator other;
    accumulator__clear(&other);
    accumulator__add(&other, 10, 10, (uint64_t[COMPONENTS]){[COMPONENT_SLEEP] = 10}, 1);
    accumulator__merge(&accumulator, &other);
    assert_int_equal(accumulator.component_reference[COMPONENT_LOCK], 8);
    assert_int_equal(accumulator.component_reference[COMPONENT_SLEEP], 0);
}

static void nested_occurrences_are_not_lost_twice(void **state)
{
    (void)state;
    struct accumulator accumulator;
    accumulator__clear(&accumulator);
    accumulator__add_nested(&accumulator, 40, 40, (uint64_t[COMPONENTS]){[COMPONENT_RUNNING] = 40},
                            1);
    accumulator__add(&accumulator, 100, 100,
                     (uint64_t[COMPONENTS]){[COMPONENT_LOCK] = 30, [COMPONENT_RUNNING] = 70}, 1);
    assert_int_equal(accumulator.count, 2);
    assert_int_equal(accumulator.sum, 140);
    assert_int_equal(accumulator.minimum, 40);
    assert_int_equal(accumulator__excess(&accumulator, 40), 60);
    assert_int_equal(accumulator__component_excess(&accumulator, COMPONENT_LOCK), 30);
    assert_int_equal(accumulator__component_excess(&accumulator, COMPONENT_RUNNING), 30);
}

static uint64_t quantile(const uint64_t *durations, size_t count, double share)
{
    struct accumulator accumulator;
    uint64_t histogram[HISTOGRAM_BUCKETS] = {0};
    fill(&accumulator, durations, count);
    for (size_t i = 0; i < count; i++)
        histogram[histogram__bucket(durations[i])]++;
    return quantile__of(&accumulator, histogram, share);
}

static void quantiles_are_exact_to_the_bucket(void **state)
{
    (void)state;
    uint64_t durations[1000];
    for (uint64_t i = 0; i < 1000; i++)
        durations[i] = 1000 + i * 10;
    for (unsigned percent = 1; percent < 100; percent++) {
        uint64_t exact = durations[percent * 10 - 1];
        uint64_t found = quantile(durations, 1000, percent / 100.0);
        assert_int_equal(histogram__bucket(found), histogram__bucket(exact));
    }
    assert_int_equal(quantile(durations, 1000, 0.5) >> 9, 11); /* bucket 5632 … 6143 */
    assert_int_equal(quantile((uint64_t[]){1000}, 1, 0), 1000);
    assert_int_equal(quantile((uint64_t[]){1000}, 1, 0.5), 1000);
    assert_int_equal(quantile((uint64_t[]){1000}, 1, 1), 1000);
    assert_int_equal(quantile((uint64_t[]){5, 5, 5, 1u << 20}, 4, 0.75), 5);
    assert_int_equal(quantile((uint64_t[]){5, 5, 5, 1u << 20}, 4, 0.76), 1u << 20);
    assert_int_equal(quantile(NULL, 0, 0.5), 0);
}

/* ---- properties ------------------------------------------------------------------------------ */

/* In everything but what is known of how exact it is. */
static void a_weight_is_so_many_equal_occurrences(void **state)
{
    (void)state;
    const uint64_t components[COMPONENTS] = {[COMPONENT_LOCK] = 30, [COMPONENT_RUNNING] = 10};
    struct accumulator weighted, repeated;
    accumulator__clear(&weighted);
    accumulator__clear(&repeated);
    accumulator__add(&weighted, 40, 40, components, 100);
    accumulator__add_nested(&weighted, 40, 40, components, 7);
    accumulator__add_whole(&weighted, 20, 20, COMPONENT_DISK, 3);
    for (unsigned i = 0; i < 100; i++)
        accumulator__add(&repeated, 40, 40, components, 1);
    for (unsigned i = 0; i < 7; i++)
        accumulator__add_nested(&repeated, 40, 40, components, 1);
    for (unsigned i = 0; i < 3; i++)
        accumulator__add_whole(&repeated, 20, 20, COMPONENT_DISK, 1);
    assert_int_equal(weighted.recorded, 3);
    assert_int_equal(weighted.drawn_squares, 100 * 100 + 7 * 7 + 3 * 3);
    assert_int_equal(repeated.recorded, 110);
    assert_int_equal(repeated.drawn_squares, 0);
    repeated.recorded = weighted.recorded;
    repeated.drawn_squares = weighted.drawn_squares;
    assert_memory_equal(&weighted, &repeated, sizeof weighted);
}

static uint64_t random_of(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Durations of all sizes, with many equal ones. */
static uint64_t random_components(uint64_t *seed, uint64_t components[COMPONENTS])
{
    uint64_t duration = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        components[i] = random_of(seed) % 3 ? 0 : random_of(seed) >> (24 + random_of(seed) % 40);
        duration += components[i];
    }
    return duration;
}

static void add_random(uint64_t *seed, struct accumulator *part, struct accumulator *all)
{
    uint64_t components[COMPONENTS];
    uint64_t duration = random_components(seed, components);
    bool nested = random_of(seed) % 5 == 0;
    uint64_t weight = random_of(seed) % 4 ? 1 : random_of(seed) % 1000 + 1;
    void (*add)(struct accumulator *, uint64_t, uint64_t, const uint64_t *, uint64_t) =
        nested ? accumulator__add_nested : accumulator__add;
    add(part, duration, duration, components, weight);
    add(all, duration, duration, components, weight);
}

static void check_sums(const struct accumulator *accumulator)
{
    uint64_t sum = 0, reference = 0;
    int64_t excess = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        sum += accumulator->component_sum[i];
        reference += accumulator->component_reference[i];
        excess += accumulator__component_excess(accumulator, (enum component)i);
    }
    assert_int_equal(sum, accumulator->sum - accumulator->nested_sum);
    assert_int_equal(reference, accumulator->minimum);
    assert_int_equal(excess, accumulator__excess(accumulator, accumulator->minimum));
}

static void merging_is_adding(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (unsigned round = 0; round < 500; round++) {
        struct accumulator parts[3], all;
        accumulator__clear(&all);
        for (unsigned part = 0; part < 3; part++) {
            accumulator__clear(&parts[part]);
            for (uint64_t n = random_of(&seed) % 20; n > 0; n--)
                add_random(&seed, &parts[part], &all);
        }
        accumulator__merge(&parts[0], &parts[1]);
        accumulator__merge(&parts[0], &parts[2]);
        /* Parts are merged in the order in which they were added, so even the references of equal
         * minima are the same. */
        assert_memory_equal(&parts[0], &all, sizeof all);
        check_sums(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_each_other),
        cmocka_unit_test(excess_is_what_goes_beyond_the_minimum),
        cmocka_unit_test(reference_is_the_first_fastest),
        cmocka_unit_test(nested_occurrences_are_not_lost_twice),
        cmocka_unit_test(a_weight_is_so_many_equal_occurrences),
        cmocka_unit_test(quantiles_are_exact_to_the_bucket),
        cmocka_unit_test(merging_is_adding),
    };
    return cmocka_run_group_tests_name("accumulate", tests, NULL, NULL);
}
