/* mpi_screens.h: ranks of MPI and their waits, as a screen and as JSON (heurt.mpi/1,
 * docs/heurt-mpi.md).
 *
 * In goes what the analysis found, out comes text. It stands on analysis/mpi/mpi.h. */
#ifndef HEURT_PRESENT_MPI_MPI_SCREENS_H
#define HEURT_PRESENT_MPI_MPI_SCREENS_H

#include "analysis/mpi/mpi.h"
#include "base/table.h"
#include "present/present.h"

struct mpi_report {
    const struct report *report;
    const struct mpi_use *use; /* NULL: no rank is told */
    unsigned wait;             /* only places with that kind of wait (enum mpi_wait); 0: all */
};

/* The kind of wait of that name, or of a part of it that no other has; 0: there is none. */
unsigned mpi_wait__named(const char *name);
/* "Rank 2 had 3.0 times the work of the others: they waited 1.2 s for it.", or what else stands
 * out; NULL: nothing does. free() it. */
char *mpi_use__verdict(const struct mpi_use *use);

struct mpi_presenter {
    const char *name;
    void (*put)(const struct mpi_report *shown, const struct style *style, FILE *out);
};
extern const struct mpi_presenter mpi_text, mpi_json, mpi_csv;

#endif
