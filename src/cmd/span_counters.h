/* span_counters.h: how many threads were on a CPU, at work, in want of one, over time.
 *
 * In goes what threads do, as it happens; out comes the mean of each counter in each of
 * SPAN_COUNTS equal pieces of the run: exact, however short what happened is. A change costs a few
 * additions. It stands on present/export/span_exporters.h. */
#ifndef HEURT_CMD_SPAN_COUNTERS_H
#define HEURT_CMD_SPAN_COUNTERS_H

#include "present/export/span_exporters.h"

#define SPAN_COUNTS 4096u

struct span_counters;

/* knows_cpu: states tell when threads are on a CPU; else they are unless they wait. */
struct span_counters *span_counters__new(const struct span_run *run, bool knows_cpu,
                                         void (*tell)(void *own, uint64_t ns,
                                                      enum span_counter counter, double value),
                                         void *own);
void span_counters__alive(struct span_counters *counters, uint32_t thread, uint64_t ns, bool is);
void span_counters__state(struct span_counters *counters, uint32_t thread, uint64_t ns,
                          enum component state);
/* deeper: 1, -1: a wait begins, ends. */
void span_counters__wait(struct span_counters *counters, uint32_t thread, uint64_t ns, int deeper);
/* Tells what is left, and frees; NULL is allowed. */
void span_counters__end(struct span_counters *counters);

#endif
