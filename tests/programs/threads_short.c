/* threads_short.c: threads that begin and end all the time, each with memory of its own from the
 * allocator, so that what the C library frees in the name of one that has ended waits for a lock.
 * threads_short ROUNDS: so many threads from each of four, then prints how many there were. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SPAWNERS 4
#define CALLS 40

static atomic_ulong threads;

static __attribute__((noinline)) unsigned call(unsigned number)
{
    __asm__ volatile("" : "+r"(number));
    return number * 2654435761u;
}

static void *work(void *sum)
{
    char *volatile memory = malloc(4096);
    for (unsigned i = 0; i < CALLS; i++)
        *(unsigned *)sum += call(i);
    free(memory);
    atomic_fetch_add(&threads, 1);
    return NULL;
}

static void *spawn(void *rounds)
{
    unsigned sum = 0;
    for (long i = 0; i < *(long *)rounds; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &sum) == 0)
            pthread_join(thread, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    pthread_t spawners[SPAWNERS];
    for (int i = 0; i < SPAWNERS; i++)
        pthread_create(&spawners[i], NULL, spawn, &rounds);
    for (int i = 0; i < SPAWNERS; i++)
        pthread_join(spawners[i], NULL);
    printf("%lu\n", atomic_load(&threads));
    return 0;
}
