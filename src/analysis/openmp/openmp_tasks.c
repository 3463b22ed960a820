/* openmp_tasks.c: tasks by the place that makes them, and what the wall time would be had threads
 * tasks to run all the time. */
#include "analysis/openmp/internal.h"
#include "base/memory.h"

#include <stdlib.h>

/* ---- by the walk ----------------------------------------------------------------------------- */

struct task_tally *task_tally__at(struct vec *tallies, uint32_t process, uint64_t site)
{
    VEC_EACH (tally, tallies, struct task_tally)
        if (tally->sums.site == site)
            return tally;
    struct task_tally *tally = vec__push(tallies, NULL);
    tally->sums = (struct task_construct){.process = process, .site = site, .least_ns = UINT64_MAX};
    return tally;
}

static uint32_t size_of_task(uint64_t ticks)
{
    if (ticks < 8)
        return (uint32_t)ticks;
    uint32_t power = 63 - (uint32_t)__builtin_clzll(ticks);
    return 4 * (power - 1) + (uint32_t)(ticks >> (power - 2) & 3);
}

void task_tally__add_run(struct task_tally *tally, uint64_t count, uint64_t stolen, uint64_t ticks)
{
    uint64_t each = count ? ticks / count : 0;
    uint32_t size = size_of_task(each);
    tally->sums.count += count;
    tally->sums.stolen += stolen;
    tally->sums.ns += ticks;
    tally->sums.least_ns = each < tally->sums.least_ns ? each : tally->sums.least_ns;
    tally->sums.most_ns = each > tally->sums.most_ns ? each : tally->sums.most_ns;
    tally->counts[size] += count;
    tally->ticks[size] += ticks;
}

/* ---- put together ---------------------------------------------------------------------------- */

static int by_process_and_site(const void *a, const void *b)
{
    const struct task_tally *left = a, *right = b;
    return ORDER(left->sums.process, right->sums.process)
               ?: ORDER(left->sums.site, right->sums.site);
}

static void add_tally(struct task_tally *sum, const struct task_tally *tally)
{
    sum->sums.calls += tally->sums.calls;
    sum->sums.calls_ns += tally->sums.calls_ns;
    sum->sums.count += tally->sums.count;
    sum->sums.stolen += tally->sums.stolen;
    sum->sums.ns += tally->sums.ns;
    if (tally->sums.least_ns < sum->sums.least_ns)
        sum->sums.least_ns = tally->sums.least_ns;
    if (tally->sums.most_ns > sum->sums.most_ns)
        sum->sums.most_ns = tally->sums.most_ns;
    for (unsigned size = 0; size < TASK_SIZES; size++) {
        sum->counts[size] += tally->counts[size];
        sum->ticks[size] += tally->ticks[size];
    }
}

static void end_construct(struct openmp_use *use, const struct trace *trace,
                          struct task_tally *tally, uint64_t cost)
{
    struct task_construct *sums = &tally->sums;
    for (unsigned size = 0; size < TASK_SIZES && TASK_SIZE_LEAST(size) < TASK_COSTS * cost;
         size++) {
        sums->small += tally->counts[size];
        sums->small_ns += tally->ticks[size];
    }
    sums->least_ns = sums->count ? trace__ns(trace, sums->least_ns) : 0;
    sums->most_ns = trace__ns(trace, sums->most_ns);
    sums->calls_ns = trace__ns(trace, sums->calls_ns);
    sums->ns = trace__ns(trace, sums->ns);
    sums->small_ns = trace__ns(trace, sums->small_ns);
    vec__push(&use->constructs, sums);
}

static void find_constructs(const struct trace *trace, const struct vec *records,
                            struct openmp_use *use)
{
    struct vec tallies = VEC_OF(struct task_tally);
    uint64_t calls = 0, ticks = 0;
    VEC_EACH (record, records, const struct thread_record)
        VEC_EACH (tally, &record->constructs, const struct task_tally) {
            vec__push(&tallies, tally);
            calls += tally->quick;
            ticks += tally->quick_ticks;
        }
    vec__sort(&tallies, by_process_and_site);
    size_t kept = 0;
    VEC_EACH (tally, &tallies, const struct task_tally) {
        struct task_tally *last = kept ? VEC_AT(&tallies, struct task_tally, kept - 1) : NULL;
        if (last && by_process_and_site(last, tally) == 0)
            add_tally(last, tally);
        else
            *VEC_AT(&tallies, struct task_tally, kept++) = *tally;
    }
    tallies.count = kept;
    uint64_t cost = calls ? ticks / calls : 0;
    use->task_cost_ns = trace__ns(trace, cost);
    VEC_EACH (tally, &tallies, struct task_tally)
        end_construct(use, trace, tally, cost);
    vec__free(&tallies);
}

static int by_task_time(const void *a, const void *b)
{
    const struct task_construct *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->process, right->process)
               ?: ORDER(left->site, right->site);
}

void openmp_tasks__find(const struct trace *trace, const struct vec *records,
                        struct openmp_use *use)
{
    find_constructs(trace, records, use);
    vec__sort(&use->constructs, by_task_time);
}

/* ---- what could be gained -------------------------------------------------------------------- */

static uint64_t less(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0;
}

/* Its work, without making tasks where that is asked, but no less than what the tasks themselves
 * do, is then all that its threads do. What others take of the CPUs is no gain; of the rest it
 * takes its part. */
uint64_t region_tasks__saved_ns(const struct openmp_use *use, const struct parallel_region *region,
                                bool made)
{
    const struct team_counts *counts = &region->counts;
    uint32_t at_once = region->threads < use->cpus ? region->threads : use->cpus;
    uint64_t work = less(region->times.work_ns, made ? counts->made_ns : 0), own = region->ns;
    if (!counts->tasks || region->is_nested || !at_once)
        return 0;
    work = counts->task_work_ns > work ? counts->task_work_ns : work;
    if (region->threads <= use->cpus)
        own = less(own, region->times.no_cpu_ns / region->threads);
    double saved = (double)less(own, work / at_once);
    return own ? (uint64_t)(saved * (double)region->ns / (double)own) : 0;
}

uint64_t openmp_use__saved_by_tasks(const struct openmp_use *use)
{
    uint64_t saved_ns = 0;
    VEC_EACH (region, &use->regions, const struct parallel_region)
        saved_ns += region_tasks__saved_ns(use, region, false);
    return saved_ns;
}

const struct openmp_hint *openmp_use__task_hint(const struct openmp_use *use)
{
    VEC_EACH (hint, &use->hints, const struct openmp_hint)
        if (hint->kind == HINT_LARGER_TASKS || hint->kind == HINT_FEWER_WAITS ||
            hint->kind == HINT_NO_TASKWAIT)
            return hint;
    return NULL;
}
