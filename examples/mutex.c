/* mutex.c: threads that take one mutex again and again.
 *
 * Interference   Every operation is a fixed amount of work, of which --delay turns are done while
 *                holding the mutex.  The longer the critical section, the longer the others wait.
 * See it         heurt ./mutex
 *                The first class is the wait in pthread_mutex_lock, held by the same line.
 * Cure           Do less while holding the lock (--delay 0), or give each thread its own lock and
 *                data (--private).
 */
#include "example.h"

struct padded_mutex {
    _Alignas(CACHE_LINE_BYTES) pthread_mutex_t mutex;
    long operations; /* protected by mutex */
};

struct shared {
    long iterations, work, delay;
    bool private;
    struct padded_mutex *mutexes; /* one, or one a thread */
};

static void take_turns(long index, void *argument)
{
    const struct shared *shared = argument;
    struct padded_mutex *own = &shared->mutexes[shared->private ? index : 0];
    uint64_t random = 88172645463325252u + (uint64_t)index;
    for (long i = 0; i < shared->iterations; i++) {
        pthread_mutex_lock(&own->mutex);
        busy(shared->delay);
        own->operations++;
        pthread_mutex_unlock(&own->mutex);
        busy(example__about(shared->work - shared->delay, &random));
    }
}

int main(int argc, char **argv)
{
    struct shared shared = {.iterations = 2000, .work = 4000, .delay = 2000};
    long threads = example__cpus();
    const struct example_option options[] = {
        {"threads", .number = &threads, .help = "how many threads"},
        {"iterations", .number = &shared.iterations, .help = "operations of each thread"},
        {"work", .number = &shared.work, .help = "busy turns of an operation in all"},
        {"delay", .number = &shared.delay, .help = "of which while the mutex is held"},
        {"private", .flag = &shared.private, .help = "cure: a mutex for each thread"},
        {NULL},
    };
    example__options(argc, argv, options);
    if (shared.delay > shared.work)
        shared.work = shared.delay;
    shared.mutexes = example__aligned(sizeof *shared.mutexes * EXAMPLE_THREADS_MAX);
    for (long i = 0; i < EXAMPLE_THREADS_MAX; i++)
        pthread_mutex_init(&shared.mutexes[i].mutex, NULL);
    uint64_t elapsed_ns = crew__run(threads, take_turns, &shared, NULL);
    long operations = 0;
    for (long i = 0; i < EXAMPLE_THREADS_MAX; i++)
        operations += shared.mutexes[i].operations;
    example__result(elapsed_ns, operations);
    free(shared.mutexes);
    return 0;
}
