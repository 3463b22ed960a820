/* kept_ranks.h: the tables of ranks of MPI that heurt analyse has made, in the trace's directory.
 *
 * In go a trace and its tables, out come these again while they are of that trace. Whoever may
 * not write there goes without. */
#ifndef HEURT_CMD_KEPT_RANKS_H
#define HEURT_CMD_KEPT_RANKS_H

#include "analysis/mpi/mpi.h"
#include "format/reader.h"

/* 0, or EXIT_HEURT after a sentence. */
int kept_ranks__write(const char *directory, const struct trace *trace, const struct mpi_use *use);
/* NULL: there are none of this trace. mpi_analysis.free it. */
struct mpi_use *kept_ranks__read(const char *directory, const struct trace *trace);

#endif
