/* Processes count into a table in shared memory, under one process-shared mutex.
 * TRUTH: lock; place=score|play|main; object=table|mutex|shm|scores
 * Fixed: a table for each process, added up at the end. */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 2
struct table {
    pthread_mutex_t mutex;
    uint64_t scores[64];
};

static void score(struct table *table, uint64_t seed)
{
    pthread_mutex_lock(&table->mutex);
    table->scores[mix(seed, 8000) % 64]++;
    pthread_mutex_unlock(&table->mutex);
}

static void play(struct table *table, uint64_t seed)
{
    for (int i = 0; i < 30000; i++) {
        seed = mix(seed, 2000);
        score(table, seed);
    }
}

int main(int argc, char **argv)
{
    struct table *tables = mmap(NULL, PROCESSES * sizeof *tables, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < PROCESSES; i++)
        pthread_mutex_init(&tables[i].mutex, &shared);
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            play(&tables[is_fixed(argc, argv) ? i : 0], (uint64_t)i + 1);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        continue;
    return 0;
}
