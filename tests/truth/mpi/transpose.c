/* transpose.c: each rank sorts the particles of its cells, then all exchange them. Rank 0's cells
 * have most. TRUTH: rank=first; wait=all to all; waits_in=redistribute; works_in=sort_cells
 * --fixed: the cells are dealt out by how many particles they have. */
#include "ranks.h"

enum { ROUNDS = 300, RANKS_MOST = 64, EACH = 512, BASE_US = 1500, MORE_US = 3000 };

static int given[RANKS_MOST * EACH], taken[RANKS_MOST * EACH];

__attribute__((noinline)) static void sort_cells(unsigned us)
{
    SPEND(us);
    given[us % EACH]++;
}

__attribute__((noinline)) static void redistribute(void)
{
    MPI_Alltoall(given, EACH, MPI_INT, taken, EACH, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    ranks__begin(&argc, &argv);
    if (ranks > RANKS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    unsigned even = BASE_US + MORE_US / (unsigned)ranks;
    unsigned us = has_option(argc, argv, "--fixed") ? even
                  : rank == 0                       ? BASE_US + MORE_US
                                                    : BASE_US;
    for (int round = 0; round < ROUNDS; round++) {
        sort_cells(us);
        redistribute();
    }
    ranks__end();
    return 0;
}
