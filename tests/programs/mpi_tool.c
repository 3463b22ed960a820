/* mpi_tool.c: a tool of a program's own, between it and MPI: it counts messages that are sent by
 * MPI_Send and MPI_Ssend, and rank 0 prints those of all at the end. */
#include <mpi.h>
#include <stdio.h>

static long sent;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sent++;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Ssend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sent++;
    return PMPI_Ssend(buffer, count, type, to, tag, comm);
}

int MPI_Finalize(void)
{
    long all = 0;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&sent, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("tool=%ld\n", all);
    fflush(stdout);
    return PMPI_Finalize();
}
