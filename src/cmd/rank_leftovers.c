#include "cmd/rank_leftovers.h"

#include "base/memory.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/ranks.h"
#include "format/directory.h"
#include "format/rank_parts.h"
#include "format/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Within which the ranks of a job start. */
#define START_NS 10000000000ull

struct leftover {
    uint32_t rank;
    char *path;
};

static int by_rank(const void *a, const void *b)
{
    const struct leftover *left = a, *right = b;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* The events of a trace, with the lock that is asked for; < 0: they are not there, or somebody else
 * has it. */
static int lock_events(const char *directory, int flags, int lock)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    if (fd >= 0 && flock(fd, lock | LOCK_NB) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* From when to when a trace was recorded, in ns of CLOCK_REALTIME: of one that was cut off, until
 * something was last written. */
static bool find_times(int fd, uint64_t *from_ns, uint64_t *to_ns)
{
    struct heurt_session session;
    struct stat status;
    if (pread(fd, &session, sizeof session, 0) != sizeof session || fstat(fd, &status) < 0 ||
        memcmp(session.magic, HEURT_MAGIC, sizeof session.magic) != 0)
        return false;
    *from_ns = session.start_realtime_ns;
    *to_ns = session.finished
                 ? *from_ns + (session.end.monotonic_ns - session.start.monotonic_ns)
                 : (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
    return true;
}

/* Whether nobody records the part any more, and it was recorded while the whole was. */
static bool is_of_run(const char *part, int whole)
{
    uint64_t from_ns, to_ns, part_from_ns, part_to_ns;
    int fd = lock_events(part, O_RDONLY, LOCK_SH);
    bool found = fd >= 0 && find_times(fd, &part_from_ns, &part_to_ns) &&
                 find_times(whole, &from_ns, &to_ns) && part_from_ns <= to_ns + START_NS &&
                 from_ns <= part_to_ns;
    if (fd >= 0)
        close(fd);
    return found;
}

/* A rank's number, of the name of its part beside a trace of that name; 0: it is none. */
static uint32_t rank_of(const char *name, const char *base)
{
    size_t length = strlen(base);
    uint32_t rank;
    long launcher;
    return strncmp(name, base, length) == 0 && strncmp(name + length, ".rank", 5) == 0 &&
                   ranks__is_name(name + length, &rank, &launcher)
               ? rank
               : 0;
}

static struct vec find_leftovers(const char *directory, int whole)
{
    struct vec found = VEC_OF(struct leftover);
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    char *path = memory__format("%.*s", (int)length, directory);
    char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    char *parent = slash ? memory__format("%.*s", (int)(slash + 1 - path), path) : memory__text("");
    DIR *entries = opendir(*parent ? parent : ".");
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        struct leftover leftover = {rank_of(entry->d_name, base), NULL};
        if (!leftover.rank)
            continue;
        leftover.path = memory__format("%s%s", parent, entry->d_name);
        if (is_of_run(leftover.path, whole))
            vec__push(&found, &leftover);
        else
            free(leftover.path);
    }
    if (entries)
        closedir(entries);
    free(parent);
    free(path);
    vec__sort(&found, by_rank);
    return found;
}

/* Whether the trace has a process of the rank: then the part was joined, and only its folder is
 * left. */
static bool has_rank(const char *directory, uint32_t rank)
{
    struct trace *trace;
    struct error error;
    bool found = false;
    if (trace__open(directory, &trace, &error) < 0)
        return true;
    VEC_EACH (process, trace__processes(trace), struct trace_process) {
        found |= process->serial / PART_SERIALS == rank;
    }
    trace__close(trace);
    return found;
}

void rank_leftovers__join(const char *directory)
{
    int whole = lock_events(directory, O_RDWR, LOCK_EX);
    if (whole < 0)
        return;
    struct vec found = find_leftovers(directory, whole);
    uint32_t joined = 0, first = 0;
    VEC_EACH (leftover, &found, struct leftover) {
        if (!has_rank(directory, leftover->rank) &&
            ranks__join_part(directory, leftover->path, leftover->rank) && !joined++)
            first = leftover->rank;
        free(leftover->path);
    }
    if (joined)
        say("%s had ended before all ranks had come together: what %u rank%s had left beside it is "
            "in it now, that of rank %u first",
            directory, joined, joined == 1 ? "" : "s", first);
    vec__free(&found);
    close(whole);
}
