/* wrappers.c: all wrappers, as libheurt-mpi.so asks for them. */
#include "mpi/wrap.h"

EXPORT extern void *const heurt_mpi_wrappers[MPI_FUNCTION_COUNT];

EXPORT void *heurt_mpi_next[MPI_FUNCTION_COUNT];
EXPORT void *heurt_mpi_last[MPI_FUNCTION_COUNT];
EXPORT struct mpi_code heurt_mpi_fortran;

#define DECLARE(name, lower) extern int heurt_##name() __attribute__((weak)); /* NULL: not here */
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
MPI_FUNCTIONS(DECLARE)
#undef DECLARE

void *const heurt_mpi_wrappers[MPI_FUNCTION_COUNT] = {
#define TABLED(name, lower) [F_##name] = (void *)heurt_##name,
    MPI_FUNCTIONS(TABLED)
#undef TABLED
};
