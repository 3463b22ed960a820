#include "analysis/cause/shared_time.h"

#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum reason reasons[SHARED_KINDS] = {REASON_FALSE_SHARING, REASON_TRUE_SHARING,
                                                  REASON_REMOTE_MEMORY};

/* What a class has of it. */
struct class_share {
    double lost_ns[SHARED_KINDS];
    double most_ns[SHARED_KINDS]; /* of one line: */
    uint64_t line[SHARED_KINDS];
};

/* A sample's part, and all of the thread before it. */
struct summed_sample {
    uint64_t tick, line;
    double before_ns[SHARED_KINDS];
};

struct shared_time {
    struct class_table *table;
    const struct symbols *symbols;
    struct vec samples;          /* struct shared_sample, by thread, then by time */
    bool *nested;                /* by thread: whether it has occurrences of divided sites */
    struct class_share *classes; /* by number */
    size_t class_count;
};

/* Of one thread. */
struct shared_part {
    struct thread_watcher watcher; /* first: the watch gets this */
    struct class_table *table;     /* the lane */
    struct thread_fold *watch;
    struct vec sums; /* struct summed_sample, and one behind the last */
    struct class_share *classes;
};

/* ---- the samples of a thread ----------------------------------------------------------------- */

static void add_sum(struct vec *sums, uint64_t tick, uint64_t line, const double *before_ns)
{
    struct summed_sample sum = {.tick = tick, .line = line};
    memcpy(sum.before_ns, before_ns, sizeof sum.before_ns);
    vec__push(sums, &sum);
}

static struct vec sums_of(const struct shared_time *shared, uint32_t thread)
{
    struct vec sums = VEC_OF(struct summed_sample);
    double before_ns[SHARED_KINDS] = {0};
    size_t first =
        VEC_FIRST(sample, &shared->samples, struct shared_sample, sample->thread >= thread);
    for (size_t i = first; i < shared->samples.count; i++) {
        const struct shared_sample *sample = VEC_AT(&shared->samples, struct shared_sample, i);
        if (sample->thread != thread)
            break;
        add_sum(&sums, sample->tick, sample->line, before_ns);
        before_ns[shared_sample__kind(sample)] += sample->lost_ns;
    }
    if (sums.count)
        add_sum(&sums, UINT64_MAX, 0, before_ns);
    return sums;
}

static size_t first_from(const struct vec *sums, uint64_t tick)
{
    return VEC_FIRST(sum, sums, struct summed_sample, sum->tick >= tick);
}

/* What one occurrence has goes to its class; the line is that of the one which has most. */
static void add(struct class_share *into, const struct summed_sample *from,
                const struct summed_sample *to, double weight)
{
    for (unsigned kind = 0; kind < SHARED_KINDS; kind++) {
        double ns = to->before_ns[kind] - from->before_ns[kind];
        into->lost_ns[kind] += ns * weight;
        if (ns > into->most_ns[kind]) {
            into->most_ns[kind] = ns;
            into->line[kind] = from->line;
        }
    }
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *from, const uint64_t *arguments,
                       size_t argument_count)
{
    struct shared_part *part = (struct shared_part *)watcher;
    (void)arguments, (void)argument_count;
    size_t first = first_from(&part->sums, from->start), end = first_from(&part->sums, from->end);
    if (first == end || from->inner || entry->fold.component != COMPONENT_RUNNING)
        return;
    entry = class_table__part(part->table, entry, watcher->signature);
    add(&part->classes[entry->number], VEC_AT(&part->sums, struct summed_sample, first),
        VEC_AT(&part->sums, struct summed_sample, end), from->weight);
}

/* ---- all threads ----------------------------------------------------------------------------- */

struct shared_time *shared_time__start(struct class_table *table, const struct sharings *sharings,
                                       const struct remotes *remotes, const struct symbols *symbols)
{
    struct vec samples = remotes__all_samples(remotes, sharings, table->trace);
    if (!samples.count) {
        vec__free(&samples);
        return NULL;
    }
    struct shared_time *shared = memory__zeroed(1, sizeof *shared);
    class_table__number(table);
    *shared = (struct shared_time){
        .table = table,
        .symbols = symbols,
        .samples = samples,
        .nested = memory__zeroed(trace__threads(table->trace)->count, sizeof(bool)),
        .classes = memory__zeroed(table->entries.count + 1, sizeof(struct class_share)),
        .class_count = table->entries.count};
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        if (!(*entry)->division)
            continue;
        class_entry__mark_threads(*entry, shared->nested);
        VEC_EACH (part, &(*entry)->division->parts, struct class_part)
            class_entry__mark_threads(part->entry, shared->nested);
    }
    class_table__share_nests(table);
    return shared;
}

void *shared_time__thread(void *argument, unsigned lane, uint32_t thread)
{
    const struct shared_time *shared = argument;
    struct vec sums = sums_of(shared, thread);
    if (!sums.count)
        return NULL;
    struct shared_part *part = memory__zeroed(1, sizeof *part);
    *part = (struct shared_part){
        .watcher = {.occurrence = occurrence, .signatures = shared->nested[thread]},
        .table = &shared->table->lanes[lane],
        .sums = sums,
        .classes = memory__zeroed(shared->class_count + 1, sizeof(struct class_share))};
    part->watch = thread_watch__start(part->table, thread, &part->watcher);
    return part;
}

void shared_time__event(void *part, const struct event *event)
{
    thread_watch__event(((struct shared_part *)part)->watch, event);
}

void shared_time__events(void *part, struct event_words *words)
{
    thread_watch__functions(((struct shared_part *)part)->watch, words);
}

void shared_time__end_thread(void *part)
{
    thread_watch__end(((struct shared_part *)part)->watch);
}

static void join(struct class_share *into, const struct class_share *from)
{
    for (unsigned kind = 0; kind < SHARED_KINDS; kind++) {
        into->lost_ns[kind] += from->lost_ns[kind];
        if (from->most_ns[kind] > into->most_ns[kind]) {
            into->most_ns[kind] = from->most_ns[kind];
            into->line[kind] = from->line[kind];
        }
    }
}

void shared_time__join(void *argument, uint32_t thread, void *of_thread)
{
    struct shared_time *shared = argument;
    struct shared_part *part = of_thread;
    (void)thread;
    for (size_t i = 0; i < shared->class_count; i++)
        join(&shared->classes[i], &part->classes[i]);
    vec__free(&part->sums);
    free(part->classes);
    free(part);
}

/* ---- of calls that are drawn ----------------------------------------------------------------- */

/* What is sampled at the code of a function of which calls are drawn, and how long these ran. */
struct drawn_function {
    struct class_share share;
    double sampled_ns; /* of all samples there: also before calls were recorded */
    double running;    /* ticks, of all its classes */
};

struct drawn_functions {
    struct map number_of; /* of a process, whether threads are aside, and a name */
    struct vec rows;      /* struct drawn_function */
};

static bool is_drawn(const struct class_entry *entry)
{
    const struct accumulator *all = &entry->total.accumulator;
    return entry->what.at.kind == CLASS_CALL && all->recorded < all->count;
}

/* is_new: add it where it is not known; else NULL. */
static struct drawn_function *function_of(struct drawn_functions *functions, uint32_t process,
                                          bool is_aside, const char *name, bool is_new)
{
    char *key = memory__format("%u %d %s", process, is_aside, name);
    uint64_t number = map__get(&functions->number_of, key, strlen(key));
    if (number == MAP_ABSENT && is_new) {
        number = map__put(&functions->number_of, key, strlen(key), functions->rows.count);
        vec__push(&functions->rows, NULL);
    }
    free(key);
    return number == MAP_ABSENT ? NULL : VEC_AT(&functions->rows, struct drawn_function, number);
}

static struct drawn_function *function_of_entry(struct drawn_functions *functions,
                                                const struct class_entry *entry, bool is_new)
{
    return function_of(functions, entry->what.at.process, entry->what.is_aside,
                       entry->what.at.function, is_new);
}

/* The function that an instruction belongs to, the innermost of those that are asked for where some
 * were inlined; NULL: it is none of them. */
static struct drawn_function *function_at(const struct shared_time *shared,
                                          struct drawn_functions *functions, uint32_t thread,
                                          uint64_t instruction)
{
    const struct trace *trace = shared->table->trace;
    uint32_t process = trace__serial_of(trace, thread);
    bool is_aside = trace__thread_at(trace, thread)->is_aside;
    const struct symbol *symbol = symbols__get(shared->symbols, process, instruction);
    struct drawn_function *found = NULL;
    for (; symbol && !found; symbol = symbol->inlined_by)
        found = function_of(functions, process, is_aside, symbol->function, false);
    return found;
}

static void add_drawn(const struct shared_time *shared, struct drawn_functions *functions,
                      const struct shared_sample *sample)
{
    struct drawn_function *function =
        function_at(shared, functions, sample->thread, sample->instruction);
    unsigned kind = shared_sample__kind(sample);
    if (!function)
        return;
    function->share.lost_ns[kind] += sample->lost_ns;
    if (sample->lost_ns > function->share.most_ns[kind]) {
        function->share.most_ns[kind] = sample->lost_ns;
        function->share.line[kind] = sample->line;
    }
}

static void add_sampled(const struct shared_time *shared, struct drawn_functions *functions)
{
    const struct trace *trace = shared->table->trace;
    struct sample_threads *known = sample_threads__new(trace);
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(known, sample);
        struct drawn_function *function =
            thread == UINT32_MAX ? NULL
                                 : function_at(shared, functions, thread, sample->instruction);
        if (function)
            function->sampled_ns += sample->weight_ns;
    }
    sample_threads__free(known);
}

/* Of all time at the code that part was in calls which were counted. */
static double counted_part(const struct trace *trace, const struct drawn_function *function)
{
    double ns = (double)trace__ns(trace, (uint64_t)function->running);
    return function->sampled_ns > ns ? ns / function->sampled_ns : 1;
}

static void divide_drawn(struct shared_time *shared, struct drawn_functions *functions)
{
    VEC_EACH (entry, &shared->table->entries, struct class_entry *) {
        const struct drawn_function *function =
            is_drawn(*entry) ? function_of_entry(functions, *entry, false) : NULL;
        if (!function)
            continue;
        double part = counted_part(shared->table->trace, function) *
                      (double)(*entry)->total.accumulator.component_sum[COMPONENT_RUNNING] /
                      fmax(function->running, 1);
        struct class_share *share = &shared->classes[(*entry)->number];
        *share = function->share;
        for (unsigned kind = 0; kind < SHARED_KINDS; kind++)
            share->lost_ns[kind] *= part;
    }
}

static void take_drawn(struct shared_time *shared)
{
    struct drawn_functions functions = {.rows = VEC_OF(struct drawn_function)};
    VEC_EACH (entry, &shared->table->entries, struct class_entry *)
        if (is_drawn(*entry))
            function_of_entry(&functions, *entry, true)->running +=
                (double)(*entry)->total.accumulator.component_sum[COMPONENT_RUNNING];
    if (functions.rows.count && shared->symbols) {
        VEC_EACH (sample, &shared->samples, const struct shared_sample)
            add_drawn(shared, &functions, sample);
        add_sampled(shared, &functions);
    }
    divide_drawn(shared, &functions);
    map__free(&functions.number_of);
    vec__free(&functions.rows);
}

/* ---- what it explains ------------------------------------------------------------------------ */

/* Of the excess on the CPU. */
static int64_t unexplained_of(const struct class_entry *entry)
{
    int64_t ticks = accumulator__component_excess(&entry->total.accumulator, COMPONENT_RUNNING);
    VEC_EACH (evidence, &entry->evidence, struct class_evidence)
        ticks -= evidence->ticks;
    return ticks;
}

static void add_evidence(struct class_entry *entry, enum reason reason, int64_t ticks,
                         uint64_t line)
{
    struct class_evidence *evidence = vec__push(&entry->evidence, NULL);
    evidence->ticks = ticks;
    evidence->shown = (struct profile_evidence){
        .reason = reason,
        .confidence = entry->doubts & DOUBT_FEW ? CONFIDENCE_WEAK : CONFIDENCE_ESTIMATED,
        .explained = NAN,
        .null = NAN,
        .other = UINT32_MAX,
        .line = line};
}

static int64_t overlap_of(const struct class_entry *entry)
{
    int64_t ticks = 0;
    VEC_EACH (evidence, &entry->evidence, const struct class_evidence)
        ticks += evidence->shown.reason == REASON_OVERLAP ? evidence->ticks : 0;
    return ticks;
}

/* What samples tell of sharing is no mere overlap: so many ticks of that are explained better. */
static void take_from_overlap(struct class_entry *entry, int64_t ticks)
{
    size_t kept = 0;
    VEC_EACH (evidence, &entry->evidence, struct class_evidence) {
        int64_t taken = evidence->shown.reason != REASON_OVERLAP ? 0
                        : evidence->ticks < ticks                ? evidence->ticks
                                                                 : ticks;
        evidence->ticks -= taken;
        ticks -= taken;
        if (!taken || evidence->ticks > 0)
            *VEC_AT(&entry->evidence, struct class_evidence, kept++) = *evidence;
    }
    entry->evidence.count = kept;
}

/* Where there is more of it than is unexplained, each kind gets its part of that. What each ends at
 * is rounded, so that all of them are the whole. */
static void explain(const struct trace *trace, struct class_entry *entry,
                    const struct class_share *share)
{
    double all_ns = 0, until_ns = 0;
    int64_t unexplained = unexplained_of(entry), before = 0;
    bool is_shared = share->lost_ns[SHARED_FALSE] + share->lost_ns[SHARED_TRUE] > 0;
    int64_t left = unexplained + (is_shared ? overlap_of(entry) : 0);
    for (unsigned kind = 0; kind < SHARED_KINDS; kind++)
        all_ns += share->lost_ns[kind];
    if (!(all_ns > 0) || left <= 0)
        return;
    uint64_t in_ticks = trace__ticks(trace, (uint64_t)all_ns);
    int64_t ticks = in_ticks < (uint64_t)left ? (int64_t)in_ticks : left;
    if (ticks > unexplained)
        take_from_overlap(entry, ticks - (unexplained > 0 ? unexplained : 0));
    for (unsigned kind = 0; kind < SHARED_KINDS; kind++) {
        until_ns += share->lost_ns[kind];
        int64_t until = (int64_t)((double)ticks * until_ns / all_ns);
        if (until > before)
            add_evidence(entry, reasons[kind], until - before, share->line[kind]);
        before = until;
    }
}

void *shared_time__end(void *argument)
{
    struct shared_time *shared = argument;
    take_drawn(shared);
    VEC_EACH (entry, &shared->table->entries, struct class_entry *)
        explain(shared->table->trace, *entry, &shared->classes[(*entry)->number]);
    vec__free(&shared->samples);
    free(shared->nested);
    free(shared->classes);
    free(shared);
    return NULL;
}
