#include "present/sqlite/database.h"

#include "base/memory.h"
#include "base/sanitize.h"
#include "base/text.h"
#include "present/table/cell.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* As the file's application id: "heur". The user version is that of the schema. */
#define DATABASE_HEAD                                                               \
    "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" \
    "PRAGMA cache_size = -2000; PRAGMA application_id = 1751479666;"                \
    "PRAGMA user_version = 1; BEGIN"

/* What rows are looked up and joined by. */
static const char *const index_keys[] = {"rank", "class",  "function", "tid",     "pid",
                                         "lock", "object", "at_ns",    "start_ns"};
#define INDEX_KEYS (sizeof index_keys / sizeof index_keys[0])

struct database {
    sqlite3 *sqlite;
    struct vec indices; /* char *: statements, for the end */
    struct error error; /* of the first failure */
    int code;           /* negative errno; 0: all is well */
};

/* ---- statements ------------------------------------------------------------------------------ */

static int errno_of(int result)
{
    switch (result & 0xff) {
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return -EACCES;
    case SQLITE_TOOBIG:
        return -EFBIG;
    default:
        return -EIO;
    }
}

static void check(struct database *database, int result)
{
    if (database->code || result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
        return;
    database->code =
        error__set(&database->error, errno_of(result), "%s",
                   database->sqlite ? sqlite3_errmsg(database->sqlite) : sqlite3_errstr(result));
}

/* Takes over the statement. */
static void execute(struct database *database, char *statement)
{
    if (!database->code)
        check(database, sqlite3_exec(database->sqlite, statement, NULL, NULL, NULL));
    free(statement);
}

int database__open(const char *path, struct database **result, struct error *error)
{
    struct database *database = memory__zeroed(1, sizeof *database);
    database->indices = VEC_OF(char *);
    check(database, sqlite3_open_v2(path, &database->sqlite, SQLITE_OPEN_READWRITE, NULL));
    execute(database, memory__text(DATABASE_HEAD));
    *result = database;
    return database->code ? database__close(database, error) : 0;
}

int database__close(struct database *database, struct error *error)
{
    VEC_EACH (index, &database->indices, char *)
        execute(database, memory__text(*index));
    execute(database, memory__text("COMMIT"));
    check(database, sqlite3_close(database->sqlite));
    int code = database->code ? error__set(error, database->code, "%s", database->error.text) : 0;
    texts__free(&database->indices);
    free(database);
    return code;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *type_of(const struct column *column)
{
    switch (column->type) {
    case COLUMN_REAL:
    case COLUMN_FACTOR:
        return "REAL";
    case COLUMN_TEXT:
    case COLUMN_WORD:
    case COLUMN_CONSTANT:
    case COLUMN_ADDRESS:
        return "TEXT";
    default:
        return "INTEGER";
    }
}

static bool is_indexed(const struct column *column)
{
    for (size_t i = 0; i < INDEX_KEYS; i++)
        if (strcmp(column->key, index_keys[i]) == 0)
            return true;
    return false;
}

/* Creates the table and notes its indices; returns the statement that inserts a row. */
static char *create(struct database *database, const struct table *table)
{
    char *columns = NULL, *values = NULL;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (column->use == COLUMN_NESTED)
            continue;
        columns =
            text__append(columns, "%s\"%s\" %s", columns ? ", " : "", column->key, type_of(column));
        values = text__join(values, ", ", "?");
        if (!is_indexed(column))
            continue;
        char *index = memory__format("CREATE INDEX \"%s_by_%s\" ON \"%s\"(\"%s\")", table->name,
                                     column->key, table->name, column->key);
        vec__push(&database->indices, &index);
    }
    execute(database, memory__format("CREATE TABLE \"%s\" (%s)", table->name, columns));
    char *insert = memory__format("INSERT INTO \"%s\" VALUES (%s)", table->name, values);
    free(columns);
    free(values);
    return insert;
}

static int bind_text(sqlite3_stmt *insert, int place, const struct column *column,
                     const struct cell *cell)
{
    char *digits = cell__digits(column, cell), *text = text__for_screen(digits);
    free(digits);
    return sqlite3_bind_text(insert, place, text, -1, free);
}

static int bind(sqlite3_stmt *insert, int place, const struct column *column, const void *row)
{
    struct cell cell = cell__of(column, row);
    if (!cell.is_known)
        return sqlite3_bind_null(insert, place);
    switch (*type_of(column)) {
    case 'T':
        return bind_text(insert, place, column, &cell);
    case 'R':
        return sqlite3_bind_double(insert, place, (double)cell.number);
    default:
        return sqlite3_bind_int64(insert, place,
                                  cell.number > INT64_MAX ? INT64_MAX : (int64_t)cell.number);
    }
}

static void put_row(struct database *database, sqlite3_stmt *insert, const struct table *table,
                    const void *row)
{
    int place = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].use != COLUMN_NESTED)
            check(database, bind(insert, ++place, &table->columns[i], row));
    check(database, sqlite3_step(insert));
    check(database, sqlite3_reset(insert));
}

void database__put(struct database *database, const struct table *table,
                   const struct table_rows *rows)
{
    sqlite3_stmt *insert = NULL;
    char *statement = create(database, table);
    if (!database->code)
        check(database, sqlite3_prepare_v2(database->sqlite, statement, -1, &insert, NULL));
    for (size_t i = 0; rows->table && i < rows->rows.count && !database->code; i++)
        put_row(database, insert, table,
                (const char *)rows->rows.items + i * rows->rows.item_bytes);
    sqlite3_finalize(insert);
    free(statement);
}
