/* Steps that all processes make together. */
#include "analysis/mpi/internal.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct vec *mpi_given__of(const struct mpi_job *job, size_t item_bytes)
{
    struct vec *given = memory__zeroed(job->exchange->count, sizeof *given);
    for (uint32_t i = 0; i < job->exchange->count; i++)
        given[i].item_bytes = item_bytes;
    return given;
}

void mpi_given__free(const struct mpi_job *job, struct vec *given)
{
    for (uint32_t i = 0; i < job->exchange->count; i++)
        vec__free(&given[i]);
    free(given);
}

void mpi_job__swap(const struct mpi_job *job, struct vec *given, struct vec *taken)
{
    if (job->exchange->count > 1) {
        job->exchange->swap(job->exchange, given, taken);
    } else if (!taken->count) {
        struct vec emptied = *taken;
        *taken = *given;
        *given = emptied;
    } else {
        vec__append(taken, given);
        given->count = 0;
    }
}

void mpi_job__share(const struct mpi_job *job, struct vec *items)
{
    if (job->exchange->count == 1)
        return;
    struct vec *given = mpi_given__of(job, items->item_bytes);
    for (uint32_t i = 0; i < job->exchange->count; i++)
        vec__append(&given[i], items);
    items->count = 0;
    mpi_job__swap(job, given, items);
    mpi_given__free(job, given);
}

void mpi_job__gather(const struct mpi_job *job, struct vec *items)
{
    if (job->exchange->count == 1)
        return;
    struct vec *given = mpi_given__of(job, items->item_bytes);
    vec__append(&given[0], items);
    items->count = 0;
    mpi_job__swap(job, given, items);
    mpi_given__free(job, given);
}

uint64_t mpi_job__sum(const struct mpi_job *job, uint64_t value)
{
    struct vec values = VEC_OF(uint64_t);
    uint64_t sum = 0;
    vec__push(&values, &value);
    mpi_job__share(job, &values);
    VEC_EACH (one, &values, const uint64_t)
        sum += *one;
    vec__free(&values);
    return sum;
}
