/* ray_counter.c: rays are numbered by a counter under a lock, the way a parallel ray tracer does.
 *
 * Interference   Each ray is traced alone (--delay turns), but every thread needs the next number
 *                from the same counter.  The lock is held for an instant only, and yet with short
 *                rays the threads meet there all the time.
 * See it         heurt ./ray_counter --delay 0
 *                The wait in pthread_mutex_lock called by next_ray, and its count: one a ray.
 * Cure           --cure atomic: one addition without a lock (the line still travels).
 *                --cure padded: each thread numbers its own rays, i × threads + index, on a cache
 *                line of its own; the numbers are as unique, and nothing is shared.
 */
#include "example.h"

enum cure { CURE_NONE, CURE_ATOMIC, CURE_PADDED };

struct padded_counter {
    _Alignas(CACHE_LINE_BYTES * 2) uint64_t next;
};

struct shared {
    enum cure cure;
    long threads, iterations, delay;
    pthread_mutex_t lock;
    uint64_t next; /* protected by lock */
    _Alignas(CACHE_LINE_BYTES * 2) atomic_uint_fast64_t atomic_next;
    struct padded_counter own[EXAMPLE_THREADS_MAX];
    atomic_uint_fast64_t sum; /* of all numbers given */
};

static __attribute__((noinline)) uint64_t next_ray(struct shared *shared, long index)
{
    uint64_t ray;
    switch (shared->cure) {
    case CURE_ATOMIC:
        return atomic_fetch_add_explicit(&shared->atomic_next, 1, memory_order_relaxed);
    case CURE_PADDED:
        return shared->own[index].next++ * (uint64_t)shared->threads + (uint64_t)index;
    case CURE_NONE:
        break;
    }
    pthread_mutex_lock(&shared->lock);
    ray = shared->next++;
    pthread_mutex_unlock(&shared->lock);
    return ray;
}

static __attribute__((noinline)) void trace_ray(long delay)
{
    busy(delay);
}

static void render(long index, void *argument)
{
    struct shared *shared = argument;
    uint64_t sum = 0;
    for (long i = 0; i < shared->iterations; i++) {
        sum += next_ray(shared, index);
        trace_ray(shared->delay);
    }
    atomic_fetch_add(&shared->sum, sum);
}

static enum cure cure__named(const char *program, const struct example_option *options,
                             const char *name)
{
    if (strcmp(name, "none") == 0)
        return CURE_NONE;
    if (strcmp(name, "atomic") == 0)
        return CURE_ATOMIC;
    if (strcmp(name, "padded") != 0)
        example__wrong(program, options, "--cure is none, atomic or padded");
    return CURE_PADDED;
}

int main(int argc, char **argv)
{
    struct shared *shared = aligned_alloc(CACHE_LINE_BYTES * 2, sizeof *shared);
    if (!shared)
        abort();
    memset(shared, 0, sizeof *shared);
    shared->threads = example__cpus();
    shared->iterations = 200000;
    shared->delay = 20;
    const char *cure = "none";
    const struct example_option options[] = {
        {"threads", .number = &shared->threads, .help = "how many threads"},
        {"iterations", .number = &shared->iterations, .help = "rays of each thread"},
        {"delay", .number = &shared->delay, .help = "busy turns to trace a ray"},
        {"cure", .word = &cure, .help = "none, atomic or padded"},
        {NULL},
    };
    example__options(argc, argv, options);
    shared->cure = cure__named(argv[0], options, cure);
    pthread_mutex_init(&shared->lock, NULL);
    uint64_t elapsed_ns = crew__run(shared->threads, render, shared, NULL);
    uint64_t rays = (uint64_t)(shared->threads * shared->iterations);
    if (atomic_load(&shared->sum) != rays * (rays - 1) / 2) {
        fprintf(stderr, "ray_counter: a number was given twice\n");
        return 1;
    }
    example__result(elapsed_ns, (long)rays);
    free(shared);
    return 0;
}
