/* mpi_stamps.h: when ranks of MPI were in a call, by their own clocks, and a rank that comes late
 * by LATE_NS, which who includes this defines. */
#ifndef HEURT_TESTS_MPI_STAMPS_H
#define HEURT_TESTS_MPI_STAMPS_H

#include <stdint.h>
#include <time.h>

struct stamp {
    int64_t enter, leave;
};

static int own_rank;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void be_late(int rank)
{
    struct timespec time = {0, LATE_NS};
    if (own_rank == rank)
        nanosleep(&time, NULL);
}

#define TIMED(stamp, call)         \
    do {                           \
        (stamp)->enter = now_ns(); \
        call;                      \
        (stamp)->leave = now_ns(); \
    } while (0)

static inline int64_t wait_until(int64_t other, const struct stamp *own)
{
    int64_t until = other < own->leave ? other : own->leave;
    return until > own->enter ? until - own->enter : 0;
}

#endif
