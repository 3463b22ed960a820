#include "analysis/cause/explain.h"

#include "analysis/callsite/rules.h"
#include "analysis/cause/confidence.h"
#include "analysis/cause/machine_phase.h"
#include "analysis/cause/overlap.h"
#include "analysis/cause/residual.h"
#include "analysis/cause/workload.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define CLASSES_MOST 64u
#define LEAST_OF_TIME 0.01 /* of the threads' time is lost on the CPU: worth a look */
#define LEAST_SCORE 0.02   /* likewise, when a part of it is lost on the CPU: */
#define LEAST_OF_EXCESS 0.25
#define LEAST_MORE 0.10     /* of the differences, for a second value to be taken */
#define ADDRESS_LEAST 65536 /* a value that may be an address */
#define SPIN_MEETS 0.9      /* overlap.h: met and meets */

/* ---- which classes --------------------------------------------------------------------------- */

static int64_t running_excess(const struct class_entry *entry)
{
    return accumulator__component_excess(&entry->total.accumulator, COMPONENT_RUNNING);
}

static bool is_candidate(const struct class_table *table, const struct thread_result *results,
                         const struct class_entry *entry, double time)
{
    const struct accumulator *accumulator = &entry->total.accumulator;
    if (entry->fold.component != COMPONENT_RUNNING || running_excess(entry) <= 0 ||
        accumulator->recorded < WORKLOAD_LEAST)
        return false;
    double on_cpu = (double)running_excess(entry);
    double excess = (double)accumulator__excess(accumulator, accumulator->minimum);
    return on_cpu >= LEAST_OF_TIME * time ||
           (on_cpu >= LEAST_OF_EXCESS * excess &&
            class_entry__has_score(entry, table->trace, results, LEAST_SCORE));
}

static int by_running_excess(const void *a, const void *b)
{
    int64_t left = running_excess(*(struct class_entry *const *)a);
    int64_t right = running_excess(*(struct class_entry *const *)b);
    return left < right ? 1 : left > right ? -1 : 0;
}

/* Marks the classes that are worth a look; false: none is. */
bool explain__is_worth(struct class_table *table, const struct thread_result *results)
{
    struct vec candidates = VEC_OF(struct class_entry *);
    double time = 0;
    for (uint32_t i = 0; i < trace__threads(table->trace)->count; i++)
        time += (double)thread_result__lifetime(results, table->trace, i);
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        if (is_candidate(table, results, *entry, time))
            vec__push(&candidates, entry);
    }
    if (candidates.count)
        qsort(candidates.items, candidates.count, sizeof(struct class_entry *), by_running_excess);
    bool found = candidates.count > 0;
    for (size_t i = 0; i < candidates.count && i < CLASSES_MOST; i++)
        (*VEC_AT(&candidates, struct class_entry *, i))->is_worth = true;
    vec__free(&candidates);
    return found;
}

bool explain__wants(const struct class_entry *entry)
{
    return entry->is_worth;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static double left_of(const struct look *look)
{
    double sum = 0;
    for (size_t i = 0; i < look->count; i++)
        sum += look->left[i] - look->least;
    return sum;
}

/* Takes what is explained off; parts: by item. Returns its share of the differences. */
static double take_off(struct look *look, const double *parts)
{
    double sum = 0;
    for (size_t i = 0; i < look->count; i++) {
        look->left[i] -= parts[i];
        sum += parts[i];
    }
    return look->differences > 0 ? sum / look->differences : 0;
}

static void begin_look(struct look *look, const struct class_occurrences *class)
{
    size_t count = class->occurrences.count;
    *look = (struct look){.class = class, .least = INFINITY};
    look->items = memory__zeroed(count, sizeof *look->items);
    look->left = memory__zeroed(count, sizeof *look->left);
    look->excess = look->unexplained = running_excess(class->entry);
    VEC_EACH (occurrence, &class->occurrences, struct occurrence) {
        if (occurrence->inner)
            continue;
        look->items[look->count] = occurrence;
        look->left[look->count] = (double)occurrence->running;
        look->least = fmin(look->least, look->left[look->count++]);
    }
    look->differences = left_of(look);
}

static void end_look(struct look *look)
{
    free(look->items);
    free(look->left);
}

/* share: of the differences between the occurrences that were kept, and so of the class's. */
static struct class_evidence *add_evidence(struct look *look, enum reason reason, double share)
{
    double wanted = share * (double)look->excess;
    int64_t ticks = wanted >= (double)look->unexplained ? look->unexplained : (int64_t)wanted;
    if (!(wanted > 0) || ticks <= 0)
        return NULL;
    struct class_evidence *evidence = vec__push(&look->class->entry->evidence, NULL);
    look->unexplained -= ticks;
    evidence->ticks = ticks;
    evidence->shown = (struct profile_evidence){.reason = reason,
                                                .confidence = look->class->entry->doubts & DOUBT_FEW
                                                                  ? CONFIDENCE_WEAK
                                                                  : CONFIDENCE_ESTIMATED,
                                                .other = UINT32_MAX};
    return evidence;
}

/* ---- the workload ---------------------------------------------------------------------------- */

enum { FEATURE_TOGETHER = HEURT_ARGUMENTS_MAX, FEATURE_INSIDE, FEATURE_INSTRUCTIONS, FEATURES };

static uint64_t hash_of(const uint64_t *arguments, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ arguments[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t value_of(const struct class_occurrences *class, const struct occurrence *occurrence,
                         unsigned feature)
{
    const uint64_t *arguments = occurrence__arguments(class, occurrence);
    switch (feature) {
    case FEATURE_TOGETHER:
        return hash_of(arguments, occurrence->argument_count);
    case FEATURE_INSIDE:
        return occurrence->inside;
    case FEATURE_INSTRUCTIONS:
        return occurrence->instructions;
    default:
        return feature < occurrence->argument_count ? arguments[feature] : 0;
    }
}

/* How a value changes from one occurrence of a thread to its next one. */
struct changes {
    size_t up, down, threads;
    uint64_t least, most;
    bool within_threads; /* on one thread at least */
};

static struct changes changes_of(const struct look *look, const uint64_t *values)
{
    struct changes changes = {.threads = look->count > 0, .least = UINT64_MAX};
    for (size_t i = 0; i < look->count; i++) {
        changes.least = values[i] < changes.least ? values[i] : changes.least;
        changes.most = values[i] > changes.most ? values[i] : changes.most;
        if (!i)
            continue;
        bool same_thread = look->items[i]->thread == look->items[i - 1]->thread;
        changes.threads += !same_thread;
        changes.up += same_thread && values[i] > values[i - 1];
        changes.down += same_thread && values[i] < values[i - 1];
    }
    changes.within_threads = changes.up + changes.down > 0;
    return changes;
}

/* False: the value says nothing about work. An address that each thread has its own of says which
 * thread it is; what a thread's instructions or calls tell while it turns and waits for others is
 * not its work. */
static bool sort_value(const struct look *look, const uint64_t *values, unsigned feature,
                       bool may_turn, enum value_sort *sort)
{
    struct changes changes = changes_of(look, values);
    if (changes.least == changes.most)
        return false;
    if (feature >= FEATURE_INSIDE && may_turn)
        return false;
    if (feature == FEATURE_INSTRUCTIONS && !changes.least)
        return false;
    if (feature < FEATURE_INSIDE && !changes.within_threads && changes.most >= ADDRESS_LEAST)
        return false;
    size_t less = changes.up < changes.down ? changes.up : changes.down;
    bool one_way = changes.up + changes.down > 10 && less * 20 < changes.up + changes.down;
    *sort = feature == FEATURE_TOGETHER             ? VALUE_LABEL
            : one_way && feature < FEATURE_TOGETHER ? VALUE_COUNTER
                                                    : VALUE_NUMBER;
    return true;
}

/* The function of which the class's occurrences are, or NULL. */
static const struct trace_function *function_of(const struct class_table *table,
                                                const struct class_definition *what)
{
    VEC_EACH (process, trace__processes(table->trace), struct trace_process) {
        if (process->serial != what->at.process)
            continue;
        VEC_EACH (function, &process->functions, struct trace_function) {
            if (function->address == what->at.address && function->name == what->at.function)
                return function;
        }
    }
    return NULL;
}

static const char *name_of(struct class_table *table, const struct look *look, unsigned feature)
{
    const struct trace_function *function = function_of(table, &look->class->entry->what);
    if (feature == FEATURE_TOGETHER)
        return "arguments together";
    if (feature == FEATURE_INSIDE)
        return "calls inside";
    if (feature == FEATURE_INSTRUCTIONS || !function)
        return "instructions";
    char *name = recorded_argument__name(function, feature);
    vec__push(&table->strings, &name);
    return name;
}

static bool has_feature(const struct look *look, unsigned feature)
{
    if (!look->count)
        return false;
    const struct occurrence *first = look->items[0];
    switch (feature) {
    case FEATURE_TOGETHER:
        return first->argument_count > 1;
    case FEATURE_INSIDE:
        return true;
    case FEATURE_INSTRUCTIONS:
        return first->instructions > 0;
    default:
        return feature < first->argument_count;
    }
}

/* The best of the values that were not taken yet. */
struct best {
    unsigned feature; /* FEATURES: none */
    struct workload_fit fit;
    double *parts;
};

static void try_feature(const struct look *look, unsigned feature, bool may_turn, uint64_t *values,
                        double *parts, struct best *best)
{
    struct workload_values what = {look->left, values, look->count, VALUE_NUMBER};
    struct workload_fit fit;
    for (size_t i = 0; i < look->count; i++)
        values[i] = value_of(look->class, look->items[i], feature);
    if (!sort_value(look, values, feature, may_turn, &what.sort) ||
        !workload__fit(&what, parts, &fit) ||
        (best->feature < FEATURES && fit.share < best->fit.share + 0.01))
        return;
    best->feature = feature;
    best->fit = fit;
    for (size_t i = 0; i < look->count; i++)
        best->parts[i] = parts[i];
}

static void take_best(struct class_table *table, struct look *look, const struct best *best)
{
    struct class_evidence *evidence =
        add_evidence(look, REASON_WORKLOAD, take_off(look, best->parts));
    if (!evidence)
        return;
    struct profile_evidence *shown = &evidence->shown;
    shown->explained = best->fit.explained;
    shown->null = best->fit.null;
    shown->argument = name_of(table, look, best->feature);
    if (best->feature == FEATURE_INSTRUCTIONS && shown->confidence == CONFIDENCE_ESTIMATED)
        shown->confidence = CONFIDENCE_MEASURED;
}

static void explain_workload(struct class_table *table, struct look *look, bool may_turn)
{
    uint64_t *values = memory__zeroed(look->count, sizeof *values);
    double *parts = memory__zeroed(look->count, sizeof *parts);
    struct best best = {.parts = memory__zeroed(look->count, sizeof *parts)};
    for (unsigned round = 0; round < 2; round++) {
        best.feature = FEATURES;
        for (unsigned feature = 0; feature < FEATURES; feature++) {
            if (!has_feature(look, feature))
                continue;
            try_feature(look, feature, may_turn, values, parts, &best);
        }
        if (best.feature == FEATURES ||
            (round && best.fit.share * left_of(look) < LEAST_MORE * look->differences))
            break;
        take_best(table, look, &best);
    }
    free(values);
    free(parts);
    free(best.parts);
}

/* ---- slow phases of the machine -------------------------------------------------------------- */

static void explain_phases(const struct occurrences *all, struct look *looks, size_t count)
{
    struct phase_answer *answers = memory__zeroed(count, sizeof *answers);
    double **parts = memory__zeroed(count, sizeof *parts);
    for (size_t i = 0; i < count; i++)
        parts[i] = memory__zeroed(looks[i].count, sizeof **parts);
    bool found = phases__find(all, looks, count, parts, answers);
    for (size_t i = 0; i < count; i++) {
        struct class_evidence *evidence =
            found ? add_evidence(&looks[i], REASON_SLOW_MACHINE, take_off(&looks[i], parts[i]))
                  : NULL;
        if (evidence) {
            evidence->shown.explained = answers[i].explained;
            evidence->shown.null = answers[i].null;
        }
        free(parts[i]);
    }
    free(parts);
    free(answers);
}

/* ---- other threads --------------------------------------------------------------------------- */

/* Occurrences that lie in one window from begin to end, and what is left of them. */
struct explain_request {
    struct class_occurrences class;
    double *left;
};

static void begin_asking(const struct occurrences *all, const struct look *look,
                         struct explain_request *asked)
{
    *asked = (struct explain_request){.class = {.entry = look->class->entry}};
    asked->class.occurrences = VEC_OF(struct occurrence);
    asked->left = memory__zeroed(look->count, sizeof *asked->left);
    for (size_t i = 0; i < look->count; i++) {
        const struct occurrence *item = look->items[i];
        if (item->window == UINT32_MAX ||
            item->end > VEC_AT(&all->windows, struct window, item->window)->end)
            continue;
        asked->left[asked->class.occurrences.count] = look->left[i];
        vec__push(&asked->class.occurrences, item);
    }
}

static struct overlap_answer ask(const struct occurrences *all, const struct explain_request *asked,
                                 bool preempted)
{
    struct overlap_question question = {all, &asked->class, asked->left, preempted};
    struct overlap_answer answer = {0};
    if (asked->class.occurrences.count >= WORKLOAD_LEAST)
        overlap__ask(&question, &answer);
    return answer;
}

/* Turning while another thread is preempted: nearly each slow occurrence meets such a time, and
 * nearly each such time a slow occurrence. */
static bool is_spin(const struct overlap_answer *spin, const struct overlap_answer *overlap)
{
    return spin->is_found && spin->met >= SPIN_MEETS && spin->meets >= SPIN_MEETS &&
           (!overlap->is_found || spin->share > overlap->share);
}

static void add_answer(const struct class_table *table, struct look *look, enum reason reason,
                       const struct overlap_answer *answer)
{
    double left = look->differences > 0 ? left_of(look) / look->differences : 0;
    struct class_evidence *evidence = add_evidence(look, reason, answer->share * left);
    if (!evidence)
        return;
    const uint32_t many = 1u << 30; /* ticks, for a rate */
    evidence->other = answer->other;
    evidence->shown.explained = answer->explained;
    evidence->shown.null = answer->null;
    evidence->shown.slope_ns = answer->slope * (double)trace__ns(table->trace, many) / many;
    evidence->shown.thread = answer->thread;
}

static void explain_overlap(const struct class_table *table, const struct occurrences *all,
                            struct look *look, bool may_turn)
{
    struct explain_request asked;
    begin_asking(all, look, &asked);
    struct overlap_answer answer = ask(all, &asked, false), spin = {0};
    if (may_turn)
        spin = ask(all, &asked, true);
    if (is_spin(&spin, &answer))
        add_answer(table, look, REASON_SPIN, &spin);
    else if (answer.is_found)
        add_answer(table, look, REASON_OVERLAP, &answer);
    free(asked.left);
    vec__free(&asked.class.occurrences);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool may_turn(const struct class_table *table, const struct look *look)
{
    const struct trace_function *function = function_of(table, &look->class->entry->what);
    return look->class->has_locks || (function && function->flags & HEURT_FUNCTION_LOCKED);
}

static void look_at(struct class_table *table, const struct occurrences *all)
{
    size_t count = all->classes.count;
    struct look *looks = memory__zeroed(count, sizeof *looks);
    for (size_t i = 0; i < count; i++) {
        begin_look(&looks[i], VEC_AT(&all->classes, struct class_occurrences, i));
        explain_workload(table, &looks[i], may_turn(table, &looks[i]));
    }
    explain_phases(all, looks, count);
    for (size_t i = 0; i < count; i++) {
        explain_overlap(table, all, &looks[i], may_turn(table, &looks[i]));
        end_look(&looks[i]);
    }
    free(looks);
}

static void add_doubts(const struct occurrences *all)
{
    const struct window *first = VEC_AT(&all->windows, struct window, 0);
    const struct window *last = first + all->windows.count - 1;
    uint64_t middle = first->begin + (last->end - first->begin) / 2;
    VEC_EACH (class, &all->classes, struct class_occurrences) {
        unsigned known, doubts = doubts__of_occurrences(class, middle, &known);
        class->entry->doubts = (class->entry->doubts & ~known) | doubts;
    }
}

void *explain__end(void *plan)
{
    struct occurrences all = occurrences__end(plan);
    add_doubts(&all);
    look_at(all.table, &all);
    occurrences__free(&all);
    return NULL;
}
