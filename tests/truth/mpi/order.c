/* order.c: rank 0 reduces the parts of all by itself, in the order of ranks; in each round another
 * one has most to do, and is often asked first. TRUTH: rank=any; wait=late sender|wrong order;
 * waits_in=collect|main; works_in=part|merge
 * --fixed: parts are taken in the order in which they come. */
#include "ranks.h"

enum { ROUNDS = 300, PART_US = 1000, SLOW_US = 3000, MERGE_US = 900 };

__attribute__((noinline)) static void part(int round)
{
    SPEND(round % (ranks - 1) + 1 == rank ? SLOW_US : PART_US);
}

__attribute__((noinline)) static void merge(void)
{
    SPEND(MERGE_US);
}

__attribute__((noinline)) static void collect(int is_fixed)
{
    for (int i = 1; i < ranks; i++) {
        double value;
        MPI_Recv(&value, 1, MPI_DOUBLE, is_fixed ? MPI_ANY_SOURCE : i, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        merge();
    }
}

int main(int argc, char **argv)
{
    double value = 1;
    ranks__begin(&argc, &argv);
    int is_fixed = has_option(argc, argv, "--fixed");
    for (int round = 0; ranks > 1 && round < ROUNDS; round++) {
        if (rank == 0) {
            collect(is_fixed);
        } else {
            part(round);
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    ranks__end();
    return 0;
}
