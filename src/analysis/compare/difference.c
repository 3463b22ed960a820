#include "analysis/compare/difference.h"

#include "analysis/events/call_tree.h"
#include "analysis/events/quantile.h"
#include "base/extremes.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- which two ------------------------------------------------------------------------------- */

/* All occurrences of a class go by; which are wanted is kept. */
struct difference_search {
    struct thread_watcher watcher; /* first: the watch gives this */
    struct class_table *table;
    uint32_t number; /* of the class */
    uint32_t thread;
    uint64_t median; /* ticks */
    uint64_t at;     /* tick; slow is of those that were open then when is_at */
    bool is_at;
    bool is_median;
    uint64_t count;
    struct extremes slow, fast;
};

static void offer_slow(struct difference_search *search, struct extreme *one)
{
    one->key = one->duration;
    if (!search->is_at || (one->start <= search->at && search->at <= one->end))
        extremes__offer(&search->slow, one);
}

static void offer_fast(struct difference_search *search, struct extreme *one)
{
    uint64_t away = one->duration > search->median ? one->duration - search->median
                                                   : search->median - one->duration;
    one->key = ~(search->is_median ? away : one->duration);
    extremes__offer(&search->fast, one);
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct difference_search *search = (struct difference_search *)watcher;
    (void)arguments, (void)argument_count;
    if (occurrence->inner ||
        class_entry__number(watcher__class(watcher, search->table, entry)) != search->number)
        return;
    struct extreme one = {.start = watcher->entered,
                          .end = occurrence->end,
                          .duration = occurrence->duration,
                          .index = search->count++,
                          .thread = search->thread,
                          .depth = occurrence->depth};
    offer_slow(search, &one);
    offer_fast(search, &one);
}

static void search_all(struct difference_search *search, const struct trace *trace)
{
    for (uint32_t i = 0; i < trace__threads(trace)->count; i++) {
        search->thread = i;
        thread__watch(search->table, i, &search->watcher);
    }
    extremes__sort(&search->slow);
    extremes__sort(&search->fast);
}

static struct difference_search search_of(const struct trace *trace,
                                          const struct profile_class *class,
                                          const struct difference_selection *choice,
                                          struct class_table *table)
{
    return (struct difference_search){
        .watcher = {.at_once = true, .occurrence = occurrence},
        .table = table,
        .number = class ? class->number : CLASS_NOT_NUMBERED,
        .median =
            class && class->histogram ? quantile__of(class->accumulator, class->histogram, 0.5) : 0,
        .at = choice->slow ? 0 : trace__tick(trace, choice->at_ns),
        .is_at = !choice->slow,
        .is_median = !choice->fast,
        .slow = extremes__of(choice->slow ? choice->slow : 1),
        .fast = extremes__of(choice->fast > 1 ? choice->fast : 2),
    };
}

static int refuse(const struct difference_search *search, const struct difference_selection *choice,
                  struct error *error)
{
    if (search->count == 0)
        return error__set(error, -ENOENT,
                          "none of its occurrences ended, or they are shown "
                          "together with many others: none can be looked at alone");
    if (search->count == 1)
        return error__set(error, -ENOENT,
                          "it occurred once, so there is nothing to compare it "
                          "with");
    if (search->is_at && !search->slow.kept.count)
        return error__set(error, -ENOENT, "it was open in no thread at that time");
    return error__set(error, -ENOENT,
                      "it occurred %" PRIu64 " times, so there is no %" PRIu64 "th "
                      "%s",
                      search->count,
                      search->slow.kept.count < choice->slow ? choice->slow : choice->fast,
                      search->slow.kept.count < choice->slow ? "slowest" : "fastest");
}

static bool is_same(const struct extreme *left, const struct extreme *right)
{
    return left->index == right->index;
}

/* The two, sides SLOW and FAST. */
static int take_two(const struct difference_search *search,
                    const struct difference_selection *choice, struct extreme two[SIDES],
                    struct error *error)
{
    const struct vec *slow = &search->slow.kept, *fast = &search->fast.kept;
    if (search->count < 2 || slow->count < (choice->slow ? choice->slow : 1) ||
        fast->count < choice->fast)
        return refuse(search, choice, error);
    two[SIDE_SLOW] = *VEC_AT(slow, struct extreme, slow->count - 1);
    size_t place = choice->fast ? choice->fast - 1 : 0;
    two[SIDE_FAST] = *VEC_AT(fast, struct extreme, place);
    if (place == 0 && is_same(&two[SIDE_SLOW], &two[SIDE_FAST])) /* all took as long */
        two[SIDE_FAST] = *VEC_AT(fast, struct extreme, 1);
    if (is_same(&two[SIDE_SLOW], &two[SIDE_FAST]))
        return error__set(error, -ENOENT, "the two that are to be compared are the same one");
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A row in ticks. */
struct own_ticks {
    int64_t components[SIDES][COMPONENTS];
};

struct making {
    const struct trace *trace;
    struct difference *difference;
    struct vec ticks; /* struct own_ticks, as the rows */
    struct map rows;  /* row that it is in, place -> row */
};

static struct difference_row *row_at(const struct making *making, uint32_t row)
{
    return VEC_AT(&making->difference->rows, struct difference_row, row);
}

static int64_t *ticks_at(const struct making *making, uint32_t row, enum difference_side side)
{
    return VEC_AT(&making->ticks, struct own_ticks, row)->components[side];
}

static uint32_t add_row(struct making *making, uint32_t parent, const struct class_definition *what)
{
    struct difference_row row = {.parent = parent, .what = *what};
    row.what.keys = VEC_OF(struct profile_key);
    vec__push(&making->difference->rows, &row);
    vec__push(&making->ticks, NULL);
    return (uint32_t)making->difference->rows.count - 1;
}

static uint32_t row_of(struct making *making, uint32_t parent, const struct call_tree_node *call)
{
    const uint32_t key[2] = {parent, call->entry->place};
    uint32_t row =
        (uint32_t)map__put(&making->rows, key, sizeof key, making->difference->rows.count);
    if (row == making->difference->rows.count)
        add_row(making, parent, &call->entry->what);
    struct difference_row *what = row_at(making, row);
    if (!call->has_object || call->entry->what.object != what->what.object)
        what->what.has_object = false;
    return row;
}

/* What is in a call is not its own. */
static void add_components(const struct making *making, enum difference_side side, uint32_t row,
                           uint32_t parent, const uint64_t components[COMPONENTS])
{
    int64_t *own = ticks_at(making, row, side);
    for (unsigned i = 0; i < COMPONENTS; i++)
        own[i] += (int64_t)components[i];
    if (parent == DIFFERENCE_NONE)
        return;
    own = ticks_at(making, parent, side);
    for (unsigned i = 0; i < COMPONENTS; i++)
        own[i] -= (int64_t)components[i];
}

static void add_calls(struct making *making, enum difference_side side,
                      const struct call_tree *inside)
{
    uint32_t *rows = memory__zeroed(inside->calls.count, sizeof *rows);
    const struct call_tree_node *calls = inside->calls.items;
    for (size_t i = 0; i < inside->calls.count; i++) {
        uint32_t parent = calls[i].parent == INSIDE_NONE ? 0 : rows[calls[i].parent];
        rows[i] = row_of(making, parent, &calls[i]);
        struct difference_row *row = row_at(making, rows[i]);
        row->count[side] += calls[i].count;
        row->time_ns[side] += trace__ns(making->trace, calls[i].time);
        add_components(making, side, rows[i], parent, calls[i].components);
    }
    free(rows);
}

/* Each part becomes what it adds to the ns of all before it, so that the parts add up; component by
 * component, whose sums are then not less than 0. */
static void convert(struct making *making, enum difference_side side)
{
    struct difference *difference = making->difference;
    struct difference_side_info *info = &difference->sides[side];
    int64_t sum = 0, sum_ns = 0;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        int64_t before_ns = sum_ns;
        for (uint32_t i = 0; i < difference->rows.count; i++) {
            struct difference_row *row = row_at(making, i);
            sum += ticks_at(making, i, side)[c];
            row->component_ns[side][c] = trace__ns_between(making->trace, sum) - sum_ns;
            row->own_ns[side] += row->component_ns[side][c];
            sum_ns += row->component_ns[side][c];
        }
        info->component_ns[c] = (uint64_t)(sum_ns - before_ns);
    }
    info->duration_ns = (uint64_t)sum_ns;
    row_at(making, 0)->time_ns[side] = info->duration_ns;
}

static void add_side(struct making *making, enum difference_side side,
                     const struct call_tree *inside)
{
    struct difference_side_info *info = &making->difference->sides[side];
    *info = (struct difference_side_info){
        .thread = inside->thread,
        .index = UINT64_MAX,
        .start_ns = trace__since_start_ns(making->trace, inside->start),
        .cpu = inside->cpu,
        .is_sampled = inside->is_sampled,
        .argument_count = inside->argument_count,
    };
    for (size_t i = 0; i < inside->argument_count; i++)
        info->arguments[i] = inside->arguments[i];
    row_at(making, 0)->count[side] = 1;
    add_components(making, side, 0, DIFFERENCE_NONE, inside->components);
    add_calls(making, side, inside);
}

/* ---- both ------------------------------------------------------------------------------------ */

static struct call_tree inside_of(const struct extreme *one, bool is_stretch)
{
    return (struct call_tree){.thread = one->thread,
                              .start = one->start,
                              .end = one->end,
                              .depth = one->depth,
                              .is_stretch = is_stretch};
}

static bool comes_before(const struct extreme *left, const struct extreme *right)
{
    return left->thread != right->thread ? left->thread < right->thread
                                         : left->start < right->start;
}

/* None where it waited for nobody. */
static struct vec waits_of(const struct trace *trace, const struct extreme *slow,
                           const struct difference_side_info *info)
{
    const uint64_t *ns = info->component_ns;
    if (!ns[COMPONENT_LOCK] && !ns[COMPONENT_CONDITION] && !ns[COMPONENT_BARRIER])
        return VEC_OF(struct difference_wait);
    return difference__waits(trace, slow->thread, slow->start, slow->end);
}

/* Frees nothing of what is given. */
static struct difference *make(struct class_table *table, const struct class_definition *what,
                               const struct extreme two[SIDES], bool is_stretch)
{
    struct difference *difference = memory__zeroed(1, sizeof *difference);
    struct making making = {
        .trace = table->trace, .difference = difference, .ticks = VEC_OF(struct own_ticks)};
    enum difference_side first = comes_before(&two[SIDE_FAST], &two[SIDE_SLOW]);
    struct call_tree insides[SIDES] = {inside_of(&two[first], is_stretch),
                                       inside_of(&two[!first], is_stretch)};
    call_trees__collect(table, insides, SIDES);
    difference->rows = VEC_OF(struct difference_row);
    add_row(&making, DIFFERENCE_NONE, what);
    add_side(&making, SIDE_SLOW, &insides[first == SIDE_SLOW ? 0 : 1]);
    add_side(&making, SIDE_FAST, &insides[first == SIDE_FAST ? 0 : 1]);
    convert(&making, SIDE_SLOW);
    convert(&making, SIDE_FAST);
    difference->waits = waits_of(table->trace, &two[SIDE_SLOW], &difference->sides[SIDE_SLOW]);
    for (int i = 0; i < SIDES; i++)
        call_tree__free(&insides[i]);
    vec__free(&making.ticks);
    map__free(&making.rows);
    return difference;
}

static const struct trace_function *definition_of(const struct trace *trace,
                                                  const struct profile_class *class)
{
    const struct trace_process *process = trace__process_of(trace, class->what.at.process);
    if (!process || !class->what.at.address)
        return NULL;
    VEC_EACH (function, &process->functions, struct trace_function)
        if (function->address == class->what.at.address)
            return function;
    return NULL;
}

static void describe(struct difference *difference, const struct trace *trace,
                     const struct profile_class *class, uint64_t count)
{
    difference->what = class->what;
    difference->what.keys = VEC_OF(struct profile_key);
    difference->definition = definition_of(trace, class);
    difference->count = count;
    difference->min_ns = class->min_ns;
    difference->median_ns = class->p50_ns;
    difference->max_ns = class->max_ns;
}

int difference__of_class(const struct trace *trace, const struct profile *profile,
                         const struct profile_class *class,
                         const struct difference_selection *choice, struct difference **difference,
                         struct error *error)
{
    struct class_table *table = profile__table(profile);
    struct extreme two[SIDES];
    if (trace__is_aggregated(trace))
        return error__set(error, -ENOTSUP,
                          "the run was recorded with --aggregate, which keeps no single "
                          "occurrences; record it without to compare two");
    struct difference_search search = search_of(trace, class, choice, table);
    search.watcher.signatures = class_table__has_parts(table);
    search_all(&search, trace);
    int code = take_two(&search, choice, two, error);
    if (code == 0) {
        *difference = make(table, &class->what, two, false);
        describe(*difference, trace, class, search.count);
    }
    extremes__free(&search.slow);
    extremes__free(&search.fast);
    return code;
}

/* ---- iterations ------------------------------------------------------------------------------ */

static struct extreme extreme_of(const struct iteration *iteration, uint64_t place)
{
    return (struct extreme){.start = iteration->start_tick,
                            .end = iteration->end_tick,
                            .duration = iteration->end_tick - iteration->start_tick,
                            .index = place,
                            .thread = iteration->thread,
                            .depth = iteration->depth};
}

static const struct iteration *kept_at(const struct iteration_phase *phase, uint64_t place)
{
    return VEC_AT(&phase->kept, struct iteration, place);
}

/* Of the thread's iterations, or of all threads' when thread is UINT32_MAX. */
static struct vec durations_of(const struct iteration_phase *phase, uint32_t thread)
{
    struct vec durations = VEC_OF(uint64_t);
    VEC_EACH (iteration, &phase->kept, struct iteration)
        if (thread == UINT32_MAX || iteration->thread == thread)
            vec__push(&durations, &(uint64_t){iteration->end_tick - iteration->start_tick});
    vec__sort(&durations, order__u64);
    return durations;
}

static void offer_slow_iterations(struct difference_search *search,
                                  const struct iteration_phase *phase)
{
    for (size_t i = 0; i < phase->kept.count; i++) {
        struct extreme one = extreme_of(kept_at(phase, i), i);
        offer_slow(search, &one);
        search->count++;
    }
    extremes__sort(&search->slow);
}

/* Those of the thread of the slow one; of all when it has no other. */
static void offer_fast_iterations(struct difference_search *search,
                                  const struct iteration_phase *phase)
{
    const struct vec *slow = &search->slow.kept;
    if (!slow->count)
        return;
    uint32_t thread = VEC_AT(slow, struct extreme, slow->count - 1)->thread;
    struct vec durations = durations_of(phase, thread);
    if (durations.count < 2) {
        vec__free(&durations);
        thread = UINT32_MAX;
        durations = durations_of(phase, thread);
    }
    search->median = *VEC_AT(&durations, uint64_t, (durations.count - 1) / 2);
    for (size_t i = 0; i < phase->kept.count; i++) {
        struct extreme one = extreme_of(kept_at(phase, i), i);
        if (thread == UINT32_MAX || one.thread == thread)
            offer_fast(search, &one);
    }
    extremes__sort(&search->fast);
    vec__free(&durations);
}

static void describe_iterations(struct difference *difference, const struct trace *trace,
                                const struct iteration_phase *phase,
                                const struct extreme two[SIDES])
{
    struct vec durations = durations_of(phase, UINT32_MAX);
    const uint64_t *ticks = durations.items;
    VEC_EACH (thread, &phase->threads, struct iteration_thread)
        difference->count += thread->iterations;
    difference->min_ns = trace__ns(trace, ticks[0]);
    difference->median_ns = trace__ns(trace, ticks[(durations.count - 1) / 2]);
    difference->max_ns = trace__ns(trace, ticks[durations.count - 1]);
    for (int side = 0; side < SIDES; side++)
        difference->sides[side].index = kept_at(phase, two[side].index)->index;
    vec__free(&durations);
}

int difference__of_iterations(const struct trace *trace, const struct iteration_phase *phase,
                              const struct difference_selection *choice,
                              struct difference **difference, struct error *error)
{
    struct class_table table;
    struct extreme two[SIDES];
    const struct class_definition none = {0};
    struct difference_search search = search_of(trace, NULL, choice, NULL);
    offer_slow_iterations(&search, phase);
    offer_fast_iterations(&search, phase);
    int code = take_two(&search, choice, two, error);
    if (code == 0) {
        class_table__start(&table, trace, NULL);
        *difference = make(&table, &none, two, true);
        describe_iterations(*difference, trace, phase, two);
        class_table__free(&table);
    }
    extremes__free(&search.slow);
    extremes__free(&search.fast);
    return code;
}

int64_t difference__more_ns(const struct difference *difference)
{
    return (int64_t)(difference->sides[SIDE_SLOW].duration_ns -
                     difference->sides[SIDE_FAST].duration_ns);
}

void difference__more_components(const struct difference *difference, int64_t more_ns[COMPONENTS])
{
    for (unsigned i = 0; i < COMPONENTS; i++)
        more_ns[i] = (int64_t)(difference->sides[SIDE_SLOW].component_ns[i] -
                               difference->sides[SIDE_FAST].component_ns[i]);
}

int64_t difference_row__more_ns(const struct difference_row *row)
{
    return row->own_ns[SIDE_SLOW] - row->own_ns[SIDE_FAST];
}

void difference_row__more_components(const struct difference_row *row, int64_t more_ns[COMPONENTS])
{
    for (unsigned i = 0; i < COMPONENTS; i++)
        more_ns[i] = row->component_ns[SIDE_SLOW][i] - row->component_ns[SIDE_FAST][i];
}

void difference__free(struct difference *difference)
{
    if (!difference)
        return;
    vec__free(&difference->rows);
    vec__free(&difference->waits);
    free(difference);
}
