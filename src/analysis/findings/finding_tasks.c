#include "analysis/findings/internal.h"

#include "analysis/events/sampled_time.h"
#include "analysis/openmp/openmp.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Tasks of OpenMP: what threads take to make them, and that they have none to run. The calls tell
 * that where they are recorded. Else the runtime's part of it is work to anybody who looks at CPUs
 * alone: samples tell in which threads it went on; that there are tasks at all, and where, call
 * stacks of waits tell which lead through calls for them. */

#define SAMPLES_LEAST 20

static bool is_for_tasks(const struct symbol *symbol)
{
    return strncmp(symbol->function, "GOMP_task", 9) == 0 ||
           strncmp(symbol->function, "__kmpc_omp_task", 15) == 0;
}

static bool waits_for_tasks(const struct finder *finder, const struct profile_class *class)
{
    const struct vec *stacks = &class->what.stacks;
    const struct profile_stack *stack = stacks->items;
    for (size_t i = 0; stacks->count && i < stack->frame_count; i++) {
        const struct symbol *symbol =
            symbols__get(finder->symbols, stack->process, stack->frames[i]);
        if (symbol && is_for_tasks(symbol))
            return true;
    }
    return false;
}

/* The class that waited longest in a call for tasks. */
static uint32_t class_of_tasks(const struct finder *finder)
{
    uint32_t found = FINDING_NO_CLASS;
    uint64_t most_ns = 0;
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        if (class->sum_ns > most_ns && waits_for_tasks(finder, class)) {
            found = i;
            most_ns = class->sum_ns;
        }
    }
    return found;
}

static bool is_in_runtime(const void *context, uint32_t thread, const struct symbol *symbol)
{
    const struct finder *finder = context;
    return symbol && finder->findings->had_work[thread] && symbol__is_of_openmp(symbol);
}

uint64_t *finder__openmp_runtime_ns(const struct finder *finder)
{
    size_t threads = finder->profile->threads.count;
    struct sampled_time time =
        sampled_time__of(finder->trace, finder->symbols, is_in_runtime, finder);
    uint64_t *ns = time.count >= SAMPLES_LEAST ? memory__zeroed(threads, sizeof *ns) : NULL;
    for (size_t i = 0; ns && i < threads; i++)
        ns[i] = (uint64_t)(sampled_time__part(&time, i) *
                           (double)thread__cpu_ns(profile_thread_at(finder, i)));
    sampled_time__free(&time);
    return ns;
}

bool finder__knows_tasks(const struct finder *finder)
{
    return finder->openmp && finder->openmp->constructs.count;
}

/* Where they are made, in the program's own code. */
static const struct symbol *place_of_tasks(const struct finder *finder)
{
    const struct task_construct *construct = finder->openmp->constructs.items;
    const struct openmp_hint *hint = openmp_use__task_hint(finder->openmp);
    return program_frame__inlined(
        symbols__get(finder->symbols, construct->process, hint ? hint->site : construct->site));
}

/* Of tasks that depend on each other nobody knows how many may run at a time: that gains something
 * between nothing and all. */
static void set_gain(const struct finder *finder, struct finding *finding)
{
    const struct openmp_hint *hint = openmp_use__task_hint(finder->openmp);
    uint64_t wall_ns = finder->openmp->wall_ns;
    uint64_t saved_ns = openmp_use__saved_by_tasks(finder->openmp);
    if (hint)
        finding__set_about(finding, hint->gain);
    else if (saved_ns < wall_ns)
        finding->wall_gain[1] = (double)wall_ns / (double)(wall_ns - saved_ns);
    finding->is_assumed = !hint || hint->kind == HINT_NO_TASKWAIT;
}

static void add_told_tasks(struct finder *finder)
{
    const struct vec *told = &finder->openmp->threads;
    size_t threads = finder->profile->threads.count;
    uint64_t *ns = memory__zeroed(threads, sizeof *ns);
    struct finding *finding = finder__add(finder, FINDING_TASK);
    for (size_t i = 0; i < threads && i < told->count; i++)
        if (finder->findings->had_work[i]) {
            ns[i] = ns__smaller(VEC_AT(told, struct team_thread, i)->task_lost_ns,
                                profile_thread_at(finder, i)->lifetime_ns);
            finding->lost_ns += ns[i];
        }
    finding->place = place_of_tasks(finder);
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding__find_told_part(finder, finding, ns);
    set_gain(finder, finding);
    free(ns);
}

void finder__add_tasks(struct finder *finder)
{
    if (finder__knows_tasks(finder)) {
        add_told_tasks(finder);
        return;
    }
    uint32_t leader = class_of_tasks(finder);
    uint64_t *ns = leader == FINDING_NO_CLASS ? NULL : finder__openmp_runtime_ns(finder);
    if (!ns)
        return;
    struct finding *finding = finder__add(finder, FINDING_TASK);
    finding->place =
        program_frame__of_class(finder->symbols, &profile_class_at(finder->profile, leader)->what);
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        finding->lost_ns += ns[i];
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding__set_estimate(finder, finding, ns);
    free(ns);
}
