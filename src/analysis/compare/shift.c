#include "analysis/compare/shift.h"

#include "base/memory.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order_doubles(const void *left, const void *right)
{
    return ORDER(*(const double *)left, *(const double *)right);
}

static double middle_of(const double *sorted, size_t count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double shift__median(const double *samples, size_t count)
{
    double *sorted = memory__zeroed(count, sizeof *sorted);
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, order_doubles);
    double median = middle_of(sorted, count);
    free(sorted);
    return median;
}

void shift__hold(const double *chances, size_t count, double risk, bool *held)
{
    memset(held, 0, count * sizeof *held);
    for (size_t step = 0; step < count; step++) {
        size_t least = count;
        for (size_t i = 0; i < count; i++)
            if (!held[i] && (least == count || chances[i] < chances[least]))
                least = i;
        if (!(chances[least] <= risk / (double)(count - step)))
            return;
        held[least] = true;
    }
}

/* ---- how often a rank statistic is at most so large, by chance ------------------------------- */

/* The distribution of a statistic: below[k]: the chance that it is at most k, 0 … most. */
struct ranks {
    double *below;
    size_t most;
};

static double standard_normal(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static void fill_normal(struct ranks *ranks, double variance)
{
    for (size_t k = 0; k <= ranks->most; k++)
        ranks->below[k] =
            standard_normal(((double)k + 0.5 - (double)ranks->most / 2) / sqrt(variance));
}

static void add_up(struct ranks *ranks, double ways)
{
    double sum = 0;
    for (size_t k = 0; k <= ranks->most; k++)
        ranks->below[k] = (sum += ranks->below[k]) / ways;
}

/* Mann and Whitney 1947: the number of pairs in which after is more. Of the subsets of so many of
 * the ranks 1 … n + m each is as likely; taken[t][k]: subsets of t ranks with sum k above the
 * least. */
static struct ranks ranks__of_two(size_t n, size_t m)
{
    struct ranks ranks = {memory__zeroed(n * m + 1, sizeof *ranks.below), n * m};
    if (n > SHIFT_EXACT || m > SHIFT_EXACT) {
        fill_normal(&ranks, (double)(n * m) * (double)(n + m + 1) / 12);
        return ranks;
    }
    size_t width = n * m + 1;
    double *taken = memory__zeroed((n + 1) * width, sizeof *taken);
    taken[0] = 1;
    for (size_t rank = 1; rank <= n + m; rank++)
        for (size_t t = rank < n ? rank : n; t > 0; t--)
            for (size_t k = rank - t; k < width;
                 k++) /* as the t-th it is rank - t above the least */
                taken[t * width + k] += taken[(t - 1) * width + k - (rank - t)];
    double ways = 0;
    for (size_t k = 0; k < width; k++)
        ways += ranks.below[k] = taken[n * width + k];
    add_up(&ranks, ways);
    free(taken);
    return ranks;
}

/* Wilcoxon 1945: the sum of the ranks of differences above 0; each sign is as likely. */
static struct ranks ranks__of_pairs(size_t n)
{
    struct ranks ranks = {memory__zeroed(n * (n + 1) / 2 + 1, sizeof *ranks.below),
                          n * (n + 1) / 2};
    if (n > SHIFT_EXACT) {
        fill_normal(&ranks, (double)n * (double)(n + 1) * (double)(2 * n + 1) / 24);
        return ranks;
    }
    ranks.below[0] = 1;
    for (size_t rank = 1; rank <= n; rank++)
        for (size_t k = ranks.most; k >= rank; k--)
            ranks.below[k] += ranks.below[k - rank];
    add_up(&ranks, ldexp(1, (int)n));
    return ranks;
}

/* How many differences may be left out at each end of an interval, so that the truth is beyond it
 * with no more than half the risk; 0: not even if none is. */
static size_t left_out(const struct ranks *ranks, double risk)
{
    return FIRST_WHERE(k, ranks->most + 1, ranks->below[k] > risk / 2);
}

/* Two-sided. statistic: halves where figures are equal, which count for what is nearer the
 * middle. */
static double chance_of(const struct ranks *ranks, double statistic)
{
    double most = (double)ranks->most;
    double low = statistic < most - statistic ? statistic : most - statistic;
    double chance = 2 * ranks->below[(size_t)ceil(low)];
    return chance < 1 ? chance : 1;
}

/* ---- differences ----------------------------------------------------------------------------- */

/* Sorted; what makes the estimate and the interval. */
struct differences {
    double *sorted;
    size_t count;
    double statistic; /* how many are above 0, those that are 0 half */
};

static void finish(struct differences *differences)
{
    qsort(differences->sorted, differences->count, sizeof *differences->sorted, order_doubles);
    for (size_t i = 0; i < differences->count; i++)
        differences->statistic += differences->sorted[i] > 0    ? 1
                                  : differences->sorted[i] == 0 ? 0.5
                                                                : 0;
}

static struct differences differences__of_two(const double *before, size_t n, const double *after,
                                              size_t m)
{
    struct differences all = {memory__zeroed(n * m, sizeof *all.sorted), n * m, 0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            all.sorted[i * m + j] = after[j] - before[i];
    finish(&all);
    return all;
}

/* The means of any two of the pairs' differences, and each of these (Walsh 1949). */
static struct differences differences__of_pairs(const double *before, const double *after, size_t n)
{
    struct differences all = {memory__zeroed(n * (n + 1) / 2, sizeof *all.sorted), 0, 0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            all.sorted[all.count++] = (after[i] - before[i] + after[j] - before[j]) / 2;
    finish(&all);
    return all;
}

/* ---- a shift --------------------------------------------------------------------------------- */

/* Takes over both. */
static struct shift shift__by(struct ranks ranks, struct differences differences, double risk)
{
    struct shift shift = {.middle = middle_of(differences.sorted, differences.count),
                          .low = NAN,
                          .high = NAN,
                          .chance = chance_of(&ranks, differences.statistic)};
    size_t out = left_out(&ranks, risk);
    if (out > 0) {
        shift.low = differences.sorted[out - 1];
        shift.high = differences.sorted[differences.count - out];
    }
    free(ranks.below);
    free(differences.sorted);
    return shift;
}

static void judge(struct shift *shift)
{
    shift->verdict = isnan(shift->low) ? SHIFT_TOO_FEW
                     : shift->high < 0 ? SHIFT_LESS
                     : shift->low > 0  ? SHIFT_MORE
                                       : SHIFT_NOT_SHOWN;
    if (shift->verdict == SHIFT_TOO_FEW)
        shift->chance = 1;
}

/* Each was made at half the risk: both intervals hold the truth, so their common part does. */
static struct shift both(const struct shift *two, const struct shift *pairs)
{
    struct shift shift = *pairs;
    shift.is_of_pairs = true;
    shift.low = fmax(two->low, pairs->low);
    shift.high = fmin(two->high, pairs->high);
    shift.chance = fmin(1, 2 * fmin(two->chance, pairs->chance));
    if (shift.low > shift.high) { /* they contradict each other: nothing is shown */
        shift.low = fmin(two->low, pairs->low);
        shift.high = fmax(two->high, pairs->high);
    }
    shift.middle = fmin(fmax(shift.middle, shift.low), shift.high);
    return shift;
}

static struct shift of_two(const double *before, size_t n, const double *after, size_t m,
                           double risk)
{
    return shift__by(ranks__of_two(n, m), differences__of_two(before, n, after, m), risk);
}

struct shift shift__between(const double *before, size_t before_count, const double *after,
                            size_t after_count, bool are_pairs, double risk)
{
    struct shift shift = {.low = NAN};
    size_t n = before_count;
    if (are_pairs && n == after_count)
        shift = shift__by(ranks__of_pairs(n), differences__of_pairs(before, after, n), risk / 2);
    if (isnan(shift.low)) {
        shift = of_two(before, n, after, after_count, risk);
    } else {
        struct shift two = of_two(before, n, after, n, risk / 2);
        shift = both(&two, &shift);
    }
    judge(&shift);
    return shift;
}

struct shift shift__by_one_test(const double *before, size_t before_count, const double *after,
                                size_t after_count, bool are_pairs, double risk)
{
    size_t n = before_count;
    bool is_of_pairs = are_pairs && n == after_count && n >= SHIFT_PAIRS_ALONE;
    struct shift shift =
        is_of_pairs ? shift__by(ranks__of_pairs(n), differences__of_pairs(before, after, n), risk)
                    : of_two(before, n, after, after_count, risk);
    shift.is_of_pairs = is_of_pairs;
    judge(&shift);
    return shift;
}

struct shift shift__by_rule(const double *before, size_t before_count, const double *after,
                            size_t after_count, bool are_pairs, const struct shift_rule *rule)
{
    size_t n = before_count;
    bool is_of_pairs = rule->tests == SHIFT_BY_PAIRS, may_be = are_pairs && n == after_count;
    if (rule->tests == SHIFT_BY_BOTH)
        return shift__between(before, n, after, after_count, are_pairs, rule->risk);
    struct shift shift =
        is_of_pairs && may_be
            ? shift__by(ranks__of_pairs(n), differences__of_pairs(before, after, n), rule->risk)
            : of_two(before, n, after, after_count, is_of_pairs ? 0 : rule->risk);
    shift.is_of_pairs = is_of_pairs && may_be;
    judge(&shift);
    return shift;
}
