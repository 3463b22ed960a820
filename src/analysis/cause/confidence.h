/* confidence.h: whether a class's smallest duration is to be trusted (enum doubt). Classes of waits
 * are only asked for their number: what they waited for is lost in any case. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_CONFIDENCE_H
#define HEURT_ANALYSIS_CAUSE_CONFIDENCE_H

#include "analysis/events/occurrences.h"

/* Of the class's sums: FEW, UNCLEAN, OUTLIER, MODES, KERNEL. results: by thread. */
unsigned doubts__of_sums(const struct class_entry *entry, const struct thread_result *results);

/* Of occurrences that were kept, exactly: OUTLIER, HALVES; known: which of these two they tell.
 * middle: the tick in the middle of the run. */
unsigned doubts__of_occurrences(const struct class_occurrences *class, uint64_t middle,
                                unsigned *known);

#endif
