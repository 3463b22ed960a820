#include "present/compare/series_table.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row in memory: its name, and the figures that follow. */
struct series_cells {
    const char *name;
    double figures[];
};

/* A result has a figure, and all but the first two more. */
#define A_RESULT 3

static struct column column_of(const struct series_view *view, char *key, size_t place,
                               bool is_part)
{
    const char *unit = view->value->unit ? view->value->unit : "";
    return (struct column){
        .key = key,
        .title = key,
        .unit = is_part ? "share" : unit,
        .help = is_part ? "the change, as a part of the first" : "median of runs",
        .type = COLUMN_REAL,
        .offset = offsetof(struct series_cells, figures) + place * sizeof(double)};
}

/* struct column; keys belong to texts. */
static struct vec columns_of(const struct series_view *view, struct vec *texts)
{
    static const char *const kinds[A_RESULT] = {"", " change", " part"};
    struct vec columns = VEC_OF(struct column);
    vec__push(&columns, &(struct column){.key = "row",
                                         .title = "row",
                                         .unit = "",
                                         .help = "what is compared",
                                         .type = COLUMN_TEXT,
                                         .offset = offsetof(struct series_cells, name)});
    for (size_t i = 0; i < view->names->count; i++)
        for (size_t kind = 0; kind < (i ? A_RESULT : 1); kind++) {
            char *key = memory__format("%s%s", *VEC_AT(view->names, char *, i), kinds[kind]);
            vec__push(texts, &key);
            struct column column = column_of(view, key, A_RESULT * i + kind, kind == 2);
            vec__push(&columns, &column);
        }
    return columns;
}

static void fill_cells(struct series_cells *cells, const struct series_row *row)
{
    double first = *VEC_AT(&row->figures, double, 0);
    cells->name = row->label;
    for (size_t i = 0; i < row->figures.count; i++) {
        double figure = *VEC_AT(&row->figures, double, i);
        cells->figures[A_RESULT * i] = figure;
        cells->figures[A_RESULT * i + 1] = figure - first;
        cells->figures[A_RESULT * i + 2] = first != 0 ? figure / first - 1 : NAN;
    }
}

void series__put(const struct series_view *view, const struct table_format *format,
                 const struct style *style, FILE *out)
{
    struct vec texts = VEC_OF(char *), columns = columns_of(view, &texts);
    const struct table table = {
        view->table, "a line for each row of any result; changes are to the first", columns.items,
        columns.count,
        sizeof(struct series_cells) + A_RESULT * view->names->count * sizeof(double)};
    struct table_rows rows = table_rows__of(&table);
    VEC_EACH (row, view->series, struct series_row)
        fill_cells(table_rows__add(&rows), row);
    struct table_view shown = table_view__of(&rows);
    format->put(&shown, 1, style, out);
    table_view__free(&shown);
    table_rows__free(&rows);
    vec__free(&columns);
    texts__free(&texts);
}
