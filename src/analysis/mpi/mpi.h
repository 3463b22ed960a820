/* mpi.h: what ranks of MPI wait for, whom, and what that one did instead.
 *
 *     rank 0   work ── Recv ~~~~~~~~~~~~~~~│─ transfer ─│ work      ~ late sender: until Send is
 * entered rank 1   work ──────────────────────── Send ──────── work
 *
 * In goes a trace of all ranks, out come figures by rank, by place of the calls, by pair of ranks
 * and by communicator, as docs/mpi.md defines them. Messages are matched as MPI does: of each
 * communicator, sender, receiver and tag the n-th that is sent is the n-th that is awaited, in the
 * order in which these were; which sender and tag a receive from any got is told by its end. Of a
 * rank's life
 *
 *     life = in MPI + work + wanted a CPU + blocked        in MPI = waits for others + the rest
 *
 * A wait's end is another rank's call: what that rank did outside of MPI since the two met last,
 * beyond what the waiting one did, is a delay of its own making; while it waited itself, the delay
 * is of whom it waited for.
 *
 * What windows of one-sided communication and their epochs are waited for is found likewise: leave
 * to access memory, and its end, are matched as messages are; locks by the order in which they were
 * given back.
 *
 * One walk by threads; memory: 40 bytes a call and as many a message sent, received, or collective
 * operation come to; time: that of sorting each rank's. Several processes may do it side by side
 * (exchange.h), each with the records of some ranks: the figures are the same to the tick. */
#ifndef HEURT_ANALYSIS_MPI_MPI_H
#define HEURT_ANALYSIS_MPI_MPI_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct mpi_exchange; /* exchange.h */
struct rank_replay;
struct trace;

enum mpi_wait {
    MPI_WAIT_NONE,
    MPI_WAIT_LATE_SENDER,
    MPI_WAIT_WRONG_ORDER, /* likewise, while an earlier message of that sender was there */
    MPI_WAIT_LATE_RECEIVER,
    MPI_WAIT_BARRIER,
    MPI_WAIT_ALL,            /* an operation that needs something of all */
    MPI_WAIT_LATE_BROADCAST, /* the root was late */
    MPI_WAIT_EARLY_REDUCE,   /* the root waited for the others */
    MPI_WAIT_EARLY_SCAN,     /* for those before this rank */
    MPI_WAIT_END,            /* in MPI_Finalize */
    MPI_WAIT_FENCE,          /* at MPI_Win_fence, for the last */
    MPI_WAIT_LATE_POST,      /* for leave to access another's memory */
    MPI_WAIT_EARLY_WAIT,     /* in MPI_Win_wait, while others accessed this one's memory, */
    MPI_WAIT_LATE_COMPLETE,  /* or when they had, but had not told so */
    MPI_WAIT_LOCK,           /* of a window: another had it */
    MPI_WAITS
};
const char *mpi_wait__name(unsigned wait); /* "late sender" */

#define MPI_PAIRS_MOST (1u << 20)
#define RANKS_REPLAYED_MOST (1u << 23) /* calls */
#define MPI_NOBODY UINT32_MAX          /* a rank that is not known */

/* Rows and totals are kept as bytes (mpi_kept.c): they have no padding, which could be anything. */

/* ns. */
struct mpi_rank {
    uint32_t rank, process, thread; /* process: serial; thread: index of who called MPI_Init */
    uint32_t is_finalized;          /* 1: it came to MPI_Finalize, else 0 */
    uint64_t life_ns, mpi_ns, work_ns, no_cpu_ns, blocked_ns;
    uint64_t waited_ns, wait_ns[MPI_WAITS];
    uint64_t calls, sent, sent_bytes, received, received_bytes, collectives;
    uint64_t accesses, access_bytes; /* of other ranks' memory, and its own through windows */
    /* Others waited for it because it was outside of MPI: in all, and what it did then. */
    uint64_t delay_ns, delay_work_ns, delay_no_cpu_ns, delay_blocked_ns;
    /* From the end of MPI_Init to MPI_Finalize, where they are told; of that, in MPI; waited. */
    uint64_t span_ns, span_mpi_ns, span_waited_ns;
    /* Outside of MPI: where it was in the function that took most beyond what that took the others,
     * so long in that function, and the others on the average; 0: not known. */
    uint64_t did_site, did_ns, did_others_ns;
};

/* Calls at one place of the program, of all ranks. */
struct mpi_site {
    uint32_t process; /* serial: of one that calls there */
    uint32_t call;    /* enum heurt_message_call */
    uint32_t ranks;
    uint32_t late; /* the rank that was waited for most; MPI_NOBODY */
    uint64_t site;
    uint64_t count, ns, waited_ns, most_ns, bytes; /* most: of one call */
    uint64_t wait_ns[MPI_WAITS];
    uint64_t waits[MPI_WAITS]; /* calls with such a wait */
    uint64_t late_ns;          /* late was waited for */
};

/* A rank's calls at one place; of blocks of ranks, the first of each. */
struct mpi_rank_site {
    uint32_t rank, site; /* site: index of sites */
    uint64_t count, ns, waited_ns, most_ns, bytes;
    uint64_t before_ns; /* outside of MPI, since the call before; of who called MPI_Init */
};

/* A rank waited at one place for another one; of blocks of ranks, the first of each. */
struct mpi_rank_wait {
    uint32_t site, rank, wait, other; /* site: index of sites; wait: enum mpi_wait */
    uint64_t count, ns;
};

/* From one rank to another; of blocks of ranks, the first of each. */
struct mpi_pair {
    uint32_t from, to;
    uint64_t messages, bytes, least_bytes, most_bytes;
    uint64_t late_sender_ns, late_receiver_ns;
    uint64_t accesses, access_bytes; /* by from, of to's memory */
};

enum mpi_group { MPI_GROUP_COMMUNICATOR, MPI_GROUP_WINDOW };

struct mpi_communicator {
    uint32_t number, size;
    uint32_t kind;                      /* enum mpi_group */
    uint32_t unused;                    /* 0 */
    uint64_t operations, ns, waited_ns; /* collective ones; of all its ranks */
    uint64_t messages, bytes;           /* or accesses */
};

struct mpi_use {
    struct vec ranks;         /* struct mpi_rank, by rank */
    struct vec sites;         /* struct mpi_site, of most time waited first */
    struct vec pairs;         /* struct mpi_pair, by from and to; MPI_PAIRS_MOST at most */
    struct vec communicators; /* struct mpi_communicator */
    struct vec rank_sites;    /* struct mpi_rank_site, by site and rank; MPI_PAIRS_MOST at most */
    struct vec rank_waits;    /* struct mpi_rank_wait, by site, rank, other and wait; likewise */
    uint32_t block;           /* ranks that are one in pairs: a power of two; */
    uint32_t detail_block;    /* in rank_sites and rank_waits */
    uint32_t hosts;           /* of different clocks; 0: not known */
    uint32_t size;            /* of MPI_COMM_WORLD; ranks may be missing */
    uint64_t matched, unmatched_sends, unmatched_receives, cancelled;
    uint64_t mismatched; /* of matched: what was sent is not as long as what came: a wrong pair */
    uint64_t whole_operations,
        partial_operations;     /* collective: of all members, or of some alone */
    uint64_t one_sided;         /* calls */
    uint64_t files, neighbours; /* calls that are not looked at further */
    uint64_t wall_ns;
    /* Of several hosts: by how much two ranks' clocks may be apart; ranks whose clock was compared
     * at the start alone; messages that were received before they were sent, by these clocks, and
     * those of them that still were when the clocks had been repaired. */
    uint64_t clock_error_ns, compared_once, reversed, reversed_left;
    struct rank_replay
        *replay;       /* rank_replay.h; NULL: not asked for, or there are too many calls */
    bool is_ambiguous; /* several threads of a rank send and receive: their order is a guess */
    char unused[7];    /* 0 */
};

/* A message, from one rank's thread to the other's (indexes into trace__threads): of the threads
 * that called MPI_Init. It was given away in the one tick, and was there when the call ended in the
 * other. */
struct mpi_message {
    uint64_t sent_tick, received_tick, bytes;
    uint32_t from, to, tag, unused;
};

/* What the analysis is asked for with; no options: all zeroes. Both outlive the run. */
struct mpi_options {
    const struct mpi_exchange *exchange; /* several processes analyse; NULL: this one alone */
    uint64_t least_message_ns, least_collective_ns; /* shorter waits are none */
    bool is_replayed;     /* a replay is asked for, where one process analyses */
    struct vec *messages; /* struct mpi_message are added, where one process analyses; NULL: no */
    struct mpi_use *kept; /* the result, from an earlier time; NULL: there is none */
};

/* A struct mpi_use; no result where no rank is told, and in processes of the exchange but 0. */
extern const struct analysis mpi_analysis;

/* The tables as bytes, to be kept beside the trace; free() them. */
void *mpi_use__bytes(const struct mpi_use *use, const struct trace *trace, size_t *size);
/* NULL: they are of another trace or version, or damaged. mpi_analysis.free it, as the copy. */
struct mpi_use *mpi_use__of_bytes(const void *bytes, size_t size, const struct trace *trace);
struct mpi_use *mpi_use__copy(const struct mpi_use *use);

/* The rank that had most work, and how many times that of the others on the average; 0: nobody
 * stands out. */
struct mpi_most {
    uint32_t rank;
    double times;
};
struct mpi_most mpi_use__most_work(const struct mpi_use *use);
/* Whether ranks wait so in collective operations, not for a message or for access to memory. */
bool mpi_wait__is_collective(unsigned wait);
/* The rank that others waited for most; NULL: none. */
const struct mpi_rank *mpi_use__latest(const struct mpi_use *use);

#endif
