/* Looks at more and more runs: how often a gate is wrong of a program against itself, whatever the
 * machine does meanwhile, and how soon a change is found. */
#include "analysis/compare/sequential.h"
#include "analysis/compare/shift.h"
#include "chance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- a machine ------------------------------------------------------------------------------- */

/* The logarithm of what a run of 1 takes: a level that follows its last value, single runs that
 * scatter, and now and then a long one. */
struct machine {
    double follows, moves, scatters, spikes;
    double level;
};

static double run_on(struct machine *machine)
{
    machine->level = machine->follows * machine->level + machine->moves * normal();
    double spike = share() < machine->spikes ? -0.1 * log(share()) : 0;
    return machine->level + machine->scatters * normal() + spike;
}

static const struct machine quiet = {0, 0, 0.02, 0, 0};
/* Single runs by 1 % and every twentieth longer by 10 % and more; the level drifts by 3 %. */
static const struct machine restless = {0.9, 0.01, 0.01, 0.05, 0};
static const struct machine wild = {0.98, 0.05, 0.03, 0.2, 0};

/* ---- a gate ---------------------------------------------------------------------------------- */

enum answer { UNDECIDED, SLOWER, FASTER };

struct gate_run {
    enum answer answer;
    size_t pairs;
};

static enum answer look(const double *before, const double *after, size_t pairs, double risk,
                        double limit)
{
    const struct shift_rule rule = {SHIFT_BY_PAIRS, 2 * risk, SEQUENTIAL_FIRST};
    struct shift shift = shift__by_rule(before, pairs, after, pairs, true, &rule);
    return shift.low > limit ? SLOWER : shift.high < limit ? FASTER : UNDECIDED;
}

/* factor: how many times as long the program takes. last: the pairs for which there is time.
 * is_naive: each look uses the whole risk. */
static struct gate_run run_gate(struct machine machine, double factor, double limit, size_t last,
                                bool is_naive)
{
    double before[SEQUENTIAL_LAST], after[SEQUENTIAL_LAST];
    struct gate_run gate = {UNDECIDED, 0};
    while (gate.answer == UNDECIDED && gate.pairs < last) {
        bool is_after_first = share() < 0.5;
        double first = run_on(&machine), second = run_on(&machine);
        before[gate.pairs] = is_after_first ? second : first;
        after[gate.pairs++] = log(factor) + (is_after_first ? first : second);
        double risk = is_naive ? SEQUENTIAL_RISK : sequential__risk(gate.pairs, 1);
        if (!is_naive && gate.pairs == last)
            risk += sequential__rest(gate.pairs, 1);
        if (gate.pairs >= SEQUENTIAL_FIRST && risk > 0)
            gate.answer = look(before, after, gate.pairs, risk, limit);
    }
    return gate;
}

/* The share of so many gates that give that answer with so many pairs at most. */
static double answered(const struct machine *machine, double factor, double limit, size_t last,
                       enum answer answer, unsigned times)
{
    unsigned count = 0;
    for (unsigned i = 0; i < times; i++)
        count += run_gate(*machine, factor, limit, last, false).answer == answer;
    return (double)count / times;
}

/* ---- tests ----------------------------------------------------------------------------------- */

#define TIMES 2000

static void a_program_is_seldom_slower_than_itself(void **context)
{
    static const size_t lasts[] = {10, 17, SEQUENTIAL_LAST};
    const struct machine *const machines[] = {&quiet, &restless, &wild};
    (void)context;
    for (size_t m = 0; m < 3; m++)
        for (size_t l = 0; l < 3; l++) {
            state = 31 + m;
            double wrong = answered(machines[m], 1, 0, lasts[l], SLOWER, TIMES);
            print_message("machine %zu, %zu pairs: %.4f wrong\n", m, lasts[l], wrong);
            assert_true(wrong <= 0.015);
        }
}

/* Without a division of the risk: what the rule is there for. */
static void looking_again_and_again_is_wrong_too_often(void **context)
{
    unsigned wrong = 0;
    (void)context;
    state = 31;
    for (unsigned i = 0; i < TIMES; i++)
        wrong += run_gate(restless, 1, 0, SEQUENTIAL_LAST, true).answer == SLOWER;
    print_message("naive: %.4f wrong\n", (double)wrong / TIMES);
    assert_true((double)wrong / TIMES > 0.03);
}

static void a_twentieth_is_found_within_ten_pairs(void **context)
{
    (void)context;
    state = 47;
    double found = answered(&quiet, 1.05, 0, 10, SLOWER, TIMES);
    print_message("quiet: 5 %% found in %.4f\n", found);
    assert_true(found >= 0.9);
    state = 47;
    found = answered(&restless, 1.05, 0, 10, SLOWER, TIMES);
    print_message("restless: 5 %% found in %.4f, in 40 pairs %.4f\n", found,
                  answered(&restless, 1.05, 0, SEQUENTIAL_LAST, SLOWER, TIMES));
    assert_true(found >= 0.5);
}

/* A limit of a twentieth: what did not change passes, what takes a tenth more does not. */
static void a_limit_parts_what_is_far_from_it(void **context)
{
    (void)context;
    state = 53;
    assert_true(answered(&quiet, 1, log(1.05), 10, FASTER, TIMES) >= 0.9);
    assert_true(answered(&quiet, 1.1, log(1.05), 10, SLOWER, TIMES) >= 0.85);
    assert_true(answered(&quiet, 1.05, log(1.05), SEQUENTIAL_LAST, UNDECIDED, TIMES) >= 0.97);
}

static void the_risks_of_all_looks_are_the_whole(void **context)
{
    double sum = 0;
    (void)context;
    assert_true(sequential__rest(SEQUENTIAL_FIRST - 1, 1) == 0);
    for (size_t runs = 0; runs <= SEQUENTIAL_LAST; runs++) {
        sum += sequential__risk(runs, 1);
        if (runs >= SEQUENTIAL_FIRST)
            assert_true(fabs(sum + sequential__rest(runs, 1) - SEQUENTIAL_RISK) < 1e-12);
    }
    assert_true(fabs(sum - SEQUENTIAL_RISK) < 1e-12);
    assert_true(fabs(sequential__risk(10, 3) - sequential__risk(10, 1) / 3) < 1e-12);
}

static void signs(void **context)
{
    (void)context;
    assert_true(fabs(sequential__sign_chance(8, 8) - 1.0 / 256) < 1e-12);
    assert_true(fabs(sequential__sign_chance(10, 9) - 11.0 / 1024) < 1e-12);
    assert_true(fabs(sequential__sign_chance(9, 0) - 1) < 1e-12);
    assert_true(sequential__sign_chance(8, 8) < sequential__risk(8, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_seldom_slower_than_itself),
        cmocka_unit_test(looking_again_and_again_is_wrong_too_often),
        cmocka_unit_test(a_twentieth_is_found_within_ten_pairs),
        cmocka_unit_test(a_limit_parts_what_is_far_from_it),
        cmocka_unit_test(the_risks_of_all_looks_are_the_whole),
        cmocka_unit_test(signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
