/* false_sharing.c: counters of different threads on one cache line.
 *
 * Interference   Each thread adds to a counter of its own, but the counters are neighbours, so
 *                an addition must fetch the line from the other thread's cache.  No lock, no
 *                wait: the first thread's accesses merely take longer, the more often the others
 *                do theirs (bursts of them, with --delay turns in between).
 * See it         heurt -f '*_access' ./false_sharing --delay 2000
 *                Each of the two functions is slower while the other one runs on another CPU.
 *                (Without --delay the other never pauses, and there is nothing to compare with.)
 * Cure           A cache line for each counter (--padded), or count in a local variable.
 */
#include "example.h"

enum { ADDITIONS = 200, BURST = 1000 }; /* to a counter: of an access, of the others' */

/* Places between two counters, in longs. */
enum { NEIGHBOURS = 1, PADDED = CACHE_LINE_BYTES * 2 / sizeof(atomic_long) };

struct shared {
    long iterations, work, delay;
    long stride; /* NEIGHBOURS or PADDED */
    atomic_long *counters;
    _Alignas(CACHE_LINE_BYTES * 2) atomic_bool done;
};

/* Additions to a counter one after the other; a function of its own, to be timed by name. */
__attribute__((noinline)) void first_thread_access(atomic_long *counter);
void first_thread_access(atomic_long *counter)
{
    for (int i = 0; i < ADDITIONS; i++)
        atomic_fetch_add(counter, 1);
}

__attribute__((noinline)) void others_access(atomic_long *counter);
void others_access(atomic_long *counter)
{
    for (int i = 0; i < BURST; i++)
        atomic_fetch_add(counter, 1);
}

/* A CPU of its own for each thread, while there are enough: threads that take turns on one CPU do
 * not take the line from each other. */
static void take_cpu(long index)
{
    cpu_set_t allowed, own;
    long place = index % example__cpus();
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && place-- == 0)
            CPU_SET(cpu, &own);
    pthread_setaffinity_np(pthread_self(), sizeof own, &own);
}

static void count(long index, void *argument)
{
    struct shared *shared = argument;
    take_cpu(index);
    atomic_long *own = &shared->counters[index * shared->stride];
    if (index == 0) {
        for (long i = 0; i < shared->iterations; i++) {
            first_thread_access(own);
            busy(shared->work);
        }
        atomic_store(&shared->done, true);
        return;
    }
    while (!atomic_load_explicit(&shared->done, memory_order_relaxed)) {
        others_access(own);
        busy(shared->delay);
    }
}

int main(int argc, char **argv)
{
    struct shared shared = {.iterations = 20000, .work = 400, .delay = 0, .stride = NEIGHBOURS};
    long threads = example__cpus();
    bool padded = false;
    const struct example_option options[] = {
        {"threads", .number = &threads, .help = "how many threads"},
        {"iterations", .number = &shared.iterations, .help = "accesses of the first thread"},
        {"work", .number = &shared.work, .help = "busy turns of it between two accesses"},
        {"delay", .number = &shared.delay, .help = "busy turns of the others between two bursts"},
        {"padded", .flag = &padded, .help = "cure: a cache line for each counter"},
        {NULL},
    };
    example__options(argc, argv, options);
    if (padded)
        shared.stride = PADDED;
    shared.counters = example__aligned(sizeof *shared.counters * PADDED * EXAMPLE_THREADS_MAX);
    uint64_t first_ns;
    crew__run(threads, count, &shared, &first_ns);
    example__result(first_ns, shared.iterations);
    free(shared.counters);
    return 0;
}
