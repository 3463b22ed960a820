/* Each worker counts what it did in its own element of an array of statistics.
 * TRUTH: false sharing|sharing|overlap; place=work|tally|parse; object=stats|.
 * Fixed: elements of 64 bytes. */
#include "truth.h"

#include <pthread.h>

struct stats {
    uint64_t lines, words, bytes;
};

static struct {
    volatile struct stats of;
    char apart[104];
} padded[2];
static volatile struct stats packed[2];

static void tally(volatile struct stats *stats, uint64_t line)
{
    stats->lines++;
    stats->words += line & 7;
    stats->bytes += line & 63;
}

static void *work(void *argument)
{
    volatile struct stats *stats = argument;
    uint64_t line = 1;
    for (int i = 0; i < 60000000; i++) {
        line = mix(line, 2);
        tally(stats, line);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work,
                       is_fixed(argc, argv) ? (void *)&padded[i].of : (void *)&packed[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", (unsigned long)(packed[0].words + padded[1].of.words));
    return 0;
}
