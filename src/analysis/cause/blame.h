/* blame.h: whom waits are blamed on, and which waits are for work.
 *
 * A second walk, merged by time, over the threads that meet others.
 *
 *     lock       whoever held it meanwhile; time under several readers is divided equally, time
 *                that no known holder held it stays with nobody
 *     barrier    the last one of the round to arrive, by each for the time from its own arrival on;
 *                what the last one did between the round's first arrival and its own, in proportion
 *     condition, semaphore, futex
 *                who signalled, posted or woke last before the wait ended, and after it began;
 *                nobody when none did, or when it timed out
 *
 * What the one who is blamed did meanwhile comes from its own events: the wait or call it was in,
 * the kernel's records, else RUNNING. While it waited for a lock itself it did what the holder of
 * that did, and so on; in a circle, or where nobody is known, it is LOCK.
 *
 * Waiting for work is no loss: a condition or semaphore is idle when those who end the waits there
 * have another role than those who wait. It is not, when for a tenth of the waited time or more it
 * is a turn that is passed on:
 *   - those who ended the waits wait there, too (as much as they wait, they end them; of a
 *     semaphore: as often as they take it, they post it): locks made of them, turnstiles, convoys,
 *     and pools whose threads submit most of the work themselves;
 *   - or they wait for another condition of the same mutex (another semaphore of the process), at
 *     the same place, and from wait to wait the way goes over three or more of them back to the
 *     first, each of which ends half of the waits for the next: rings. Stages that wait for room,
 *     for work and for results go round as well, and wait at places of their own.
 *   - or each waits at a condition of its own, all at one place, and they end each other's waits
 *     there about as often: monitors, queues of writers (sync/parking.h);
 *   - or they run out of time, and who waited so works between them, while another one waits until
 *     it has done that: the work was there, and nobody told it.
 * Nor is it a turn when a thread waits, half of that time or more, until one that it created has
 * nothing left to do but end: that is a join by other means.
 * Two that answer each other are roles: a queue's "not empty" and "not full", a pool's work and the
 * end of all of it. So are two threads that hand a token to and fro by two conditions: events do
 * not tell them from these. Other waits that nobody ended count for work.
 *
 * The walk ends with the last of these waits; where nobody waited for a lock it does not look at
 * who had any. Joins are blamed on nobody: they are idle.
 *
 * Memory is bounded by locks, places, conditions, barriers and threads. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_BLAME_H
#define HEURT_ANALYSIS_CAUSE_BLAME_H

#include "analysis/events/spans.h"
#include "analysis/sync/sync_events.h"

/* Fills the blames of the table's classes, and says of conditions and semaphores whether they are
 * idle. results: of every thread, by trace__threads; a wait for a lock that has not ended lasts
 * until the thread's end there. These are an analysis' parts (analysis.h). */
void blame__scope(const struct class_table *table, const struct thread_result *results,
                  struct sync_scope *scope);
/* NULL: nobody waited. */
void *blame__start(struct class_table *table, const struct thread_result *results,
                   struct sync_events *events);
bool blame__take(void *blame, const struct sync_event *event);
void *blame__end(void *blame); /* NULL */

#endif
