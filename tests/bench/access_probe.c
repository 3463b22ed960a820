/* access_probe.c: what a read and a write cost, in ns of the CPU: over and over at one place, along
 * a table, and atomically at one place. access.sh builds it bare and such that it counts. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PLACES = 1 << 16, ACCESSES = 1 << 24 };

struct probe {
    volatile uint64_t *table;
    double place_ns, table_ns, atomic_ns; /* a read and a write */
};

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *run(void *argument)
{
    struct probe *probe = argument;
    volatile uint64_t *table = probe->table;
    double began = cpu_ns();
    for (int i = 0; i < ACCESSES; i++)
        table[0] = table[0] + 1;
    double then = cpu_ns();
    for (int i = 0; i < ACCESSES; i++)
        table[i % PLACES] = table[i % PLACES] + 1;
    double later = cpu_ns();
    for (int i = 0; i < ACCESSES; i++)
        __atomic_fetch_add(&table[0], 1, __ATOMIC_RELAXED);
    probe->atomic_ns = (cpu_ns() - later) / ACCESSES;
    probe->table_ns = (later - then) / ACCESSES;
    probe->place_ns = (then - began) / ACCESSES;
    return NULL;
}

int main(int count, char **arguments)
{
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    pthread_t started[16];
    struct probe probes[16];
    for (int i = 0; i < threads && i < 16; i++) {
        probes[i].table = calloc(PLACES, sizeof(uint64_t));
        pthread_create(&started[i], NULL, run, &probes[i]);
    }
    double place = 0, table = 0, atomic = 0;
    for (int i = 0; i < threads && i < 16; i++) {
        pthread_join(started[i], NULL);
        place += probes[i].place_ns / threads;
        table += probes[i].table_ns / threads;
        atomic += probes[i].atomic_ns / threads;
    }
    printf("%.2f %.2f %.2f\n", place, table, atomic);
    return 0;
}
