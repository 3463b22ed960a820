/* resume.h: where the fold inside an aggregated program stood. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_RESUME_H
#define HEURT_ANALYSIS_EVENTS_RESUME_H

#include "analysis/events/spans.h"

/* Brings the fold to where the program's was: the thread's sums are put into the table's classes,
 * and spans that were open are open. stack: called with each class whose call stack was kept at
 * that tick. */
void fold__resume(struct fold *fold, struct class_table *table, const struct trace_thread *thread,
                  void (*stack)(struct fold *fold, struct fold_class *class, uint64_t tick));

#endif
