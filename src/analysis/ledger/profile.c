#include "analysis/ledger/profile.h"

#include "analysis/analysis.h"
#include "analysis/callsite/classes.h"
#include "analysis/callsite/uncontended.h"
#include "analysis/cause/answers.h"
#include "analysis/cause/blame.h"
#include "analysis/cause/confidence.h"
#include "analysis/cause/explain.h"
#include "analysis/cause/shared_time.h"
#include "analysis/events/spans.h"
#include "analysis/events/unfinished_waits.h"
#include "analysis/ledger/audit.h"
#include "analysis/ledger/checks.h"
#include "analysis/ledger/recording_cost.h"
#include "analysis/ledger/results.h"
#include "analysis/ledger/seen.h"
#include "analysis/ledger/subclasses.h"
#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What callers see, and what it stands on. */
struct owned_profile {
    struct profile shown;
    struct class_table table; /* of who walks over the trace again */
    struct vec strings;       /* char *: names of keys */
};

/* ---- the order ------------------------------------------------------------------------------- */

static int group_of(const struct profile_class *class, double threshold)
{
    if (class->what.is_aside)
        return 6;
    if (class->what.ignored)
        return 5;
    if (class->idle)
        return 4;
    switch (class->verdict) {
    case VERDICT_INTERFERENCE:
        return class->score >= threshold ? 0 : 1;
    case VERDICT_WORKLOAD:
        return 3;
    default:
        return 2;
    }
}

static int descending(uint64_t left, uint64_t right)
{
    return left < right ? 1 : left > right ? -1 : 0;
}

static uint64_t nest_of(const struct profile_class *class)
{
    return class->what.structure ? class->what.structure->signature : 0;
}

static int by_rank(const void *a, const void *b, void *threshold)
{
    const struct profile_class *left = a, *right = b;
    int order = group_of(left, *(double *)threshold) - group_of(right, *(double *)threshold);
    order = order ? order : descending(left->exclusive_excess_ns, right->exclusive_excess_ns);
    order = order ? order : descending(left->excess_ns, right->excess_ns);
    order = order ? order : descending(left->sum_ns, right->sum_ns);
    order = order ? order : descending(left->count, right->count);
    order = order ? order : strcmp(left->what.at.function, right->what.at.function);
    order = order ? order : descending(right->what.at.site, left->what.at.site);
    order = order ? order : descending(right->what.object, left->what.object);
    return order ? order : descending(nest_of(right), nest_of(left));
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Beside the events. A process' first thread begins it. */
static uint64_t cost_of_lives(const struct trace *trace)
{
    uint64_t ns = 0;
    VEC_EACH (process, trace__processes(trace), struct trace_process)
        ns += trace__has_asides(trace) ? 0 : process->begin_cost_ns;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread) {
        const struct trace_process *process = trace__process_at(trace, thread->process);
        bool begins_it = trace__has_asides(trace) && thread->tid == thread->pid;
        ns += thread->is_aside ? 0 : process->thread_cost_ns;
        ns += begins_it && !thread->is_aside ? process->begin_cost_ns : 0;
    }
    return ns;
}

/* Of the CPU's time: who waits for the recorder has none. */
static uint64_t told_ticks(const struct fold_state *fold)
{
    uint64_t off = (uint64_t)fold->paused_off * 1024, on = fold->paused;
    return fold->overhead + (on > off ? on - off : 0);
}

static void fill_threads(struct profile *profile, const struct result_base *base,
                         const struct thread_result *results)
{
    const struct vec *threads = trace__threads(base->trace);
    profile->overhead_ns = cost_of_lives(base->trace);
    for (uint32_t i = 0; i < threads->count; i++) {
        struct profile_thread row;
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, i);
        thread__result(base, thread, i, &results[i], &row);
        vec__push(&profile->threads, &row);
        if (thread->is_aside)
            continue;
        profile->events += row.events;
        profile->unmatched += results[i].fold.unmatched;
        profile->overhead_ns += trace__ns(base->trace, told_ticks(&results[i].fold));
        profile->lifetime_sum_ns += row.lifetime_ns;
    }
}

/* Until now twins are numbers of classes, from 1. */
static void place_twins(struct profile *profile, size_t numbers)
{
    uint32_t *places = memory__zeroed(numbers + 1, sizeof *places);
    for (uint32_t i = 0; i < profile->classes.count; i++) {
        uint32_t number = VEC_AT(&profile->classes, struct profile_class, i)->number;
        if (number < numbers)
            places[number + 1] = i + 1;
    }
    VEC_EACH (class, &profile->classes, struct profile_class)
        class->twin_and_1 = class->twin_and_1 <= numbers ? places[class->twin_and_1] : 0;
    free(places);
}

static void fill_classes(struct profile *profile, const struct result_base *base,
                         struct class_table *table, const struct symbols *symbols)
{
    class_table__number(table); /* pieces of evidence name classes by number */
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        struct profile_class class;
        if (!class_entry__is_shown(*entry))
            continue;
        class__result(base, *entry, &class);
        class.what.ignored = rules__ignore(table->rules, symbols, &class.what);
        if (!class.what.is_aside)
            audit__result(&profile->audit, &class);
        vec__push(&profile->classes, &class);
    }
    if (profile->classes.count)
        qsort_r(profile->classes.items, profile->classes.count, sizeof(struct profile_class),
                by_rank, &profile->threshold);
    place_twins(profile, table->entries.count);
}

static struct owned_profile *new_profile(const struct trace *trace, double threshold)
{
    struct owned_profile *owned = memory__zeroed(1, sizeof *owned);
    owned->shown.classes = VEC_OF(struct profile_class);
    owned->shown.asides = VEC_OF(struct profile_class);
    owned->shown.aside_threads = VEC_OF(struct profile_thread);
    owned->shown.threads = VEC_OF(struct profile_thread);
    owned->shown.wall_ns = trace__wall_ns(trace);
    owned->shown.threshold = threshold;
    return owned;
}

static uint64_t *lifetimes_of(const struct trace *trace, const struct thread_result *results)
{
    const struct vec *threads = trace__threads(trace);
    uint64_t *lifetimes = memory__zeroed(threads->count, sizeof *lifetimes);
    for (size_t i = 0; i < threads->count; i++) {
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, i);
        uint64_t start = thread->start_tick;
        lifetimes[i] = results[i].end > start ? results[i].end - start : 0;
        if (thread->merged_threads)
            lifetimes[i] = thread->merged_ticks;
    }
    return lifetimes;
}

/* ---- what aggregated runs do not tell -------------------------------------------------------- */

static void warn(struct vec *warnings, char *sentence)
{
    vec__push(warnings, &sentence);
}

static void warn_of_room(const struct trace *trace, const struct thread_result *results,
                         struct vec *warnings)
{
    uint64_t refused = 0, dropped = 0, merged = 0;
    for (size_t i = 0; i < trace__threads(trace)->count; i++) {
        const struct trace_thread *thread = trace__thread_at(trace, i);
        dropped += results[i].fold.dropped;
        merged += thread->merged_threads;
        refused += thread->aggregate ? thread->aggregate->record->refused : 0;
    }
    if (merged)
        warn(warnings, memory__format("%" PRIu64 " threads that had ended are shown as one, with "
                                      "the sum of their lives: there was no room for each",
                                      merged));
    if (refused)
        warn(warnings, memory__format("%" PRIu64 " occurrences found no room and are not counted; "
                                      "raise --max-size",
                                      refused));
    if (dropped)
        warn(warnings, memory__format("so many calls were open at a time that the %" PRIu64
                                      " outermost were taken for unfinished; record without "
                                      "--aggregate to see them",
                                      dropped));
}

static void warn_of_aggregation(const struct class_table *table,
                                const struct thread_result *results, struct vec *warnings)
{
    bool waited = false;
    VEC_EACH (entry, &table->entries, struct class_entry *)
        waited |= (*entry)->what.at.kind == CLASS_LOCK && (*entry)->total.contended;
    if (waited)
        warn(warnings, memory__text("who held the locks is not known of an aggregated run; record "
                                    "without --aggregate to see it"));
    warn_of_room(table->trace, results, warnings);
}

static struct owned_profile *result_of(struct class_table *table, const struct symbols *symbols,
                                       const struct thread_result *results, double threshold)
{
    struct owned_profile *owned = new_profile(table->trace, threshold);
    uint64_t *lifetimes = lifetimes_of(table->trace, results);
    struct idle_shares *idle = idle__shares(table, results);
    struct result_base base = {.trace = table->trace, .lifetimes = lifetimes, .idle = idle};
    for (size_t i = 0; i < trace__threads(table->trace)->count; i++)
        base.lifetime_sum += trace__thread_at(table->trace, i)->is_aside ? 0 : lifetimes[i];
    fill_threads(&owned->shown, &base, results);
    recording_cost__check(&owned->shown, table->trace, symbols);
    checks__make(&owned->shown, table->trace, results);
    base.doubts_running = checks__doubt_running(&owned->shown);
    if (trace__is_aggregated(table->trace))
        warn_of_aggregation(table, results, &table->warnings);
    audit__ticks(&owned->shown.audit, table, results);
    fill_classes(&owned->shown, &base, table, symbols);
    unfinished_waits__warn(table->trace, symbols, results, &table->warnings);
    owned->shown.warnings = table->warnings;
    owned->strings = table->strings;
    table->warnings = table->strings = VEC_OF(char *);
    free(lifetimes);
    free(idle);
    return owned;
}

/* Later walks ask for an event's class alone. */
static void keep_table(struct owned_profile *owned, struct class_table *table)
{
    class_table__forget_lanes(table);
    owned->table = *table;
    owned->table.rules = NULL; /* the caller's; functions have their keys already */
    VEC_EACH (entry, &owned->table.entries, struct class_entry *)
        class_entry__forget_results(*entry);
}

struct class_table *profile__table(const struct profile *profile)
{
    return &((struct owned_profile *)profile)->table;
}

/* ---- the walks ------------------------------------------------------------------------------- */

/* What they hand on. */
struct ledger {
    struct class_table table;
    struct class_table before; /* what it was first folded into */
    struct thread_result *results;
    const struct symbols *symbols;
    bool by_signature;
    uint64_t seen; /* ticks */
};

static const struct profile_options *options_of(const struct run *run)
{
    static const struct profile_options usual = {.view = CLASSES_BY_STRUCTURE};
    const struct profile_options *options = run__options(run, &profile_analysis);
    return options ? options : &usual;
}

static void start_table(struct ledger *ledger, struct run *run)
{
    class_table__start(&ledger->table, run->trace, options_of(run)->rules);
    class_table__add_lanes(&ledger->table, run->lanes);
}

static void *start_fold(struct run *run)
{
    struct ledger *ledger = memory__zeroed(1, sizeof *ledger);
    ledger->results = memory__zeroed(trace__threads(run->trace)->count, sizeof *ledger->results);
    ledger->symbols = run->symbols;
    ledger->by_signature =
        options_of(run)->view == CLASSES_BY_STRUCTURE && !trace__is_aggregated(run->trace);
    start_table(ledger, run);
    return ledger;
}

static void *fold_thread(void *self, unsigned lane, uint32_t thread)
{
    struct ledger *ledger = self;
    return thread_fold__start(&ledger->table.lanes[lane], ledger->symbols, thread,
                              ledger->by_signature, &ledger->results[thread]);
}

static void join_fold(void *self, uint32_t thread, void *part)
{
    thread_fold__join(part, &((struct ledger *)self)->table, thread);
}

static void *end_fold(void *self)
{
    class_table__join_lanes(&((struct ledger *)self)->table);
    return self;
}

static void free_ledger(void *result)
{
    struct ledger *ledger = result;
    class_table__free(&ledger->table);
    free(ledger->results);
    free(ledger);
}

static const struct analysis fold_analysis = {
    .name = "fold",
    .walk = WALK_THREADS,
    .start = start_fold,
    .thread = fold_thread,
    .event = thread_fold__event,
    .events = thread_fold__functions,
    .end = thread_fold__end,
    .join = join_fold,
    .finish = end_fold,
    .free = free_ledger,
};

/* Where occurrences were drawn, it has to be known of which classes before callee signatures are
 * found: then the trace is folded twice. */
static void *start_again(struct run *run)
{
    struct ledger *ledger = run__result(run, &fold_analysis);
    if (!ledger->by_signature || !ledger->table.is_drawn)
        return NULL;
    ledger->before = ledger->table;
    class_table__forget_lanes(&ledger->before);
    start_table(ledger, run);
    ledger->table.before = &ledger->before;
    return ledger;
}

static void *end_again(void *self)
{
    struct ledger *ledger = end_fold(self);
    ledger->table.before = NULL;
    class_table__free(&ledger->before);
    return NULL;
}

static const struct analysis again_analysis = {
    .name = "fold again",
    .after = (const struct analysis *const[]){&fold_analysis, NULL},
    .walk = WALK_THREADS,
    .start = start_again,
    .thread = fold_thread,
    .event = thread_fold__event,
    .events = thread_fold__functions,
    .end = thread_fold__end,
    .join = join_fold,
    .finish = end_again,
};

/* What is known once all is counted. */
static void *start_classes(struct run *run)
{
    struct ledger *ledger = run__result(run, &fold_analysis);
    unfinished_waits__prolong(run->trace, ledger->results);
    ledger->seen = seen__ticks(&ledger->table);
    if (ledger->by_signature)
        classes__divide(&ledger->table, ledger->results);
    VEC_EACH (entry, &ledger->table.entries, struct class_entry *) {
        class_entry__set_undisturbed(*entry);
        (*entry)->doubts = doubts__of_sums(*entry, ledger->results);
    }
    return NULL;
}

static const struct analysis classes_analysis = {
    .name = "classes",
    .after = (const struct analysis *const[]){&fold_analysis, &again_analysis, NULL},
    .start = start_classes,
};

/* Why the time on the CPU differs. */
static void *start_running(struct run *run)
{
    struct ledger *ledger = run__result(run, &fold_analysis);
    if (trace__is_aggregated(run->trace) || !explain__is_worth(&ledger->table, ledger->results))
        return NULL;
    return occurrences__start(&ledger->table, explain__wants);
}

static const struct analysis running_analysis = {
    .name = "running",
    .after = (const struct analysis *const[]){&classes_analysis, NULL},
    .walk = WALK_THREADS,
    .start = start_running,
    .thread = occurrences__thread,
    .event = occurrences__event,
    .events = occurrences__events,
    .end = occurrences__end_thread,
    .join = occurrences__join,
    .finish = explain__end,
};

/* What lines that threads take from each other cost its classes. */
static void *start_shared(struct run *run)
{
    struct ledger *ledger = run__result(run, &fold_analysis);
    return trace__is_aggregated(run->trace)
               ? NULL
               : shared_time__start(&ledger->table, run__result(run, &sharings_analysis),
                                    run__result(run, &remote_analysis), run->symbols);
}

static const struct analysis shared_analysis = {
    .name = "shared time",
    .after = (const struct analysis *const[]){&running_analysis, &sharings_analysis,
                                              &remote_analysis, NULL},
    .walk = WALK_THREADS,
    .start = start_shared,
    .thread = shared_time__thread,
    .event = shared_time__event,
    .events = shared_time__events,
    .end = shared_time__end_thread,
    .join = shared_time__join,
    .finish = shared_time__end,
};

/* Whom waits are blamed on. */
static void scope_of_blame(struct run *run, struct sync_scope *scope)
{
    const struct ledger *ledger = run__result(run, &fold_analysis);
    blame__scope(&ledger->table, ledger->results, scope);
}

static void *start_blame(struct run *run)
{
    struct ledger *ledger = run__result(run, &fold_analysis);
    return trace__is_aggregated(run->trace)
               ? NULL
               : blame__start(&ledger->table, ledger->results, run->sync_events);
}

static const struct analysis blame_analysis = {
    .name = "blame",
    .after = (const struct analysis *const[]){&running_analysis, NULL},
    .walk = WALK_TIME_DETAILS,
    .scope = scope_of_blame,
    .start = start_blame,
    .sync = blame__take,
    .finish = blame__end,
};

/* How long those who wait for answers are served. */
static void scope_of_answers(struct run *run, struct sync_scope *scope)
{
    const struct ledger *ledger = run__result(run, &fold_analysis);
    answers__scope(&ledger->table, ledger->results, scope);
}

static void *start_answers(struct run *run)
{
    struct ledger *ledger = run__result(run, &fold_analysis);
    return answers__start(&ledger->table, ledger->results);
}

static const struct analysis answers_analysis = {
    .name = "answers",
    .after = (const struct analysis *const[]){&fold_analysis, NULL},
    .walk = WALK_TIME_MESSAGES,
    .scope = scope_of_answers,
    .start = start_answers,
    .sync = answers__take,
    .finish = answers__end,
};

/* ---- all of it ------------------------------------------------------------------------------- */

static void *start_profile(struct run *run)
{
    struct ledger *ledger = run__result(run, &fold_analysis);
    uncontended_classes__join(&ledger->table);
    struct owned_profile *owned =
        result_of(&ledger->table, ledger->symbols, ledger->results, options_of(run)->threshold);
    owned->shown.seen_ns = trace__ns(run->trace, ledger->seen);
    owned->shown.view = ledger->by_signature ? CLASSES_BY_STRUCTURE : CLASSES_BY_SITE;
    keep_table(owned, &ledger->table);
    ledger->table = (struct class_table){0};
    return &owned->shown;
}

static void free_profile(void *result)
{
    profile__free(result);
}

const struct analysis profile_analysis = {
    .name = "profile",
    .after = (const struct analysis *const[]){&fold_analysis, &shared_analysis, &blame_analysis,
                                              &answers_analysis, NULL},
    .start = start_profile,
    .free = free_profile,
};

bool profile__locks_are_sampled(const struct profile *profile)
{
    VEC_EACH (class, &profile->classes, struct profile_class)
        if (class->what.at.kind == CLASS_LOCK && class->recorded < class->count)
            return true;
    return false;
}

/* Classes of threads that are aside are behind all others. */
void profile__leave_out_asides(struct profile *profile, const struct trace *trace)
{
    size_t classes = profile->classes.count, threads = 0;
    while (classes && VEC_AT(&profile->classes, struct profile_class, classes - 1)->what.is_aside)
        vec__push(&profile->asides, VEC_AT(&profile->classes, struct profile_class, --classes));
    profile->classes.count = classes;
    if (!trace__has_asides(trace))
        return;
    VEC_EACH (row, &profile->threads, struct profile_thread)
        if (trace__thread_at(trace, row->thread)->is_aside)
            vec__push(&profile->aside_threads, row);
        else
            *VEC_AT(&profile->threads, struct profile_thread, threads++) = *row;
    profile->threads.count = threads;
}

static void free_classes(struct vec *classes)
{
    VEC_EACH (class, classes, struct profile_class) {
        free(class->accumulator);
        free(class->histogram);
        profile_structure__free(class->what.structure);
        vec__free(&class->what.keys);
        vec__free(&class->threads);
        vec__free(&class->blames);
        vec__free(&class->evidence);
        vec__free(&class->what.stacks);
    }
    vec__free(classes);
}

void profile__free(struct profile *profile)
{
    if (!profile)
        return;
    struct owned_profile *owned = (struct owned_profile *)profile;
    free(profile->no_gains);
    free_classes(&profile->classes);
    free_classes(&profile->asides);
    vec__free(&profile->threads);
    vec__free(&profile->aside_threads);
    texts__free(&profile->warnings);
    class_table__free(&owned->table);
    texts__free(&owned->strings);
    free(owned);
}
