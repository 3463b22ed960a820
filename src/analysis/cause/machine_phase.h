/* machine_phase.h: times in which the machine was slower: another frequency, a busy neighbour, a
 * slower core.
 *
 * The run is cut into slices. A cell is a slice on a CPU (where the CPU is not known: on a thread).
 * In each cell a class's fastest occurrence is compared with what its fastest one of a cell most
 * often is. A cell is slow when the fastest ones of at least two unrelated classes, which are never
 * open at the same time on one thread, are slower by a similar factor, and when this coincides over
 * all cells, as it does not when one class's slices are shifted in a circle. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_MACHINE_PHASE_H
#define HEURT_ANALYSIS_CAUSE_MACHINE_PHASE_H

#include "analysis/cause/residual.h"

struct phase_answer {
    double explained; /* squared correlation of the factors of the two classes */
    double null;      /* the largest one of shifted slices */
};

/* parts: by look and its items, what the slow machine took of each; zeroed by the caller. answers:
 * by look. False: the machine was never slow. */
bool phases__find(const struct occurrences *all, const struct look *looks, size_t count,
                  double **parts, struct phase_answer *answers);

#endif
