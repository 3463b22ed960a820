/* stages.c: frames pass through a stage a rank; the second one takes three times as long.
 * TRUTH: rank=second; wait=late sender|late receiver; waits_in=take_frame|pass_frame|main;
 * works_in=filter
 * --fixed: all stages take the same time. */
#include "ranks.h"

enum { FRAMES = 700, BYTES = 1 << 14, USUAL_US = 700, SLOW_US = 2100 };

static char frame[BYTES];

__attribute__((noinline)) static void filter(unsigned us)
{
    SPEND(us);
    frame[us % BYTES]++;
}

__attribute__((noinline)) static void take_frame(void)
{
    MPI_Recv(frame, BYTES, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void pass_frame(void)
{
    MPI_Ssend(frame, BYTES, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    ranks__begin(&argc, &argv);
    unsigned even = (USUAL_US * ((unsigned)ranks - 1) + SLOW_US) / (unsigned)ranks;
    unsigned us = has_option(argc, argv, "--fixed") ? even : rank == 1 ? SLOW_US : USUAL_US;
    for (int i = 0; i < FRAMES; i++) {
        if (rank > 0)
            take_frame();
        filter(us);
        if (rank < ranks - 1)
            pass_frame();
    }
    ranks__end();
    return 0;
}
