// Two workers each divide a table of numbers; who starts them binds both to the first CPU that it
// may use. TRUTH: cpu; place=divide|work|mix Fixed: they are not bound.
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <sched.h>

#define WORKERS 2

__attribute__((noinline)) static uint64_t divide(uint64_t first)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 400; i++)
        sum += mix(first + i, 10000) / (i + 3);
    return sum;
}

static void *work(void *result)
{
    uint64_t *sum = result;
    for (uint64_t i = 0; i < 150; i++)
        *sum += divide(i * 400);
    return NULL;
}

static int first_cpu(void)
{
    cpu_set_t all;
    int cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    return cpu;
}

int main(int argc, char **argv)
{
    uint64_t sums[WORKERS][16] = {{0}};
    pthread_t threads[WORKERS];
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(first_cpu(), &first);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, work, sums[i]);
        if (!is_fixed(argc, argv))
            pthread_setaffinity_np(threads[i], sizeof first, &first);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", sums[0][0] + sums[1][0]);
}
