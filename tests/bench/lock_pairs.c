/* lock_pairs.c: threads that take and give back a mutex of their own again and again, with 60
 * multiplications between; nobody waits. Prints the wall time and the CPU time of its threads in
 * ns. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MOST 64
#ifndef MULTIPLICATIONS
#define MULTIPLICATIONS 60
#endif

static struct {
    pthread_mutex_t lock;
    uint64_t value;
} __attribute__((aligned(128))) own[THREADS_MOST];
static unsigned pairs = 3000000;

static void *work(void *which)
{
    uint64_t value = 3;
    for (unsigned i = 0; i < pairs; i++) {
        pthread_mutex_lock(&own[(size_t)which].lock);
        own[(size_t)which].value += value;
        pthread_mutex_unlock(&own[(size_t)which].lock);
        for (unsigned j = 0; j < MULTIPLICATIONS; j++) {
            value *= 0x9e3779b97f4a7c15u;
            __asm__ volatile("" : "+r"(value));
        }
    }
    return NULL;
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int count, char **arguments)
{
    unsigned threads = count > 1 ? (unsigned)atoi(arguments[1]) : 2;
    pthread_t ids[THREADS_MOST];
    pairs = count > 2 ? (unsigned)atoi(arguments[2]) : pairs;
    threads = threads < THREADS_MOST ? threads : THREADS_MOST;
    for (unsigned i = 0; i < threads; i++)
        pthread_mutex_init(&own[i].lock, NULL);
    uint64_t before = now_ns(CLOCK_MONOTONIC), cpu_before = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)i);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%llu %llu\n", (unsigned long long)(now_ns(CLOCK_MONOTONIC) - before),
           (unsigned long long)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_before));
    return 0;
}
