/* internal.h: what the parts of the analysis of memory share.
 *
 *     sharing.c         which lines are shared, and where in the program
 *     sharing_cost.c    what that costs */
#ifndef HEURT_ANALYSIS_MEMORY_INTERNAL_H
#define HEURT_ANALYSIS_MEMORY_INTERNAL_H

#include "analysis/memory/sharing.h"

#define TOGETHER_PERIODS 3 /* samples of two threads that are no further apart are of one time */

/* Fills in what threads lose. thread_of: by trace__samples. */
void sharing__estimate(struct sharing *sharing, const struct trace *trace,
                       const uint32_t *thread_of);

#endif
