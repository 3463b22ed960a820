#include "analysis/findings/internal.h"

#include <string.h>

/* Input and output that is no wait: the system copies, sends, wakes who is to receive, all of it on
 * a CPU. What a call takes beyond the fastest one is then no time that somebody kept the thread
 * waiting: it had more to do. Many small ones are more than need be, all the same. */
#define ON_CPU_PART 2 /* of what was lost: so much of it was on a CPU */

/* Of a thread's input and output, the part that was on a CPU: what it used beyond its work, the
 * recording and its waits for others. 0 … 1; 0: nothing is known. */
static double part_on_cpu(const struct finder *finder, uint32_t thread)
{
    const struct profile_thread *row = profile_thread_at(finder, thread);
    const uint64_t *ns = row->component_ns;
    uint64_t calls_ns = ns[COMPONENT_DISK] + ns[COMPONENT_NETWORK] + ns[COMPONENT_MESSAGE];
    if (row->cpu_ns == UINT64_MAX || !row->has_kernel || !calls_ns)
        return 0;
    uint64_t others_ns = ns[COMPONENT_RUNNING] + ns[COMPONENT_PAGE_FAULT] + ns[COMPONENT_OVERHEAD] +
                         finder__waits_of(finder, thread) * WAIT_CPU_NS;
    uint64_t on_cpu_ns = ns__smaller(calls_ns, ns__without(row->cpu_ns, others_ns));
    return (double)on_cpu_ns / (double)calls_ns;
}

/* What is asked for is that it is safe, whoever does what for that: one call may do for many. */
static bool is_sync(const struct profile_class *class)
{
    return strstr(class->what.at.function, "sync") != NULL;
}

/* Ranks of MPI. */
static bool passes_messages(const struct finder *finder, uint32_t thread)
{
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        if (class->what.at.kind == CLASS_MPI && class__sum_on(class, thread))
            return true;
    return false;
}

/* Half of what is slept is slept by ranks: others wait for these, however they do their work. */
static bool is_sleep_of_ranks(const struct finder *finder, const struct finding *finding)
{
    double all = 0, ranks = 0;
    VEC_EACH (place, &finding->classes, uint32_t) {
        const struct profile_class *class = profile_class_at(finder->profile, *place);
        VEC_EACH (row, &class->threads, struct profile_thread_row) {
            double ns = (double)class__waited_ns(class, row);
            all += ns;
            ranks += passes_messages(finder, row->thread) ? ns : 0;
        }
    }
    return all > 0 && ranks >= all / 2;
}

void finding__find_work(const struct finder *finder, struct finding *finding)
{
    double lost = 0, on_cpu = 0, work = 0;
    if (finding->category == FINDING_POLLING)
        finding->is_work = is_sleep_of_ranks(finder, finding);
    if (finding->category != FINDING_NETWORK && finding->category != FINDING_DISK)
        return;
    VEC_EACH (place, &finding->classes, uint32_t) {
        const struct profile_class *class = profile_class_at(finder->profile, *place);
        bool is_needed = !class__is_small_calls(class);
        VEC_EACH (row, &class->threads, struct profile_thread_row) {
            double lost_ns = (double)class__waited_ns(class, row);
            double on_cpu_ns = is_sync(class) ? 0 : lost_ns * part_on_cpu(finder, row->thread);
            lost += lost_ns;
            on_cpu += on_cpu_ns;
            work += is_needed ? on_cpu_ns : 0;
        }
    }
    finding->is_on_cpu = lost > 0 && on_cpu >= lost / ON_CPU_PART;
    finding->is_work = lost > 0 && work >= lost / ON_CPU_PART;
}
