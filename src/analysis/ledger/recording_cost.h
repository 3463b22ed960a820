/* recording_cost.h: what recording cost, held against samples. For analysis/ only. */
#ifndef HEURT_ANALYSIS_LEDGER_RECORDING_COST_H
#define HEURT_ANALYSIS_LEDGER_RECORDING_COST_H

#include "analysis/ledger/profile.h"

/* What an event costs is measured in a loop, where nothing is in the way; where the program's
 * threads take cache lines from each other it costs several times as much. Samples see how long
 * threads were in the runtime's own code, and are no part of that sum: where they tell clearly
 * more, what each thread's events cost is raised to what all threads' samples tell, and what it
 * worked is less by that. What the samples themselves cost is added, by their number. Changes rows
 * of profile->threads, and profile->overhead_ns. symbols: NULL is allowed. */
void recording_cost__check(struct profile *profile, const struct trace *trace,
                           const struct symbols *symbols);

#endif
