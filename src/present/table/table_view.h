/* table_view.h: what is shown of a table: which columns, which rows, in which order.
 *
 * A view refers to rows that it does not own; they must outlive it. */
#ifndef HEURT_PRESENT_TABLE_TABLE_VIEW_H
#define HEURT_PRESENT_TABLE_TABLE_VIEW_H

#include "base/error.h"
#include "base/table.h"

struct table_view {
    const struct table *table;
    struct vec columns; /* const struct column * */
    struct vec rows;    /* const void * */
};

/* All rows and columns, as they stand. table_view__free it. */
struct table_view table_view__of(const struct table_rows *rows);
void table_view__free(struct table_view *view);

/* Each of these fails (-EINVAL) with a sentence when the text names a column that the table has not
 * (it tells the nearest one), or cannot be understood. */

/* "score,function": these columns, in this order. Here and below a column may also be named by its
 * title on a screen: "lost". */
int table_view__choose(struct table_view *view, const char *keys, struct error *error);
/* "score>0.1": only such rows. Comparisons: = != < <= > >=, and ~ for a glob over a text. A value
 * may have a unit: 1ms, 20us, 3s, 50%. What is not known is equal to an empty value, and to nothing
 * else. */
int table_view__where(struct table_view *view, const char *condition, struct error *error);
/* "sum_ns": numbers from the largest down, texts by alphabet; "-sum_ns": the other way round. Rows
 * in which it is not known come last. Equal ones keep their order. */
int table_view__sort(struct table_view *view, const char *key, struct error *error);

/* Only the columns that a screen has room for: those with a title. */
void table_view__choose_titled(struct table_view *view);

#endif
