/* locks_probe.c: threads that take locks, for bench-locks.
 *
 *     locks_probe THREADS LOCKS OPERATIONS
 *
 * Each of THREADS threads takes and releases, OPERATIONS / THREADS times, one of LOCKS mutexes that
 * all share, drawn by chance; every eighth time another one within the first, always a later one.
 * Prints operations, nested ones included. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 1024, NEST_EVERY = 8 };

static struct {
    pthread_mutex_t *locks;
    uint64_t lock_count, share;
} probe;

static void *run(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument * 2 + 1, i = 0;
    while (i < probe.share) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t first = (random >> 33) % probe.lock_count;
        pthread_mutex_lock(&probe.locks[first]);
        i++;
        if (i % NEST_EVERY == 0 && first + 1 < probe.lock_count) {
            pthread_mutex_lock(&probe.locks[first + 1]);
            pthread_mutex_unlock(&probe.locks[first + 1]);
            i++;
        }
        pthread_mutex_unlock(&probe.locks[first]);
    }
    return (void *)(uintptr_t)i;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    if (argc != 4) {
        fprintf(stderr, "usage: %s THREADS LOCKS OPERATIONS\n", argv[0]);
        return 2;
    }
    uint64_t thread_count = strtoull(argv[1], NULL, 10), operations = 0;
    probe.lock_count = strtoull(argv[2], NULL, 10);
    if (thread_count < 1 || thread_count > THREADS_MAX || probe.lock_count < 1)
        return 2;
    probe.share = strtoull(argv[3], NULL, 10) / thread_count;
    probe.locks = calloc(probe.lock_count, sizeof *probe.locks);
    for (uint64_t i = 0; i < thread_count; i++)
        if (!probe.locks || pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i) != 0)
            return 1;
    for (uint64_t i = 0; i < thread_count; i++) {
        void *done;
        pthread_join(threads[i], &done);
        operations += (uintptr_t)done;
    }
    printf("operations=%llu\n", (unsigned long long)operations);
    return 0;
}
