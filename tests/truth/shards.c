/* A cache keeps hits and misses for each of its shards, in an array on the heap; each worker has
 * shards of its own. TRUTH: false sharing; place=look_up|serve; object=heap|shards|0x Fixed: a
 * shard fills cache lines of its own. */
#include "truth.h"

#include <pthread.h>

struct shard {
    uint64_t hits, misses;
};

struct worker {
    char *shards;
    size_t bytes; /* from shard to shard */
    unsigned number;
    const uint64_t *table;
};

static void look_up(struct worker *worker, uint64_t key)
{
    volatile struct shard *shard =
        (void *)(worker->shards + (2 * worker->number + (key >> 60 & 1)) * worker->bytes);
    if (worker->table[key >> 48] & 1)
        shard->hits++;
    else
        shard->misses++;
}

static void *serve(void *argument)
{
    struct worker *worker = argument;
    uint64_t key = worker->number + 1;
    for (int i = 0; i < 40000000; i++) {
        key = mix(key, 2);
        look_up(worker, key);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t bytes = is_fixed(argc, argv) ? 128 : sizeof(struct shard);
    char *shards = aligned_alloc(128, 128 * 4);
    uint64_t *table = malloc(sizeof *table << 16);
    memset(shards, 0, 128 * 4);
    for (uint64_t i = 0; i < 1 << 16; i++)
        table[i] = mix(i, 1);
    pthread_t threads[2];
    struct worker workers[2];
    for (unsigned i = 0; i < 2; i++) {
        workers[i] = (struct worker){shards, bytes, i, table};
        pthread_create(&threads[i], NULL, serve, &workers[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", (unsigned long)((struct shard *)shards)->hits);
    return 0;
}
