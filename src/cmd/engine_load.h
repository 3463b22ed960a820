/* engine_load.h: the processes of heurt that mpirun has started, as an exchange of the analysis
 * (analysis/mpi/exchange.h), by the library of that MPI (engine/engine.h).
 *
 * In goes the environment, out comes the exchange. One thread at a time. */
#ifndef HEURT_CMD_ENGINE_LOAD_H
#define HEURT_CMD_ENGINE_LOAD_H

#include "analysis/mpi/exchange.h"

/* Of this process alone where no launcher started it, or it started no other. 0, or EXIT_HEURT
 * after a sentence. engine__end it, also in processes whose part of the work has failed. */
int engine__begin(struct mpi_exchange *exchange);
/* All processes' numbers, the greatest: of all, so that they go on or end together. */
uint64_t engine__most(const struct mpi_exchange *exchange, uint64_t number);
void engine__end(struct mpi_exchange *exchange);

#endif
