/* answers.h: how long threads that wait for an answer are served meanwhile.
 *
 * Who asks another thread by a pipe or socket and waits for the answer is served from when that one
 * has read the question until it writes the answer. The rest of the wait it was not its turn yet,
 * or the answer was on its way:
 *
 *     asks    write ── waits ──────────────────────── reads
 *     answers     (others' questions) reads ═══ writes
 *                                      served
 *
 * However many threads answer, an answer takes what it takes: no gain is larger than the wait
 * without that. A walk by time with messages; memory is bounded by threads and channels. For
 * analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_ANSWERS_H
#define HEURT_ANALYSIS_CAUSE_ANSWERS_H

#include "analysis/events/spans.h"
#include "analysis/sync/sync_events.h"

/* Fills what threads were served; these are an analysis' parts (analysis.h). results: of every
 * thread, by trace__threads. */
void answers__scope(const struct class_table *table, const struct thread_result *results,
                    struct sync_scope *scope);
/* NULL: waits for messages are a small part of all lives. */
void *answers__start(const struct class_table *table, struct thread_result *results);
bool answers__take(void *answers, const struct sync_event *event);
void *answers__end(void *answers); /* NULL */

#endif
