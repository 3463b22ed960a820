#include "cmd/export_sqlite.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/table_results.h"
#include "format/directory.h"
#include "present/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_source(struct database *database, const struct table_results *results,
                       const struct table_source *source)
{
    struct table_rows rows = table_results__rows_if_any(results, source);
    database__put(database, source->table, &rows);
    table_rows__free(&rows);
}

static int write_database(const char *path, const struct table_results *results,
                          struct error *error)
{
    struct database *database;
    int code = database__open(path, &database, error);
    if (code < 0)
        return code;
    struct table_rows columns = table_source__columns();
    database__put(database, columns.table, &columns);
    table_rows__free(&columns);
    for (const struct table_source *const *source = table_sources; *source; source++)
        put_source(database, results, *source);
    return database__close(database, error);
}

/* A file beside the wanted one, which it becomes when it is whole. */
static int write_beside(const char *beside, const char *output, const struct table_results *results)
{
    struct error error;
    int file = open(beside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int code = file < 0 ? -errno : 0;
    if (code < 0)
        error__set(&error, code, "%s", strerror(-code));
    else
        code = write_database(beside, results, &error);
    if (file >= 0)
        close(file);
    if (code == 0 && rename(beside, output) < 0)
        code = error__set(&error, -errno, "%s", strerror(errno));
    if (code == 0)
        return 0;
    if (file >= 0)
        unlink(beside);
    say("%.100s could not be written: %s", output, error.text);
    return EXIT_HEURT;
}

static int write_output(const char *output, const struct table_results *results)
{
    char *beside = memory__format("%s.part", output);
    int status = write_beside(beside, output, results);
    free(beside);
    if (status == 0 && *results->missing.text)
        say("some tables have no rows: %s", results->missing.text);
    return status;
}

/* A device or a pipe would be replaced by a file. */
static bool is_replaceable(const char *path)
{
    struct stat status;
    return lstat(path, &status) < 0 || S_ISREG(status.st_mode);
}

int export_sqlite(const char *directory, const char *output, const struct part_asked *part)
{
    struct table_results results;
    if (!output) {
        say("--sqlite writes a file; give its name with -o");
        return EXIT_USAGE;
    }
    if (trace_directory__holds(directory, output)) {
        say("%.100s is a file of the trace itself, which would be lost; give another name with -o",
            output);
        return EXIT_HEURT;
    }
    if (!is_replaceable(output)) {
        say("%.100s is no regular file; give the name of a file with -o", output);
        return EXIT_HEURT;
    }
    int status = table_results__make_all(directory, part, &results);
    if (status)
        return status;
    status = write_output(output, &results);
    table_results__free(&results);
    return status;
}
