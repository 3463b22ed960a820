/* ranks.h: several heurts that a launcher of MPI starts at a time, one a rank: mpirun -n 4 heurt
 * ./x
 *
 * Each records its own program into a trace of its own, beside the one that was asked for. When its
 * program has ended, rank 0's heurt waits for the others to end theirs, appends what they recorded
 * to its own trace, and is the only one to go on with it: one trace, one report.
 *
 *     rank 0   heurt.data ──────────────────────────────► heurt.data, whole
 *     rank 1   heurt.data.rank1-4711~ ─► heurt.data.rank1-4711 ──┘      (4711: the
 *                                                                launcher's process)
 *
 * A part loses its tilde when it is complete. Whose recorder has died (its lock on the trace is
 * gone) is taken as it is. Who does not come in time is named, and left where it is. Where rank 0's
 * heurt is killed itself, the first reader joins them (rank_leftovers.h). Of several hosts, parts
 * are by their hosts' clocks, which the ranks compare (mpi/clocks.c), and are told by rank 0's when
 * they are joined.
 *
 * In goes the environment, out come a rank's trace and what joins them. It stands on
 * format/rank_parts.h and waits no longer than RANKS_PATIENCE_NS. */
#ifndef HEURT_CMD_RANKS_H
#define HEURT_CMD_RANKS_H

#include <stdbool.h>
#include <stdint.h>

struct job_ranks {
    uint32_t rank, count; /* this process's; all of the job: 1: it is alone, or there is no job */
    long launcher;        /* process that started them all; of several hosts, the job's number */
    bool has_hosts;       /* several, as the launcher tells it */
};

/* For tests: by how much a rank's clock is ahead of what it is, and gains. */
struct clock_offset {
    double ms, ppm;
};

/* As launchers tell it (Open MPI, MPICH and its kin, Slurm). */
struct job_ranks ranks__of_environment(void);
/* Whose clocks this process's are: this boot of this host, and a test's offset; never 0. */
uint32_t ranks__host(const struct clock_offset *offset);
/* Whether there is a job, of however many ranks: its launcher passes on what is printed. */
bool ranks__has_launcher(void);

static inline bool ranks__is_part(const struct job_ranks *ranks)
{
    return ranks->rank > 0;
}

/* Where a rank that is not 0 records, to be freed: while it does, or when it is complete. */
char *ranks__directory(const struct job_ranks *ranks, const char *directory, uint32_t rank,
                       bool is_complete);
/* Whether that is how the last part of such a path looks, and of which rank and job (launcher). */
bool ranks__is_name(const char *name, uint32_t *rank, long *job);
/* Whether somebody records into it still. */
bool ranks__is_recorded(const char *directory);
/* That rank's trace is complete: gives it its name. False: it could not be renamed. */
bool ranks__complete(const struct job_ranks *ranks, const char *directory);
/* Of rank 0, whose own trace is at own_directory: waits for the parts and joins them. Says which
 * are missing. */
void ranks__join(const struct job_ranks *ranks, const char *directory, const char *own_directory);
/* Joins one to a trace that nobody writes to. True: it is in it, and its own folder is gone; else a
 * sentence was said. */
bool ranks__join_part(const char *own_directory, const char *part, uint32_t rank);

#endif
