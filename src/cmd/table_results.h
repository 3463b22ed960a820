/* table_results.h: what tables of a run are made of: its trace, with all analyses that they need.
 *
 * In go a directory and the tables that are wanted (present/table/table_source.h), out come their
 * rows. One reading of the trace serves all of them. It stands on load.h. One thread at a time. */
#ifndef HEURT_CMD_TABLE_RESULTS_H
#define HEURT_CMD_TABLE_RESULTS_H

#include "analysis/structure/outline.h"
#include "cmd/load.h"
#include "cmd/whatif_session.h"
#include "present/table/table_source.h"

struct table_results {
    struct loaded loaded;
    struct locks_filter filter;
    struct outline_options outline_options;
    struct outline *outline;
    struct whatif_session whatif;
    bool has_whatif;
    bool is_lenient;           /* what cannot be found out of this trace is left out; */
    struct error missing;      /* why, of the first such thing; "" */
    struct locks_report locks; /* what follows is of these results, for the rows */
    struct structure_report structure;
    struct points_report points;
    struct memory_report memory;
    struct place_report place;
    struct openmp_report openmp;
    struct mpi_report mpi;
    struct whatif_view whatif_view;
};

/* sources: NULL-ended. directory must outlive the results. Returns 0; else EXIT_HEURT after a
 * sentence, and there is nothing to be freed. */
int table_results__make(const char *directory, const struct table_source *const *sources,
                        enum class_view view, struct table_results *results);
/* All tables that can be made of that part of the trace: see table_results__rows_if_any.
 * EXIT_USAGE: there is no such part. */
int table_results__make_all(const char *directory, const struct part_asked *part,
                            struct table_results *results);
/* Of one of these tables. Texts may be those of the results, which outlive the rows. */
struct table_rows table_results__rows(const struct table_results *results,
                                      const struct table_source *source);
/* Likewise; nothing (of no table) where the trace does not hold what it needs. */
struct table_rows table_results__rows_if_any(const struct table_results *results,
                                             const struct table_source *source);
void table_results__free(struct table_results *results);

#endif
