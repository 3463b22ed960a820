/* mpi_windows.c: three ranks of MPI that access each other's memory, with known waits. Each
 * function is a kind of wait; what the ranks waited in it is worked out from their own clocks,
 * which are one clock on one machine, and printed in ns by rank 0, with how many accesses of how
 * many bytes there were. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 10
#define LATE_NS 10000000
#define RANKS 3

#include "mpi_stamps.h"

static long accesses; /* that this rank made, each of an int */
static MPI_Win window;
static int *memory;

/* All ranks' stamps, on rank 0. */
static void gather(struct stamp *own, struct stamp all[RANKS][TIMES])
{
    MPI_Gather(own, TIMES * (int)sizeof *own, MPI_BYTE, all, TIMES * (int)sizeof *own, MPI_BYTE, 0,
               MPI_COMM_WORLD);
}

static void print(const char *what, int64_t ns)
{
    if (own_rank == 0)
        printf("%s=%lld\n", what, (long long)ns);
}

static void put(int to)
{
    MPI_Put(&own_rank, 1, MPI_INT, to, own_rank, 1, MPI_INT, window);
    accesses++;
}

static MPI_Group group_of(int rank)
{
    MPI_Group world, one;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &one);
    MPI_Group_free(&world);
    return one;
}

/* Rank 2 comes late to each fence; it, or who gets no CPU, is the last. */
static void fence(void)
{
    struct stamp own[TIMES] = {{0, 0}}, all[RANKS][TIMES];
    int64_t ns = 0;
    for (int i = 0; i < TIMES; i++) {
        put((own_rank + 1) % RANKS);
        be_late(2);
        TIMED(&own[i], MPI_Win_fence(0, window));
    }
    gather(own, all);
    for (int i = 0; own_rank == 0 && i < TIMES; i++) {
        int64_t last = 0;
        for (int rank = 0; rank < RANKS; rank++)
            last = all[rank][i].enter > last ? all[rank][i].enter : last;
        for (int rank = 0; rank < RANKS; rank++)
            ns += wait_until(last, &all[rank][i]);
    }
    print("fence", ns);
}

/* Rank 1 gives rank 0 leave late, which awaits it in one of its three calls. */
static void late_post(void)
{
    struct stamp own[TIMES] = {{0, 0}}, all[RANKS][TIMES];
    MPI_Group other = group_of(1 - own_rank % 2);
    int64_t ns = 0;
    for (int i = 0; i < TIMES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        be_late(1);
        if (own_rank == 0) {
            TIMED(&own[i], {
                MPI_Win_start(other, 0, window);
                put(1);
                MPI_Win_complete(window);
            });
        } else if (own_rank == 1) {
            TIMED(&own[i], MPI_Win_post(other, 0, window));
            MPI_Win_wait(window);
        }
    }
    MPI_Group_free(&other);
    gather(own, all);
    for (int i = 0; own_rank == 0 && i < TIMES; i++)
        ns += wait_until(all[1][i].enter, &all[0][i]);
    print("late_post", ns);
}

/* Rank 0 works between its accesses, or behind the last of them, while rank 1 waits: early until
 * the last access is over, then for a late complete. */
static void epochs_of(int is_late, int64_t *early, int64_t *late)
{
    struct stamp own[TIMES] = {{0, 0}}, last[TIMES] = {{0, 0}};
    struct stamp all[RANKS][TIMES], accessed[RANKS][TIMES];
    MPI_Group other = group_of(1 - own_rank % 2);
    for (int i = 0; i < TIMES; i++) {
        if (own_rank == 0) {
            MPI_Win_start(other, 0, window);
            put(1);
            be_late(is_late ? RANKS : 0);
            TIMED(&last[i], put(1));
            be_late(is_late ? 0 : RANKS);
            TIMED(&own[i], MPI_Win_complete(window));
        } else if (own_rank == 1) {
            MPI_Win_post(other, 0, window);
            TIMED(&own[i], MPI_Win_wait(window));
        }
    }
    MPI_Group_free(&other);
    gather(own, all);
    gather(last, accessed);
    for (int i = 0; own_rank == 0 && i < TIMES; i++) {
        int64_t accesses_ns = wait_until(accessed[0][i].leave, &all[1][i]);
        *early += accesses_ns;
        *late += wait_until(all[0][i].enter, &all[1][i]) - accesses_ns;
    }
}

static void epochs(void)
{
    int64_t early = 0, late = 0;
    epochs_of(0, &early, &late);
    epochs_of(1, &early, &late);
    print("early_wait", early);
    print("late_complete", late);
}

/* Rank 1 has rank 2's memory locked, and tells so; then rank 0 wants it, which waits in one of its
 * three calls until that one has unlocked it. */
static void lock_competition(void)
{
    struct stamp own[TIMES] = {{0, 0}}, all[RANKS][TIMES];
    int64_t ns = 0;
    int value = 0;
    for (int i = 0; i < TIMES; i++) {
        if (own_rank == 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
            put(2);
            MPI_Win_flush(2, window);
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            be_late(1);
            TIMED(&own[i], MPI_Win_unlock(2, window));
        } else if (own_rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            TIMED(&own[i], {
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
                put(2);
                MPI_Win_unlock(2, window);
            });
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    gather(own, all);
    for (int i = 0; own_rank == 0 && i < TIMES; i++)
        ns += wait_until(all[1][i].leave, &all[0][i]);
    print("lock_competition", ns);
}

/* One of each: get, accumulate, and those with requests or answers. */
static void all_accesses(void)
{
    MPI_Request requests[2];
    int to = (own_rank + 1) % RANKS, one = 1, old = 0;
    MPI_Win_lock_all(0, window);
    MPI_Get(&old, 1, MPI_INT, to, 0, 1, MPI_INT, window);
    MPI_Accumulate(&one, 1, MPI_INT, to, RANKS, 1, MPI_INT, MPI_SUM, window);
    MPI_Get_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, to, RANKS, 1, MPI_INT, MPI_SUM, window);
    MPI_Fetch_and_op(&one, &old, MPI_INT, to, RANKS, MPI_SUM, window);
    MPI_Win_flush(to, window);
    MPI_Compare_and_swap(&one, &one, &old, MPI_INT, to, RANKS + 1, window);
    MPI_Win_flush_all(window);
    MPI_Rput(&one, 1, MPI_INT, to, own_rank, 1, MPI_INT, window, &requests[0]);
    MPI_Raccumulate(&one, 1, MPI_INT, to, RANKS, 1, MPI_INT, MPI_SUM, window, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    accesses += 7;
}

int main(int argc, char **argv)
{
    long sum = 0;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == RANKS) {
        MPI_Win_allocate(2 * RANKS * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &memory, &window);
        for (int i = 0; i < 2 * RANKS; i++)
            memory[i] = 0;
        MPI_Win_fence(0, window);
        fence();
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        late_post();
        epochs();
        lock_competition();
        all_accesses();
        MPI_Win_free(&window);
        MPI_Reduce(&accesses, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        print("accesses", sum);
    }
    MPI_Finalize();
    return 0;
}
