/* statistics.h: what a benchmark says about its samples. Pure functions. */
#ifndef HEURT_BENCH_STATISTICS_H
#define HEURT_BENCH_STATISTICS_H

#include <stddef.h>

enum { SAMPLES_MOST = 99 };

/* Middle value, or the mean of the two middle ones; NAN of none. Sorts the samples. */
double samples__median(double *samples, size_t count);

/* The same, and the samples stay as they are; of at most SAMPLES_MOST. */
double samples__middle(const double *samples, size_t count);

/* Pearson's correlation of two series; NAN when one of them does not vary or count < 2. */
double samples__correlation(const double *x, const double *y, size_t count);

struct line {
    double slope, offset; /* y = slope * x + offset */
};
/* Least squares; a level line through the mean when x does not vary. */
struct line samples__fit(const double *x, const double *y, size_t count);

/* The first of the numbers 1, 2, 5, 10, 20, … × 10^n that divides span into at most steps parts. */
double axis__step(double span, unsigned steps);

#endif
