#include "cmd/ranks.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "format/directory.h"
#include "format/rank_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* For a rank that records still, and for one of which nothing is to be seen, since rank 0 was
 * ready: in MPI_Finalize all wait for all, so that their ends are not far apart. */
#define RANKS_PATIENCE_NS 60000000000ull
#define ABSENT_PATIENCE_NS 3000000000ull
#define LOOK_AGAIN_US 5000

/* ---- the job --------------------------------------------------------------------------------- */

/* Slurm's count is of the step alone, which srun starts: in a batch script there is none. */
static const struct {
    const char *rank, *count;
} told[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
            {"PMI_RANK", "PMI_SIZE"},
            {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
#define LAUNCHERS (sizeof told / sizeof *told)

static bool number_of(const char *name, unsigned long *number)
{
    const char *text = getenv(name);
    char *end;
    errno = 0;
    *number = text ? strtoul(text, &end, 10) : 0;
    return text && *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool find_rank(unsigned long *rank, unsigned long *count)
{
    for (size_t i = 0; i < LAUNCHERS; i++)
        if (number_of(told[i].rank, rank) && number_of(told[i].count, count) && *rank < *count)
            return true;
    return false;
}

/* Parent of a process; 0: it has none that is known. */
static long parent_of(long pid)
{
    char path[64], text[512];
    long parent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *in = fopen(path, "re");
    const char *name = in && fgets(text, sizeof text, in) ? strrchr(text, ')') : NULL;
    if (!name || sscanf(name, ") %*c %ld", &parent) != 1)
        parent = 0;
    if (in)
        fclose(in);
    return parent;
}

/* Whether the process was started as a rank. Another user's, which cannot be asked, was not. */
static bool is_of_rank(long pid)
{
    char path[64], *entry = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/environ", pid);
    FILE *in = fopen(path, "re");
    while (in && !found && getdelim(&entry, &room, 0, in) > 0)
        for (size_t i = 0; i < LAUNCHERS; i++) {
            size_t length = strlen(told[i].rank);
            found |= strncmp(entry, told[i].rank, length) == 0 && entry[length] == '=' &&
                     getenv(told[i].count);
        }
    free(entry);
    if (in)
        fclose(in);
    return found;
}

/* The nearest ancestor that is no rank. */
static long find_launcher(void)
{
    long pid = getppid();
    while (pid > 1 && is_of_rank(pid))
        pid = parent_of(pid);
    return pid;
}

/* Open MPI and MPICH tell how many ranks are on this host, Slurm how many hosts there are. */
static bool has_several_hosts(unsigned long count)
{
    unsigned long here, hosts;
    return ((number_of("OMPI_COMM_WORLD_LOCAL_SIZE", &here) ||
             number_of("MPI_LOCALNRANKS", &here)) &&
            here < count) ||
           (number_of("SLURM_STEP_NUM_NODES", &hosts) && hosts > 1);
}

static uint32_t add_to_hash(uint32_t hash, const void *bytes, size_t count)
{
    for (const unsigned char *at = bytes; count--; at++) /* FNV-1a */
        hash = (hash ^ *at) * 16777619u;
    return hash;
}
#define HASH_BASIS 2166136261u

/* What all hosts know the job by; 0: its launcher tells nothing. */
static long job_number(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"};
    uint32_t hash = HASH_BASIS;
    bool is_known = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        is_known |= text && *text;
        hash = text ? add_to_hash(hash, text, strlen(text) + 1) : hash;
    }
    return is_known ? (long)hash : 0;
}

struct job_ranks ranks__of_environment(void)
{
    unsigned long rank, count;
    if (!find_rank(&rank, &count) || count < 2 || count > PARTS_MOST)
        return (struct job_ranks){0, 1, 0, false};
    bool has_hosts = has_several_hosts(count);
    long job = has_hosts ? job_number() : 0;
    return (struct job_ranks){(uint32_t)rank, (uint32_t)count, job ? job : find_launcher(),
                              has_hosts};
}

uint32_t ranks__host(const struct clock_offset *offset)
{
    char text[256] = "";
    FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!in || !fgets(text, sizeof text, in))
        (void)!gethostname(text, sizeof text - 1);
    if (in)
        fclose(in);
    uint32_t hash = add_to_hash(HASH_BASIS, text, strlen(text));
    return add_to_hash(hash, offset, sizeof *offset) | 1;
}

bool ranks__has_launcher(void)
{
    unsigned long rank, count;
    return find_rank(&rank, &count);
}

/* ---- parts ----------------------------------------------------------------------------------- */

char *ranks__directory(const struct job_ranks *ranks, const char *directory, uint32_t rank,
                       bool is_complete)
{
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    return memory__format("%.*s.rank%u-%ld%s", (int)length, directory, rank, ranks->launcher,
                          is_complete ? "" : "~");
}

bool ranks__complete(const struct job_ranks *ranks, const char *directory)
{
    char *from = ranks__directory(ranks, directory, ranks->rank, false);
    char *to = ranks__directory(ranks, directory, ranks->rank, true);
    bool done = rename(from, to) == 0;
    if (!done)
        say("the part %s cannot be renamed to %s: %s", from, to, strerror(errno));
    free(from);
    free(to);
    return done;
}

bool ranks__is_name(const char *name, uint32_t *rank, long *job)
{
    int end = 0;
    for (const char *at = name; (at = strstr(at, ".rank")); at++)
        if (sscanf(at, ".rank%" SCNu32 "-%ld%n", rank, job, &end) == 2 && *rank <= PARTS_MOST &&
            (!at[end] || strcmp(at + end, "~") == 0))
            return true;
    return false;
}

bool ranks__is_recorded(const char *directory)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    free(path);
    if (fd >= 0)
        close(fd);
    return is_locked;
}

enum part_state { PART_ABSENT, PART_RECORDED, PART_LEFT, PART_COMPLETE };

static enum part_state look(const char *complete, const char *recorded)
{
    struct stat status;
    /* In this order: it may get its name between the two looks. */
    bool is_there = lstat(recorded, &status) == 0;
    if (lstat(complete, &status) == 0)
        return PART_COMPLETE;
    if (!is_there)
        return PART_ABSENT;
    return ranks__is_recorded(recorded) ? PART_RECORDED : PART_LEFT;
}

/* A recorder gives its trace the name just after it has given up the lock: it has time for that. */
static enum part_state wait_for(const char *complete, const char *recorded, uint64_t since_ns)
{
    for (uint64_t seen_ns = since_ns;; usleep(LOOK_AGAIN_US)) {
        enum part_state state = look(complete, recorded);
        uint64_t now_ns = clock__ns(CLOCK_MONOTONIC);
        seen_ns = state == PART_RECORDED ? now_ns : seen_ns;
        if (state == PART_COMPLETE || now_ns - since_ns > RANKS_PATIENCE_NS ||
            now_ns - seen_ns > ABSENT_PATIENCE_NS)
            return state;
    }
}

bool ranks__join_part(const char *own_directory, const char *part, uint32_t rank)
{
    struct error error;
    if (trace_part__append(own_directory, part, rank, &error) < 0) {
        say("%s", error.text);
        return false;
    }
    trace_directory__unmake(part, false);
    return true;
}

static bool join_rank(const struct job_ranks *ranks, const char *directory,
                      const char *own_directory, uint32_t rank, uint64_t since_ns)
{
    char *complete = ranks__directory(ranks, directory, rank, true);
    char *recorded = ranks__directory(ranks, directory, rank, false);
    enum part_state state = wait_for(complete, recorded, since_ns);
    bool is_joined = false;
    if (state == PART_COMPLETE || state == PART_LEFT)
        is_joined = ranks__join_part(own_directory, state == PART_LEFT ? recorded : complete, rank);
    else if (state == PART_RECORDED)
        say("rank %u still runs: what it records stays in %s", rank, recorded);
    if (state == PART_LEFT && is_joined)
        say("the recording of rank %u was ended from outside: what there was of it is in %s", rank,
            own_directory);
    free(complete);
    free(recorded);
    return is_joined;
}

void ranks__join(const struct job_ranks *ranks, const char *directory, const char *own_directory)
{
    uint64_t since_ns = clock__ns(CLOCK_MONOTONIC);
    uint32_t missing = 0, first = 0;
    for (uint32_t rank = 1; rank < ranks->count; rank++)
        if (!join_rank(ranks, directory, own_directory, rank, since_ns) && !missing++)
            first = rank;
    if (missing)
        say("%u of %u ranks %s not in %s, rank %u among them: were they recorded, into a directory "
            "that all hosts share? Else: --local DIR, heurt merge",
            missing, ranks->count, missing == 1 ? "is" : "are", own_directory, first);
}
