/* verdict.h: what a class's loss is.
 *
 * INTERFERENCE: recorded waits and preemption (every component but OVERHEAD and RUNNING), overlap
 * and spinning make up at least half of the excess. The cause is the largest of them. WORKLOAD:
 * else, when what is left is mostly the workload's. UNCLEAR: else. For analysis/ only. */
#ifndef HEURT_ANALYSIS_LEDGER_VERDICT_H
#define HEURT_ANALYSIS_LEDGER_VERDICT_H

#include "analysis/ledger/profile.h"

/* Fills verdict and cause from why_ns. */
void verdict__give(struct profile_class *class);

#endif
