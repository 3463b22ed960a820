#include "analysis/findings/internal.h"

#include "analysis/events/sampled_time.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* What the runtime of OpenMP does for tasks: it makes them, hands them out, and asks for the next
 * one, which is work to anybody who looks at CPUs alone. Samples tell in which threads it did; that
 * there are tasks at all, and where, call stacks of waits tell which lead through calls for them.
 */

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

/* CPU time of threads with work in the runtime, by trace__threads; NULL: too few samples. */
static uint64_t *runtime_ns(const struct finder *finder)
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

void finder__add_tasks(struct finder *finder)
{
    uint32_t leader = class_of_tasks(finder);
    uint64_t *ns = leader == FINDING_NO_CLASS ? NULL : runtime_ns(finder);
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
