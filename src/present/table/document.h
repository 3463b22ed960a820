/* document.h: rows that nest (base/table.h) as a JSON document.
 *
 * An object is a row, written by its columns but the flat ones; what is not known is null. Texts
 * from a trace become valid UTF-8. The contracts are in the pages of the commands: members are
 * added to them, and never changed. */
#ifndef HEURT_PRESENT_TABLE_DOCUMENT_H
#define HEURT_PRESENT_TABLE_DOCUMENT_H

#include "base/table.h"

#include <stdio.h>

struct json_object;

/* The caller's. */
struct json_object *document__new(const struct table *table, const void *row);
struct json_object *document__new_list(const struct table_rows *rows);
/* The same on many lines. */
void document__put(const struct table *table, const void *row, FILE *out);
/* One value; NULL: not known. */
struct json_object *document__new_value(const struct column *column, const void *row);
/* Writes it on many lines, and frees it. */
void json__put(struct json_object *root, FILE *out);
/* A string of valid UTF-8, whatever the text is; NULL for NULL. */
struct json_object *json__new_text(const char *text);

/* ---- lists of bare values -------------------------------------------------------------------- */

/* Their only column has no key: "". */
extern const struct table numbers_table; /* uint64_t */
extern const struct table texts_table;   /* const char * */
/* Nothing, of any row: what nobody finds out yet. */
struct table_rows no_rows(const void *row);
/* NULL: nothing is known. */
struct table_rows number_rows(const uint64_t *numbers, size_t count);
/* Takes over text. */
void text_rows__take(struct table_rows *rows, char *text);

#endif
