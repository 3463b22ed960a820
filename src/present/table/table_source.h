/* table_source.h: all tables that heurt has, and what each is made of.
 *
 * A table's figures are its analysis' own; what is added here is what they are called: functions,
 * files, names of objects, words for kinds. */
#ifndef HEURT_PRESENT_TABLE_TABLE_SOURCE_H
#define HEURT_PRESENT_TABLE_TABLE_SOURCE_H

#include "base/table.h"
#include "present/iterations/iterations_screens.h"
#include "present/locks/locks_screens.h"
#include "present/memory/memory_screens.h"
#include "present/mpi/mpi_screens.h"
#include "present/openmp/openmp_screens.h"
#include "present/outliers/points.h"
#include "present/place/place_screens.h"
#include "present/present.h"
#include "present/structure/structure_screens.h"
#include "present/table/parts.h"
#include "present/whatif/whatif_screens.h"

#include <stddef.h>

struct longest;
struct wall_ledger;

/* The analyses that a table is made of. */
#define MADE_OF(...)                 \
    (const struct analysis *const[]) \
    {                                \
        __VA_ARGS__, NULL            \
    }

/* What is predicted besides. */
enum table_need {
    NEEDS_GAINS = 1, /* wall gains of the profile's classes */
    NEEDS_WHATIF,
};

/* The results; NULL where no table needs them. */
struct table_subject {
    const struct report *report;
    const struct thread_switches *switches;
    const struct locks_report *locks;
    const struct structure_report *structure;
    const struct iterations *iterations;
    const struct points_report *points;
    const struct whatif_view *whatif;
    const struct wall_ledger *wall;
    const struct longest *longest;
    const struct memory_report *memory;
    const struct place_report *place;
    const struct openmp_report *openmp;
    const struct mpi_report *mpi;
};

struct table_source {
    const struct table *table;
    const struct analysis *const *of; /* NULL-ended */
    /* table_rows__free it. Texts may be those of the trace, its symbols and the results. */
    struct table_rows (*rows)(const struct table_subject *subject);
    enum table_need needs; /* 0: nothing more */
};

extern const struct table_source *const table_sources[]; /* NULL-ended */
/* The one of that name, or NULL. */
const struct table_source *table_source__named(const char *name);
/* All tables with their columns: a row a column. table_rows__free it. */
struct table_rows table_source__columns(void);
/* The same for a screen: each table with its columns below it. */
void table_source__put_list(const struct style *style, FILE *out);

/* ---- one folder a screen --------------------------------------------------------------------- */

#define EVERY_ROW 0 /* as a rank */

/* Rank: only that row. */
struct table_rows class_rows(const struct report *report, size_t rank);
/* Not known where the findings were not asked for. */
struct table_rows finding_rows(const struct report *report);
struct table_rows long_function_rows(const struct report *report);
struct table_rows coverage_rows(const struct report *report);
struct table_rows lock_rows(const struct locks_report *locks, size_t rank);
struct table_rows lock_check_rows(const struct locks_report *locks);
struct table_rows path_rows(const struct locks_report *locks);
struct table_rows outline_rows(const struct structure_report *shown);
struct table_rows phase_rows(const struct report *report, const struct iterations *iterations);
struct table_rows point_rows(const struct points_report *shown);
/* Whether a row of the table of the wall time may begin so, in some run: "lock", "working". */
bool wall_row__may_be(const char *what);
/* NULL: there are none. */
struct table_rows wall_rows(const struct report *report, const struct wall_ledger *ledger);
struct table_rows whatif_rows(const struct whatif_view *view);

/* Whole documents, the caller's: heurt.report/1, heurt.locks/1. */
struct json_object *report_document__new(const struct report *report, size_t rank);
struct json_object *locks_document__new(const struct locks_report *locks, size_t rank);

extern const struct table_source classes_source, class_threads_source, blockers_source,
    evidence_source, coverage_source, findings_source, threads_source, locks_source,
    lock_sites_source, lock_pairs_source, lock_waits_source, path_source, structure_source,
    iterations_source, iteration_threads_source, iteration_outliers_source, outliers_source,
    mpi_ranks_source, mpi_calls_source, mpi_pairs_source, mpi_communicators_source,
    mpi_efficiency_source, mpi_rank_calls_source, mpi_waits_source, openmp_regions_source,
    openmp_region_threads_source, openmp_loops_source, openmp_tasks_source, openmp_barriers_source,
    openmp_hints_source, memory_objects_source, memory_accesses_source, memory_lines_source,
    long_functions_source, memory_counts_source, memory_oracle_source, memory_pages_source,
    memory_flow_source, memory_placement_source, memory_page_nodes_source, memory_nodes_source,
    wall_source, whatif_source, processes_source, run_source, occurrences_source;

#endif
