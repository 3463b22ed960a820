/* heurt.tables/1: the contract is in docs/heurt-tables.md. What is not known is null. */
#include "present/table/document.h"
#include "present/table/table_format.h"

#include <json-c/json.h>

static struct json_object *new_rows(const struct table_view *view)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (row, &view->rows, const void *) {
        struct json_object *object = json_object_new_object();
        VEC_EACH (column, &view->columns, const struct column *)
            json_object_object_add(object, (*column)->key, document__new_value(*column, *row));
        json_object_array_add(list, object);
    }
    return list;
}

struct column_cells {
    const char *key, *unit, *help;
};

static const struct table columns_table =
    OBJECT(column_cells, FIELDS(column_cells, key, unit, help));

static struct json_object *new_columns(const struct table_view *view)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (column, &view->columns, const struct column *) {
        const struct column_cells cells = {
            (*column)->key, *(*column)->unit ? (*column)->unit : NULL, (*column)->help};
        json_object_array_add(list, document__new(&columns_table, &cells));
    }
    return list;
}

static void put(const struct table_view *views, size_t count, const struct style *style, FILE *out)
{
    (void)style;
    struct json_object *root = json_object_new_object(), *list = json_object_new_array();
    json_object_object_add(root, "schema", json_object_new_string("heurt.tables/1"));
    for (size_t i = 0; i < count; i++) {
        struct json_object *object = json_object_new_object();
        json_object_object_add(object, "name", json_object_new_string(views[i].table->name));
        json_object_object_add(object, "help", json_object_new_string(views[i].table->help));
        json_object_object_add(object, "columns", new_columns(&views[i]));
        json_object_object_add(object, "rows", new_rows(&views[i]));
        json_object_array_add(list, object);
    }
    json_object_object_add(root, "tables", list);
    json__put(root, out);
}

const struct table_format table_json = {"json", true, put};
