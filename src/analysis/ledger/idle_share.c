#include "analysis/ledger/idle_share.h"

#include "base/memory.h"

static bool may_be_idle(enum component component)
{
    return component == COMPONENT_CONDITION || component == COMPONENT_NETWORK ||
           component == COMPONENT_OTHER_BLOCKED;
}

static double unfinished_ticks(const struct thread_result *result, enum component component)
{
    bool is_in_it = result->unfinished && result->unfinished->fold.component == component &&
                    result->end > result->unfinished_since;
    return is_in_it ? (double)(result->end - result->unfinished_since) : 0;
}

struct idle_shares *idle__shares(const struct class_table *table,
                                 const struct thread_result *results)
{
    size_t threads = trace__threads(table->trace)->count;
    struct idle_shares *shares = memory__zeroed(threads, sizeof *shares);
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        enum component component = (*entry)->fold.component;
        if (!may_be_idle(component) || !(*entry)->idle)
            continue;
        VEC_EACH (cell, &(*entry)->cells, struct class_cell)
            shares[cell->thread].of[component] += (double)(cell->sum - cell->nested_sum);
    }
    for (size_t i = 0; i < threads; i++) {
        for (unsigned c = 0; c < PARTS; c++) {
            double all = (double)results[i].fold.parts[c] - unfinished_ticks(&results[i], c);
            double share = all > 0 ? shares[i].of[c] / all : 0;
            shares[i].of[c] = share < 1 ? share : 1; /* a call may hold what is runnable, too */
        }
    }
    return shares;
}

double idle__share(const struct idle_shares *shares, const struct class_entry *entry,
                   enum component component)
{
    if (!may_be_idle(component))
        return 0;
    if (entry->fold.component == component)
        return entry->idle;
    uint64_t minimum = entry->total.accumulator.minimum;
    double idle = 0, all = 0;
    VEC_EACH (cell, &entry->cells, struct class_cell) {
        double lost = (double)class_cell__excess(cell, minimum);
        idle += lost * shares[cell->thread].of[component];
        all += lost;
    }
    return all > 0 ? idle / all : 0;
}
