#include "analysis/cause/answers.h"

#include "base/memory.h"

#include <string.h>

#define PART 50 /* of all lives: less waiting for messages than that is of no account */

static uint64_t waited_for_messages(const struct class_table *table)
{
    uint64_t ticks = 0;
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        enum class_kind kind = (*entry)->what.at.kind;
        if (kind == CLASS_NETWORK || kind == CLASS_PIPE)
            ticks += (*entry)->total.accumulator.sum;
    }
    return ticks;
}

static bool is_worth_it(const struct class_table *table, const struct thread_result *results)
{
    uint64_t lives = 0, waited = waited_for_messages(table);
    for (uint32_t i = 0; waited && i < trace__threads(table->trace)->count; i++)
        lives += thread_result__lifetime(results, table->trace, i);
    return waited && waited >= lives / PART && !trace__is_aggregated(table->trace);
}

void answers__scope(const struct class_table *table, const struct thread_result *results,
                    struct sync_scope *scope)
{
    size_t threads = trace__threads(table->trace)->count;
    bool *left_out = memory__zeroed(threads, sizeof *left_out);
    memset(left_out, !is_worth_it(table, results), threads * sizeof *left_out);
    scope->left_out = left_out;
    scope->no_locks = true;
}

void *answers__start(const struct class_table *table, struct thread_result *results)
{
    return is_worth_it(table, results) ? results : NULL;
}

bool answers__take(void *answers, const struct sync_event *event)
{
    struct thread_result *results = answers;
    if (event->type != SYNC_EVENT_RECEIVED || !event->asked)
        return true;
    uint64_t from = event->asked > event->since ? event->asked : event->since;
    uint64_t until = event->by_tick < event->tick ? event->by_tick : event->tick;
    results[event->thread].served += until > from ? until - from : 0;
    return true;
}

void *answers__end(void *answers)
{
    (void)answers;
    return NULL;
}
