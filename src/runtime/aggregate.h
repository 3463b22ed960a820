/* aggregate.h: runs that keep no events (heurt record --aggregate).
 *
 * When a thread's chunk is full its events are folded into the thread's classes, by the same code
 * as in the analyses (fold/fold.h), and the chunk is started again.  What they come to stands
 * in AGGREGATES chunks of the events file and is changed in place; beside it a thread has private
 * memory for finding its classes.
 *
 * All functions are called with all signals blocked, by the thread that they are about. */
#ifndef HEURT_RUNTIME_AGGREGATE_H
#define HEURT_RUNTIME_AGGREGATE_H

#include "runtime/runtime.h"

/* Whether there is room for one thread more. */
bool aggregate__may_begin(void);

/* Gives a thread that begins what it needs; false: there is no room. */
bool aggregate__begin(struct thread *thread);

/* Folds what the thread's chunk holds up to end and gives the thread an empty chunk: the same one,
 * or one of at least that many units. False: the thread has none. */
bool aggregate__renew(struct thread *thread, uint64_t *end, uint32_t units);

/* A claim at that place was none: no event will be written there. */
void aggregate__not_claimed(struct aggregate *aggregate, const uint64_t *at);

/* The thread has ended, and its countdowns are given back: folds the rest and takes back what it
 * had. What it still does (the last thread of a process runs the exit handlers) is another thread's
 * record. */
void aggregate__end(struct thread *thread);

/* In a forked child: what the parent had is the parent's. */
void aggregate__forget(struct thread *thread);

#endif
