#include "present/table/table_source.h"

#include "analysis/ledger/threads.h"
#include "base/memory.h"
#include "present/shared.h"

#include <string.h>

const struct table_source *const table_sources[] = {&findings_source,
                                                    &classes_source,
                                                    &class_threads_source,
                                                    &blockers_source,
                                                    &evidence_source,
                                                    &threads_source,
                                                    &run_source,
                                                    &processes_source,
                                                    &occurrences_source,
                                                    &long_functions_source,
                                                    &wall_source,
                                                    &locks_source,
                                                    &lock_sites_source,
                                                    &lock_pairs_source,
                                                    &lock_waits_source,
                                                    &path_source,
                                                    &structure_source,
                                                    &iterations_source,
                                                    &iteration_threads_source,
                                                    &iteration_outliers_source,
                                                    &outliers_source,
                                                    &memory_objects_source,
                                                    &memory_accesses_source,
                                                    &memory_lines_source,
                                                    &memory_pages_source,
                                                    &memory_flow_source,
                                                    &memory_counts_source,
                                                    &memory_oracle_source,
                                                    &memory_placement_source,
                                                    &memory_page_nodes_source,
                                                    &memory_nodes_source,
                                                    &openmp_regions_source,
                                                    &openmp_region_threads_source,
                                                    &openmp_loops_source,
                                                    &openmp_tasks_source,
                                                    &openmp_barriers_source,
                                                    &openmp_hints_source,
                                                    &mpi_ranks_source,
                                                    &mpi_calls_source,
                                                    &mpi_pairs_source,
                                                    &mpi_communicators_source,
                                                    &mpi_efficiency_source,
                                                    &mpi_rank_calls_source,
                                                    &mpi_waits_source,
                                                    &whatif_source,
                                                    &coverage_source,
                                                    NULL};

const struct table_source *table_source__named(const char *name)
{
    for (const struct table_source *const *source = table_sources; *source; source++)
        if (strcmp((*source)->table->name, name) == 0)
            return *source;
    return NULL;
}

static struct table_rows rows_of_threads(const struct table_subject *subject)
{
    return threads__rows(subject->report->trace, subject->report->profile, subject->switches);
}

const struct table_source threads_source = {
    &threads_table, MADE_OF(&profile_analysis, &threads_analysis), rows_of_threads};

/* ---- the columns of all ---------------------------------------------------------------------- */

struct column_row {
    const char *table, *column, *unit, *help;
};

static const struct column column_columns[] = {
    COLUMN(column_row, table, "table", "", "name of the table"),
    COLUMN(column_row, column, "column", "", "key of the column"),
    COLUMN(column_row, unit, "unit", "", "what its figures are counted in"),
    COLUMN(column_row, help, "what it is", "", "what its figures say"),
};
static const struct table columns_table =
    TABLE(column_row, "columns", "the columns of all tables", column_columns);

struct table_rows table_source__columns(void)
{
    struct table_rows rows = table_rows__of(&columns_table);
    for (const struct table_source *const *source = table_sources; *source; source++)
        for (size_t i = 0; i < (*source)->table->column_count; i++) {
            const struct column *column = &(*source)->table->columns[i];
            if (column->use == COLUMN_NESTED)
                continue;
            struct column_row *row = table_rows__add(&rows);
            *row = (struct column_row){(*source)->table->name, column->key,
                                       *column->unit ? column->unit : NULL, column->help};
        }
    return rows;
}

static void put_columns(const struct table *table, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"", LEFT}, {"", LEFT}, {"", WRAPPED}};
    struct grid grid = grid__start(columns, 3, 2);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (column->use == COLUMN_NESTED)
            continue;
        grid__cell(&grid, memory__text(column->key), INK_PLAIN);
        grid__cell(&grid, memory__text(column->unit), INK_DIM);
        grid__cell(&grid, memory__text(column->help), INK_PLAIN);
    }
    grid__end_without_titles(&grid, style, out);
}

void table_source__put_list(const struct style *style, FILE *out)
{
    for (const struct table_source *const *source = table_sources; *source; source++) {
        const struct table *table = (*source)->table;
        fputs(source == table_sources ? "" : "\n", out);
        ink__put(style, out, INK_BOLD, table->name);
        fprintf(out, ": %s\n", table->help);
        put_columns(table, style, out);
    }
}
