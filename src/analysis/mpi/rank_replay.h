/* rank_replay.h: how long a run of MPI would have taken with something changed in its ranks, and
 * which of them made it as long as it was.
 *
 *     rank 0   work ─ Recv ~~~~~~~~~~~│ own │ work     a call of MPI takes what it waits for, and
 *     rank 1   work ────────── Send ── work            what it takes itself; the rest is the rank's
 *
 * In goes what was matched (mpi_match, mpi_collectives): each rank's calls in order, and what each
 * of them needed of others: that a message was sent, that it was awaited, that others had come to
 * an operation. Calls are replayed by the order in which they were recorded; each ends when what it
 * needs is there, and what it took itself has gone by. Without a change that is the run, to the
 * tick.
 *
 * Not modelled: CPUs that ranks share, waits for locks of windows (they last as they did), and
 * calls of other threads than the one that called MPI_Init. Memory: some 60 bytes a call. */
#ifndef HEURT_ANALYSIS_MPI_RANK_REPLAY_H
#define HEURT_ANALYSIS_MPI_RANK_REPLAY_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum rank_change_type {
    RANKS_BALANCED, /* between two operations of all ranks each is outside of MPI as long as the
                       mean of all */
    RANKS_EVEN,     /* in the whole run each is, its time spread as it was */
    RANK_UNDELAYED, /* between two operations of all that rank is there no longer than the mean of
                       the others */
    RANKS_NETWORK,  /* messages take other times */
};

struct rank_change {
    enum rank_change_type type;
    uint32_t rank;             /* UNDELAYED */
    double latency, bandwidth; /* NETWORK: times what they were; 1: as they were */
};

/* What is known of the network, of messages that were there when they were waited for: LogGP's
 * latency and overheads in one, and its gap a byte. */
struct rank_network {
    double base_ns, byte_ns;
    uint64_t messages; /* that tell of it; 0: nothing is known */
};

/* A rank's part of the critical path. */
struct rank_path {
    uint32_t rank;
    uint64_t outside_ns, mpi_ns;
};

struct rank_replay;

/* From the first rank's begin to the last one's end, in ns. Thread-safe. */
uint64_t rank_replay__wall_ns(const struct rank_replay *replay, const struct rank_change *change);
/* As recorded. */
uint64_t rank_replay__recorded_ns(const struct rank_replay *replay);
bool rank_replay__has(const struct rank_replay *replay, uint32_t rank);
struct rank_network rank_replay__network(const struct rank_replay *replay);
/* struct rank_path, of most time first: what they add up to is the time from the begin of the rank
 * with which it begins to the last end. */
const struct vec *rank_replay__path(const struct rank_replay *replay);
void rank_replay__free(struct rank_replay *replay); /* NULL is allowed */

#endif
