#include "analysis/ledger/results.h"

#include "analysis/events/quantile.h"
#include "analysis/ledger/verdict.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static double share_of(uint64_t part, uint64_t whole)
{
    if (!whole)
        return 0;
    double share = (double)part / (double)whole;
    return share < 1 ? share : 1; /* a clock that stepped may have made more of it */
}

/* Of what a damaged trace holds, nothing may overflow a signed number: two's complement in
 * unsigned ones until the end. */
static uint64_t signed_ns(const struct trace *trace, int64_t ticks)
{
    return ticks < 0 ? -trace__ns(trace, -(uint64_t)ticks) : trace__ns(trace, (uint64_t)ticks);
}

static uint64_t size_of(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static int by_ns(const void *a, const void *b)
{
    const struct profile_evidence *left = a, *right = b;
    return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : 0;
}

/* What of the excess on the CPU each piece of evidence explains, in ticks, in the entry's order;
 * what is left of it is unexplained. */
static void fill_evidence(const struct trace *trace, struct class_entry *entry,
                          struct profile_class *result, int64_t reasons[REASONS])
{
    reasons[REASON_UNEXPLAINED] =
        accumulator__component_excess(result->accumulator, COMPONENT_RUNNING);
    result->evidence = VEC_OF(struct profile_evidence);
    VEC_EACH (evidence, &entry->evidence, struct class_evidence) {
        struct profile_evidence *row = vec__push(&result->evidence, &evidence->shown);
        row->ns = trace__ns(trace, evidence->ticks > 0 ? (uint64_t)evidence->ticks : 0);
        row->other = evidence->other ? evidence->other->number : UINT32_MAX;
        reasons[row->reason] += evidence->ticks;
        reasons[REASON_UNEXPLAINED] -= evidence->ticks;
    }
    if (result->evidence.count)
        qsort(result->evidence.items, result->evidence.count, sizeof(struct profile_evidence),
              by_ns);
}

/* The parts are rounded to ns one by one; the largest takes what that makes of their sum. */
static void fill_why(const struct trace *trace, struct class_entry *entry,
                     struct profile_class *result)
{
    int64_t reasons[REASONS] = {0};
    fill_evidence(trace, entry, result, reasons);
    uint64_t missing = result->excess_ns;
    unsigned largest = REASON_UNEXPLAINED;
    for (unsigned i = 0; i < REASONS; i++) {
        int64_t ticks = i < COMPONENT_RUNNING
                            ? accumulator__component_excess(result->accumulator, (enum component)i)
                            : reasons[i];
        uint64_t ns = signed_ns(trace, ticks);
        missing -= ns;
        result->why_ns[i] = (int64_t)ns;
        if (size_of(result->why_ns[i]) > size_of(result->why_ns[largest]))
            largest = i;
    }
    result->why_ns[largest] = (int64_t)((uint64_t)result->why_ns[largest] + missing);
}

static enum confidence confidence_of(const struct profile_class *class)
{
    if (class->doubts & (DOUBT_FEW | DOUBT_UNCLEAN | DOUBT_HALVES))
        return CONFIDENCE_WEAK;
    if (class->recorded < class->count || class->doubts & (DOUBT_OUTLIER | DOUBT_KERNEL))
        return CONFIDENCE_ESTIMATED;
    return CONFIDENCE_MEASURED;
}

/* What waits for work, of what was counted as waiting. */
static void fill_idle(const struct result_base *base, const struct class_entry *entry,
                      struct profile_class *result)
{
    for (unsigned c = 0; c < PARTS; c++) {
        double share = idle__share(base->idle, entry, (enum component)c);
        int64_t idle_ns = (int64_t)((double)result->why_ns[c] * share);
        result->why_ns[c] -= idle_ns;
        result->why_ns[REASON_IDLE] += idle_ns;
    }
    if (entry->fold.component == COMPONENT_RUNNING && result->excess_ns &&
        (double)result->why_ns[REASON_IDLE] >= (double)result->excess_ns / 2)
        result->idle = true;
}

static void fill_durations(const struct trace *trace, uint64_t fastest,
                           struct profile_class *result)
{
    const struct accumulator *accumulator = result->accumulator;
    struct accumulator bounds = *accumulator; /* of the histogram */
    bounds.minimum = fastest;
    result->count = accumulator->count;
    result->min_ns = trace__ns(trace, fastest);
    result->p50_ns = trace__ns(trace, quantile__of(&bounds, result->histogram, 0.5));
    result->p99_ns = trace__ns(trace, quantile__of(&bounds, result->histogram, 0.99));
    result->max_ns = trace__ns(trace, accumulator->maximum);
    result->sum_ns = trace__ns(trace, accumulator->sum);
    result->excess_ns = trace__ns(trace, accumulator__excess(accumulator, accumulator->minimum));
    result->exclusive_excess_ns =
        trace__ns(trace, accumulator__own_excess(accumulator, accumulator->own_minimum));
    result->recorded = accumulator->recorded;
    if (result->what.at.kind != CLASS_LOCK &&
        result->what.at.kind != CLASS_SEMAPHORE) /* of these all waits are known */
        result->sum_error_ns = trace__ns(trace, quantile__sum_error(&bounds, result->histogram));
    result->confidence = confidence_of(result);
}

static int by_excess(const void *a, const void *b)
{
    const struct profile_thread_row *left = a, *right = b;
    if (left->excess_ns != right->excess_ns)
        return left->excess_ns < right->excess_ns ? 1 : -1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static void fill_threads(const struct result_base *base, const struct class_entry *entry,
                         struct profile_class *result)
{
    uint64_t minimum = result->accumulator->minimum, excess_sum = 0;
    result->threads = VEC_OF(struct profile_thread_row);
    VEC_EACH (cell, &entry->cells, struct class_cell) {
        uint64_t excess = class_cell__excess(cell, minimum);
        struct profile_thread_row row = {.thread = cell->thread,
                                         .count = cell->count,
                                         .sum_ns = trace__ns(base->trace, cell->sum),
                                         .excess_ns = trace__ns(base->trace, excess),
                                         .score = share_of(excess, base->lifetimes[cell->thread])};
        if (row.score > result->score)
            result->score = row.score;
        excess_sum += excess;
        vec__push(&result->threads, &row);
    }
    result->thread_excess = excess_sum;
    result->score_all = share_of(excess_sum, base->lifetime_sum);
    if (result->threads.count)
        qsort(result->threads.items, result->threads.count, sizeof(struct profile_thread_row),
              by_excess);
}

static int by_wait(const void *a, const void *b)
{
    const struct profile_blame *left = a, *right = b;
    if (left->wait_ns != right->wait_ns)
        return left->wait_ns < right->wait_ns ? 1 : -1;
    return left->site < right->site ? -1 : left->site > right->site;
}

/* What rounding took away goes to the largest part. */
static void fill_doing(const struct trace *trace, const struct class_blame *blame,
                       struct profile_blame *row)
{
    uint64_t left = row->wait_ns;
    unsigned largest = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        row->doing_ns[i] = trace__ns(trace, blame->doing[i]);
        left -= row->doing_ns[i];
        largest = blame->doing[i] > blame->doing[largest] ? i : largest;
    }
    row->doing_ns[largest] += left;
}

static void fill_blames(const struct trace *trace, const struct class_entry *entry,
                        struct profile_class *result)
{
    result->blames = VEC_OF(struct profile_blame);
    VEC_EACH (blame, &entry->blames, struct class_blame) {
        struct profile_blame row = {.process = blame->process,
                                    .site = blame->site,
                                    .thread = blame->thread,
                                    .wait_ns = trace__ns(trace, blame->wait),
                                    .waits = blame->waits};
        fill_doing(trace, blame, &row);
        vec__push(&result->blames, &row);
    }
    if (result->blames.count)
        qsort(result->blames.items, result->blames.count, sizeof(struct profile_blame), by_wait);
}

static int by_share(const void *a, const void *b)
{
    const struct profile_stack *left = a, *right = b;
    return left->share < right->share ? 1 : left->share > right->share ? -1 : 0;
}

static void fill_stacks(const struct class_entry *entry, struct profile_class *result)
{
    uint64_t snapshots = 0;
    result->what.stacks = VEC_OF(struct profile_stack);
    VEC_EACH (stack, &entry->stacks, struct class_stack)
        snapshots += stack->snapshots;
    VEC_EACH (stack, &entry->stacks, struct class_stack) {
        struct profile_stack row = {.share = share_of(stack->snapshots, snapshots),
                                    .frames = stack->frames,
                                    .frame_count = stack->frame_count,
                                    .process = stack->process};
        vec__push(&result->what.stacks, &row);
    }
    if (result->what.stacks.count)
        qsort(result->what.stacks.items, result->what.stacks.count, sizeof(struct profile_stack),
              by_share);
}

static void take_sums(struct class_entry *entry, struct profile_class *result)
{
    result->contended = entry->total.contended;
    result->unfinished = entry->total.unfinished;
    result->accumulator = memory__zeroed(1, sizeof *result->accumulator);
    *result->accumulator = entry->total.accumulator;
    if (!entry->histogram)
        class_entry__add_histogram(entry);
    result->histogram = entry->histogram;
    entry->histogram = NULL;
    uint64_t counted = 0;
    for (unsigned i = 1; i < HISTOGRAM_BUCKETS; i++)
        counted += result->histogram[i];
    result->histogram[0] = result->accumulator->count - counted;
}

/* A verdict is as sure as what its cause stands on. */
static void weaken(struct profile_class *result)
{
    VEC_EACH (evidence, &result->evidence, struct profile_evidence)
        if (evidence->reason == result->cause && evidence->confidence > result->confidence)
            result->confidence = evidence->confidence;
}

static void find_twin(const struct class_entry *entry, struct profile_class *result)
{
    result->twin_and_1 = entry->twin && !entry->twin->division ? entry->twin->number + 1 : 0;
    result->has_many_twins = entry->what.structure || (entry->twin && entry->twin->division);
}

void class__result(const struct result_base *base, struct class_entry *entry,
                   struct profile_class *result)
{
    *result = (struct profile_class){
        .what = entry->what, .number = entry->number, .idle = entry->idle, .joins = entry->joins};
    find_twin(entry, result);
    entry->what.keys = VEC_OF(struct profile_key);
    entry->what.structure = NULL;
    result->doubts = entry->doubts;
    if (base->doubts_running && !class_kind__waits_for_threads(result->what.at.kind))
        result->doubts |= DOUBT_KERNEL;
    take_sums(entry, result);
    fill_durations(base->trace, entry->fastest, result);
    fill_why(base->trace, entry, result);
    fill_idle(base, entry, result);
    fill_threads(base, entry, result);
    fill_blames(base->trace, entry, result);
    verdict__give(result);
    weaken(result);
    fill_stacks(entry, result);
}

static uint64_t kernel_overhead_of(const struct result_base *base,
                                   const struct trace_thread *thread,
                                   const struct fold_state *folded)
{
    const struct vec *processes = trace__processes(base->trace);
    if (thread->process >= processes->count)
        return 0;
    const struct trace_process *process = VEC_AT(processes, struct trace_process, thread->process);
    return trace__ns(base->trace,
                     folded->off_cpu_count * process->off_cpu_ticks +
                         (folded->fault_count - folded->counted_faults) * process->fault_ticks);
}

/* Who is in a lock, a barrier or a join then is stuck; but at the end of a parallel region of
 * LLVM's runtime threads wait for the next one. */
static bool is_idle_at_end(const struct callsite *at)
{
    enum class_kind kind = at->kind;
    return kind == CLASS_BARRIER
               ? strcmp(at->function, END_OF_REGION) == 0
               : kind == CLASS_POLL || kind == CLASS_SLEEP || kind == CLASS_NETWORK ||
                     kind == CLASS_PIPE || kind == CLASS_CONDITION || kind == CLASS_SEMAPHORE ||
                     kind == CLASS_FUTEX;
}

static void find_idle_end(const struct result_base *base, const struct thread_result *folded,
                          struct profile_thread *result)
{
    const struct class_entry *wait = folded->unfinished;
    if (!wait || !is_idle_at_end(&wait->what.at) || folded->end <= folded->unfinished_since)
        return;
    uint64_t ns = trace__ns(base->trace, folded->end - folded->unfinished_since);
    result->idle_end = wait->fold.component;
    result->idle_end_ns =
        ns < result->component_ns[result->idle_end] ? ns : result->component_ns[result->idle_end];
}

#define BACKS_LEAST 10 /* and of so many one to another CPU */

static int cpu_of(const struct thread_result *folded)
{
    return folded->backs >= BACKS_LEAST && folded->moves <= folded->backs / BACKS_LEAST
               ? folded->cpu
               : -1;
}

void thread__result(const struct result_base *base, const struct trace_thread *thread,
                    uint32_t index, const struct thread_result *folded,
                    struct profile_thread *result)
{
    *result = (struct profile_thread){.thread = index,
                                      .lifetime_ns = trace__ns(base->trace, base->lifetimes[index]),
                                      .cpu_ns = thread->cpu_ns,
                                      .runnable_ns = thread->runnable_ns,
                                      .creating_ns = trace__ns(base->trace, folded->fold.creating),
                                      .served_ns = trace__ns(base->trace, folded->served),
                                      .kernel_overhead_ns =
                                          kernel_overhead_of(base, thread, &folded->fold),
                                      .events = folded->fold.events,
                                      .cpu = cpu_of(folded),
                                      .has_kernel = folded->fold.kernel_since != 0,
                                      .kernel_lost = folded->fold.kernel_lost};
    uint64_t left = result->lifetime_ns;
    for (unsigned i = 0; i < COMPONENT_RUNNING; i++) {
        uint64_t ticks =
            i < PARTS ? folded->fold.parts[i] : folded->fold.overhead + folded->fold.paused;
        uint64_t ns = trace__ns(base->trace, ticks);
        result->component_ns[i] = ns < left ? ns : left;
        left -= result->component_ns[i];
    }
    result->component_ns[COMPONENT_RUNNING] = left;
    find_idle_end(base, folded, result);
}
