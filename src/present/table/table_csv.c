/* Quoting as in RFC 4180; lines end in \n. Several tables are parted by an empty line. */
#include "present/screen/csv_line.h"
#include "present/table/cell.h"
#include "present/table/table_format.h"

#include <stdlib.h>

static void put_row(const struct table_view *view, const void *row, FILE *out)
{
    struct csv_line line = {out, false};
    VEC_EACH (column, &view->columns, const struct column *) {
        const struct cell cell = cell__of(*column, row);
        char *digits = cell__digits(*column, &cell);
        line__text(&line, digits);
        free(digits);
    }
    fputc('\n', out);
}

static void put_table(const struct table_view *view, FILE *out)
{
    struct csv_line header = {out, false};
    VEC_EACH (column, &view->columns, const struct column *)
        line__text(&header, (*column)->key);
    fputc('\n', out);
    VEC_EACH (row, &view->rows, const void *)
        put_row(view, *row, out);
}

static void put(const struct table_view *views, size_t count, const struct style *style, FILE *out)
{
    (void)style;
    for (size_t i = 0; i < count; i++) {
        if (i)
            fputc('\n', out);
        put_table(&views[i], out);
    }
}

void table_rows__put_csv(struct table_rows rows, FILE *out)
{
    struct table_view view = table_view__of(&rows);
    put_table(&view, out);
    table_view__free(&view);
    table_rows__free(&rows);
}

const struct table_format table_csv = {"csv", true, put};
