/* rank_leftovers.h: parts of ranks that were left beside their trace, because whoever was to join
 * them was killed: a launcher that ends a job (MPI_Abort, a rank that died) kills rank 0's heurt
 * with the rest. The first who reads the trace joins them.
 *
 *     heurt.data                     whose recorder is gone
 *     heurt.data.rank1-4711          joined, where it was recorded at the same time
 *     heurt.data.rank2-4711~         likewise: its recorder is gone, too
 *     heurt.data.rank1-3022          of another run: left where it is
 *
 * Costs the reading of one folder, and a pass over the trace where there is such a part. Whoever
 * joins has the lock on the trace's events meanwhile. It stands on ranks.h. */
#ifndef HEURT_CMD_RANK_LEFTOVERS_H
#define HEURT_CMD_RANK_LEFTOVERS_H

/* Says what was joined, or could not be. Does nothing where the trace is recorded, or read by one
 * who may not write to it. */
void rank_leftovers__join(const char *directory);

#endif
