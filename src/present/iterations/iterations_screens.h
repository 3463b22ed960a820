/* iterations_screens.h (present): the program's iterations, as a part of other screens and
 * documents. */
#ifndef HEURT_PRESENT_ITERATIONS_ITERATIONS_SCREENS_H
#define HEURT_PRESENT_ITERATIONS_ITERATIONS_SCREENS_H

#include "analysis/iterations/iterations.h"
#include "present/present.h"

/* report: for names. */
void iterations__put(const struct report *report, const struct iterations *iterations,
                     const struct style *style, FILE *out);

/* "loop of fetch, compute": what an iteration does, by its first calls. free() it. */
char *phase__text(const struct report *report, const struct iteration_phase *phase);

#endif
