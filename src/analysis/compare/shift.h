/* shift.h: whether a figure differs between two sets of runs, and by how much.
 *
 *     before: 1.31 1.33 1.30 1.35 1.32 ──┐
 *     after:  1.25 1.24 1.27 1.25 1.26 ──┴─► by -0.07, from -0.11 to -0.03 (99 %): less
 *
 * Nothing is assumed of how the figures scatter, but that a change moves all of them: times of runs
 * are skewed, and have two humps where a neighbour comes and goes. So the tests are of ranks, and
 * the intervals those that belong to them (Hodges and Lehmann 1963, "Estimates of location based on
 * rank tests", Ann. Math. Statist. 34; Hollander, Wolfe, Chicken 2014, "Nonparametric statistical
 * methods", 3.1, 4.1): exact for any number of runs, and where no interval of that confidence
 * exists, there are too few runs. A bootstrap of medians has none of that: with five runs a side
 * its intervals hold the truth less often than they say (docs/heurt-compare.md has figures).
 *
 * Where the runs of both sides were made in turns, what drifts hits both runs of a pair: the test
 * of pairs then sees more. It sees less where nothing drifts; so both are made, each at half the
 * risk, from nine pairs on: fewer show nothing by themselves.
 *
 * In go doubles, out come doubles; nothing is kept. It stands on base/ alone. Any thread may call
 * it. Costs: n · m for n runs against m; at most SHIFT_EXACT a side are counted exactly, more by
 * the normal approximation. */
#ifndef HEURT_ANALYSIS_COMPARE_SHIFT_H
#define HEURT_ANALYSIS_COMPARE_SHIFT_H

#include <stdbool.h>
#include <stddef.h>

#define SHIFT_EXACT 40
/* Of all comparisons of a program with itself, at most that part is called different. */
#define SHIFT_RISK 0.01

/* What two sets of runs show. */
enum shift_verdict {
    SHIFT_TOO_FEW,   /* no interval exists: fewer than 5 runs on a side, for example */
    SHIFT_NOT_SHOWN, /* the interval holds 0 */
    SHIFT_LESS,      /* after is less */
    SHIFT_MORE,
};

/* after less before. */
struct shift {
    double middle;    /* the estimate: of all differences between both sides the median */
    double low, high; /* the interval; NaN: there is none */
    double chance;    /* that runs of the same program differ as much; 1: too few to tell */
    bool is_of_pairs; /* pairs were looked at, too */
    enum shift_verdict verdict;
};

/* are_pairs: before[i] and after[i] were run one after the other, and count is the same; both have
 * one figure at least. */
struct shift shift__between(const double *before, size_t before_count, const double *after,
                            size_t after_count, bool are_pairs, double risk);

/* Likewise by one test alone, of which the chances of many are less coarse: that of pairs from
 * SHIFT_PAIRS_ALONE pairs on, else that of rank sums. */
#define SHIFT_PAIRS_ALONE 10
struct shift shift__by_one_test(const double *before, size_t before_count, const double *after,
                                size_t after_count, bool are_pairs, double risk);

/* By what, and at which risk. */
enum shift_tests {
    SHIFT_BY_BOTH,  /* shift__between */
    SHIFT_BY_PAIRS, /* signed ranks of pairs alone: nothing is shown of runs that are no pairs */
    SHIFT_BY_SETS,  /* rank sums alone */
};
struct shift_rule {
    enum shift_tests tests;
    double risk;  /* of both sides; 0: no interval is that sure */
    size_t least; /* runs a side, below which nothing can be shown */
};
#define SHIFT_RULE ((struct shift_rule){SHIFT_BY_BOTH, SHIFT_RISK, 5})
struct shift shift__by_rule(const double *before, size_t before_count, const double *after,
                            size_t after_count, bool are_pairs, const struct shift_rule *rule);

/* Of an odd number the middle one, else the mean of the two in the middle. */
double shift__median(const double *samples, size_t count);

/* Which of several chances, seen together, are still below the risk: Holm 1979, "A simple
 * sequentially rejective multiple test procedure", Scand. J. Statist. 6. */
void shift__hold(const double *chances, size_t count, double risk, bool *held);

#endif
