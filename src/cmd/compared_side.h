/* compared_side.h: the runs of one side of a comparison, by their traces.
 *
 * In go directories, out come figures of their rows (analysis/compare/comparison.h). A trace is
 * closed again before the next one is opened. It stands on table_results.h. One thread. */
#ifndef HEURT_CMD_COMPARED_SIDE_H
#define HEURT_CMD_COMPARED_SIDE_H

#include "analysis/compare/comparison.h"
#include "cmd/load.h"
#include "present/table/table_source.h"

#define RUNS_MOST 1000 /* a side */

/* What is compared of each run. */
struct compared_table {
    const struct table_source *source;
    const struct column *value, *lives; /* lives: NULL: none */
    enum class_view view;
};

/* Adds the run to the side (struct run_figures), which refers to directory. 0, or the exit status
 * after a sentence. */
int compared_side__add(struct vec *side, const struct compared_table *table, const char *directory);
/* Likewise; of a set that record --repeat made, a.data.1 … a.data.5, a.data means all of them.
 * directories: char *, owned: gets what the side refers to. */
int compared_side__add_set(struct vec *side, const struct compared_table *table,
                           const char *operand, struct vec *directories);
void compared_side__free(struct vec *side);

#endif
