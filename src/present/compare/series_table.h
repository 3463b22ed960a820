/* series_table.h: several results side by side, as a table in any format: of each its figure, and
 * of all but the first the change, and the change as a part of the first.
 *
 * In go rows of analysis/compare/series.h and a name a result, out comes text. */
#ifndef HEURT_PRESENT_COMPARE_SERIES_TABLE_H
#define HEURT_PRESENT_COMPARE_SERIES_TABLE_H

#include "analysis/compare/series.h"
#include "present/table/table_format.h"

struct series_view {
    const struct vec *series;   /* struct series_row */
    const struct vec *names;    /* char *: of the results */
    const char *table;          /* "wall" */
    const struct column *value; /* that is compared */
};

void series__put(const struct series_view *view, const struct table_format *format,
                 const struct style *style, FILE *out);

#endif
