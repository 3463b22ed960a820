#include "present/table/table_view.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "present/table/cell.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

static void show_column(struct table_view *view, const struct column *column)
{
    vec__push(&view->columns, &column);
}

struct table_view table_view__of(const struct table_rows *rows)
{
    struct table_view view = {rows->table, VEC_OF(const struct column *), VEC_OF(const void *)};
    for (size_t i = 0; i < rows->table->column_count; i++)
        if (rows->table->columns[i].use != COLUMN_NESTED)
            show_column(&view, &rows->table->columns[i]);
    for (size_t i = 0; i < rows->rows.count; i++) {
        const void *row = (const char *)rows->rows.items + i * rows->table->row_bytes;
        vec__push(&view.rows, &row);
    }
    return view;
}

void table_view__free(struct table_view *view)
{
    vec__free(&view->columns);
    vec__free(&view->rows);
}

void table_view__choose_titled(struct table_view *view)
{
    view->columns.count = 0;
    for (size_t i = 0; i < view->table->column_count; i++)
        if (view->table->columns[i].title)
            show_column(view, &view->table->columns[i]);
}

/* NULL with a sentence. */
static const struct column *find_column(const struct table *table, const char *key,
                                        struct error *error)
{
    const struct column *column = table__column(table, key);
    for (size_t i = 0; !column && i < table->column_count; i++)
        if (table->columns[i].title && strcmp(table->columns[i].title, key) == 0)
            column = &table->columns[i];
    if (column)
        return column;
    struct nearest nearest = nearest__to(key);
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].use != COLUMN_NESTED)
            nearest__offer(&nearest, table->columns[i].key);
    char *hint = nearest__question(&nearest);
    error__set(error, -EINVAL, "table %s has no column '%s'%s; heurt tables lists them",
               table->name, key, hint);
    free(hint);
    return NULL;
}

int table_view__choose(struct table_view *view, const char *keys, struct error *error)
{
    char *copy = memory__text(keys), *rest = copy;
    int result = 0;
    view->columns.count = 0;
    for (char *key; result == 0 && (key = strsep(&rest, ","));) {
        const struct column *column = find_column(view->table, key, error);
        if (column)
            show_column(view, column);
        else
            result = -EINVAL;
    }
    free(copy);
    return result;
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum comparison { EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, MATCHES };

struct condition {
    const struct column *column;
    enum comparison comparison;
    const char *text;
    long double number;
};

static const struct {
    const char *sign;
    enum comparison comparison;
} comparisons[] = {{"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST}, {"==", EQUAL},
                   {"=", EQUAL},    {"<", LESS},     {">", MORE},      {"~", MATCHES}};

static bool compares(enum comparison comparison, int order)
{
    switch (comparison) {
    case EQUAL:
        return order == 0;
    case UNEQUAL:
        return order != 0;
    case LESS:
        return order < 0;
    case AT_MOST:
        return order <= 0;
    case MORE:
        return order > 0;
    case AT_LEAST:
        return order >= 0;
    case MATCHES:
        break;
    }
    return false;
}

static bool row_satisfies(const void *row, const struct condition *condition)
{
    const struct cell cell = cell__of(condition->column, row);
    if (!cell.is_known || !*condition->text)
        return compares(condition->comparison, !cell.is_known && !*condition->text ? 0 : 1) &&
               (condition->comparison == EQUAL || condition->comparison == UNEQUAL);
    if (cell.text)
        return condition->comparison == MATCHES
                   ? fnmatch(condition->text, cell.text, 0) == 0
                   : compares(condition->comparison, strcmp(cell.text, condition->text));
    return compares(condition->comparison,
                    (cell.number > condition->number) - (cell.number < condition->number));
}

/* Whether the text is a value of such a column. */
static bool read_value(struct condition *condition, const char *text)
{
    bool is_text = column__is_text(condition->column);
    condition->text = text;
    if (condition->comparison == MATCHES || is_text || !*text)
        return is_text || condition->comparison != MATCHES;
    return cell__parse(condition->column, text, &condition->number);
}

static int read_condition(const struct table *table, char *text, struct condition *condition,
                          struct error *error)
{
    char *sign = text + strcspn(text, "!<>=~");
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        size_t length = strlen(comparisons[i].sign);
        if (strncmp(sign, comparisons[i].sign, length) != 0)
            continue;
        const char *value = sign + length;
        condition->comparison = comparisons[i].comparison;
        *sign = 0;
        condition->column = find_column(table, text, error);
        if (!condition->column)
            return -EINVAL;
        if (read_value(condition, value))
            return 0;
        return error__set(error, -EINVAL, "'%s' is no value of column %s%s%s%s", value, text,
                          *condition->column->unit ? " (" : "", condition->column->unit,
                          *condition->column->unit ? ")" : "");
    }
    return error__set(error, -EINVAL,
                      "expected a column, a comparison (= != < <= > >= ~) and a value, as in "
                      "'score>0.1', found '%s'",
                      text);
}

int table_view__where(struct table_view *view, const char *condition, struct error *error)
{
    char *copy = memory__text(condition);
    struct condition wanted;
    int result = read_condition(view->table, copy, &wanted, error);
    size_t kept = 0;
    for (size_t i = 0; result == 0 && i < view->rows.count; i++) {
        const void *row = *VEC_AT(&view->rows, const void *, i);
        if (row_satisfies(row, &wanted))
            *VEC_AT(&view->rows, const void *, kept++) = row;
    }
    if (result == 0)
        view->rows.count = kept;
    free(copy);
    return result;
}

/* ---- order ----------------------------------------------------------------------------------- */

struct order {
    const struct column *column;
    bool is_reversed;
};

static int compare_rows(const void *left, const void *right, void *argument)
{
    const void *const *a = left, *const *b = right;
    const struct order *order = argument;
    const struct cell first = cell__of(order->column, *a), second = cell__of(order->column, *b);
    if (first.is_known != second.is_known)
        return first.is_known ? -1 : 1;
    int ascending = first.text && second.text
                        ? strcmp(first.text, second.text)
                        : (first.number < second.number) - (first.number > second.number);
    if (ascending == 0) /* rows of a table lie in their order */
        return (*a > *b) - (*a < *b);
    return order->is_reversed ? -ascending : ascending;
}

int table_view__sort(struct table_view *view, const char *key, struct error *error)
{
    struct order order = {.is_reversed = *key == '-'};
    order.column = find_column(view->table, key + order.is_reversed, error);
    if (!order.column)
        return -EINVAL;
    if (view->rows.count)
        qsort_r(view->rows.items, view->rows.count, sizeof(const void *), compare_rows, &order);
    return 0;
}
