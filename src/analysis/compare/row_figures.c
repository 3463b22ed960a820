/* row_figures.c: the rows of any table, as other runs may have them. */
#include "analysis/compare/comparison.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texts that are other ones in another run, or build, of the same program. */
static const char *const not_in_keys[] = {"sentence", "try",  "by_function", "by_doing",
                                          "by_call",  "note", "confidence",  "verdict",
                                          "cause",    "why",  NULL};
/* Numbers that tell which row it is. */
static const char *const in_keys[] = {"phase", "iteration", "level", NULL};

static bool is_one_of(const char *key, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(key, *list) == 0)
            return true;
    return false;
}

/* The same function may lie in another file tomorrow. */
static bool ends_in(const char *key, const char *end)
{
    size_t length = strlen(key), end_length = strlen(end);
    return length >= end_length && strcmp(key + length - end_length, end) == 0;
}

static bool is_left_out(const char *key)
{
    return is_one_of(key, not_in_keys) || ends_in(key, "file") || ends_in(key, "module");
}

static const char *text_of(const struct column *column, const void *row)
{
    const void *at = (const char *)row + column->offset;
    if (column->type == COLUMN_WORD)
        return column->word(*(const unsigned *)at);
    return *(const char *const *)at;
}

static double number_of(const struct column *column, const void *row)
{
    const void *at = (const char *)row + column->offset;
    switch (column->type) {
    case COLUMN_COUNT: {
        uint64_t count = *(const uint64_t *)at;
        return count == UINT64_MAX ? NAN : (double)count;
    }
    case COLUMN_SMALL: {
        uint32_t count = *(const uint32_t *)at;
        return count == UINT32_MAX ? NAN : (double)count;
    }
    case COLUMN_SIGNED:
        return (double)*(const int64_t *)at;
    case COLUMN_REAL:
    case COLUMN_FACTOR:
        return *(const double *)at;
    case COLUMN_BOOLEAN:
        return *(const bool *)at;
    default:
        return NAN;
    }
}

/* A part of a key; NULL: the column is none. free() it. */
static char *key_part(const struct column *column, const void *row)
{
    if (column->use == COLUMN_NESTED)
        return NULL;
    if (is_one_of(column->key, in_keys)) {
        double number = number_of(column, row);
        return isnan(number) ? NULL : memory__format("%s %.0f", column->key, number);
    }
    bool is_text = column->type == COLUMN_TEXT || (column->type == COLUMN_WORD && column->word);
    if (!is_text || is_left_out(column->key))
        return NULL;
    const char *text = text_of(column, row);
    bool is_address = text && strncmp(text, "0x", 2) == 0;
    return text && *text && !is_address ? memory__text(text) : NULL;
}

/* Where it is in the source, for people alone; "" where it is not known. free() it. */
static char *source_of(const struct table *table, const void *row)
{
    const struct column *file = table__column(table, "file"), *line = table__column(table, "line");
    const char *path = file && file->type == COLUMN_TEXT ? text_of(file, row) : NULL;
    double number = line ? number_of(line, row) : NAN;
    if (!path)
        return memory__text("");
    return isnan(number) || number == 0 ? memory__format(" %s", path__name(path))
                                        : memory__format(" %s:%.0f", path__name(path), number);
}

/* "in" stands between what something is and the function it is in. */
static char *labelled(char *label, const struct column *column, const char *part)
{
    bool is_function = strcmp(column->key, "function") == 0;
    return text__join(label, is_function ? " in " : " ", part);
}

static void make_names(const struct table *table, const void *row, char **key, char **label)
{
    *key = memory__text("");
    *label = memory__text("");
    for (size_t i = 0; i < table->column_count; i++) {
        char *part = key_part(&table->columns[i], row);
        if (!part)
            continue;
        *key = text__join(*key, "\n", part);
        *label = labelled(*label, &table->columns[i], part);
        free(part);
    }
    char *source = source_of(table, row);
    *label = text__append(*label, "%s", source);
    free(source);
}

enum row_joining { JOIN_SUM, JOIN_LEAST, JOIN_MOST };

static enum row_joining joining_of(const struct column *column)
{
    bool is_sum = column->type == COLUMN_COUNT || column->type == COLUMN_SMALL ||
                  column->type == COLUMN_SIGNED || strcmp(column->unit, "share") == 0;
    if (strncmp(column->key, "min", 3) == 0 || strncmp(column->key, "least", 5) == 0)
        return JOIN_LEAST;
    bool is_most = strncmp(column->key, "max", 3) == 0 || strncmp(column->key, "p50", 3) == 0 ||
                   strncmp(column->key, "p99", 3) == 0 || strncmp(column->key, "longest", 7) == 0;
    return is_most || !is_sum ? JOIN_MOST : JOIN_SUM;
}

static double joined(enum row_joining joining, double one, double other)
{
    return joining == JOIN_SUM     ? one + other
           : joining == JOIN_LEAST ? fmin(one, other)
                                   : fmax(one, other);
}

static void add_row(struct run_figures *run, struct map *places, const struct table_rows *rows,
                    const void *row, const struct column *value, const struct column *lives)
{
    struct figures_row one = {.value = number_of(value, row),
                              .lives_ns = lives ? number_of(lives, row) : 0};
    one.value = isnan(one.value) ? 0 : one.value;
    make_names(rows->table, row, &one.key, &one.label);
    size_t count = run->rows.count;
    size_t place = map__put(places, one.key, strlen(one.key), count);
    if (place == count) {
        vec__push(&run->rows, &one);
        return;
    }
    struct figures_row *known = VEC_AT(&run->rows, struct figures_row, place);
    known->value = joined(joining_of(value), known->value, one.value);
    known->lives_ns += one.lives_ns;
    free(one.key);
    free(one.label);
}

bool run_figures__add(struct run_figures *run, const struct table_rows *rows,
                      const struct column *value, const struct column *lives)
{
    struct map places = {0};
    bool has_keys = rows->rows.count == 0;
    for (size_t i = 0; i < rows->rows.count; i++)
        add_row(run, &places, rows, (const char *)rows->rows.items + i * rows->rows.item_bytes,
                value, lives);
    VEC_EACH (row, &run->rows, struct figures_row)
        has_keys = has_keys || *row->key;
    map__free(&places);
    return has_keys;
}

/* ---- functions that have another name -------------------------------------------------------- */

/* The key with that part in place of another one; NULL: it has no such part. free() it. */
static char *with_part(const char *key, const char *part, const char *instead)
{
    char *parts = memory__text(key), *rest = parts, *text = memory__text("");
    bool has_part = false;
    for (char *one; (one = strsep(&rest, "\n"));) {
        bool is_it = strcmp(one, part) == 0;
        has_part = has_part || is_it;
        text = text__join(text, "\n", is_it ? instead : one);
    }
    free(parts);
    if (has_part)
        return text;
    free(text);
    return NULL;
}

/* "working in parse → parse_line parse.c:30, renamed?" */
static char *told_label(const char *label, const char *own, const struct renamed *renamed)
{
    const char *at = strstr(label, own);
    if (!at)
        return memory__format("%s, was %s, renamed?", label, renamed->before);
    return memory__format("%.*s%s → %s%s, renamed?", (int)(at - label), label, renamed->before,
                          renamed->after, at + strlen(own));
}

static void rename_row(struct figures_row *row, const struct renamed *renamed, bool is_before)
{
    const char *own = is_before ? renamed->before : renamed->after;
    char *key = with_part(row->key, own, renamed->after);
    if (!key || row->was) {
        free(key);
        return;
    }
    free(row->key);
    row->key = key;
    row->was = memory__text(renamed->before);
    row->told = told_label(row->label, own, renamed);
}

bool run_figures__has(const struct run_figures *run, const char *part)
{
    VEC_EACH (row, &run->rows, struct figures_row) {
        char *without = with_part(row->key, part, "");
        free(without);
        if (without)
            return true;
    }
    return false;
}

void run_figures__rename(struct run_figures *run, const struct vec *renames, bool is_before)
{
    VEC_EACH (renamed, renames, struct renamed)
        VEC_EACH (row, &run->rows, struct figures_row)
            rename_row(row, renamed, is_before);
}

const struct column *table__first_time(const struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (column->use != COLUMN_NESTED && column->title && strcmp(column->unit, "ns") == 0)
            return column;
    }
    return NULL;
}
