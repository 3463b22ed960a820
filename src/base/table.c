#include "base/table.h"

#include <stdlib.h>
#include <string.h>

struct table_rows table_rows__of(const struct table *table)
{
    return (struct table_rows){table, {.item_bytes = table ? table->row_bytes : 1}, VEC_OF(char *)};
}

void *table_rows__add(struct table_rows *rows)
{
    return vec__push(&rows->rows, NULL);
}

struct table_rows table_rows__if(bool is_there, const struct table *table, const void *row)
{
    struct table_rows rows = table_rows__of(table);
    if (is_there)
        vec__push(&rows.rows, row);
    return rows;
}

const char *table_rows__keep(struct table_rows *rows, char *text)
{
    if (text)
        vec__push(&rows->texts, &text);
    return text;
}

void table_rows__free(struct table_rows *rows)
{
    VEC_EACH (text, &rows->texts, char *)
        free(*text);
    vec__free(&rows->texts);
    vec__free(&rows->rows);
}

const struct column *table__column(const struct table *table, const char *key)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].use != COLUMN_NESTED && strcmp(table->columns[i].key, key) == 0)
            return &table->columns[i];
    return NULL;
}
