/* ranks.h: what the programs of ranks share: `--fixed` asks for the program without its fault. Work
 * is arithmetic; with `--device` each rank waits for it as for an accelerator of its own, so that
 * more ranks than CPUs are not slower for that. */
#ifndef RANKS_H
#define RANKS_H

#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, on_device;
static uint64_t grain = 1;
static struct timespec begun;

static inline int has_option(int argc, char **argv, const char *option)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], option) == 0)
            return 1;
    return 0;
}

static inline void ranks__begin(int *argc, char ***argv)
{
    clock_gettime(CLOCK_MONOTONIC, &begun);
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    on_device = has_option(*argc, *argv, "--device");
}

/* For about so many microseconds, in the function that has it. */
#define SPEND(us)                                                             \
    do {                                                                      \
        struct timespec left = {(us) / 1000000, (us) % 1000000 * 1000L};      \
        while (on_device && nanosleep(&left, &left) && errno == EINTR)        \
            continue;                                                         \
        for (uint64_t round = 0; !on_device && round < (us)*770ul; round++) { \
            grain ^= grain >> 33;                                             \
            grain = grain * 0xff51afd7ed558ccdull + 1;                        \
        }                                                                     \
    } while (0)

/* Tells how long the program took. */
static inline void ranks__end(void)
{
    struct timespec now;
    MPI_Finalize();
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (rank == 0)
        printf("took_ns=%lld\n",
               (now.tv_sec - begun.tv_sec) * 1000000000ll + now.tv_nsec - begun.tv_nsec);
}

#endif
