/* table.h: a table of results as the one who shows it must know it: rows of equal structs, and what
 * each of their members is.
 *
 *     analysis ──► rows (structs) + columns (constant) ──► text, CSV, JSON, LaTeX, Markdown
 *
 * A table knows no presenter, and a presenter knows no analysis: what has a table is shown in every
 * format.  Times are in ns, never in ticks; shares are from 0 to 1.  What is not known is
 * UINT64_MAX, UINT32_MAX, NaN or a NULL text, and is shown as nothing (JSON: null).
 *
 * A row may hold others: objects, and rows that a column makes of it. A document (JSON) nests them;
 * where a table stands alone, only its flat columns are shown.
 *
 * Columns and descriptions are constant; rows and their texts belong to struct table_rows. */
#ifndef HEURT_BASE_TABLE_H
#define HEURT_BASE_TABLE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands at a column's offset. */
enum column_type {
    COLUMN_TEXT,    /* const char *; from the trace, so that it may hold anything */
    COLUMN_COUNT,   /* uint64_t */
    COLUMN_SMALL,   /* uint32_t */
    COLUMN_SIGNED,  /* int64_t; always known */
    COLUMN_REAL,    /* double */
    COLUMN_FACTOR,  /* double: how many times as fast */
    COLUMN_BOOLEAN, /* bool */
    COLUMN_ADDRESS, /* uint64_t, shown as 0x… */
    COLUMN_WORD,    /* an enum, whose name is column->word's */
    /* What nests, in documents: */
    COLUMN_RANGE,    /* double[2], factors: at least, at most */
    COLUMN_CONSTANT, /* a text, the same in all rows: column->help */
    COLUMN_OBJECT,   /* a member with columns of its own: column->of */
    COLUMN_OPTIONAL, /* likewise; nothing where none of them is known */
    COLUMN_LIST, /* the rows that column->rows makes of the row; nothing where these have no table
                  */
    COLUMN_ONE,  /* the first of them; nothing where there is none */
    COLUMN_MAP,  /* of them, by the first of their two columns */
};

/* Where a column is shown. */
enum column_use {
    COLUMN_ANYWHERE,
    COLUMN_FLAT,   /* not in documents: what the row is nested in tells it, or an object does */
    COLUMN_NESTED, /* only there */
};

struct table;
struct table_rows;

struct column {
    const char *key;   /* as in JSON, CSV and on the command line: "wait_ns" */
    const char *title; /* on a screen: "waited" */
    const char *unit;  /* "ns", "share" (0 … 1), "×"; "" where there is none */
    const char *help;  /* a sentence without a full stop */
    enum column_type type;
    size_t offset; /* in the row */
    enum column_use use;
    const char *(*word)(unsigned value); /* may be NULL */
    const struct table *of;
    struct table_rows (*rows)(const void *row);
};

struct table {
    const char *name; /* "lock_sites" */
    const char *help; /* what a row is */
    const struct column *columns;
    size_t column_count;
    size_t row_bytes;
};

/* The rows of a table. table_rows__free it. */
struct table_rows {
    const struct table *table;
    struct vec rows;  /* table->row_bytes each */
    struct vec texts; /* char *: those of the rows that nobody else keeps */
};

/* A double that is not known. */
#define COLUMN_UNKNOWN __builtin_nan("")

#define COLUMN_TYPE_OF(row, member) \
    _Generic(((struct row *)0)->member,                                         \
             char *: COLUMN_TEXT, const char *: COLUMN_TEXT, bool: COLUMN_BOOLEAN, \
             uint64_t: COLUMN_COUNT, uint32_t: COLUMN_SMALL, int64_t: COLUMN_SIGNED, \
             double: COLUMN_REAL)
/* A column of the row's member (which may be a member of one, or an item of an array). */
#define COLUMN_USED(use_, key_, type_, row, member, title_, unit_, help_, ...)     \
    {                                                                              \
        .key = key_, .title = title_, .unit = unit_, .help = help_, .type = type_, \
        .offset = offsetof(struct row, member), .use = use_, ##__VA_ARGS__         \
    }
#define COLUMN_WHOLE(key, type, row, member, title, unit, help) \
    COLUMN_USED(COLUMN_ANYWHERE, key, type, row, member, title, unit, help)
/* Its type is that of the member; its key the member's name, unless it is given. */
#define COLUMN(row, member, title, unit, help) \
    COLUMN_WHOLE(#member, COLUMN_TYPE_OF(row, member), row, member, title, unit, help)
#define COLUMN_KEYED(key, row, member, title, unit, help) \
    COLUMN_WHOLE(key, COLUMN_TYPE_OF(row, member), row, member, title, unit, help)
#define COLUMN_AS(type, row, member, title, unit, help) \
    COLUMN_WHOLE(#member, type, row, member, title, unit, help)
#define COLUMN_NAMED(key, row, member, namer, title, help) \
    COLUMN_USED(COLUMN_ANYWHERE, key, COLUMN_WORD, row, member, title, "", help, .word = namer)
#define FLAT_AS(type, key, row, member, title, unit, help) \
    COLUMN_USED(COLUMN_FLAT, key, type, row, member, title, unit, help)
#define FLAT(key, row, member, title, unit, help) \
    FLAT_AS(COLUMN_TYPE_OF(row, member), key, row, member, title, unit, help)
#define FIELD_AS(type, key, row, member, ...) \
    COLUMN_USED(COLUMN_NESTED, key, type, row, member, NULL, "", NULL, ##__VA_ARGS__)
#define FIELD(key, row, member) FIELD_AS(COLUMN_TYPE_OF(row, member), key, row, member)
#define FIELD_NAMED(key, row, member, namer) FIELD_AS(COLUMN_WORD, key, row, member, .word = namer)
#define FIELD_OBJECT(key, row, member, table) \
    FIELD_AS(COLUMN_OBJECT, key, row, member, .of = &(table))
#define FIELD_OPTIONAL(key, row, member, table) \
    FIELD_AS(COLUMN_OPTIONAL, key, row, member, .of = &(table))
#define FIELD_ROWS(type_, key_, maker)                                              \
    {                                                                               \
        .key = key_, .unit = "", .type = type_, .use = COLUMN_NESTED, .rows = maker \
    }
#define FIELD_LIST(key, maker) FIELD_ROWS(COLUMN_LIST, key, maker)
#define FIELD_ONE(key, maker) FIELD_ROWS(COLUMN_ONE, key, maker)
#define FIELD_MAP(key, maker) FIELD_ROWS(COLUMN_MAP, key, maker)
#define FIELD_SCHEMA(name)                                                                       \
    {                                                                                            \
        .key = "schema", .unit = "", .help = name, .type = COLUMN_CONSTANT, .use = COLUMN_NESTED \
    }
/* Several of the row, or of its member, whose keys are the members' names. */
#define FIELDS(row, ...) FIELDS_ALL(row, , __VA_ARGS__)
#define FIELDS_OF(row, member, ...) FIELDS_ALL(row, member., __VA_ARGS__)
#define FIELDS_ALL(row, in, ...) \
    FIELDS_OF_COUNT(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)(row, in, __VA_ARGS__)
#define FIELDS_OF_COUNT(a, b, c, d, e, f, g, h, i, j, k, l, count, ...) FIELDS_##count
#define FIELDS_1(row, in, a) FIELD(#a, row, in a)
#define FIELDS_2(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_1(row, in, __VA_ARGS__)
#define FIELDS_3(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_2(row, in, __VA_ARGS__)
#define FIELDS_4(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_3(row, in, __VA_ARGS__)
#define FIELDS_5(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_4(row, in, __VA_ARGS__)
#define FIELDS_6(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_5(row, in, __VA_ARGS__)
#define FIELDS_7(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_6(row, in, __VA_ARGS__)
#define FIELDS_8(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_7(row, in, __VA_ARGS__)
#define FIELDS_9(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_8(row, in, __VA_ARGS__)
#define FIELDS_10(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_9(row, in, __VA_ARGS__)
#define FIELDS_11(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_10(row, in, __VA_ARGS__)
#define FIELDS_12(row, in, a, ...) FIELDS_1(row, in, a), FIELDS_11(row, in, __VA_ARGS__)
/* What an object of a document is: its columns. */
#define OBJECT(row, ...)                                                          \
    {                                                                             \
        "", "", (const struct column[]){__VA_ARGS__},                             \
            sizeof((const struct column[]){__VA_ARGS__}) / sizeof(struct column), \
            sizeof(struct row)                                                    \
    }
#define TABLE(row, name, help, columns)                                               \
    {                                                                                 \
        name, help, columns, sizeof(columns) / sizeof(columns)[0], sizeof(struct row) \
    }

struct table_rows table_rows__of(const struct table *table); /* NULL: nothing, not even no rows */
/* A row of zeroes at the end, to be filled. Valid until the next one. */
void *table_rows__add(struct table_rows *rows);
/* A row at the end, of these values. */
#define TABLE_ROW(rows, row, ...) (*(struct row *)table_rows__add(rows) = (struct row){__VA_ARGS__})
/* A copy of the row, if it is there. */
struct table_rows table_rows__if(bool is_there, const struct table *table, const void *row);
/* Takes over text (NULL: nothing); returns it. It is freed with the rows. */
const char *table_rows__keep(struct table_rows *rows, char *text);
void table_rows__free(struct table_rows *rows);

/* The flat column of that key, or NULL. */
const struct column *table__column(const struct table *table, const char *key);

#endif
