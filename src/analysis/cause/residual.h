/* residual.h: what explain.c knows about one class while it looks at its occurrences. For analysis/
 * only. */
#ifndef HEURT_ANALYSIS_CAUSE_RESIDUAL_H
#define HEURT_ANALYSIS_CAUSE_RESIDUAL_H

#include "analysis/events/occurrences.h"

struct look {
    const struct class_occurrences *class;
    const struct occurrence **items; /* those that are no inner ones */
    size_t count;
    double *left;        /* by item: of its ticks on the CPU, what is not explained yet */
    double least;        /* of them at first; nothing is explained below it */
    double differences;  /* Σ (left − least) at first */
    int64_t excess;      /* on the CPU, of the whole class, ticks */
    int64_t unexplained; /* of it */
};

#endif
