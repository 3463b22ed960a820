#include "analysis/ledger/profile.h"

#include "analysis/callsite/classes.h"
#include "analysis/callsite/uncontended.h"
#include "analysis/cause/blame.h"
#include "analysis/cause/confidence.h"
#include "analysis/cause/explain.h"
#include "analysis/events/spans.h"
#include "analysis/events/unfinished_waits.h"
#include "analysis/ledger/audit.h"
#include "analysis/ledger/checks.h"
#include "analysis/ledger/results.h"
#include "analysis/ledger/seen.h"
#include "analysis/ledger/subclasses.h"
#include "base/memory.h"

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
    return class->what.structure ? class->what.structure->nest : 0;
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

static void fill_threads(struct profile *profile, const struct result_base *base,
                         const struct thread_result *results)
{
    const struct vec *threads = trace__threads(base->trace);
    for (uint32_t i = 0; i < threads->count; i++) {
        struct profile_thread row;
        thread__result(base, VEC_AT(threads, struct trace_thread, i), i, &results[i], &row);
        profile->events += row.events;
        profile->unmatched += results[i].fold.unmatched;
        profile->overhead_ns +=
            trace__ns(base->trace, results[i].fold.overhead + results[i].fold.paused);
        profile->lifetime_sum_ns += row.lifetime_ns;
        vec__push(&profile->threads, &row);
    }
}

static void fill_classes(struct profile *profile, const struct result_base *base,
                         struct class_table *table)
{
    class_table__number(table); /* pieces of evidence name classes by number */
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        struct profile_class class;
        if (!class_entry__is_shown(*entry))
            continue;
        class__result(base, *entry, &class);
        audit__result(&profile->audit, &class);
        vec__push(&profile->classes, &class);
    }
    if (profile->classes.count)
        qsort_r(profile->classes.items, profile->classes.count, sizeof(struct profile_class),
                by_rank, &profile->threshold);
}

static struct owned_profile *new_profile(const struct trace *trace, double threshold)
{
    struct owned_profile *owned = memory__zeroed(1, sizeof *owned);
    owned->shown.classes = VEC_OF(struct profile_class);
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
        const struct trace_thread *thread = VEC_AT(trace__threads(trace), struct trace_thread, i);
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
        base.lifetime_sum += lifetimes[i];
    fill_threads(&owned->shown, &base, results);
    checks__make(&owned->shown, table->trace, results);
    base.doubts_running = checks__doubt_running(&owned->shown);
    if (trace__is_aggregated(table->trace))
        warn_of_aggregation(table, results, &table->warnings);
    audit__ticks(&owned->shown.audit, table, results);
    fill_classes(&owned->shown, &base, table);
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

/* Where occurrences were drawn, it has to be known of which classes before nests are found: then
 * the trace is folded twice. */
static void fold_trace(struct class_table *table, const struct trace *trace,
                       const struct vec *rules, const struct symbols *symbols, bool by_nests,
                       struct thread_result *results)
{
    class_table__start(table, trace, rules);
    threads__fold(table, symbols, results, by_nests);
    if (!by_nests || !table->is_drawn)
        return;
    struct class_table before = *table;
    class_table__forget_lanes(&before);
    class_table__start(table, trace, rules);
    table->before = &before;
    threads__fold(table, symbols, results, by_nests);
    table->before = NULL;
    class_table__free(&before);
}

int profile__compute_by(enum class_view view, const struct trace *trace,
                        const struct symbols *symbols, const struct vec *rules, double threshold,
                        struct profile **profile, struct error *error)
{
    (void)error; /* whatever a trace holds, there is a profile of it */
    struct class_table table;
    size_t threads = trace__threads(trace)->count;
    struct thread_result *results = memory__zeroed(threads, sizeof *results);
    view = trace__is_aggregated(trace) ? CLASSES_BY_SITE : view;
    fold_trace(&table, trace, rules, symbols, view == CLASSES_BY_STRUCTURE, results);
    unfinished_waits__prolong(trace, results);
    uint64_t seen = seen__ticks(&table);
    if (view == CLASSES_BY_STRUCTURE)
        classes__divide(&table, results);
    VEC_EACH (entry, &table.entries, struct class_entry *) {
        class_entry__set_undisturbed(*entry);
        (*entry)->doubts = doubts__of_sums(*entry, results);
    }
    if (!trace__is_aggregated(trace)) {
        explain__running(&table, symbols, results);
        blame__find(&table, results);
    }
    uncontended_classes__join(&table);
    *profile = &result_of(&table, symbols, results, threshold)->shown;
    (*profile)->seen_ns = trace__ns(trace, seen);
    (*profile)->view = view;
    keep_table((struct owned_profile *)*profile, &table);
    free(results);
    return 0;
}

int profile__compute(const struct trace *trace, const struct symbols *symbols,
                     const struct vec *rules, double threshold, struct profile **profile,
                     struct error *error)
{
    return profile__compute_by(CLASSES_BY_STRUCTURE, trace, symbols, rules, threshold, profile,
                               error);
}

static void free_texts(struct vec *texts)
{
    VEC_EACH (text, texts, char *)
        free(*text);
    vec__free(texts);
}

bool profile__locks_are_sampled(const struct profile *profile)
{
    VEC_EACH (class, &profile->classes, struct profile_class)
        if (class->what.at.kind == CLASS_LOCK && class->recorded < class->count)
            return true;
    return false;
}

void profile__free(struct profile *profile)
{
    if (!profile)
        return;
    struct owned_profile *owned = (struct owned_profile *)profile;
    free(profile->no_gains);
    VEC_EACH (class, &profile->classes, struct profile_class) {
        free(class->accumulator);
        free(class->histogram);
        profile_structure__free(class->what.structure);
        vec__free(&class->what.keys);
        vec__free(&class->threads);
        vec__free(&class->blames);
        vec__free(&class->evidence);
        vec__free(&class->what.stacks);
    }
    vec__free(&profile->classes);
    vec__free(&profile->threads);
    free_texts(&profile->warnings);
    class_table__free(&owned->table);
    free_texts(&owned->strings);
    free(owned);
}
