/* hybrid.c: MPI and OpenMP: each rank relaxes its block with its threads, but rank 0 also smooths
 * the boundary, on one thread. TRUTH: rank=first; wait=all to all|late sender; waits_in=converged;
 * works_in=smooth
 * --fixed: threads of all ranks share the boundary. */
#include "ranks.h"

enum { STEPS = 200, RELAX_US = 2000, SMOOTH_US = 4000 };

__attribute__((noinline)) static void spend_shared(unsigned us)
{
#pragma omp parallel
    {
        struct timespec left = {us / 1000000, us % 1000000 * 1000L};
        if (on_device)
            nanosleep(&left, NULL);
        else
            for (volatile uint64_t i = 0; i < us * 500ul; i++)
                continue;
    }
}

__attribute__((noinline)) static void relax(void)
{
    spend_shared(RELAX_US);
}

__attribute__((noinline)) static void smooth(void)
{
    SPEND(SMOOTH_US);
}

__attribute__((noinline)) static double converged(double own)
{
    double all;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    double norm = 1;
    ranks__begin(&argc, &argv);
    int is_fixed = has_option(argc, argv, "--fixed");
    for (int step = 0; step < STEPS; step++) {
        relax();
        if (is_fixed)
            spend_shared(SMOOTH_US / (2u * (unsigned)ranks));
        else if (rank == 0)
            smooth();
        norm = converged(norm) / 10;
    }
    if (rank == 0)
        printf("%g\n", norm);
    ranks__end();
    return 0;
}
