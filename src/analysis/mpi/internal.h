/* internal.h: what the walk by threads hands on, and what the steps behind it share. Private to
 * this folder. Times are ticks.
 *
 *     mpi_walk ──► mpi_records: by process ──► mpi_hosts, mpi_match, mpi_collectives,
 *                                                 │     mpi_windows: waits
 *                                                 └──► mpi_delays ──► mpi_gather: tables
 *
 * Calls and posts are what there is most of: 32 and 40 bytes each. */
#ifndef HEURT_ANALYSIS_MPI_INTERNAL_H
#define HEURT_ANALYSIS_MPI_INTERNAL_H

#include "analysis/analysis.h"
#include "analysis/mpi/exchange.h"
#include "analysis/mpi/mpi.h"

#define NO_CALL UINT32_MAX

struct rank_call {
    uint64_t enter, leave;
    /* Found afterwards: */
    uint64_t waited;
    uint32_t blocker;    /* rank; MPI_NOBODY */
    uint32_t place : 27, /* index of places */
        wait : 5;        /* enum mpi_wait */
};
#define RANK_PLACES_MOST (1u << 27)

/* Calls of one kind at one address. */
struct rank_place {
    uint64_t site, bytes; /* of all calls */
    uint64_t repeated;    /* calls that are in one of the program before, for nothing had come */
    uint32_t call;        /* enum heurt_message_call */
};

/* Until runnable it was blocked, then it wanted a CPU. */
struct rank_off {
    uint64_t begin, runnable, end;
};

struct rank_post {
    uint64_t tick, bytes;
    uint32_t call, done; /* index of calls: in which it was begun and done; NO_CALL */
    uint32_t communicator, peer;
    union {
        uint32_t tag;
        uint32_t operation; /* of a collective: enum heurt_message_call */
    };
    uint32_t order : 31, /* among those of its thread */
        is_cancelled : 1;
};

/* Signals (HEURT_SIGNAL_POST, _COMPLETE) stand among messages. Of a COMPLETE that is sent, done is
 * the last call that accessed the receiver's memory before it. */
static inline bool rank_post__is_signal(const struct rank_post *post)
{
    return HEURT_IS_SIGNAL(post->tag);
}

/* Outside of MPI, blocked in a call there, or on a CPU: of the thread that called MPI_Init. */
struct rank_doing {
    uint64_t site, ns;
};

struct rank_member { /* of a communicator or window */
    uint32_t communicator, size, rank, kind;
};

/* A wait of a call for that rank which is of two kinds: MPI_WAIT_EARLY_WAIT for so long, then
 * MPI_WAIT_LATE_COMPLETE. The call itself has the kind that it is most of. */
struct rank_split {
    uint64_t early;
    uint32_t call, blocker;
};

/* A process's: of its threads, put together. */
struct rank_record {
    uint32_t process, thread;
    uint32_t rank, size; /* MPI_NOBODY: not known */
    uint32_t library, threads_level, callers;
    uint64_t begin, end;
    uint32_t main_calls;    /* of the thread that called MPI_Init: the first ones */
    struct vec places;      /* struct rank_place, in the order of their first calls */
    struct vec calls;       /* struct rank_call, of each thread by enter */
    struct vec sends;       /* struct rank_post, of each thread by tick */
    struct vec receives;    /* likewise */
    struct vec collectives; /* likewise */
    struct vec accesses;    /* likewise: peer: whose memory */
    struct vec locks;   /* likewise, from the call that locks to the one that unlocks; tag: how */
    struct vec splits;  /* struct rank_split; found afterwards */
    struct vec members; /* struct rank_member */
    struct vec offs;    /* struct rank_off, by begin: of the thread that called MPI_Init */
    struct vec doings;  /* struct rank_doing: a site each, when all are added up */
};

void *mpi_walk__thread(const struct trace *trace, uint32_t thread);
void mpi_walk__event(void *part, const struct event *event);
void mpi_walk__end(void *part);
/* Frees the part. */
struct rank_record mpi_walk__take(void *part);
void rank_record__free(struct rank_record *record);

/* mpi_records.c: of the threads with calls (struct rank_record) the processes, by rank; those that
 * know none are left out. Empties threads. */
struct vec rank_records__of(struct vec *threads);

static inline struct rank_call *rank_record__call(const struct rank_record *record, uint32_t index)
{
    return VEC_AT(&record->calls, struct rank_call, index);
}
static inline const struct rank_place *rank_record__place(const struct rank_record *record,
                                                          const struct rank_call *call)
{
    return VEC_AT(&record->places, struct rank_place, call->place);
}
static inline enum heurt_message_family rank_record__family(const struct rank_record *record,
                                                            const struct rank_call *call)
{
    return message_call__family(rank_record__place(record, call)->call);
}
/* A wait that is longer than what is known of the call takes its place; of equal ones the one that
 * comes first by kind and blocker, whichever is found first. */
void rank_call__waits(struct rank_call *call, uint64_t until, enum mpi_wait wait, uint32_t blocker);
/* In the sums of waits by kind (MPI_WAITS), moves what of the call's wait is not of its own kind.
 */
void rank_split__move(const struct rank_split *split, const struct rank_call *call,
                      uint64_t *wait_ticks);

/* Who has a rank's record. */
struct rank_owner {
    uint32_t rank, owner;
};

/* What a replay needs of the calls (rank_replay.h): that call ends no sooner than the other one was
 * entered, or than the operation has all that it needs. */
struct rank_need {
    uint32_t rank, call;
    uint32_t from, from_call; /* not of an operation */
    uint32_t operation;       /* index; UINT32_MAX: of a call */
    uint32_t is_message;      /* 1: it is the receive of a message of so many bytes */
    uint64_t bytes;
};
/* That call comes to an operation. */
struct rank_come {
    uint32_t rank, call, operation;
};
struct rank_operation {
    uint32_t members;
    uint32_t root;            /* who alone must have come; MPI_NOBODY: all must */
    uint32_t last, last_call; /* found by the replay; UINT32_MAX */
};
struct rank_graph {
    struct vec needs, comes, operations;
};

/* The part of one of the processes that analyse. */
struct mpi_job {
    const struct run *run;
    const struct mpi_exchange *exchange;
    struct vec records;  /* struct rank_record: its own, by rank */
    struct vec owners;   /* struct rank_owner: of all, by rank */
    struct mpi_use *use; /* its part; communicators: all. Ticks where it says ns */
    uint64_t least_message, least_collective; /* shorter waits are none */
    struct vec hosts;         /* struct rank_host: of all, by rank; none where there is one host */
    struct vec *messages;     /* struct mpi_message; NULL: nobody asks */
    struct rank_graph *graph; /* NULL: no replay is asked for, or several processes analyse */
};

/* rank_replay.c: when all is matched. */
struct rank_replay *rank_replay__of(const struct mpi_job *job, struct rank_graph *graph);

/* mpi_hosts.c: ranks of several hosts. */
struct rank_host {
    uint32_t rank, host;
    uint64_t error; /* of its clock, by which its times became those of rank 0's host */
};
void mpi_job__find_hosts(struct mpi_job *job);
/* By how much times of two ranks may be apart; 0: of one host. */
uint64_t mpi_job__clock_error(const struct mpi_job *job, uint32_t rank, uint32_t other);
/* What a rank tells of that tick was so much later at least. */
struct clock_lag {
    uint64_t tick, by;
    uint32_t rank;
};
/* Makes a record's times from then on later: what comes first by all of it, what follows by less
 * and less. Of the record's rank; sorts them. */
void rank_record__repair(struct rank_record *record, struct clock_lag *lags, size_t count);

/* Whether a wait for another rank is as long as one has to be. */
static inline bool mpi_job__is_wait(const struct mpi_job *job, bool is_collective, uint32_t rank,
                                    uint32_t other, uint64_t ticks)
{
    return ticks >= (is_collective ? job->least_collective : job->least_message) &&
           (!job->hosts.count || ticks >= mpi_job__clock_error(job, rank, other));
}
struct rank_record *mpi_job__rank(const struct mpi_job *job, uint32_t rank); /* NULL: not its own */
/* Process of the exchange; MPI_NOBODY: no such rank is in the trace. */
uint32_t mpi_job__owner(const struct mpi_job *job, uint32_t rank);
struct mpi_communicator *mpi_job__communicator(const struct mpi_job *job, uint32_t number);

/* mpi_steps.c: what steps of all processes are made of. */
/* As many vecs as there are processes, of items of so many bytes. mpi_given__free them. */
struct vec *mpi_given__of(const struct mpi_job *job, size_t item_bytes);
void mpi_given__free(const struct mpi_job *job, struct vec *given);
void mpi_job__swap(const struct mpi_job *job, struct vec *given, struct vec *taken);
/* Of all processes' numbers. */
uint64_t mpi_job__sum(const struct mpi_job *job, uint64_t value);
/* Every process's items, in their order, take the place of its own. */
void mpi_job__share(const struct mpi_job *job, struct vec *items);
/* All processes' items go to process 0, in their order; the others' become none. */
void mpi_job__gather(const struct mpi_job *job, struct vec *items);

/* mpi_match.c: messages, and waits for them. */
void mpi_job__match(struct mpi_job *job);
/* mpi_collectives.c: collective operations, and waits in them. */
void mpi_job__find_operations(struct mpi_job *job);
/* mpi_windows.c: locks of windows, and waits for them. */
void mpi_job__find_locks(struct mpi_job *job);
/* mpi_delays.c: whose delay each wait was, when all waits are known. In the rows of ranks, which
 * are those of the records, in their order. */
void mpi_job__find_delays(struct mpi_job *job);
/* mpi_gather.c: the rows of its ranks, when all waits are known. Frees the records' posts. */
void mpi_job__add_ranks(struct mpi_job *job);
/* Of all processes' parts the whole, in ns, in process 0. */
void mpi_job__gather_tables(struct mpi_job *job);

/* mpi_doings.c: when process 0 has the rows of all ranks. */
void mpi_job__find_doings(struct mpi_job *job);

/* mpi_details.c: what each rank did at each place. A place is numbered by whoever asks. */
struct mpi_details {
    struct vec sites, waits; /* struct mpi_rank_site, mpi_rank_wait */
    uint32_t block;
};
struct mpi_details mpi_details__of(void);
/* Of a rank; numbers: of its places. */
void mpi_details__add(struct mpi_details *details, const struct rank_record *record,
                      const uint32_t *numbers);
/* One row of each, in order, of the least blocks that are few enough. */
void mpi_details__join(struct mpi_details *details);

/* mpi_pairs.c: messages from one rank, or block of ranks, to another. */
struct mpi_pair *mpi_use__pair(struct mpi_use *use, uint32_t from, uint32_t to);
/* One row a pair, in order, of the least blocks that are few enough. */
void mpi_use__join_pairs(struct mpi_use *use);

static inline uint64_t tick__earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}
static inline uint64_t tick__later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
