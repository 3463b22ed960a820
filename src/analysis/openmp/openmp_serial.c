/* Which functions run while nobody is in a parallel region, as samples tell. */
#include "analysis/callsite/program_frame.h"
#include "analysis/openmp/internal.h"
#include "base/map.h"
#include "format/sampled_lines.h"

#include <string.h>

/* Calls of regions are in the order of their begins; those in others change nothing. */
static bool is_in_region(const struct thread_record *record, uint64_t tick)
{
    size_t behind = VEC_FIRST(call, &record->calls, struct region_call, call->begin > tick);
    while (behind-- > 0) {
        const struct region_call *call = VEC_AT(&record->calls, struct region_call, behind);
        if (!call->is_nested)
            return call->end > tick;
    }
    return false;
}

static bool calls_regions(const struct thread_record *record)
{
    VEC_EACH (call, &record->calls, const struct region_call)
        if (!call->is_nested)
            return true;
    return false;
}

/* Of those that are in no other one. */
static bool is_between(const struct thread_record *record, uint64_t tick)
{
    bool any_before = false, any_behind = false;
    VEC_EACH (call, &record->calls, const struct region_call) {
        any_before |= !call->is_nested && call->begin <= tick;
        any_behind |= !call->is_nested && call->begin > tick;
        if (any_before && any_behind)
            return true;
    }
    return false;
}

struct serial_functions {
    struct map map; /* by process and name: place among the parts */
    struct vec parts;
    bool are_between; /* likewise, only those, and by the innermost function of the program */
};

static const struct symbol *function_of(const struct serial_functions *functions,
                                        const struct symbol *symbol)
{
    const struct symbol *own = functions->are_between ? program_frame__inlined(symbol) : NULL;
    while (!own && symbol && symbol->inlined_by)
        symbol = symbol->inlined_by;
    return own ? own : symbol;
}

static void add_sample(struct serial_functions *functions, const struct run *run, uint32_t process,
                       const struct heurt_sample *sample)
{
    struct serial_part part = {.process = process, .address = sample->instruction};
    const struct symbol *symbol =
        run->symbols ? symbols__get(run->symbols, process, sample->instruction) : NULL;
    symbol = function_of(functions, symbol);
    if (symbol && symbol__is_of_runtime(symbol)) /* what recording costs */
        return;
    const void *key = symbol ? (const void *)symbol->function : &part.address;
    size_t bytes = symbol ? strlen(symbol->function) : sizeof part.address;
    uint64_t at = map__put(&functions->map, key, bytes, functions->parts.count);
    if (at == functions->parts.count)
        vec__push(&functions->parts, &part);
    VEC_AT(&functions->parts, struct serial_part, at)->ns += sample->weight_ns;
}

static int by_time(const void *a, const void *b)
{
    const struct serial_part *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->address, right->address);
}

static struct vec parts_of(const struct run *run, const struct vec *records, bool are_between)
{
    struct serial_functions functions = {.parts = VEC_OF(struct serial_part),
                                         .are_between = are_between};
    struct sample_threads *known = sample_threads__new(run->trace);
    VEC_EACH (sample, trace__samples(run->trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(known, sample);
        const struct thread_record *record =
            thread < records->count ? VEC_AT(records, struct thread_record, thread) : NULL;
        uint64_t tick = sample__tick(run->trace, sample);
        if (record && sample->instruction && calls_regions(record) && !is_in_region(record, tick) &&
            (!are_between || is_between(record, tick)))
            add_sample(&functions, run, record->process, sample);
    }
    sample_threads__free(known);
    map__free(&functions.map);
    vec__sort(&functions.parts, by_time);
    return functions.parts;
}

struct vec serial_parts__of(const struct run *run, const struct vec *records)
{
    return parts_of(run, records, false);
}

struct vec serial_parts__between(const struct run *run, const struct vec *records)
{
    return parts_of(run, records, true);
}
