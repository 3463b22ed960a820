/* seen.h: how much of the time on a CPU was looked at. For analysis/ only.
 *
 * A thread's time is seen where a function, region or loop of the program occurred at least twice
 * on it: what occurs once can be compared with nothing. */
#ifndef HEURT_ANALYSIS_LEDGER_SEEN_H
#define HEURT_ANALYSIS_LEDGER_SEEN_H

#include "analysis/callsite/classes.h"

/* Ticks, of all threads; each moment is of the innermost occurrence around it. An estimate where
 * occurrences were drawn, or left the CPU. Before sites are divided (subclasses.h). */
uint64_t seen__ticks(const struct class_table *table);

#endif
