/* stencil.c: a rod of metal cools, cut into as many pieces as there are ranks. The last piece is of
 * a material whose conductivity is looked up for each cell. TRUTH: rank=last; wait=late sender|all
 * to all; waits_in=exchange|residual; works_in=conduct
 * --fixed: the pieces cost the same. */
#include "ranks.h"

enum { CELLS = 4096, STEPS = 500 };

static double cells[CELLS + 2], next[CELLS + 2];

__attribute__((noinline)) static void conduct(unsigned us)
{
    for (int i = 1; i <= CELLS; i++)
        next[i] = cells[i] + 0.25 * (cells[i - 1] - 2 * cells[i] + cells[i + 1]);
    SPEND(us);
    memcpy(cells, next, sizeof cells);
}

__attribute__((noinline)) static void exchange(void)
{
    MPI_Request requests[4];
    int count = 0;
    if (rank > 0) {
        MPI_Irecv(&cells[0], 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(&cells[1], 1, MPI_DOUBLE, rank - 1, 2, MPI_COMM_WORLD, &requests[count++]);
    }
    if (rank < ranks - 1) {
        MPI_Irecv(&cells[CELLS + 1], 1, MPI_DOUBLE, rank + 1, 2, MPI_COMM_WORLD,
                  &requests[count++]);
        MPI_Isend(&cells[CELLS], 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static double residual(void)
{
    double own = cells[CELLS / 2], all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    double left = 0;
    ranks__begin(&argc, &argv);
    unsigned usual = 1000, slow = 3000;
    unsigned even = (usual * ((unsigned)ranks - 1) + slow) / (unsigned)ranks;
    unsigned us = has_option(argc, argv, "--fixed") ? even : rank == ranks - 1 ? slow : usual;
    cells[1] = rank == 0;
    for (int step = 0; step < STEPS; step++) {
        exchange();
        conduct(us);
        if (step % 10 == 9)
            left = residual();
    }
    if (rank == 0)
        printf("%g\n", left);
    ranks__end();
    return 0;
}
