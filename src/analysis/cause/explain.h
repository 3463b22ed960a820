/* explain.h: why the time on the CPU differs between the occurrences of a class.
 *
 * A second walk keeps some occurrences of the classes that lost the most time on the CPU, from
 * windows spread over the whole run, whole windows for all threads, so that what ran at the same
 * time is known.  Each class's excess on the CPU is then divided, in this order: what is explained
 * is taken off before the next is asked.
 *
 * - workload: a baseline per value of an argument, of arguments together, of how many calls are
 *   inside, of retired instructions; counts only as far as it beats the same with shuffled values
 *   (workload.h)
 * - slow machine: times in which the fastest occurrences of unrelated classes on that CPU are all
 *   slower (phase.h)
 * - overlap: a slope of the time on the CPU over the share of the occurrence during which another
 *   class ran on another CPU; must beat timelines shifted in circles (overlap.h)
 * - spinning: the same over the time during which another thread was preempted inside a class; only
 *   where nearly each slow occurrence meets such a time and nearly each such time meets a slow
 *   occurrence, in code with locks or locked instructions
 *
 * What locks or has locked instructions may turn while it waits. Calls inside and instructions are
 * not taken for its work then.
 *
 * What recording cost is a component already.  Memory is bounded by classes and a constant number
 * of occurrences.  For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_EXPLAIN_H
#define HEURT_ANALYSIS_CAUSE_EXPLAIN_H

#include "analysis/events/occurrences.h"

/* Chooses the classes; whether there are any. */
bool explain__is_worth(struct class_table *table, const struct thread_result *results);
/* Whether it is one of them. */
bool explain__wants(const struct class_entry *entry);
/* Fills evidence and doubts of the table's classes, of which the plan kept occurrences; frees it.
 * Not for aggregated runs. NULL. */
void *explain__end(void *plan);

#endif
