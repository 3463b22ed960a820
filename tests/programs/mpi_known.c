/* mpi_known.c: three ranks of MPI with known waits and messages. Each function is a kind of wait;
 * what the ranks waited in it is worked out from their own clocks, which are one clock on one
 * machine, and printed in ns by rank 0, with how many messages and operations there were. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 10
#define LATE_NS 10000000
#define MANY 50
#define RANKS 3

#include "mpi_stamps.h"

static long messages, operations; /* that this rank sent; that it came to */

/* All ranks' stamps, on rank 0. */
static void gather(struct stamp own[TIMES], struct stamp all[RANKS][TIMES])
{
    MPI_Gather(own, TIMES * (int)sizeof *own, MPI_BYTE, all, TIMES * (int)sizeof *own, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    operations++;
}

static void print(const char *what, int64_t ns)
{
    if (own_rank == 0)
        printf("%s=%lld\n", what, (long long)ns);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void late_sender(void)
{
    struct stamp own[TIMES] = {{0, 0}}, all[RANKS][TIMES];
    int64_t ns = 0;
    for (int i = 0, value = 0; i < TIMES; i++) {
        be_late(1);
        if (own_rank == 1) {
            TIMED(&own[i], MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
            messages++;
        } else if (own_rank == 0) {
            TIMED(&own[i], MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
    gather(own, all);
    for (int i = 0; own_rank == 0 && i < TIMES; i++)
        ns += wait_until(all[1][i].enter, &all[0][i]);
    print("late_sender", ns);
}

static void late_receiver(void)
{
    struct stamp own[TIMES] = {{0, 0}}, all[RANKS][TIMES];
    int64_t ns = 0;
    for (int i = 0, value = 0; i < TIMES; i++) {
        be_late(1);
        if (own_rank == 0) {
            TIMED(&own[i], MPI_Ssend(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
            messages++;
        } else if (own_rank == 1) {
            TIMED(&own[i], MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
    gather(own, all);
    for (int i = 0; own_rank == 0 && i < TIMES; i++)
        ns += wait_until(all[1][i].enter, &all[0][i]);
    print("late_receiver", ns);
}

/* gcc takes MPI_STATUSES_IGNORE of MPICH for an array without room. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static void nonblocking(void)
{
    struct stamp own[TIMES] = {{0, 0}}, all[RANKS][TIMES];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int64_t ns = 0;
    for (int i = 0, values[2] = {0}; i < TIMES; i++) {
        be_late(1);
        if (own_rank == 0) {
            for (int rank = 1; rank < RANKS; rank++)
                MPI_Irecv(&values[rank - 1], 1, MPI_INT, rank, 2, MPI_COMM_WORLD,
                          &requests[rank - 1]);
            TIMED(&own[i], MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        } else {
            TIMED(&own[i], MPI_Isend(values, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, requests));
            MPI_Wait(requests, MPI_STATUS_IGNORE);
            messages++;
        }
    }
    gather(own, all);
    for (int i = 0; own_rank == 0 && i < TIMES; i++) {
        int64_t last = all[1][i].enter > all[2][i].enter ? all[1][i].enter : all[2][i].enter;
        ns += wait_until(last, &all[0][i]);
    }
    print("nonblocking", ns);
}

/* The second message is waited for while the first one is there. */
static void wrong_order(void)
{
    int value = 0;
    for (int i = 0; i < TIMES; i++) {
        if (own_rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 0, 10, MPI_COMM_WORLD);
            be_late(1);
            MPI_Send(&value, 1, MPI_INT, 0, 11, MPI_COMM_WORLD);
            messages += 2;
        } else if (own_rank == 0) {
            MPI_Probe(1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&value, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&value, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* ---- collective operations ------------------------------------------------------------------- */

/* root: -1: all wait for the last; else the others wait for it, or it for them. */
static int64_t waits_of(struct stamp all[RANKS][TIMES], int root, int root_waits)
{
    int64_t ns = 0;
    for (int i = 0; own_rank == 0 && i < TIMES; i++) {
        int64_t last = 0;
        for (int rank = 0; rank < RANKS; rank++)
            if ((root < 0 || root_waits || rank == root) && all[rank][i].enter > last)
                last = all[rank][i].enter;
        for (int rank = 0; rank < RANKS; rank++)
            if (root < 0 || (rank == root) == root_waits)
                ns += wait_until(last, &all[rank][i]);
    }
    return ns;
}

#define COLLECTIVE(name, late, root, root_waits, call)         \
    static void name(void)                                     \
    {                                                          \
        struct stamp own[TIMES] = {{0, 0}}, all[RANKS][TIMES]; \
        int value = own_rank, sum = 0;                         \
        for (int i = 0; i < TIMES; i++) {                      \
            be_late(late);                                     \
            TIMED(&own[i], call);                              \
            operations++;                                      \
        }                                                      \
        (void)value;                                           \
        (void)sum;                                             \
        gather(own, all);                                      \
        print(#name, waits_of(all, root, root_waits));         \
    }
/* clang-format off */
COLLECTIVE(barrier, 2, -1, 0, MPI_Barrier(MPI_COMM_WORLD))
COLLECTIVE(all_to_all, 1, -1, 0, MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(late_broadcast, 1, 1, 0, MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD))
COLLECTIVE(early_reduce, 2, 0, 1, MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD))
/* clang-format on */

/* ---- matching -------------------------------------------------------------------------------- */

/* From any, with any tag; the lengths tell whether each was matched with its own. */
static void wildcards(void)
{
    char text[MANY * RANKS] = {0};
    if (own_rank == 0)
        for (int i = 0; i < (RANKS - 1) * MANY; i++)
            MPI_Recv(text, sizeof text, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    for (int i = 0; own_rank && i < MANY; i++) {
        MPI_Send(text, i + 1, MPI_CHAR, 0, 20 + i % 3, MPI_COMM_WORLD);
        messages++;
    }
}

static void persistent(void)
{
    int sent = 0, received = 0, to = (own_rank + 1) % RANKS, from = (own_rank + RANKS - 1) % RANKS;
    MPI_Request requests[2];
    MPI_Recv_init(&received, 1, MPI_INT, from, 30, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&sent, 1, MPI_INT, to, 30, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < MANY; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        messages++;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void exchanges(void)
{
    int sent = 0, received = 0, to = (own_rank + 1) % RANKS, from = (own_rank + RANKS - 1) % RANKS;
    for (int i = 0; i < MANY; i++) {
        MPI_Sendrecv(&sent, 1, MPI_INT, to, 40, &received, 1, MPI_INT, from, 40, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        messages++;
    }
}

/* Waited for by MPI_Test, after a probe that took it. */
static void matched_probes(void)
{
    int value = 0, flag = 0;
    for (int i = 0; i < MANY; i++) {
        if (own_rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 2, 50, MPI_COMM_WORLD);
            messages++;
        } else if (own_rank == 2) {
            MPI_Message message;
            MPI_Request request;
            MPI_Mprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
            for (flag = 0; !flag;)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
    }
}

/* The same tags on communicators of the same ranks, and on a part of them. */
static void communicators(void)
{
    MPI_Comm same, part;
    MPI_Request request;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_split(MPI_COMM_WORLD, own_rank > 0, -own_rank, &part);
    for (int i = 0; i < MANY; i++) {
        if (own_rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 2, 60, same);
            MPI_Send(&value, 1, MPI_INT, 0, 60, part); /* rank 2 there */
            messages += 2;
        } else if (own_rank == 2) {
            MPI_Recv(&value, 1, MPI_INT, 1, 60, part, MPI_STATUS_IGNORE);
            MPI_Recv(&value, 1, MPI_INT, 1, 60, same, MPI_STATUS_IGNORE);
        }
        MPI_Ibarrier(same, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Bcast(&value, 1, MPI_INT, 0, part);
        operations += 2;
    }
    MPI_Comm_free(&part);
    MPI_Comm_free(&same);
}

int main(int argc, char **argv)
{
    long sums[2], own[2];
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS) {
        fprintf(stderr, "mpi_known: %d ranks are needed\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    late_sender();
    late_receiver();
    nonblocking();
    wrong_order();
    barrier();
    all_to_all();
    late_broadcast();
    early_reduce();
    wildcards();
    persistent();
    exchanges();
    matched_probes();
    communicators();
    own[0] = messages;
    own[1] = operations + 1;
    MPI_Reduce(own, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    print("messages", sums[0]);
    print("operations", sums[1]);
    MPI_Finalize();
    return 0;
}
