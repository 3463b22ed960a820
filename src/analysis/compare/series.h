/* series.h: several results side by side: of each row its figure in each of them.
 *
 *     base:  run_figures …  ┐             row            base   other   another
 *     other: run_figures …  ├─► series    lock a         12 ms  30 ms   31 ms
 *     …                     ┘             working in f   1.2 s  0.6 s   0.3 s
 *
 * A result is one run or several, of which the median stands. A row that a run has not is 0 there
 * where another run of any result has it.
 *
 * In go results, out come figures; nothing is tested: heurt compare of two sides does that. It
 * stands on comparison.h. Any thread may call it. */
#ifndef HEURT_ANALYSIS_COMPARE_SERIES_H
#define HEURT_ANALYSIS_COMPARE_SERIES_H

#include "analysis/compare/comparison.h"

/* A row that is wanted: the sum of all whose label the pattern (fnmatch(3)) fits, or that have it
 * as a part of their name. */
struct wanted_row {
    const char *pattern, *name;
};

struct series_row {
    const char *label;  /* a run's, or a wanted row's */
    struct vec figures; /* double, by result; NaN: no run of any has it */
};

/* results: struct vec of struct run_figures, one at least each; they outlive it. wanted: struct
 * wanted_row: these, in their order; none: all, by the first result's figures. whole: the label of
 * a row of wall times that stands first; NULL: none. struct series_row: series__free it. */
struct vec series__of(const struct vec *results, const struct vec *wanted, const char *whole);
void series__free(struct vec *series);

#endif
