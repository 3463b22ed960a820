/* database.h: tables of results as an SQLite database (docs/heurt-sqlite.md tells of the schema).
 *
 *     table_rows ──► CREATE TABLE, INSERT …, CREATE INDEX ──► one file
 *
 * Columns have the keys of heurt tables and its flat columns' types; what is not known is NULL.
 * Texts stand as a terminal may show them. In go rows, out comes a file; SQLite keeps 2 MB of it in
 * memory. A database is used by one thread at a time. It stands on SQLite. */
#ifndef HEURT_PRESENT_SQLITE_DATABASE_H
#define HEURT_PRESENT_SQLITE_DATABASE_H

#include "base/error.h"
#include "base/table.h"

struct database;

/* The file at path must be there, and is made a database; the caller has made it, and nobody else
 * opens it meanwhile. */
int database__open(const char *path, struct database **database, struct error *error);
/* The table, with no rows where rows->table is NULL. After a failure nothing more is done, and
 * database__close tells. */
void database__put(struct database *database, const struct table *table,
                   const struct table_rows *rows);
/* Makes the indices and closes the file, which is whole then. Frees the database. Negative errno
 * after a failure, with a sentence. */
int database__close(struct database *database, struct error *error);

#endif
