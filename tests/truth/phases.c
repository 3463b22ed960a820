/* A solver in phases: threads share the first one evenly; the second is done by thread 0 alone.
 * TRUTH: barrier|imbalance; place=solve|reduce|thread; object=barrier|phase
 * Fixed: the second phase is shared, too. */
#include "truth.h"

#include <pthread.h>

#define CELLS 4000
static pthread_barrier_t phase;
static uint64_t cells[CELLS];
static int fixed;

static void relax(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        cells[i] = mix(cells[i], 150);
}

static uint64_t reduce(size_t from, size_t to)
{
    uint64_t norm = 0;
    for (size_t i = from; i < to; i++)
        norm += mix(cells[i], 150);
    return norm;
}

static void *solve(void *argument)
{
    size_t me = (size_t)(intptr_t)argument, half = CELLS / 2;
    uint64_t norm = 0;
    for (int i = 0; i < 500; i++) {
        relax(me * half, (me + 1) * half);
        pthread_barrier_wait(&phase);
        if (fixed)
            norm += reduce(me * half, (me + 1) * half);
        else if (me == 0)
            norm += reduce(0, CELLS);
        pthread_barrier_wait(&phase);
    }
    return (void *)(intptr_t)(norm & 1);
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    fixed = is_fixed(argc, argv);
    pthread_barrier_init(&phase, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, solve, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
