/* exchange.h: how the processes that analyse one run of MPI side by side give each other items.
 *
 *     process 0   its ranks' records ──┐ messages, operations, delays ┌──► process 0: all tables
 *     process 1   its ranks' records ──┴──────────── swap ────────────┴──► process 1
 *
 * Each process reads the events of its own share of the recorded processes alone, and keeps these;
 * what it must know of another's ranks it is given. Every step of the analysis is one of all
 * processes: they call swap the same number of times. All that is summed is whole ticks, and
 * items are put into an order of their own when they have come, so figures do not depend on how
 * many processes there are. One process swaps with itself, which costs nothing. */
#ifndef HEURT_ANALYSIS_MPI_EXCHANGE_H
#define HEURT_ANALYSIS_MPI_EXCHANGE_H

#include "base/vec.h"

#include <stdint.h>

struct mpi_exchange {
    uint32_t self, count; /* this process; all: 1 at least */
    size_t step_items;    /* what a step has in memory at a time, about; the same in all */
    /* Gives the items of given[i] to process i, and leaves given empty; appends to taken what all
     * give to this one, in the order of processes. The items are plain memory of one size. Called
     * by one thread at a time. NULL where count is 1. */
    void (*swap)(const struct mpi_exchange *exchange, struct vec *given, struct vec *taken);
    void *engine; /* of swap */
};

/* The process that has the index-th of so many recorded processes: neighbours stay together. */
static inline uint32_t mpi_exchange__owner(const struct mpi_exchange *exchange, uint64_t index,
                                           uint64_t processes)
{
    return (uint32_t)(index * exchange->count / processes);
}

#endif
