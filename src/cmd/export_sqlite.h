/* export_sqlite.h: heurt export --sqlite: all tables of all analyses, in one SQLite database.
 *
 * In goes a trace, out comes a file, which gets its name when it is whole. It costs what all verbs
 * cost together. It stands on table_results.h and present/sqlite/. */
#ifndef HEURT_CMD_EXPORT_SQLITE_H
#define HEURT_CMD_EXPORT_SQLITE_H

struct part_asked;

/* Of that part of the run. output: NULL is wrong usage. Returns the exit status. */
int export_sqlite(const char *directory, const char *output, const struct part_asked *part);

#endif
