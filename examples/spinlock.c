/* spinlock.c: threads that take one spinlock again and again.
 *
 * Interference   Every operation is a fixed amount of work, of which --delay turns are done while
 *                holding the lock; who waits burns a processor.  With one thread more than there
 *                are processors (--oversubscribe) it is much worse: a holder that loses its
 *                processor keeps all others spinning for a whole time slice.
 * See it         heurt ./spinlock
 *                heurt ./spinlock --oversubscribe
 *                The first class is the wait in pthread_spin_lock; its 99th percentile tells the
 *                two cases apart: microseconds, or the milliseconds of a time slice.
 * Cure           Hold it for less (--delay 0); never more threads than processors; a mutex where
 *                that cannot be promised; a lock and data of its own for each thread (--private).
 */
#include "example.h"

struct padded_lock {
    _Alignas(CACHE_LINE_BYTES) pthread_spinlock_t lock;
    long operations; /* protected by lock */
};

struct shared {
    long iterations, work, delay;
    bool private;
    struct padded_lock *locks; /* one, or one a thread */
};

static void take_turns(long index, void *argument)
{
    const struct shared *shared = argument;
    struct padded_lock *own = &shared->locks[shared->private ? index : 0];
    uint64_t random = 88172645463325252u + (uint64_t)index;
    for (long i = 0; i < shared->iterations; i++) {
        pthread_spin_lock(&own->lock);
        busy(shared->delay);
        own->operations++;
        pthread_spin_unlock(&own->lock);
        busy(example__about(shared->work - shared->delay, &random));
    }
}

int main(int argc, char **argv)
{
    struct shared shared = {.iterations = 20000, .work = 400, .delay = 200};
    long threads = 0;
    bool oversubscribe = false;
    const struct example_option options[] = {
        {"threads", .number = &threads, .help = "how many threads; 0: as many as CPUs"},
        {"oversubscribe", .flag = &oversubscribe, .help = "one thread more than that"},
        {"iterations", .number = &shared.iterations, .help = "operations of each thread"},
        {"work", .number = &shared.work, .help = "busy turns of an operation in all"},
        {"delay", .number = &shared.delay, .help = "of which while the lock is held"},
        {"private", .flag = &shared.private, .help = "cure: a lock for each thread"},
        {NULL},
    };
    example__options(argc, argv, options);
    threads = (threads ? threads : example__cpus()) + oversubscribe;
    if (shared.delay > shared.work)
        shared.work = shared.delay;
    shared.locks = example__aligned(sizeof *shared.locks * EXAMPLE_THREADS_MAX);
    for (long i = 0; i < EXAMPLE_THREADS_MAX; i++)
        pthread_spin_init(&shared.locks[i].lock, PTHREAD_PROCESS_PRIVATE);
    uint64_t elapsed_ns = crew__run(threads, take_turns, &shared, NULL);
    long operations = 0;
    for (long i = 0; i < EXAMPLE_THREADS_MAX; i++)
        operations += shared.locks[i].operations;
    example__result(elapsed_ns, operations);
    free(shared.locks);
    return 0;
}
