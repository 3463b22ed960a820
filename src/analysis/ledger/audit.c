#include "analysis/ledger/audit.h"

static bool components_add_up(const struct accumulator *accumulator, uint64_t excess)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < COMPONENTS; i++)
        sum += (uint64_t)accumulator__component_excess(accumulator, (enum component)i);
    return sum == excess;
}

static bool threads_add_up(const struct class_entry *entry, uint64_t excess)
{
    uint64_t minimum = entry->total.accumulator.minimum, sum = 0;
    VEC_EACH (cell, &entry->cells, struct class_cell)
        sum += class_cell__excess(cell, minimum);
    return sum == excess;
}

static void add_class(struct profile_audit *audit, const struct class_entry *entry)
{
    const struct accumulator *accumulator = &entry->total.accumulator;
    uint64_t excess = accumulator__excess(accumulator, accumulator->minimum);
    audit->classes++;
    audit->excess += excess;
    audit->wrong_components += !components_add_up(accumulator, excess);
    audit->wrong_threads += !threads_add_up(entry, excess);
    audit->own_sum += accumulator->own_sum;
    audit->own_least += accumulator->count * accumulator->own_minimum;
    audit->own_excess += accumulator__own_excess(accumulator, accumulator->own_minimum);
    audit->sampled_classes += accumulator->recorded < accumulator->count;
}

void audit__ticks(struct profile_audit *audit, const struct class_table *table,
                  const struct thread_result *results)
{
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        if (class_entry__is_shown(*entry) && !(*entry)->what.is_aside)
            add_class(audit, *entry);
    }
    for (size_t i = 0; i < trace__threads(table->trace)->count; i++)
        audit->covered += trace__thread_at(table->trace, i)->is_aside ? 0 : results[i].fold.covered;
}

void audit__result(struct profile_audit *audit, const struct profile_class *class)
{
    uint64_t sum = 0; /* as in results.c: nothing may overflow a signed number */
    for (unsigned i = 0; i < REASONS; i++)
        sum += (uint64_t) class->why_ns[i];
    audit->wrong_reasons += sum != class->excess_ns;
}
