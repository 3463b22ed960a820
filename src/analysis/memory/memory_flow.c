/* Accesses to memory in time. */
#include "analysis/memory/memory_views.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct memory_times memory_times__of(const struct memory_use *use, struct memory_choice choice,
                                     uint32_t slices)
{
    uint64_t from = UINT64_MAX, to = 0;
    VEC_EACH (at, &use->at_memory, const struct memory_sample)
        if (memory_choice__has(&choice, at)) {
            from = at->since_ns < from ? at->since_ns : from;
            to = at->since_ns > to ? at->since_ns : to;
        }
    if (from > to)
        return (struct memory_times){0, 1, slices};
    return (struct memory_times){from, (to - from) / slices + 1, slices};
}

uint64_t *memory_strip__of(const struct memory_use *use, struct memory_choice choice,
                           const struct memory_times *times)
{
    uint64_t *ns = memory__zeroed(times->count, sizeof *ns);
    VEC_EACH (at, &use->at_memory, const struct memory_sample)
        if (memory_choice__has(&choice, at) && at->since_ns >= times->from_ns)
            ns[memory_times__slice(times, at->since_ns)] += at->sample->weight_ns;
    return ns;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct flow_key {
    uint32_t slice, object, thread;
};

struct flow_sums {
    const struct trace *trace;
    const struct symbols *symbols;
    const struct memory_use *use;
    struct memory_times times;
    struct vec rows; /* struct flow_row */
    struct map number_of;
    struct map function_of;  /* of a row: its number, its call, the function's name */
    struct vec functions_ns; /* uint64_t */
    struct vec most_ns;      /* uint64_t, by row: of the function of its instruction */
    struct memory_callers callers;
};

static const char *function_at(const struct trace *trace, const struct symbols *symbols,
                               uint32_t thread, uint64_t instruction)
{
    const struct symbol *symbol =
        symbols__get(symbols, trace__serial_of(trace, thread), instruction);
    while (symbol && symbol->inlined_by)
        symbol = symbol->inlined_by;
    return symbol ? symbol->function : "";
}

static void add_function(struct flow_sums *sums, uint64_t number, const struct memory_sample *at)
{
    const char *function =
        function_at(sums->trace, sums->symbols, at->thread, at->sample->instruction);
    const struct memory_sample *first = sums->use->at_memory.items;
    uint32_t call = sums->callers.call_of[at - first];
    char *key = memory__format("%lu %u %s", (unsigned long)number, call, function);
    uint64_t place = map__put(&sums->function_of, key, strlen(key), sums->functions_ns.count);
    free(key);
    uint64_t *ns = VEC_REACH(&sums->functions_ns, uint64_t, place);
    uint64_t *most = VEC_REACH(&sums->most_ns, uint64_t, number);
    *ns += at->sample->weight_ns;
    if (*ns > *most) {
        *most = *ns;
        struct flow_row *row = VEC_AT(&sums->rows, struct flow_row, number);
        row->instruction = at->sample->instruction;
        row->call = call;
    }
}

static void add_sample(struct flow_sums *sums, const struct memory_sample *at)
{
    struct flow_key key = {memory_times__slice(&sums->times, at->since_ns), at->object, at->thread};
    uint64_t number = map__put(&sums->number_of, &key, sizeof key, sums->rows.count);
    uint64_t from = sums->times.from_ns + key.slice * sums->times.slice_ns;
    if (number == sums->rows.count)
        vec__push(&sums->rows, &(struct flow_row){.from_ns = from,
                                                  .to_ns = from + sums->times.slice_ns,
                                                  .object = at->object,
                                                  .thread = at->thread});
    struct flow_row *row = VEC_AT(&sums->rows, struct flow_row, number);
    row->samples++;
    row->ns += at->sample->weight_ns;
    row->written_ns += sample__writes(at->sample) ? at->sample->weight_ns : 0;
    if (at->answer) {
        row->timed += at->answer->latency > 0;
        row->cycles += at->answer->latency;
        row->remote_ns += answer__is_remote(at->answer) ? at->sample->weight_ns : 0;
    }
    add_function(sums, number, at);
}

static int by_time(const void *a, const void *b)
{
    const struct flow_row *left = a, *right = b;
    return ORDER(left->from_ns, right->from_ns) ?: ORDER(right->ns, left->ns)
               ?: ORDER(left->object, right->object) ?: ORDER(left->thread, right->thread);
}

struct memory_flow memory_flow__of(const struct trace *trace, const struct symbols *symbols,
                                   const struct memory_use *use, struct memory_choice choice,
                                   uint32_t slices)
{
    struct flow_sums sums = {.trace = trace,
                             .symbols = symbols,
                             .use = use,
                             .times = memory_times__of(use, choice, slices),
                             .rows = VEC_OF(struct flow_row),
                             .functions_ns = VEC_OF(uint64_t),
                             .most_ns = VEC_OF(uint64_t),
                             .callers = memory_callers__of(trace, use, choice)};
    VEC_EACH (at, &use->at_memory, const struct memory_sample)
        if (memory_choice__has(&choice, at))
            add_sample(&sums, at);
    vec__sort(&sums.rows, by_time);
    map__free(&sums.number_of);
    map__free(&sums.function_of);
    vec__free(&sums.functions_ns);
    vec__free(&sums.most_ns);
    free(sums.callers.call_of);
    return (struct memory_flow){sums.rows, sums.callers.calls};
}

void memory_flow__free(struct memory_flow *flow)
{
    vec__free(&flow->rows);
    vec__free(&flow->calls);
}

/* ---- slices that are alike ------------------------------------------------------------------- */

/* Rows of one slice: from first on. */
static size_t rows_of_slice(const struct vec *rows, size_t first)
{
    size_t count = 1;
    uint64_t from_ns = VEC_AT(rows, struct flow_row, first)->from_ns;
    while (first + count < rows->count &&
           VEC_AT(rows, struct flow_row, first + count)->from_ns == from_ns)
        count++;
    return count;
}

static struct flow_row *same_in(struct flow_row *rows, size_t count, const struct flow_row *row)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].object == row->object && rows[i].thread == row->thread)
            return &rows[i];
    return NULL;
}

static bool are_alike(const struct trace *trace, const struct symbols *symbols,
                      struct flow_row *left, size_t left_count, const struct flow_row *right,
                      size_t right_count)
{
    if (left->to_ns != right->from_ns || left_count != right_count || left->call != right->call ||
        strcmp(function_at(trace, symbols, left->thread, left->instruction),
               function_at(trace, symbols, right->thread, right->instruction)) != 0)
        return false;
    for (size_t i = 0; i < right_count; i++)
        if (!same_in(left, left_count, &right[i]))
            return false;
    return true;
}

static void join_slices(struct flow_row *left, const struct flow_row *right, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct flow_row *into = same_in(left, count, &right[i]);
        into->samples += right[i].samples;
        into->ns += right[i].ns;
        into->written_ns += right[i].written_ns;
        into->remote_ns += right[i].remote_ns;
        into->timed += right[i].timed;
        into->cycles += right[i].cycles;
    }
    for (size_t i = 0; i < count; i++)
        left[i].to_ns = right->to_ns;
}

void memory_flow__join(const struct trace *trace, const struct symbols *symbols,
                       struct memory_flow *flow)
{
    struct vec *rows = &flow->rows;
    struct vec joined = VEC_OF(struct flow_row);
    size_t last = 0; /* where the last slice of joined begins */
    for (size_t i = 0; i < rows->count;) {
        size_t count = rows_of_slice(rows, i);
        const struct flow_row *slice = VEC_AT(rows, struct flow_row, i);
        if (joined.count && are_alike(trace, symbols, VEC_AT(&joined, struct flow_row, last),
                                      joined.count - last, slice, count)) {
            join_slices(VEC_AT(&joined, struct flow_row, last), slice, count);
        } else {
            last = joined.count;
            for (size_t k = 0; k < count; k++)
                vec__push(&joined, &slice[k]);
        }
        i += count;
    }
    vec__free(rows);
    vec__sort(&joined, by_time);
    *rows = joined;
}
