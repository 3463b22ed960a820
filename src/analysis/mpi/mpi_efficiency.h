/* mpi_efficiency.h: what of their time ranks of MPI used, divided as POP's metrics do (docs/mpi.md
 * has the formulas and where they are from).
 *
 *     hybrid = parallel × openmp
 *              parallel = balance × communication
 *                                   communication = serialisation × transfer
 *
 * In go the tables of ranks, and of regions of OpenMP where there are any. A rank is useful outside
 * of MPI, whatever it does there. All from the end of MPI_Init to MPI_Finalize. */
#ifndef HEURT_ANALYSIS_MPI_MPI_EFFICIENCY_H
#define HEURT_ANALYSIS_MPI_MPI_EFFICIENCY_H

#include "analysis/mpi/mpi.h"

/* Parallel regions of all ranks that are in no other one. */
struct mpi_regions {
    uint64_t ns, work_ns; /* work: of all threads */
    uint32_t threads;     /* of the largest team; 0: there are no regions */
};

/* 0 … 1; NaN: not known, as where no rank was in MPI for any time. */
struct mpi_efficiency {
    double parallel;         /* mean useful time / elapsed */
    double balance;          /* mean useful time / most useful time */
    double communication;    /* most useful time / elapsed */
    double serialisation;    /* most useful time / what the longest would take were messages free */
    double transfer;         /* that / elapsed */
    double openmp;           /* hybrid / parallel; NaN: there are no regions, as for the next */
    double hybrid;           /* work of all threads / (threads × elapsed) */
    uint64_t elapsed_ns;     /* of the rank that took longest */
    uint32_t ranks, threads; /* threads: of a rank, in its largest team */
};

struct mpi_efficiency mpi_use__efficiency(const struct mpi_use *use,
                                          const struct mpi_regions *regions);

#endif
