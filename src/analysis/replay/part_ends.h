/* part_ends.h: the classes of a thread's occurrences at sites that are divided by structure. Which
 * part of its site one is of is known with its end only; who walks over events without watching the
 * thread asks here. For analysis/ only. */
#ifndef HEURT_ANALYSIS_REPLAY_PART_ENDS_H
#define HEURT_ANALYSIS_REPLAY_PART_ENDS_H

#include "analysis/events/drawn_run.h"
#include "analysis/events/occurrences.h"
#include "analysis/events/spans.h"

struct part_ends {
    struct thread_watcher watcher; /* first: the fold's walk gives this */
    struct class_table *table;
    const struct drawn_run *drawn;
    struct thread_fold *watch; /* NULL: all ends are there */
    struct vec ends;           /* struct part_end: of the current thread, */
    size_t next;               /* not yet asked for from there on */
};

struct part_ends part_ends__new(void);
void part_ends__free(struct part_ends *ends);

/* The thread (index into trace__threads) of the table's trace, whose events are told from here on.
 * drawn: those are of it, and of the run's a walk is made at once. Memory: with drawn 24 bytes for
 * each occurrence at such sites that is in it, else those that nobody has asked for yet. */
void part_ends__start(struct part_ends *ends, struct class_table *table,
                      const struct drawn_run *drawn, uint32_t thread);
void part_ends__event(struct part_ends *ends, const struct event *event);
void part_ends__end(struct part_ends *ends);

/* The class, as class_entry__number, of the occurrence at the site that ends at that tick. Asked
 * for in the order of ends. */
uint32_t part_ends__class(struct part_ends *ends, const struct class_entry *site, uint64_t end);

#endif
