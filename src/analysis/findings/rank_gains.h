/* rank_gains.h: what findings of messages would gain, by a replay of the ranks. */
#ifndef HEURT_ANALYSIS_FINDINGS_RANK_GAINS_H
#define HEURT_ANALYSIS_FINDINGS_RANK_GAINS_H

#include "analysis/findings/findings.h"

struct mpi_use;

/* Of a run whose ranks can be replayed: the first finding of messages gains what equal work would
 * bring, between two operations of all ranks and in the whole run, and what CPUs of one host leave
 * of it; others in proportion to what they lost. Ranks the findings anew. */
void rank_gains__fill(const struct mpi_use *use, uint32_t cpus, struct findings *findings);

#endif
