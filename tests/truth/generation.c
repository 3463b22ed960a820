/* Readers look at the generation of a table before each look-up; beside it lies the count of
 * look-ups, which one of them updates all the time. TRUTH: false sharing; place=find|audit|work;
 * object=catalogue Fixed: the count is on a cache line of its own. */
#include "truth.h"

#include <pthread.h>

static struct {
    _Alignas(128) volatile uint64_t generation;
    volatile uint64_t near_count;
    char gap[112];
    volatile uint64_t far_count;
} catalogue = {.generation = 3};
static volatile uint64_t *count = &catalogue.near_count;
static uint64_t names[1024];

static uint64_t find(uint64_t key)
{
    return names[(key + catalogue.generation) & 1023];
}

static void *work(void *sum)
{
    uint64_t key = 1, found = 0;
    for (int i = 0; i < 60000000; i++) {
        key = mix(key, 1) + find(key >> 20);
        found += key >> 60;
    }
    *(uint64_t *)sum = found;
    return NULL;
}

static void *audit(void *sum)
{
    uint64_t key = 2;
    for (int i = 0; i < 60000000; i++) {
        key = mix(key, 1);
        *count += key & 1;
    }
    *(uint64_t *)sum = key;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    uint64_t sums[2];
    if (is_fixed(argc, argv))
        count = &catalogue.far_count;
    pthread_create(&threads[0], NULL, work, &sums[0]);
    pthread_create(&threads[1], NULL, audit, &sums[1]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lx %lu\n", (unsigned long)(sums[0] ^ sums[1]), (unsigned long)*count);
    return 0;
}
