/* blame.h: who held a lock while others waited for it.
 *
 * A second walk, merged by time, over the threads that have events of locks: per lock the current
 * holders and, per place where it was acquired, for how long it was held from there. A waiter's
 * share is the difference between the end and the beginning of its wait. Time that no known holder
 * held the lock stays with nobody; time under several readers is divided among them equally.
 * Memory is bounded by locks, places and threads. For analysis/ only. */
#ifndef HEURT_ANALYSIS_BLAME_H
#define HEURT_ANALYSIS_BLAME_H

#include "analysis/spans.h"

/* Fills the holders of the table's lock classes. results: of every thread, by trace__threads;
 * a wait that has not ended lasts until the thread's end there. */
void blame__find(struct class_table *table, const struct thread_result *results);

#endif
