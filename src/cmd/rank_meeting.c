#include "cmd/rank_meeting.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Rank 0 is patient with the others, and these for longer, so that they go with it. */
#define RANK_0_PATIENCE_NS 10000000000ull
#define MEETING_PATIENCE_NS 25000000000ull
#define LOOK_AGAIN_US 2000

static char *mark_of(const struct job_ranks *ranks, const char *directory, uint32_t rank,
                     const char *ending)
{
    char *part = ranks__directory(ranks, directory, rank, true);
    char *path = memory__format("%s%s", part, ending);
    free(part);
    return path;
}

static bool is_there(const struct job_ranks *ranks, const char *directory, uint32_t rank)
{
    char *here = mark_of(ranks, directory, rank, ".here");
    bool found = access(here, F_OK) == 0;
    free(here);
    return found;
}

static bool meet(const struct job_ranks *ranks, const char *directory, uint32_t rank)
{
    char *here = mark_of(ranks, directory, rank, ".here");
    char *met = mark_of(ranks, directory, rank, ".met");
    bool done = rename(here, met) == 0;
    free(here);
    free(met);
    return done;
}

/* ---- rank 0 ---------------------------------------------------------------------------------- */

static void say_who_is_missing(const struct job_ranks *ranks, const char *directory, uint32_t rank)
{
    say("rank %u of %u is not seen beside %.80s: hosts' clocks are not compared (does heurt record "
        "all ranks, and do all hosts share that directory? Else: --local DIR)",
        rank, ranks->count, directory);
}

static bool wait_for_others(const struct job_ranks *ranks, const char *directory)
{
    uint64_t since_ns = clock__ns(CLOCK_MONOTONIC);
    uint32_t rank = 1;
    while (rank < ranks->count && clock__ns(CLOCK_MONOTONIC) - since_ns < RANK_0_PATIENCE_NS)
        if (is_there(ranks, directory, rank))
            rank++;
        else
            usleep(LOOK_AGAIN_US);
    for (uint32_t each = 1; rank == ranks->count && each < ranks->count; each++)
        if (!meet(ranks, directory, each))
            rank = each;
    if (rank < ranks->count)
        say_who_is_missing(ranks, directory, rank);
    return rank == ranks->count;
}

/* ---- the others ------------------------------------------------------------------------------ */

/* Rank 0 may meet this one just when it goes: then it has met. */
static bool wait_for_first(const char *here, const char *met)
{
    uint64_t since_ns = clock__ns(CLOCK_MONOTONIC);
    int fd = open(here, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    close(fd);
    while (access(met, F_OK) != 0 && clock__ns(CLOCK_MONOTONIC) - since_ns < MEETING_PATIENCE_NS)
        usleep(LOOK_AGAIN_US);
    unlink(here);
    return unlink(met) == 0;
}

bool rank_meeting__all_come(const struct job_ranks *ranks, const char *directory)
{
    if (!ranks__is_part(ranks))
        return wait_for_others(ranks, directory);
    char *here = mark_of(ranks, directory, ranks->rank, ".here");
    char *met = mark_of(ranks, directory, ranks->rank, ".met");
    unlink(here); /* an older job's */
    unlink(met);
    bool done = wait_for_first(here, met);
    free(here);
    free(met);
    return done;
}
