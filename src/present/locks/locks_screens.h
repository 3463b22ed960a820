/* locks_screens.h (present): what threads did with locks, as text, JSON, CSV and Graphviz's dot.
 * Knows tables, not how they were made. */
#ifndef HEURT_PRESENT_LOCKS_LOCKS_SCREENS_H
#define HEURT_PRESENT_LOCKS_LOCKS_SCREENS_H

#include "analysis/critical_path/critical.h"
#include "analysis/locks/locks.h"
#include "present/present.h"

/* Everything that is shown of locks. */
struct locks_report {
    /* Its profile tells what holders did meanwhile, and has stacks: NULL where it was not made, or
     * where a filter left out a part of the run that it knows. */
    const struct report *report;
    const struct locks_result *result;
    const struct locks_filter *filter;
    const struct critical_path *critical; /* NULL: its pieces are not asked for */
};

struct locks_presenter {
    const char *name; /* "text", "json", "csv" */
    /* rank: only that of the result's rows, from 1; 0: all. */
    void (*locks)(const struct locks_report *locks, size_t rank, const struct style *style,
                  FILE *out);
    void (*path)(const struct locks_report *locks, const struct style *style, FILE *out);
    void (*audit)(const struct locks_report *locks, const struct style *style, FILE *out);
};

extern const struct locks_presenter locks_text, locks_json, locks_csv;

/* "queue->lock", "mutex made at queue.c:31 0x4a0040". free() it. */
char *locks_row__name(const struct report *report, const struct lock_row *row);
/* Whether everything adds up that must. */
bool locks__add_up(const struct locks_report *locks);

/* Holder → waiter, for Graphviz. */
void locks__dot(const struct locks_report *locks, const struct style *style, FILE *out);

#endif
