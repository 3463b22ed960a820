/* heurt.tables/1: the contract is in docs/heurt-tables.md. What is not known is null. */
#include "present/screen/json_members.h"
#include "present/table/cell.h"
#include "present/table/table_format.h"

#include <json-c/json.h>
#include <stdlib.h>

static struct json_object *new_value(const struct column *column, const void *row)
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
        break;
    }
    char *digits = cell__digits(column, &cell);
    struct json_object *value = column->type == COLUMN_REAL || column->type == COLUMN_FACTOR
                                    ? json_object_new_double_s((double)cell.number, digits)
                                    : json__new_text(digits);
    free(digits);
    return value;
}

void table__add_json(const struct table *table, const void *row, struct json_object *object)
{
    for (size_t i = 0; i < table->column_count; i++)
        json__add(object, table->columns[i].key, new_value(&table->columns[i], row));
}

static struct json_object *new_rows(const struct table_view *view)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (row, &view->rows, const void *) {
        struct json_object *object = json__entry(list);
        VEC_EACH (column, &view->columns, const struct column *)
            json__add(object, (*column)->key, new_value(*column, *row));
    }
    return list;
}

struct json_object *table_rows__json(const struct table_rows *rows)
{
    struct table_view view = table_view__of(rows);
    struct json_object *list = new_rows(&view);
    table_view__free(&view);
    return list;
}

static struct json_object *new_columns(const struct table_view *view)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (column, &view->columns, const struct column *) {
        struct json_object *object = json__entry(list);
        json__text(object, "key", (*column)->key);
        json__text(object, "unit", *(*column)->unit ? (*column)->unit : NULL);
        json__text(object, "help", (*column)->help);
    }
    return list;
}

static void put(const struct table_view *views, size_t count, const struct style *style, FILE *out)
{
    (void)style;
    struct json_object *root = json_object_new_object(), *list = json_object_new_array();
    json__text(root, "schema", "heurt.tables/1");
    for (size_t i = 0; i < count; i++) {
        struct json_object *object = json__entry(list);
        json__text(object, "name", views[i].table->name);
        json__text(object, "help", views[i].table->help);
        json__add(object, "columns", new_columns(&views[i]));
        json__add(object, "rows", new_rows(&views[i]));
    }
    json__add(root, "tables", list);
    json__put(root, out);
}

const struct table_format table_json = {"json", true, put};
