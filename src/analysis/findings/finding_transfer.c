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

/* Who sends a message in two small pieces has the second one kept back until the first is
 * acknowledged (RFC 896), and who gets it delays that, as it hopes for something to send with it:
 * on Linux for TCP_DELACK_MIN, 40 ms (include/net/tcp.h). */
#define DELAYED_LEAST_NS 40000000u
#define DELAYED_MOST_NS 44000000u
#define DELAYED_COUNT 5 /* waits: fewer may be as long by chance */

/* The class's waits of that length, as far as its histogram tells them from others: how many, and
 * how long all of them are at least. */
static uint64_t delayed_waits(const struct finder *finder, const struct profile_class *class,
                              uint64_t *count)
{
    uint64_t ns = 0;
    for (unsigned i = 0; class->histogram && i < HISTOGRAM_BUCKETS; i++) {
        if (!class->histogram[i])
            continue;
        uint64_t from_ns = trace__ns(finder->trace, histogram__lower(i));
        uint64_t to_ns = trace__ns(finder->trace, histogram__upper(i));
        if (to_ns < DELAYED_LEAST_NS || from_ns > DELAYED_MOST_NS)
            continue;
        *count += class->histogram[i];
        ns += class->histogram[i] * from_ns;
    }
    return ns;
}

static bool waits_for_acknowledgements(const struct finder *finder, const struct finding *finding)
{
    uint64_t delayed_ns = 0, count = 0;
    VEC_EACH (place, &finding->classes, uint32_t)
        delayed_ns += delayed_waits(finder, profile_class_at(finder->profile, *place), &count);
    return count >= DELAYED_COUNT && delayed_ns >= finding->lost_ns / 2;
}

void finding__find_work(const struct finder *finder, struct finding *finding)
{
    double lost = 0, on_cpu = 0, work = 0;
    if (finding->category == FINDING_POLLING)
        finding->is_work = is_sleep_of_ranks(finder, finding);
    if (finding->category != FINDING_NETWORK && finding->category != FINDING_DISK)
        return;
    finding->is_of_pieces =
        finding->category == FINDING_NETWORK && waits_for_acknowledgements(finder, finding);
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
