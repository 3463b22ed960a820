#include "format/directory.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* What stands at a path. */
enum directory_standing {
    STANDING_NOTHING,
    STANDING_EMPTY,  /* a directory without entries */
    STANDING_TRACE,  /* a directory with the files of a trace and nothing else */
    STANDING_BUSY,   /* a trace that a recorder is writing at this moment */
    STANDING_OTHERS, /* a directory of another user, who could change what is put there */
    STANDING_FOREIGN /* anything else: not to be touched */
};

int trace_directory__failed(struct error *error, int code, const char *path)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT:
        return error__set(error, -code,
                          "there is no room on the disk for the trace %s; free some, or give "
                          "another place with -o",
                          path);
    case EROFS:
        return error__set(error, -code,
                          "the trace %s cannot be made: the file system is read-only; give "
                          "another place with -o",
                          path);
    case EACCES:
    case EPERM:
        return error__set(error, -code,
                          "the trace %s cannot be made: no permission to write there; give "
                          "another place with -o",
                          path);
    case ENAMETOOLONG:
        return error__set(error, -code,
                          "the name of the trace is too long (%zu characters); give a shorter one "
                          "with -o",
                          strlen(path));
    case ENOENT:
        return error__set(error, -code,
                          "the trace %s cannot be made: the directory above it does not exist; "
                          "make it first, or give another place with -o",
                          path);
    case ENOTDIR:
        return error__set(error, -code,
                          "the trace %s cannot be made: a part of its path is a file, not a "
                          "directory; give another place with -o",
                          path);
    case EMFILE:
        return error__set(error, -code,
                          "the trace %s cannot be made: heurt may open too few files at a time "
                          "(ulimit -n); allow 64 or more",
                          path);
    case ENODEV:
        return error__set(error, -code,
                          "the trace %s cannot be made: its file system cannot share mapped "
                          "files; give a place on another one with -o",
                          path);
    }
    return error__set(error, -code, "the trace %s cannot be made: %s", path, strerrordesc_np(code));
}

/* Whether name is of a file that heurt puts into a trace, or of one that it was about to. */
static bool is_trace_file(const char *name)
{
    return strcmp(name, HEURT_EVENTS_FILE) == 0 || strcmp(name, TRACE_NEW_EVENTS_FILE) == 0 ||
           strcmp(name, HEURT_SESSION_FILE) == 0 || strcmp(name, HEURT_SOCKET_FILE) == 0 ||
           strcmp(name, HEURT_CONTROL_FILE) == 0 || strcmp(name, HEURT_MACHINE_FILE) == 0 ||
           strcmp(name, HEURT_RANKS_FILE) == 0 || strcmp(name, HEURT_RANKS_FILE ".new") == 0 ||
           strcmp(name, HEURT_RULES_FILE) == 0 || strcmp(name, HEURT_RULES_FILE ".new") == 0 ||
           strcmp(name, HEURT_SCREENS_FILE) == 0 || strcmp(name, HEURT_SCREENS_FILE ".new") == 0 ||
           strncmp(name, HEURT_SYMBOLS_FILE, strlen(HEURT_SYMBOLS_FILE)) == 0;
}

/* The number of a window of the run, which is a trace in the trace; 0: the name is of none. */
static unsigned window_number(const char *name)
{
    size_t length = strspn(name, "0123456789");
    bool is_number = length && length < 10 && !name[length] && *name != '0';
    return is_number ? (unsigned)strtoul(name, NULL, 10) : 0;
}

/* An events file with our magic; an empty one, too, is what a recorder that was killed at its
 * start leaves behind. */
static enum directory_standing inspect_events(int directory)
{
    int fd = openat(directory, HEURT_EVENTS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return STANDING_FOREIGN;
    enum directory_standing standing = STANDING_FOREIGN;
    char magic[8] = "";
    struct stat status;
    ssize_t got = read(fd, magic, sizeof magic);
    static const char zeroes[sizeof magic];
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (got == 0 || (got == sizeof magic && (memcmp(magic, HEURT_MAGIC, sizeof magic) == 0 ||
                                              memcmp(magic, zeroes, sizeof magic) == 0))))
        standing = STANDING_TRACE;
    if (standing == STANDING_TRACE && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        standing = STANDING_BUSY;
    close(fd);
    return standing;
}

static DIR *open_window(DIR *stream, const char *name)
{
    int fd = openat(dirfd(stream), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *window = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !window)
        close(fd);
    return window;
}

/* Whether it has the files of a trace and nothing else. */
static bool is_window(DIR *stream, const char *name)
{
    DIR *window = window_number(name) ? open_window(stream, name) : NULL;
    bool is_one = window;
    for (struct dirent *entry; is_one && (entry = readdir(window));)
        is_one = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                 is_trace_file(entry->d_name);
    if (window)
        closedir(window);
    return is_one;
}

static enum directory_standing inspect_entries(DIR *stream)
{
    bool has_files = false, has_windows = false, has_events = false;
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        bool is_file = is_trace_file(entry->d_name);
        if (!is_file && !is_window(stream, entry->d_name))
            return STANDING_FOREIGN;
        has_events |= strcmp(entry->d_name, HEURT_EVENTS_FILE) == 0;
        has_files |= is_file;
        has_windows |= !is_file;
    }
    if (!has_events && has_windows)
        return STANDING_TRACE;
    return has_files ? inspect_events(dirfd(stream)) : STANDING_EMPTY;
}

static int inspect(const char *path, enum directory_standing *standing)
{
    struct stat status;
    *standing = STANDING_NOTHING;
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? 0 : -errno;
    *standing =
        S_ISLNK(status.st_mode) && status.st_uid != geteuid() ? STANDING_OTHERS : STANDING_FOREIGN;
    if (*standing == STANDING_OTHERS) /* it may lead to what is one's own and would be moved */
        return 0;
    DIR *stream = opendir(path);
    errno = stream ? 0 : errno;
    if (!stream)
        return errno == ENOTDIR ? 0 : -errno;
    *standing = fstat(dirfd(stream), &status) == 0 && status.st_uid == geteuid()
                    ? inspect_entries(stream)
                    : STANDING_OTHERS;
    closedir(stream);
    return *standing == STANDING_FOREIGN && (errno == EMFILE || errno == ENFILE) ? -errno : 0;
}

static void remove_files(DIR *stream)
{
    for (struct dirent *entry; (entry = readdir(stream));)
        if (is_trace_file(entry->d_name))
            unlinkat(dirfd(stream), entry->d_name, 0);
}

static void remove_window(DIR *stream, const char *name)
{
    DIR *window = open_window(stream, name);
    if (window)
        remove_files(window);
    if (window)
        closedir(window);
    unlinkat(dirfd(stream), name, AT_REMOVEDIR);
}

/* Removes the files of a trace and the directory; a directory that holds anything else stays. */
static int remove_trace(const char *path)
{
    DIR *stream = opendir(path);
    if (!stream)
        return -errno;
    remove_files(stream);
    rewinddir(stream);
    for (struct dirent *entry; (entry = readdir(stream));)
        if (window_number(entry->d_name))
            remove_window(stream, entry->d_name);
    closedir(stream);
    return rmdir(path) == 0 || (errno == ENOTDIR && unlink(path) == 0) ? 0 : -errno;
}

static int refuse_foreign(struct error *error, const char *path, enum directory_standing standing)
{
    if (standing == STANDING_OTHERS)
        return error__set(error, -EEXIST,
                          "%s belongs to another user, so it is left alone; give another place "
                          "with -o",
                          path);
    return error__set(error, -EEXIST,
                      "%s exists and is not a trace of heurt, so it is left alone; give another "
                      "place with -o",
                      path);
}

static int refuse_busy(struct error *error, const char *path)
{
    return error__set(error, -EBUSY,
                      "%s is being recorded by another heurt at this moment; give another place "
                      "with -o",
                      path);
}

/* Moves the trace at path to old, which must be free, empty or an older trace. */
static int move_away(const char *path, const char *old, struct error *error)
{
    enum directory_standing standing;
    int code = inspect(old, &standing);
    if (code == 0 && standing >= STANDING_OTHERS)
        return refuse_foreign(error, old, standing);
    if (code == 0 && standing == STANDING_BUSY)
        return refuse_busy(error, old);
    if (code == 0 && standing != STANDING_NOTHING)
        code = remove_trace(old);
    if (code < 0)
        return error__set(error, code, "the older trace %s cannot be removed: %s", old,
                          strerrordesc_np(-code));
    if (rename(path, old) < 0)
        return error__set(error, -errno, "the trace %s cannot be moved to %s: %s", path, old,
                          strerrordesc_np(errno));
    return 0;
}

/* Whether the directory above path can be written, before anything is changed. */
static int check_parent(const char *path)
{
    char *parent = memory__text(path);
    char *slash = strrchr(parent, '/');
    const char *above = ".";
    if (slash) {
        slash[slash == parent] = 0;
        above = parent;
    }
    int code = access(above, W_OK | X_OK) < 0 ? -errno : 0;
    free(parent);
    return code;
}

int trace_directory__make(const char *path, bool *moved, struct error *error)
{
    enum directory_standing standing;
    *moved = false;
    if (!*path)
        return error__set(error, -EINVAL, "the name of the trace is empty; give one with -o");
    if (strlen(path) + sizeof "/" HEURT_SYMBOLS_FILE ".123456" > PATH_MAX)
        return trace_directory__failed(error, ENAMETOOLONG, path);
    int code = inspect(path, &standing);
    if (code < 0)
        return trace_directory__failed(error, -code, path);
    if (standing >= STANDING_OTHERS)
        return refuse_foreign(error, path, standing);
    if (standing == STANDING_BUSY)
        return refuse_busy(error, path);
    if (standing == STANDING_EMPTY)
        return access(path, W_OK | X_OK) < 0 || chmod(path, 0700) < 0
                   ? trace_directory__failed(error, errno, path)
                   : 0;
    code = check_parent(path);
    if (code < 0)
        return trace_directory__failed(error, -code, path);
    if (standing == STANDING_TRACE) {
        char *old = memory__format("%s.old", path);
        code = move_away(path, old, error);
        free(old);
        if (code < 0)
            return code;
        *moved = true;
    }
    if (mkdir(path, 0700) < 0)
        return trace_directory__failed(error, errno, path);
    return 0;
}

void trace_directory__unmake(const char *path, bool moved)
{
    remove_trace(path);
    if (!moved)
        return;
    char *old = memory__format("%s.old", path);
    rename(old, path);
    free(old);
}

bool trace_directory__holds(const char *directory, const char *path)
{
    static const char *const names[] = {HEURT_EVENTS_FILE,  HEURT_SYMBOLS_FILE, HEURT_RULES_FILE,
                                        HEURT_SCREENS_FILE, HEURT_MACHINE_FILE, HEURT_RANKS_FILE};
    struct stat file, own;
    bool holds = false;
    for (size_t i = 0; !holds && i < sizeof names / sizeof *names; i++) {
        char *name = memory__format("%s/%s", directory, names[i]);
        holds = stat(path, &file) == 0 && stat(name, &own) == 0 && file.st_dev == own.st_dev &&
                file.st_ino == own.st_ino;
        free(name);
    }
    return holds;
}

/* ---- windows ----------------------------------------------------------------------------------
 */

char *trace_directory__window(const char *directory, unsigned number)
{
    return memory__format("%s/%u", directory, number);
}

unsigned trace_directory__last_window(const char *directory)
{
    DIR *stream = opendir(directory);
    unsigned last = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        unsigned number = window_number(entry->d_name);
        last = number > last ? number : last;
    }
    if (stream)
        closedir(stream);
    return last;
}

void trace_directory__remove_window(const char *directory, unsigned number)
{
    char *path = trace_directory__window(directory, number);
    remove_trace(path);
    free(path);
}

void trace_directory__keep_windows(const char *directory)
{
    DIR *stream = opendir(directory);
    if (!stream)
        return;
    remove_files(stream);
    closedir(stream);
}
