#include "analysis/timeline/long_functions.h"

#include "analysis/events/spans.h"
#include "analysis/memory/sharing.h"
#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_PART 2u /* one in so many of the time in a function is in calls: they tell of it */
#define UNSEEN_LEAST 0.02 /* of the time on a CPU: less is not looked at */

/* A sample of a thread. */
struct seldom_sample {
    uint64_t tick;
    const struct heurt_sample *sample;
    uint32_t thread;
    bool is_seen; /* in what occurred twice on its thread */
};

struct long_walk {
    const struct trace *trace;
    const struct symbols *symbols;
    const struct profile *profile;
    const struct sharings *sharings;
    struct class_table *table;
    struct vec samples; /* struct seldom_sample, by thread, then by time */
    bool *again;        /* by number of the class: it occurs twice on a thread */
    size_t number_count;
};

struct long_part {
    struct watched_part watched; /* first: the watch gives this */
    struct long_walk *walk;
    size_t first, end; /* its samples */
};

/* ---- what is seen again ---------------------------------------------------------------------- */

static size_t first_from(const struct long_part *part, uint64_t tick)
{
    const struct vec *samples = &part->walk->samples;
    return part->first +
           FIRST_WHERE(place, part->end - part->first,
                       VEC_AT(samples, struct seldom_sample, part->first + place)->tick >= tick);
}

static void see(struct thread_watcher *watcher, struct class_entry *entry,
                const struct fold_occurrence *occurrence, const uint64_t *arguments,
                size_t argument_count)
{
    struct long_part *part = (struct long_part *)watcher;
    (void)arguments, (void)argument_count;
    uint32_t number = class_entry__number(watcher__class(watcher, part->walk->table, entry));
    if (number >= part->walk->number_count || !part->walk->again[number])
        return;
    size_t end = first_from(part, occurrence->end);
    for (size_t i = first_from(part, occurrence->start); i < end; i++)
        VEC_AT(&part->walk->samples, struct seldom_sample, i)->is_seen = true;
}

static void find_again(struct long_walk *walk)
{
    VEC_EACH (class, &walk->profile->classes, struct profile_class)
        walk->number_count =
            class->number >= walk->number_count ? class->number + 1 : walk->number_count;
    walk->again = memory__zeroed(walk->number_count + 1, sizeof *walk->again);
    VEC_EACH (class, &walk->profile->classes, struct profile_class)
        walk->again[class->number] =
            class_kind__is_code(class->what.at.kind) && class->count > class->threads.count;
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct seldom_sample *left = a, *right = b;
    return ORDER(left->thread, right->thread) ?: ORDER(left->tick, right->tick);
}

static void take_samples(struct long_walk *walk)
{
    struct sample_threads *known = sample_threads__new(walk->trace);
    walk->samples = VEC_OF(struct seldom_sample);
    VEC_EACH (sample, trace__samples(walk->trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(known, sample);
        if (thread != UINT32_MAX)
            vec__push(&walk->samples, &(struct seldom_sample){sample__tick(walk->trace, sample),
                                                              sample, thread, false});
    }
    sample_threads__free(known);
    vec__sort(&walk->samples, by_thread_and_time);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void *start(struct run *run)
{
    const struct profile *profile = run__result(run, &profile_analysis);
    if (!profile || !run->symbols || trace__is_aggregated(run->trace) ||
        !trace__samples(run->trace)->count || profile__unseen(profile) < UNSEEN_LEAST)
        return NULL;
    struct long_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct long_walk){.trace = run->trace,
                               .symbols = run->symbols,
                               .profile = profile,
                               .sharings = run__result(run, &sharings_analysis),
                               .table = profile__table(profile)};
    take_samples(walk);
    find_again(walk);
    return walk;
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    struct long_walk *walk = self;
    struct long_part *part = memory__zeroed(1, sizeof *part);
    (void)lane;
    part->walk = walk;
    part->first = VEC_FIRST(at, &walk->samples, struct seldom_sample, at->thread >= thread);
    part->end = VEC_FIRST(at, &walk->samples, struct seldom_sample, at->thread > thread);
    if (part->first == part->end) {
        free(part);
        return NULL;
    }
    part->watched.watcher = (struct thread_watcher){
        .occurrence = see, .signatures = class_table__has_parts(walk->table)};
    part->watched.watch = thread_watch__start(walk->table, thread, &part->watched.watcher);
    return part;
}

/* ---- by function ----------------------------------------------------------------------------- */

struct grouping {
    const struct long_walk *walk;
    struct long_functions *found;
    struct map row_of;  /* of a process and a function */
    struct map line_of; /* of a row and a line of the source */
};

static const struct symbol *outermost(const struct symbol *symbol)
{
    while (symbol->inlined_by)
        symbol = symbol->inlined_by;
    return symbol;
}

static struct long_function *row_of(struct grouping *grouping, uint32_t process,
                                    const struct symbol *function, uint64_t *number)
{
    struct vec *rows = &grouping->found->rows;
    char *key = memory__format("%u %s %s", process, function->function, function->module);
    *number = map__put(&grouping->row_of, key, strlen(key), rows->count);
    free(key);
    if (*number == rows->count) {
        struct long_function *row = vec__push(rows, NULL);
        *row = (struct long_function){.process = process,
                                      .symbol = function,
                                      .threads = VEC_OF(struct function_thread),
                                      .lines = VEC_OF(struct function_line)};
    }
    return VEC_AT(rows, struct long_function, *number);
}

static void add_to_thread(struct long_function *row, uint32_t thread, uint64_t ns)
{
    VEC_EACH (known, &row->threads, struct function_thread)
        if (known->thread == thread) {
            known->ns += ns;
            return;
        }
    vec__push(&row->threads, &(struct function_thread){thread, ns});
}

static void add_to_line(struct grouping *grouping, struct long_function *row, uint64_t number,
                        const struct symbol *at, uint64_t ns)
{
    char *key =
        memory__format("%lu %s:%u", (unsigned long)number, at->file ? at->file : "", at->line);
    uint64_t place = map__put(&grouping->line_of, key, strlen(key), row->lines.count);
    free(key);
    if (place == row->lines.count)
        vec__push(&row->lines, &(struct function_line){at, 0});
    VEC_AT(&row->lines, struct function_line, place)->ns += ns;
}

static void add(struct grouping *grouping, const struct seldom_sample *at)
{
    const struct long_walk *walk = grouping->walk;
    uint32_t process = trace__serial_of(walk->trace, at->thread);
    const struct symbol *symbol = symbols__get(walk->symbols, process, at->sample->instruction);
    if (!symbol || symbol__is_of_runtime(symbol))
        return;
    uint64_t number;
    struct long_function *row = row_of(grouping, process, outermost(symbol), &number);
    row->samples++;
    row->ns += at->sample->weight_ns;
    add_to_thread(row, at->thread, at->sample->weight_ns);
    add_to_line(grouping, row, number, symbol, at->sample->weight_ns);
}

/* ---- what sharing costs there ---------------------------------------------------------------- */

static const struct seldom_sample *sample_at(const struct long_walk *walk, uint32_t thread,
                                             uint64_t tick)
{
    size_t place = VEC_FIRST(at, &walk->samples, struct seldom_sample,
                             at->thread > thread || (at->thread == thread && at->tick >= tick));
    const struct seldom_sample *at = VEC_AT(&walk->samples, struct seldom_sample, place);
    return place < walk->samples.count && at->thread == thread && at->tick == tick ? at : NULL;
}

static void add_sharing(struct grouping *grouping)
{
    const struct long_walk *walk = grouping->walk;
    struct vec shared = sharings__samples(walk->sharings, walk->trace);
    VEC_EACH (one, &shared, const struct shared_sample) {
        const struct seldom_sample *at = sample_at(walk, one->thread, one->tick);
        uint32_t process = trace__serial_of(walk->trace, one->thread);
        const struct symbol *symbol =
            at && !at->is_seen ? symbols__get(walk->symbols, process, at->sample->instruction)
                               : NULL;
        uint64_t number;
        if (!symbol || symbol__is_of_runtime(symbol))
            continue;
        struct long_function *row = row_of(grouping, process, outermost(symbol), &number);
        *(one->is_false ? &row->false_ns : &row->true_ns) += (uint64_t)one->lost_ns;
    }
    vec__free(&shared);
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_thread_ns(const void *a, const void *b)
{
    const struct function_thread *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->thread, right->thread);
}

static int by_line_ns(const void *a, const void *b)
{
    const struct function_line *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->symbol->line, right->symbol->line);
}

static int by_ns(const void *a, const void *b)
{
    const struct long_function *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: strcmp(left->symbol->function, right->symbol->function);
}

/* How often it was called, and whether what was recorded of that tells of its time: calls to be
 * compared, and no good part of the time before they were recorded. */
static bool is_told(const struct profile *profile, struct long_function *row)
{
    uint64_t told_ns = 0;
    VEC_EACH (class, &profile->classes, struct profile_class) {
        if (!class_kind__is_code(class->what.at.kind) || class->what.at.process != row->process ||
            strcmp(class->what.at.function, row->symbol->function) != 0)
            continue;
        row->calls += class->count;
        told_ns += class->count > class->threads.count ? class->sum_ns : 0;
    }
    return told_ns * TOLD_PART >= row->ns;
}

static void free_row(struct long_function *row)
{
    vec__free(&row->threads);
    vec__free(&row->lines);
}

static void end_rows(const struct long_walk *walk, struct long_functions *found)
{
    size_t kept = 0;
    VEC_EACH (row, &found->rows, struct long_function) {
        bool is_seldom = !is_told(walk->profile, row);
        found->seldom_ns += is_seldom ? row->ns : 0;
        if (!is_seldom || (double)row->ns < LONG_FUNCTION_LEAST * (double)found->all_ns) {
            free_row(row);
            continue;
        }
        vec__sort(&row->threads, by_thread_ns);
        vec__sort(&row->lines, by_line_ns);
        *VEC_AT(&found->rows, struct long_function, kept++) = *row;
    }
    found->rows.count = kept;
    vec__sort(&found->rows, by_ns);
}

static void *finish(void *self)
{
    struct long_walk *walk = self;
    struct long_functions *found = memory__zeroed(1, sizeof *found);
    struct grouping grouping = {.walk = walk, .found = found};
    found->rows = VEC_OF(struct long_function);
    VEC_EACH (at, &walk->samples, const struct seldom_sample) {
        found->all_ns += at->sample->weight_ns;
        if (!at->is_seen)
            add(&grouping, at);
    }
    add_sharing(&grouping);
    end_rows(walk, found);
    map__free(&grouping.row_of);
    map__free(&grouping.line_of);
    vec__free(&walk->samples);
    free(walk->again);
    free(walk);
    return found;
}

static void free_found(void *result)
{
    struct long_functions *found = result;
    VEC_EACH (row, &found->rows, struct long_function)
        free_row(row);
    vec__free(&found->rows);
    free(found);
}

const struct analysis long_functions_analysis = {
    .name = "long functions",
    .after = (const struct analysis *const[]){&profile_analysis, &sharings_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = start,
    .thread = thread,
    .event = watched_part__event,
    .events = watched_part__events,
    .end = watched_part__end,
    .join = watched_part__free,
    .finish = finish,
    .free = free_found,
};
