/* unfinished_waits.h: threads that were in a wait when the trace ended. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_UNFINISHED_WAITS_H
#define HEURT_ANALYSIS_EVENTS_UNFINISHED_WAITS_H

#include "analysis/events/spans.h"

/* Prolongs the lives of threads that were stuck and adds the wait to their waits. */
void unfinished_waits__prolong(const struct trace *trace, struct thread_result *results);

/* Says which were stuck for more than half of their lives (to warnings, char *). */
void unfinished_waits__warn(const struct trace *trace, const struct symbols *symbols,
                            const struct thread_result *results, struct vec *warnings);

#endif
