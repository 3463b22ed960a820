/* mpi_late.c [MILLISECONDS]: rank 1 sleeps so long in dawdle (none unless given) before each of two
 * barriers, and others wait for it. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static void dawdle(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++) {
        if (rank == 1)
            dawdle(argc > 1 ? atol(argv[1]) : 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
