/* shared_time.h: what of a class's time on the CPU went into cache lines that its threads take from
 * others, or into memory of other NUMA nodes, which is told in the same way (memory/remote.h).
 *
 * Samples tell what sharing costs (memory/sharing.h), and when: each counts for the occurrences
 * that were open on its thread then, callers included, as their time on the CPU does. What is left
 * unexplained of a class's excess on the CPU is sharing's as far as that goes. For its occurrences
 * ought to take the same time: without sharing, S of all R ticks on the CPU, each of n would take
 * (R − S) / n on the average; where the fastest takes longer, it has sharing in it, too. So of the
 * excess R − n · fastest, min(S, R − n · fastest) is sharing's.
 *
 * What was put down to another class at work meanwhile is that class's taking of lines, as far as
 * samples tell so: sharing is taken from there, too.
 *
 * Of calls of which one in many is recorded, hardly a sample meets one: those at their function's
 * own code count for them, in the part that their calls had of its time.
 *
 * The parts of an analysis by threads, which is not made where there is nothing of it. Memory: the
 * samples at shared lines, and three numbers a class and lane. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_SHARED_TIME_H
#define HEURT_ANALYSIS_CAUSE_SHARED_TIME_H

#include "analysis/events/spans.h"
#include "analysis/memory/remote.h"
#include "analysis/memory/sharing.h"

struct shared_time;

/* NULL: nothing of it costs anything. All outlive it; remotes: NULL: the machine has one node, or
 * nothing was sampled; symbols: NULL: none are known. */
struct shared_time *shared_time__start(struct class_table *table, const struct sharings *sharings,
                                       const struct remotes *remotes,
                                       const struct symbols *symbols);
void *shared_time__thread(void *shared, unsigned lane, uint32_t thread);
void shared_time__event(void *part, const struct event *event);
void shared_time__events(void *part, struct event_words *words);
void shared_time__end_thread(void *part);
void shared_time__join(void *shared, uint32_t thread, void *part);
/* Adds to the evidence of classes; frees it. NULL. */
void *shared_time__end(void *shared);

#endif
