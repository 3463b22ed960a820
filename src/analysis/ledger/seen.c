#include "analysis/ledger/seen.h"

/* The part of what the class took that it took on threads where it occurred twice. */
static double repeated_share(const struct class_entry *entry)
{
    uint64_t all = 0, repeated = 0;
    VEC_EACH (cell, &entry->cells, struct class_cell) {
        all += cell->sum;
        repeated += cell->count > 1 ? cell->sum : 0;
    }
    return all ? (double)repeated / (double)all : 0;
}

/* The part of its exclusive time that it was on a CPU: waits that events tell are occurrences of
 * their own, the rest may have been anything that only the kernel knows. */
static double running_share(const struct accumulator *sums)
{
    static const enum component kernels[] = {COMPONENT_PAGE_FAULT, COMPONENT_RUNNABLE,
                                             COMPONENT_OTHER_BLOCKED, COMPONENT_OVERHEAD};
    uint64_t running = sums->component_sum[COMPONENT_RUNNING], told = running;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        told += sums->component_sum[kernels[i]];
    return told ? (double)running / (double)told : 0;
}

uint64_t seen__ticks(const struct class_table *table)
{
    double ticks = 0;
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        const struct accumulator *sums = &(*entry)->total.accumulator;
        if ((*entry)->fold.component == COMPONENT_RUNNING && !(*entry)->what.is_aside)
            ticks += (double)sums->own_sum * running_share(sums) * repeated_share(*entry);
    }
    return (uint64_t)ticks;
}
