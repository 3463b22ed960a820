/* part_ends.h: the classes of a thread's occurrences at sites that are divided by structure. Which
 * part of its site one is of is known with its end only; who walks over events without watching the
 * thread asks here. For analysis/ only. */
#ifndef HEURT_ANALYSIS_REPLAY_PART_ENDS_H
#define HEURT_ANALYSIS_REPLAY_PART_ENDS_H

#include "analysis/callsite/classes.h"
#include "analysis/events/drawn_run.h"

struct part_ends {
    struct vec ends; /* struct part_end: of the current thread */
    size_t next;
};

struct part_ends part_ends__new(void);
void part_ends__free(struct part_ends *ends);

/* One walk over the thread (index into trace__threads) of the table's trace. Memory: 24 bytes an
 * occurrence at such sites. drawn: those alone that are in it, by its ticks; NULL: all. */
void part_ends__collect(struct part_ends *ends, struct class_table *table,
                        const struct drawn_run *drawn, uint32_t thread);

/* The class, as class_entry__number, of the occurrence at the site that ends at that tick. Asked
 * for in the order of ends. */
uint32_t part_ends__class(struct part_ends *ends, const struct class_entry *site, uint64_t end);

#endif
