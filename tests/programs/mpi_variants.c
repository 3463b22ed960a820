/* mpi_variants.c: ranks of MPI that call what MPI has in many forms, and count themselves how
 * often, with how many bytes: persistent collectives, exchanges, neighbourhoods, large counts,
 * partitions, files, loops that ask whether something has come, processes that are connected to.
 * Each function is a form; rank 0 prints, over all ranks, FUNCTION.CALL=TIMES BYTES, and how many
 * messages and collective operations there were. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#define HAS_PERSISTENT OMPI_HAVE_MPI_EXT_PCOLLREQ
#else
#define INIT(name) MPI_##name##_init
#define HAS_PERSISTENT (MPI_VERSION >= 4)
#endif

#define TIMES 20
#define LATE_NS 20000000
#include "mpi_stamps.h"

/* gcc takes MPI_STATUSES_IGNORE of MPICH for an array without room. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static int ranks, next, before;
static long messages, operations;

/* Over all ranks; those that count it are not counted. */
static void print(const char *function, const char *call, long times, long bytes)
{
    long own[2] = {times, bytes}, all[2] = {0, 0};
    PMPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (own_rank == 0)
        printf("%s.%s=%ld %ld\n", function, call, all[0], all[1]);
}
#define PRINT(call, times, bytes) print(__func__, call, (long)(times), (long)(bytes))

/* ---- collective operations that are begun again and again -------------------------------------
 */

static void persistent_collectives(void)
{
#if HAS_PERSISTENT
    MPI_Request requests[4];
    int one = own_rank, sum = 0, all[64] = {0}, from_root = own_rank == 1;
    INIT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    INIT(Bcast)(&from_root, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    INIT(Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    INIT(Gather)(&one, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    for (int i = 0; i < TIMES; i++) {
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Startall(3, &requests[1]);
        MPI_Waitall(3, &requests[1], MPI_STATUSES_IGNORE);
        operations += 4;
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
    PRINT("MPI_…_init", 4, 4 * (own_rank == 1) + 4 + 4);
    PRINT("MPI_Start", TIMES, 0);
    PRINT("MPI_Startall", TIMES, 0);
    PRINT("MPI_Wait", TIMES, 0);
    PRINT("MPI_Waitall", TIMES, 0);
#endif
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static void exchanges(void)
{
    int out = own_rank, in = 0;
    for (int i = 0; i < TIMES; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv_replace(&in, 1, MPI_INT, next, 2, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        messages += 2;
    }
    PRINT("MPI_Sendrecv", TIMES, TIMES * 8);
    PRINT("MPI_Sendrecv_replace", TIMES, TIMES * 8);
}

static void exchanges_begun(void)
{
#if MPI_VERSION >= 4
    int out = own_rank, in = 0, both = own_rank;
    MPI_Request requests[2];
    for (int i = 0; i < TIMES; i++) {
        MPI_Isendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
                      &requests[0]);
        MPI_Isendrecv_replace(&both, 1, MPI_INT, next, 2, before, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        messages += 2;
    }
    PRINT("MPI_Isendrecv", TIMES, TIMES * 8);
    PRINT("MPI_Isendrecv_replace", TIMES, TIMES * 8);
    PRINT("MPI_Waitall", TIMES, 0);
#endif
}

/* ---- counts of MPI_Count --------------------------------------------------------------------- */

static void large_counts(void)
{
#if MPI_VERSION >= 4
    int out[4] = {own_rank}, in[64] = {0};
    MPI_Request request;
    for (int i = 0; i < TIMES; i++) {
        MPI_Isend_c(out, 4, MPI_INT, next, 1, MPI_COMM_WORLD, &request);
        MPI_Recv_c(in, 64, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce_c(out, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgather_c(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        messages++;
        operations += 2;
    }
    PRINT("MPI_Isend", TIMES, TIMES * 16);
    PRINT("MPI_Recv", TIMES, TIMES * 256);
    PRINT("MPI_Wait", TIMES, 0);
    PRINT("MPI_Allreduce", TIMES, TIMES * 16);
    PRINT("MPI_Allgather", TIMES, TIMES * 4);
#endif
}

/* ---- neighbourhoods -------------------------------------------------------------------------- */

static void neighbourhoods(void)
{
    MPI_Comm ring;
    MPI_Request request;
    int periodic = 1, one = own_rank, all[2], counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint byte_places[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    int to_both[2] = {own_rank, own_rank};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    for (int i = 0; i < TIMES; i++) {
        MPI_Neighbor_allgather(&one, 1, MPI_INT, all, 1, MPI_INT, ring);
        MPI_Neighbor_alltoallv(to_both, counts, places, MPI_INT, all, counts, places, MPI_INT,
                               ring);
        MPI_Neighbor_alltoallw(to_both, counts, byte_places, types, all, counts, byte_places, types,
                               ring);
        MPI_Ineighbor_alltoall(to_both, 1, MPI_INT, all, 1, MPI_INT, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        operations += 4;
    }
    MPI_Comm_free(&ring);
    PRINT("MPI_Comm_…", 1, 0);
    PRINT("MPI_Neighbor_…", 3 * TIMES, 3 * TIMES * 8);
    PRINT("MPI_Ineighbor_…", TIMES, TIMES * 8);
    PRINT("MPI_Wait", TIMES, 0);
}

/* ---- communicators that are made meanwhile ----------------------------------------------------
 */

static void made_later(void)
{
    MPI_Comm later;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(later);
    operations++;
    MPI_Comm_free(&later);
    PRINT("MPI_Comm_…", 1, 0);
    PRINT("MPI_Wait", 1, 0);
    PRINT("MPI_Barrier", 1, 0);
}

/* ---- loops that ask -------------------------------------------------------------------------- */

/* Rank 0 asks until the other's message has come, which is late; the ns that it did so. */
static void asks(void)
{
    MPI_Request request;
    MPI_Status status;
    long tests = 0, all = 0, some = 0, probes = 0;
    int64_t ns = 0;
    for (int i = 0, value = 0; i < TIMES; i++) {
        int flag = 0, done = 0, index;
        MPI_Barrier(MPI_COMM_WORLD);
        operations++;
        be_late(1);
        if (own_rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
            MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
            MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
            messages += 4;
        }
        if (own_rank != 0)
            continue;
        int64_t since = now_ns();
        MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        for (; !flag; tests++)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        ns += now_ns() - since;
        MPI_Irecv(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        for (flag = 0; !flag; all++)
            MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
        MPI_Irecv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
        for (; !done; some++)
            MPI_Testsome(1, &request, &done, &index, MPI_STATUSES_IGNORE);
        for (flag = 0; !flag; probes++)
            MPI_Iprobe(1, 4, MPI_COMM_WORLD, &flag, &status);
        MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    PRINT("MPI_Test", tests, 0);
    PRINT("MPI_Testall", all, 0);
    PRINT("MPI_Testsome", some, 0);
    PRINT("MPI_Iprobe", probes, 0);
    PRINT("MPI_Irecv", own_rank == 0 ? 3 * TIMES : 0, own_rank == 0 ? 3 * TIMES * 4 : 0);
    PRINT("MPI_Recv", own_rank == 0 ? TIMES : 0, own_rank == 0 ? TIMES * 4 : 0);
    PRINT("MPI_Send", own_rank == 1 ? 4 * TIMES : 0, own_rank == 1 ? 4 * TIMES * 4 : 0);
    PRINT("MPI_Barrier", TIMES, 0);
    if (own_rank == 0)
        printf("asked=%lld\n", (long long)ns);
}

/* ---- partitions ------------------------------------------------------------------------------ */

static void partitions(void)
{
#if MPI_VERSION >= 4
    char out[4 * 8] = {0}, in[4 * 8];
    MPI_Request requests[2];
    MPI_Psend_init(out, 4, 8, MPI_CHAR, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 4, 8, MPI_CHAR, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < TIMES; i++) {
        MPI_Startall(2, requests);
        MPI_Pready(0, requests[0]);
        MPI_Pready_range(1, 3, requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    PRINT("MPI_…_init", 2, 2 * 32);
    PRINT("MPI_Startall", TIMES, 0);
    PRINT("MPI_Pready", 2 * TIMES, 0);
    PRINT("MPI_Waitall", TIMES, 0);
#endif
}

/* ---- files ----------------------------------------------------------------------------------- */

static void files(void)
{
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    char text[16] = "heurt";
    if (MPI_File_open(MPI_COMM_WORLD, "mpi_variants.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR,
                      MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return;
    for (int i = 0; i < TIMES; i++) {
        MPI_Offset at = (MPI_Offset)sizeof text * (own_rank + ranks * i);
        MPI_File_write_at(file, at, text, sizeof text, MPI_CHAR, &status);
        MPI_File_write_at_all(file, at, text, sizeof text, MPI_CHAR, &status);
        MPI_File_iread_at(file, at, text, sizeof text, MPI_CHAR, &request);
        MPI_Wait(&request, &status);
    }
    MPI_File_sync(file);
    MPI_File_close(&file);
    if (own_rank == 0)
        unlink("mpi_variants.tmp");
    PRINT("MPI_File_open", 1, 0);
    PRINT("MPI_File_write_at", TIMES, TIMES * 16);
    PRINT("MPI_File_write_at_all", TIMES, TIMES * 16);
    PRINT("MPI_File_iread_at", TIMES, TIMES * 16);
    PRINT("MPI_Wait", TIMES, 0);
    PRINT("MPI_File_sync", 1, 0);
    PRINT("MPI_File_close", 1, 0);
}

/* ---- other processes ------------------------------------------------------------------------- */

/* This program again, with an argument: it answers its parent, whose messages are no rank's. */
static void be_spawned(MPI_Comm parent)
{
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 1, parent);
    MPI_Comm_disconnect(&parent);
}

static void spawns(char *program)
{
    MPI_Comm child;
    char *arguments[] = {"spawned", NULL};
    int value = 1;
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
    if (own_rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 1, child);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&child);
    PRINT("MPI_Comm_spawn", 1, 0);
    PRINT("MPI_Send", own_rank == 0, 4 * (own_rank == 0));
    PRINT("MPI_Recv", own_rank == 0, 4 * (own_rank == 0));
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (own_rank + 1) % ranks;
    before = (own_rank + ranks - 1) % ranks;
    if (parent != MPI_COMM_NULL)
        be_spawned(parent);
    else if (ranks > 2) {
        persistent_collectives();
        exchanges();
        exchanges_begun();
        large_counts();
        neighbourhoods();
        made_later();
        asks();
        partitions();
        files();
        if (argc > 1)
            spawns(argv[0]);
        long own[2] = {messages, operations}, all[2] = {0, 0};
        PMPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        if (own_rank == 0)
            printf("messages=%ld\noperations=%ld\n", all[0], all[1]);
    }
    MPI_Finalize();
    return 0;
}
