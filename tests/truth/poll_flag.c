/* Who needs the other's result looks for it every two milliseconds.
 * TRUTH: polling; place=wait_for|collect|main
 * Fixed: a condition variable tells. */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define ROUNDS 300
static atomic_int done_round, asked_round;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int fixed;

static void wait_for(atomic_int *round, int wanted)
{
    if (!fixed) {
        while (atomic_load(round) < wanted)
            usleep(2000);
        return;
    }
    pthread_mutex_lock(&mutex);
    while (atomic_load(round) < wanted)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void tell(atomic_int *round, int now)
{
    pthread_mutex_lock(&mutex);
    atomic_store(round, now);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void *compute(void *argument)
{
    uint64_t *result = argument;
    for (int i = 1; i <= ROUNDS; i++) {
        wait_for(&asked_round, i);
        *result = mix(*result, 390000);
        tell(&done_round, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    uint64_t result = 1, own = 2;
    fixed = is_fixed(argc, argv);
    pthread_create(&thread, NULL, compute, &result);
    for (int i = 1; i <= ROUNDS; i++) {
        tell(&asked_round, i);
        own = mix(own, 400000);
        wait_for(&done_round, i);
    }
    pthread_join(thread, NULL);
    printf("%lx\n", (unsigned long)(own + result));
    return 0;
}
