/* The file of a sweep: the command, then a line a run. */
#include "cmd/sweep.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATE_FILE "sweep"
#define HEAD "heurt sweep 1"
#define STATE_BYTES_MOST (64 << 20)

/* ---- words on lines -------------------------------------------------------------------------- */

/* A word on a line of its own: newlines and backslashes are written as \n and \\. free() it. */
static char *escaped(const char *word)
{
    char *text = memory__zeroed(2 * strlen(word) + 1, 1), *to = text;
    for (; *word; word++) {
        if (*word == '\n' || *word == '\\')
            *to++ = '\\';
        *to++ = *word == '\n' ? 'n' : *word;
    }
    return text;
}

/* In place. */
static char *unescaped(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool is_escape = *from == '\\' && from[1];
        from += is_escape;
        *to++ = is_escape && *from == 'n' ? '\n' : *from;
    }
    *to = 0;
    return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct sweep_entry *entry_at(const struct sweep *sweep, const struct sweep_place *place)
{
    VEC_EACH (entry, &sweep->entries, struct sweep_entry)
        if (entry->place.threads == place->threads && entry->place.pinned == place->pinned &&
            entry->place.repetition == place->repetition &&
            entry->place.is_recorded == place->is_recorded)
            return entry;
    return NULL;
}

const struct sweep_entry *sweep__entry(const struct sweep *sweep, const struct sweep_place *place)
{
    return entry_at(sweep, place);
}

static void put_entry(struct sweep *sweep, const struct sweep_entry *entry)
{
    struct sweep_entry *known = entry_at(sweep, &entry->place);
    if (known)
        *known = *entry;
    else
        vec__push(&sweep->entries, entry);
}

#define RUN_FORM "run %s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %d %" PRIu64 " %" PRIu64
#define RUN_SCAN \
    "run %7s %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %d %" SCNu64 " %" SCNu64 "%c"

/* What cannot be understood, such as a line that a full disk has cut, is a run that was not made.
 */
static void read_run(struct sweep *sweep, const char *line)
{
    struct sweep_entry entry = {.wall_ns = 0};
    char kind[8], rest;
    int read = sscanf(line, RUN_SCAN, kind, &entry.place.threads, &entry.place.pinned,
                      &entry.place.repetition, &entry.cpus, &entry.wait_status, &entry.wall_ns,
                      &entry.cpu_ns, &rest);
    bool is_sound = entry.place.threads && entry.place.threads <= SWEEP_COUNT_MOST && entry.cpus;
    entry.place.is_recorded = read == 8 && strcmp(kind, "trace") == 0;
    if (read == 8 && is_sound)
        put_entry(sweep, &entry);
}

static void read_line(struct sweep *sweep, char *line)
{
    if (strncmp(line, "word ", 5) == 0) {
        char *word = memory__text(unescaped(line + 5));
        vec__push(&sweep->command, &word);
    } else {
        read_run(sweep, line);
    }
}

static int read_state(FILE *file, struct sweep *sweep, struct error *error)
{
    char *line = NULL;
    size_t room = 0, bytes = 0;
    ssize_t length = getline(&line, &room, file);
    bool is_sweep = length > 0 && strcmp(line, HEAD "\n") == 0;
    while (is_sweep && (length = getline(&line, &room, file)) > 0 && bytes < STATE_BYTES_MOST) {
        bytes += (size_t)length;
        if (line[length - 1] != '\n')
            break;
        line[length - 1] = 0;
        read_line(sweep, line);
    }
    free(line);
    return is_sweep
               ? 0
               : error__set(error, -EINVAL,
                            "%s/" STATE_FILE " is no sweep that this heurt knows: give another "
                            "directory with -o",
                            sweep->directory);
}

static int open_state(const char *directory, int flags, struct error *error)
{
    char *path = memory__format("%s/" STATE_FILE, directory);
    int file = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), code = -errno;
    free(path);
    if (file >= 0 && descriptor__is_own(file))
        return file;
    if (file >= 0) {
        close(file);
        return error__set(error, -EPERM, "the sweep in %s is another user's", directory);
    }
    if (code == -ENOTDIR)
        return error__set(error, code, "%s is no directory: give another one for the runs with -o",
                          directory);
    if (code == -ENOENT)
        return error__set(error, code,
                          "there is no sweep in %s: heurt scale --threads 1,2,4 "
                          "PROGRAM makes one",
                          directory);
    return error__set(error, code, "the sweep in %s cannot be opened: %s", directory,
                      strerror(-code));
}

static struct sweep sweep__of(const char *directory)
{
    return (struct sweep){directory, VEC_OF(char *), VEC_OF(struct sweep_entry), -1};
}

int sweep__read(const char *directory, struct sweep *sweep, struct error *error)
{
    *sweep = sweep__of(directory);
    int fd = open_state(directory, O_RDONLY, error);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file)
        return fd < 0 ? fd : error__set(error, -errno, "%s", strerror(errno));
    int code = read_state(file, sweep, error);
    fclose(file);
    return code;
}

void sweep__free(struct sweep *sweep)
{
    texts__free(&sweep->command);
    vec__free(&sweep->entries);
    if (sweep->file >= 0)
        close(sweep->file);
}

/* ---- making ---------------------------------------------------------------------------------- */

static int write_failed(const char *directory, int code, struct error *error)
{
    return error__set(error, code, "the sweep in %s cannot be written: %s", directory,
                      strerror(-code));
}

static int write_head(const char *directory, char **command, int file, struct error *error)
{
    char *text = memory__text(HEAD "\n");
    for (; *command; command++) {
        char *word = escaped(*command);
        text = text__append(text, "word %s\n", word);
        free(word);
    }
    bool is_written = descriptor__write_all(file, text, strlen(text));
    int code = is_written ? 0 : write_failed(directory, -errno, error);
    free(text);
    return code;
}

/* An empty directory may be used, too. */
static int make_directory(const char *directory, struct error *error)
{
    struct stat status;
    if (mkdir(directory, 0700) == 0)
        return 0;
    int code = -errno;
    if (code != -EEXIST)
        return error__set(error, code, "the directory %s for the runs cannot be made: %s",
                          directory, strerror(-code));
    if (lstat(directory, &status) < 0 || !S_ISDIR(status.st_mode))
        return error__set(error, -ENOTDIR,
                          "%s is no directory: give another one for the runs with -o", directory);
    if (status.st_uid != geteuid())
        return error__set(error, -EPERM,
                          "%s is another user's: give another directory for the runs with -o",
                          directory);
    if (rmdir(directory) < 0)
        return error__set(error, -ENOTEMPTY,
                          "%s is there, and holds no sweep: give another directory for the runs "
                          "with -o",
                          directory);
    return mkdir(directory, 0700) < 0 ? -errno : 0;
}

static int begin(const char *directory, char **command, struct error *error)
{
    int code = make_directory(directory, error);
    if (code < 0)
        return code;
    int file = open_state(directory, O_WRONLY | O_CREAT | O_EXCL, error);
    code = file < 0 ? file : write_head(directory, command, file, error);
    if (file >= 0)
        close(file);
    return code;
}

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%,={}"

char *sweep__command(const struct sweep *sweep)
{
    char *line = memory__text("");
    VEC_EACH (word, &sweep->command, char *) {
        bool is_plain = **word && strspn(*word, PLAIN) == strlen(*word);
        char *one = memory__format(is_plain ? "%s" : "'%s'", *word);
        line = text__join(line, " ", one);
        free(one);
    }
    return line;
}

static bool is_command(const struct sweep *sweep, char **command)
{
    size_t count = 0;
    bool is_same = true;
    for (; command[count]; count++)
        is_same = is_same && count < sweep->command.count &&
                  strcmp(*VEC_AT(&sweep->command, char *, count), command[count]) == 0;
    return is_same && count == sweep->command.count;
}

static int refuse_other_command(const struct sweep *sweep, struct error *error)
{
    char *line = sweep__command(sweep);
    error__set(error, -EEXIST,
               "%s holds the runs of another command (%.200s): give another directory with -o, or "
               "remove that one",
               sweep->directory, line);
    free(line);
    return -EEXIST;
}

/* Behind the last whole line: what was cut off is no beginning of the next one. */
static int open_to_add(struct sweep *sweep, struct error *error)
{
    sweep->file = open_state(sweep->directory, O_RDWR | O_APPEND, error);
    if (sweep->file < 0)
        return sweep->file;
    if (flock(sweep->file, LOCK_EX | LOCK_NB) < 0)
        return error__set(error, -EBUSY, "another heurt scale is at work in %s", sweep->directory);
    char last = '\n';
    off_t end = lseek(sweep->file, 0, SEEK_END);
    bool is_whole = end < 1 || pread(sweep->file, &last, 1, end - 1) != 1 || last == '\n';
    return is_whole || descriptor__write_all(sweep->file, "\n", 1)
               ? 0
               : write_failed(sweep->directory, -errno, error);
}

/* Of which no run was made, such as of a name that was mistyped. */
static bool is_to_be_replaced(const struct sweep *sweep, char **command)
{
    if (sweep->entries.count || is_command(sweep, command))
        return false;
    char *path = memory__format("%s/" STATE_FILE, sweep->directory);
    bool is_gone = unlink(path) == 0;
    free(path);
    return is_gone;
}

int sweep__open(const char *directory, char **command, struct sweep *sweep, struct error *error)
{
    int code = sweep__read(directory, sweep, error);
    if (code == -ENOENT || (code == 0 && is_to_be_replaced(sweep, command))) {
        code = begin(directory, command, error);
        sweep__free(sweep);
        *sweep = sweep__of(directory);
        code = code < 0 ? code : sweep__read(directory, sweep, error);
    }
    if (code == 0 && !is_command(sweep, command))
        code = refuse_other_command(sweep, error);
    return code < 0 ? code : open_to_add(sweep, error);
}

int sweep__add(struct sweep *sweep, const struct sweep_entry *entry, struct error *error)
{
    const struct sweep_place *place = &entry->place;
    char *line = memory__format(RUN_FORM "\n", place->is_recorded ? "trace" : "alone",
                                place->threads, place->pinned, place->repetition, entry->cpus,
                                entry->wait_status, entry->wall_ns, entry->cpu_ns);
    int code = descriptor__write_all(sweep->file, line, strlen(line))
                   ? 0
                   : write_failed(sweep->directory, -errno, error);
    free(line);
    put_entry(sweep, entry);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

char *sweep__trace(const struct sweep *sweep, const struct sweep_place *place)
{
    char *name = memory__format("%s/%" PRIu32 "-threads", sweep->directory, place->threads);
    if (place->pinned)
        name = text__append(name, "-%" PRIu32 "-cpus", place->pinned);
    return text__append(name, ".%" PRIu32, place->repetition);
}

char *sweep__output(const struct sweep *sweep, const struct sweep_place *place)
{
    return text__append(sweep__trace(sweep, place), "%s.out", place->is_recorded ? "" : ".alone");
}

bool sweep_entry__is_good(const struct sweep_entry *entry)
{
    return WIFEXITED(entry->wait_status) && WEXITSTATUS(entry->wait_status) == 0;
}
