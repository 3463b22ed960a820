/* internal.h: what the walk by threads hands on. Private to this folder. Times are ticks. */
#ifndef HEURT_ANALYSIS_MPI_INTERNAL_H
#define HEURT_ANALYSIS_MPI_INTERNAL_H

#include "analysis/analysis.h"
#include "analysis/mpi/mpi.h"

#define NO_CALL UINT32_MAX

struct rank_call {
    uint64_t enter, leave, site, bytes;
    uint32_t call, communicator;
    uint32_t thread; /* of the run */
    /* Found afterwards: */
    uint64_t waited;
    uint32_t blocker; /* rank; MPI_NOBODY */
    uint8_t wait;     /* enum mpi_wait */
};

/* Until runnable it was blocked, then it wanted a CPU. */
struct rank_off {
    uint64_t begin, runnable, end;
};

struct rank_post {
    uint64_t tick, bytes;
    uint32_t call, done; /* index of calls: in which it was begun and done; NO_CALL */
    uint32_t request, communicator, peer, tag;
    uint32_t operation; /* of a collective: enum heurt_message_call */
    bool is_cancelled;
};

struct rank_member { /* of a communicator */
    uint32_t communicator, size, rank;
};

/* A process's: of its threads, put together. */
struct rank_record {
    uint32_t process, thread;
    uint32_t rank, size; /* MPI_NOBODY: not known */
    uint32_t library, threads_level, callers;
    uint64_t begin, end;
    uint32_t main_calls;    /* of the thread that called MPI_Init: the first ones */
    struct vec calls;       /* struct rank_call, of each thread by enter */
    struct vec sends;       /* struct rank_post, by tick */
    struct vec receives;    /* likewise */
    struct vec collectives; /* likewise */
    struct vec members;     /* struct rank_member */
    struct vec offs;        /* struct rank_off, by begin: of the thread that called MPI_Init */
};

void *mpi_walk__thread(const struct trace *trace, uint32_t thread);
void mpi_walk__event(void *part, const struct event *event);
void mpi_walk__end(void *part);
/* Frees the part. */
struct rank_record mpi_walk__take(void *part);
void rank_record__free(struct rank_record *record);

/* All ranks, by rank. */
struct mpi_job {
    const struct run *run;
    struct vec records; /* struct rank_record */
    struct mpi_use *use;
};
struct rank_record *mpi_job__rank(const struct mpi_job *job, uint32_t rank); /* or NULL */
static inline struct rank_call *rank_record__call(const struct rank_record *record, uint32_t index)
{
    return VEC_AT(&record->calls, struct rank_call, index);
}
/* A wait that is longer than what is known of the call takes its place. */
void rank_call__waits(struct rank_call *call, uint64_t until, enum mpi_wait wait, uint32_t blocker);

static inline uint64_t tick__earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* mpi_match.c: messages, and waits for them. */
void mpi_job__match(struct mpi_job *job);
/* mpi_collectives.c: collective operations, and waits in them. */
void mpi_job__find_operations(struct mpi_job *job);
/* mpi_delays.c: whose delay each wait was, when all waits are known. */
void mpi_job__find_delays(struct mpi_job *job);

#endif
