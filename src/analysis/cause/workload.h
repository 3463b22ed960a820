/* workload.h: how much of the differences between durations is told by a value that each has: an
 * argument, a size, a number of calls.
 *
 * The durations are put into bins by their value. A bin's baseline is its fastest durations: what
 * that value needs when nothing disturbs. Between bins of many values the baseline is interpolated.
 * What the baselines differ by is the value's; it counts only as far as it is more than that of
 * the same durations with values that were shuffled.
 *
 * Pure; for analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_WORKLOAD_H
#define HEURT_ANALYSIS_CAUSE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORKLOAD_LEAST 40 /* fewer durations say nothing */

enum value_sort {
    VALUE_NUMBER,
    VALUE_LABEL,   /* only equal or not */
    VALUE_COUNTER, /* a number that grows with time: only a steady slope is its own */
};

struct workload_values {
    const double *durations;
    const uint64_t *values;
    size_t count;
    enum value_sort sort;
};

struct workload_fit {
    double share;     /* of Σ (duration − least), beyond chance */
    double explained; /* r² */
    double null;      /* the largest r² of values that were shuffled */
};

/* parts (by duration): what of it is the value's. They add up to share of the differences and leave
 * no duration less than the least. False: nothing to speak of. */
bool workload__fit(const struct workload_values *values, double *parts, struct workload_fit *fit);

#endif
