/* The estimator that stands behind --overhead (docs/accuracy.md), by construction: the runtime's
 * own drawing over known durations, and its division of what may be spent. */
#include "runtime/block_sampling.h"
#include "runtime/share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OCCURRENCES = 4000, TRIALS = 2000 };

/* Durations with all that deceives: periods that blocks may fall in step with, a trend, and a few
 * that are a hundred times longer. */
static uint64_t duration_of(unsigned i)
{
    uint64_t duration = 100 + i / 40 + (i % 16 == 3 ? 70 : 0) + (i % 10 < 5 ? 9 : 0);
    return i % 500 == 77 ? duration * 100 : duration;
}

/* Lengths of the blocks one after the other; what follows them is recorded whole. */
struct schedule {
    const uint32_t *blocks;
    unsigned count;
};

static uint32_t block_at(const struct schedule *schedule, unsigned number)
{
    return number < schedule->count ? schedule->blocks[number] : 1;
}

struct estimate {
    uint64_t count, sum, recorded;
};

/* What stub and budget.c do with a function's occurrences, all sampled by that schedule. */
static struct estimate run(const struct schedule *schedule, uint64_t seed)
{
    struct estimate estimate = {0};
    struct block_sampling drawing;
    uint64_t random = seed;
    unsigned number = 0;
    uint32_t gap = block_sampling__begin(&drawing, block_at(schedule, number++), &random);
    for (unsigned i = 0; i < OCCURRENCES; i++) {
        if (--gap > 0)
            continue;
        estimate.count += drawing.block;
        estimate.sum += drawing.block * duration_of(i);
        estimate.recorded++;
        gap = block_sampling__next(&drawing, block_at(schedule, number++), &random);
    }
    return estimate;
}

/* The variance of the estimated sum: of each block, k² times that of its durations. */
static double variance_of(const struct schedule *schedule)
{
    double variance = 0;
    for (unsigned number = 0, at = 0; at < OCCURRENCES; number++) {
        uint32_t block = block_at(schedule, number);
        double sum = 0, squares = 0;
        for (unsigned i = at; i < at + block && i < OCCURRENCES; i++) {
            sum += (double)duration_of(i);
            squares += (double)duration_of(i) * (double)duration_of(i);
        }
        variance += block * squares - sum * sum;
        at += block;
    }
    return variance;
}

static double true_sum(void)
{
    double sum = 0;
    for (unsigned i = 0; i < OCCURRENCES; i++)
        sum += (double)duration_of(i);
    return sum;
}

/* Whether the mean of all trials is within 4 standard errors of truth. */
static bool agrees(double mean, double truth, double variance)
{
    return fabs(mean - truth) <= 4 * sqrt(variance / TRIALS) + 1e-9 * truth;
}

static void check_schedule(const struct schedule *schedule)
{
    double mean = 0, mean_count = 0, squares = 0, truth = true_sum();
    uint64_t recorded = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct estimate estimate = run(schedule, seed * 0x9e3779b97f4a7c15ull);
        double error = (double)estimate.sum - truth;
        mean += (double)estimate.sum / TRIALS;
        mean_count += (double)estimate.count / TRIALS;
        squares += error * error / TRIALS;
        recorded += estimate.recorded;
    }
    double variance = variance_of(schedule);
    assert_true(agrees(mean, truth, variance));
    /* The stated error is the true one. The last block is cut off: a little less is known of it. */
    assert_true(squares > 0.8 * variance && squares < 1.25 * variance);
    assert_true(fabs(mean_count - OCCURRENCES) < 0.01 * OCCURRENCES);
    /* The test can tell: weights of k - 1, or equal weights that fit in all, are found out. */
    assert_false(agrees(mean - (double)recorded / TRIALS * 100, truth, variance));
}

static void sums_are_unbiased(void **state)
{
    (void)state;
    uint32_t equal[500], mixed[500];
    for (unsigned i = 0; i < 500; i++) {
        equal[i] = 8;
        mixed[i] = (const uint32_t[]){4, 50, 16, 7}[i / 20 % 4];
    }
    check_schedule(&(struct schedule){equal, 500});
    check_schedule(&(struct schedule){mixed, 190});
}

/* Every occurrence is drawn equally often, wherever it lies in its block. */
static void every_occurrence_is_as_probable(void **state)
{
    (void)state;
    enum { BLOCK = 10, ROUNDS = 20000 };
    unsigned drawn[2 * BLOCK] = {0};
    uint64_t random = 12345;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct block_sampling drawing;
        uint32_t at = block_sampling__begin(&drawing, BLOCK, &random) - 1;
        assert_true(at < BLOCK);
        drawn[at]++;
        at += block_sampling__next(&drawing, BLOCK, &random);
        assert_in_range(at, BLOCK, 2 * BLOCK - 1);
        drawn[at]++;
    }
    double expected = ROUNDS / BLOCK, deviation = sqrt(expected * (1 - 1.0 / BLOCK));
    for (unsigned i = 0; i < 2 * BLOCK; i++)
        assert_true(fabs(drawn[i] - expected) < 4.5 * deviation);
}

/* The weights add up to the true count, but for the block that is under way. */
static void weights_add_up(void **state)
{
    (void)state;
    const uint32_t blocks[] = {4, 1000, 17, 1, 1, 300, 5, 1024, 4};
    struct schedule schedule = {blocks, sizeof blocks / sizeof blocks[0]};
    for (uint64_t seed = 1; seed < 500; seed++) {
        struct estimate estimate = run(&schedule, seed);
        /* After the schedule every occurrence counts for itself. */
        assert_int_equal(estimate.count, OCCURRENCES);
        uint32_t whole[100];
        for (unsigned i = 0; i < 100; i++)
            whole[i] = 48;
        struct estimate cut = run(&(struct schedule){whole, 100}, seed);
        assert_true(llabs((long long)cut.count - OCCURRENCES) < 48);
    }
}

/* ---- what may be spent ----------------------------------------------------------------------- */

static const struct costs costs = {.drawn = 15, .left_out = 4};

static uint64_t cost_of(const struct share *shares, unsigned count)
{
    uint64_t cost = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t all = shares[i].occurrences, drawn = all / shares[i].block;
        cost += shares[i].block == 1
                    ? all * shares[i].recorded
                    : drawn * (shares[i].recorded + costs.drawn) + all * costs.left_out;
    }
    return cost;
}

static void the_rare_is_recorded_whole(void **state)
{
    (void)state;
    struct share shares[] = {
        {100000, 25, 0}, {50, 25, 0}, {3000, 25, 0}, {1, 25, 0}, {90000, 25, 0}};
    const uint64_t allowance = 1200000;
    share__divide(shares, 5, &costs, allowance);
    assert_int_equal(shares[1].block, 1);
    assert_int_equal(shares[3].block, 1);
    assert_int_equal(shares[2].block, 1);
    assert_true(shares[0].block >= shares[4].block && shares[4].block >= BLOCK_LEAST);
    assert_true(cost_of(shares, 5) <= allowance);
    assert_true(cost_of(shares, 5) > allowance * 9 / 10); /* and it is made use of */
}

static void all_is_recorded_while_it_fits(void **state)
{
    (void)state;
    struct share shares[] = {{1000, 25, 0}, {50, 25, 0}, {3000, 25, 0}};
    share__divide(shares, 3, &costs, 4050 * 25);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(shares[i].block, 1);
    share__divide(shares, 3, &costs, 4050 * 25 - 1);
    assert_true(shares[2].block >= BLOCK_LEAST);
    assert_true(cost_of(shares, 3) < 4050 * 25);
    share__divide(shares, 0, &costs, 0);
}

static void the_rare_is_recorded_though_something_is_too_frequent(void **state)
{
    (void)state;
    struct share shares[] = {{1000000, 25, 0}, {12, 25, 0}, {900000, 25, 0}};
    share__divide(shares, 3, &costs, 100000); /* leaving out alone costs 7,600,000 */
    assert_int_equal(shares[1].block, 1);
    assert_int_equal(shares[0].block, BLOCK_MOST);
    assert_int_equal(shares[2].block, BLOCK_MOST);
}

/* What is dearer counts for more. */
static void costs_differ(void **state)
{
    (void)state;
    struct share shares[] = {{10000, 25, 0}, {10000, 100, 0}, {20, 1000, 0}};
    const uint64_t allowance = 300000;
    share__divide(shares, 3, &costs, allowance);
    assert_int_equal(shares[2].block, 1);
    assert_int_equal(shares[0].block, shares[1].block);
    assert_true(cost_of(shares, 3) <= allowance && cost_of(shares, 3) > allowance * 8 / 10);
}

static void nothing_to_spend_makes_the_longest_blocks(void **state)
{
    (void)state;
    struct share shares[] = {{1000000, 25, 0}, {1, 25, 0}, {UINT32_MAX, 25, 0}};
    share__divide(shares, 3, &costs, 0);
    assert_int_equal(shares[0].block, BLOCK_MOST);
    assert_int_equal(shares[1].block, 1);
    assert_int_equal(shares[2].block, BLOCK_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_unbiased),
        cmocka_unit_test(every_occurrence_is_as_probable),
        cmocka_unit_test(weights_add_up),
        cmocka_unit_test(the_rare_is_recorded_whole),
        cmocka_unit_test(all_is_recorded_while_it_fits),
        cmocka_unit_test(the_rare_is_recorded_though_something_is_too_frequent),
        cmocka_unit_test(costs_differ),
        cmocka_unit_test(nothing_to_spend_makes_the_longest_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
