/* Tables on a screen, below their names. */
#include "base/memory.h"
#include "present/shared.h"
#include "present/table/cell.h"
#include "present/table/table_format.h"

#include <stdlib.h>
#include <string.h>

static void put_row(struct grid *grid, const struct table_view *view, const void *row)
{
    VEC_EACH (column, &view->columns, const struct column *) {
        const struct cell cell = cell__of(*column, row);
        char *words = cell__words(*column, &cell);
        grid__cell(grid, text__for_screen(words), INK_PLAIN);
        free(words);
    }
}

static void put_rows(const struct table_view *view, const struct style *style, FILE *out)
{
    size_t count = view->columns.count;
    struct grid_column *columns = memory__zeroed(count, sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const struct column *column = *VEC_AT(&view->columns, const struct column *, i);
        columns[i] =
            (struct grid_column){column__title(column), column__is_text(column) ? WRAPPED : RIGHT};
    }
    struct grid grid = grid__start(columns, count, 2);
    VEC_EACH (row, &view->rows, const void *)
        put_row(&grid, view, *row);
    grid__end(&grid, style, out);
    free(columns);
}

static void put(const struct table_view *views, size_t count, const struct style *style, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        char *heading = memory__format("%s: %s", views[i].table->name, views[i].table->help);
        if (i)
            fputc('\n', out);
        paragraph__put(style, out, INK_BOLD, "", heading);
        free(heading);
        if (views[i].rows.count)
            put_rows(&views[i], style, out);
        else
            fputs("  no rows\n", out);
    }
}

const struct table_format table_text = {"text", false, put};
