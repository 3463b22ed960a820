/* engine.h on MPI: compiled once for each MPI that is there. */
#include "engine/engine.h"

#include <mpi.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define PIECE ((uint64_t)1 << 30) /* bytes that one message has at most: MPI counts in ints */
#define TAG 1

heurt_engine_begin heurt_engine;

static void swap_numbers(const uint64_t *given, uint64_t *taken)
{
    MPI_Alltoall(given, 1, MPI_UINT64_T, taken, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

static int piece_of(uint64_t bytes, uint64_t done)
{
    uint64_t left = bytes > done ? bytes - done : 0;
    return (int)(left < PIECE ? left : PIECE);
}

/* Both ways between this process and two others, until all is there. */
static void swap_with(int to, const char *given, uint64_t given_bytes, int from, char *taken,
                      uint64_t taken_bytes)
{
    for (uint64_t done = 0; done < given_bytes || done < taken_bytes; done += PIECE) {
        int sends = piece_of(given_bytes, done), receives = piece_of(taken_bytes, done);
        MPI_Sendrecv(given + (sends ? done : 0), sends, MPI_BYTE, sends ? to : MPI_PROC_NULL, TAG,
                     taken + (receives ? done : 0), receives, MPI_BYTE,
                     receives ? from : MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void swap_bytes(const void *const *given, const uint64_t *given_bytes, void *const *taken,
                       const uint64_t *taken_bytes)
{
    int self, count;
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (given_bytes[self])
        memcpy(taken[self], given[self], given_bytes[self]);
    for (int apart = 1; apart < count; apart++) {
        int to = (self + apart) % count, from = (self + count - apart) % count;
        swap_with(to, given[to], given_bytes[to], from, taken[from], taken_bytes[from]);
    }
}

static void finish(void)
{
    MPI_Finalize();
}

EXPORT const struct heurt_engine *heurt_engine(void)
{
    static struct heurt_engine engine = {0, 1, swap_numbers, swap_bytes, finish};
    int level, self, count;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    engine.self = (uint32_t)self;
    engine.count = (uint32_t)count;
    return &engine;
}
