/* table_format.h: tables as text for a screen, CSV, JSON, LaTeX and Markdown. */
#ifndef HEURT_PRESENT_TABLE_TABLE_FORMAT_H
#define HEURT_PRESENT_TABLE_TABLE_FORMAT_H

#include "present/present.h"
#include "present/table/table_view.h"

struct table_format {
    const char *name; /* "csv" */
    bool is_data;     /* every column is wanted unless some are chosen; else those with a title */
    /* All of a document: several tables, one after the other. */
    void (*put)(const struct table_view *views, size_t count, const struct style *style, FILE *out);
};

extern const struct table_format table_text, table_csv, table_json, table_latex, table_markdown;
/* The one of that name, or NULL. */
const struct table_format *table_format__named(const char *name);
/* All of them, NULL-ended. */
extern const struct table_format *const table_formats[];
/* One table, of the columns that the format wants. Frees the rows. */
void table_format__put_rows(const struct table_format *format, struct table_rows rows,
                            const struct style *style, FILE *out);

/* ---- the tables that a command shows by name (--table) -----------------------------------------
 */

/* A list of these ends with one without a table. */
struct named_table {
    const struct table *table; /* whose name it is */
    struct table_rows (*rows)(const void *view);
};
/* NULL: there is none of that name. */
const struct named_table *named_table__of(const struct named_table *tables, const char *name);
/* Of that name, which there is. view: what its rows are made of. */
void named_table__put(const struct named_table *tables, const char *name, const void *view,
                      const struct table_format *format, const struct style *style, FILE *out);

/* ---- tables as parts of other documents ------------------------------------------------------ */

/* The header, then a line a row; all columns. Frees the rows. */
void table_rows__put_csv(struct table_rows rows, FILE *out);

#endif
