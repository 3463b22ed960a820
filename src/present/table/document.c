#include "present/table/document.h"

#include "present/shared.h"
#include "present/table/cell.h"

#include <json-c/json.h>
#include <stdlib.h>

/* ---- values ---------------------------------------------------------------------------------- */

struct json_object *json__new_text(const char *text)
{
    if (!text)
        return NULL;
    char *clean = text__utf8(text);
    struct json_object *string = json_object_new_string(clean);
    free(clean);
    return string;
}

static struct json_object *new_digits(const struct column *column, const struct cell *cell)
{
    char *digits = cell__digits(column, cell);
    struct json_object *value = column->type == COLUMN_REAL || column->type == COLUMN_FACTOR
                                    ? json_object_new_double_s((double)cell->number, digits)
                                    : json__new_text(digits);
    free(digits);
    return value;
}

struct json_object *document__new_value(const struct column *column, const void *row)
{
    const struct cell cell = cell__of(column, row);
    if (!cell.is_known)
        return NULL;
    switch (column->type) {
    case COLUMN_BOOLEAN:
        return json_object_new_boolean(cell.number > 0);
    case COLUMN_SIGNED:
        return json_object_new_int64((int64_t)cell.number);
    case COLUMN_COUNT:
    case COLUMN_SMALL:
        return json_object_new_uint64((uint64_t)cell.number);
    default:
        return new_digits(column, &cell);
    }
}

static struct json_object *new_range(const double range[2])
{
    static const struct column factor = {.type = COLUMN_FACTOR};
    struct json_object *list = json_object_new_array();
    for (int i = 0; i < 2; i++) {
        const struct cell cell = {.is_known = true, .number = range[i]};
        json_object_array_add(list, new_digits(&factor, &cell));
    }
    return list;
}

/* ---- what nests ---------------------------------------------------------------------------------
 */

static const void *row_at(const struct table_rows *rows, size_t index)
{
    return (const char *)rows->rows.items + index * rows->rows.item_bytes;
}

static struct json_object *new_member(const struct column *column, const void *row);

static bool is_bare(const struct table *table)
{
    return table->column_count == 1 && !*table->columns[0].key;
}

static struct json_object *new_row(const struct table *table, const void *row)
{
    return is_bare(table) ? new_member(table->columns, row) : document__new(table, row);
}

struct json_object *document__new_list(const struct table_rows *rows)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < rows->rows.count; i++)
        json_object_array_add(list, new_row(rows->table, row_at(rows, i)));
    return list;
}

static struct json_object *new_map(const struct table_rows *rows)
{
    struct json_object *object = json_object_new_object();
    for (size_t i = 0; i < rows->rows.count; i++) {
        const struct column *columns = rows->table->columns;
        char *name = text__utf8(cell__of(&columns[0], row_at(rows, i)).text);
        json_object_object_add(object, name, new_member(&columns[1], row_at(rows, i)));
        free(name);
    }
    return object;
}

static struct json_object *new_rows(const struct column *column, const void *row)
{
    struct table_rows rows = column->rows(row);
    struct json_object *value = NULL;
    if (rows.table && column->type == COLUMN_LIST)
        value = document__new_list(&rows);
    else if (rows.table && column->type == COLUMN_MAP)
        value = new_map(&rows);
    else if (rows.rows.count > 0)
        value = new_row(rows.table, row_at(&rows, 0));
    table_rows__free(&rows);
    return value;
}

static bool is_known(const struct table *table, const void *row)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (cell__of(&table->columns[i], row).is_known)
            return true;
    return false;
}

static struct json_object *new_member(const struct column *column, const void *row)
{
    const void *at = (const char *)row + column->offset;
    switch (column->type) {
    case COLUMN_OBJECT:
        return document__new(column->of, at);
    case COLUMN_OPTIONAL:
        return is_known(column->of, at) ? document__new(column->of, at) : NULL;
    case COLUMN_RANGE:
        return *(const double *)at > 0 ? new_range(at) : NULL;
    case COLUMN_LIST:
    case COLUMN_ONE:
    case COLUMN_MAP:
        return new_rows(column, row);
    default:
        return document__new_value(column, row);
    }
}

struct json_object *document__new(const struct table *table, const void *row)
{
    struct json_object *object = json_object_new_object();
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].use != COLUMN_FLAT)
            json_object_object_add(object, table->columns[i].key,
                                   new_member(&table->columns[i], row));
    return object;
}

void json__put(struct json_object *root, FILE *out)
{
    const int form =
        JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    json__put_harmless(json_object_to_json_string_ext(root, form), out);
    fputc('\n', out);
    json_object_put(root);
}

void document__put(const struct table *table, const void *row, FILE *out)
{
    json__put(document__new(table, row), out);
}

/* ---- lists of bare values -------------------------------------------------------------------- */

struct number_cells {
    uint64_t value;
};
struct text_cells {
    const char *value;
};

static const struct column number_columns[] = {FIELD("", number_cells, value)};
static const struct column text_columns[] = {FIELD("", text_cells, value)};
const struct table numbers_table = TABLE(number_cells, "", "", number_columns);
const struct table texts_table = TABLE(text_cells, "", "", text_columns);

struct table_rows no_rows(const void *row)
{
    (void)row;
    return table_rows__of(NULL);
}

struct table_rows number_rows(const uint64_t *numbers, size_t count)
{
    struct table_rows rows = table_rows__of(numbers ? &numbers_table : NULL);
    for (size_t i = 0; numbers && i < count; i++)
        vec__push(&rows.rows, &numbers[i]);
    return rows;
}

void text_rows__take(struct table_rows *rows, char *text)
{
    *(const char **)table_rows__add(rows) = table_rows__keep(rows, text);
}
