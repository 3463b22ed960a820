/* spans.h: one thread's events folded into the classes of a table. For analysis/ only. */
#ifndef HEURT_ANALYSIS_SPANS_H
#define HEURT_ANALYSIS_SPANS_H

#include "analysis/classes.h"

#include <stdbool.h>

/* What the fold leaves about a thread. Ticks. */
struct thread_result {
    struct fold_state fold;
    struct class_entry *stuck; /* the outermost wait that was open at the end, or NULL */
    uint64_t stuck_since;
    uint64_t end; /* of its life; later than the last event when it was stuck */
};

/* Folds the thread (index into trace__threads) into the table's classes. Spans that are open at the
 * end become unfinished. */
void thread__fold(struct class_table *table, const struct symbols *symbols, uint32_t thread,
                  struct thread_result *result);

#endif
