/* rank_whatif.h: heurt whatif --ranks: how long a run of MPI would have taken with its ranks, or
 * their network, changed. */
#ifndef HEURT_CMD_RANK_WHATIF_H
#define HEURT_CMD_RANK_WHATIF_H

#include "analysis/mpi/rank_replay.h"
#include "cmd/kept_print.h"
#include "present/whatif/whatif_screens.h"

#include <stdbool.h>

/* "balance", "even", "rank=3", "latency=2x", "bandwidth=0.5x". */
bool rank_change__parse(const char *text, struct rank_change *change);

/* 0, or an exit status after a sentence. asked: as on the command line. */
int rank_whatif__make(const char *directory, const char *asked, const struct rank_change *change,
                      const struct whatif_presenter *presenter, const struct kept_print *print);

#endif
