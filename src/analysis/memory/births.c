#include "analysis/memory/births.h"

#include "analysis/callsite/program_frame.h"

/* In a chain of inlined calls the first that is the program's own and no wrapper of an allocator;
 * own: gets the first of the program's own, unless there is one already. */
static bool asks_for_itself(const struct symbol *symbol, bool *is_own)
{
    for (; symbol; symbol = symbol->inlined_by) {
        if (symbol__is_system(symbol))
            continue;
        *is_own = true;
        if (!symbol__allocates(symbol))
            return true;
    }
    return false;
}

/* Code without a name may be the program's. Where all that is known are wrappers, the first of them
 * has asked. */
static uint64_t born_in(const struct symbols *symbols, uint32_t process, const uint64_t *frames,
                        size_t count, uint64_t site)
{
    uint64_t first = 0;
    size_t at = 0;
    while (at < count && frames[at] != site)
        at++;
    for (size_t i = at; i < count; i++) {
        const struct symbol *symbol = symbols__get(symbols, process, frames[i]);
        bool is_own = false;
        if (!symbol || asks_for_itself(symbol, &is_own))
            return frames[i];
        if (is_own && !first)
            first = frames[i];
    }
    return first ? first : site;
}

void births__find(struct allocations *allocations, const struct trace *trace,
                  const struct symbols *symbols)
{
    VEC_EACH (allocation, allocations__all(allocations), struct allocation) {
        const struct trace_thread *thread = trace__thread_at(trace, allocation->thread);
        uint32_t process = trace__process_at(trace, thread->process)->serial, serial;
        const uint64_t *frames;
        uint64_t tick;
        if (!symbols || allocation->call == HEURT_ALLOCATION_NAMED ||
            !allocations__stack(allocations, allocation, &serial, &tick))
            continue;
        size_t count = symbols__get_stack(symbols, serial, tick, &frames);
        allocation->born = born_in(symbols, process, frames, count, allocation->site);
    }
}
