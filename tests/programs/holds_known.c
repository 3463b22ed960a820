/* Two threads, a lock that both want at a time and one of each that nobody else wants, and how long
 * giving them back took.
 *
 *     holds_known FILE
 *
 * A line is added to FILE: "heavy HOLDS LONGER light HOLDS LONGER": of how many holds giving the
 * lock back took as long as the hold itself at least. Without FILE it ends at once. */
#include "known.h"

#define ROUNDS 20
#define HOLD_NS 500000

struct tally {
    unsigned holds, longer;
};

static pthread_mutex_t heavy = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static unsigned taken; /* under the lock: how often */
static struct worker {
    pthread_t thread;
    int tid;
    pthread_mutex_t light;
    struct tally of_heavy, of_light;
} workers[2] = {{.light = PTHREAD_MUTEX_INITIALIZER}, {.light = PTHREAD_MUTEX_INITIALIZER}};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t hold(void)
{
    uint64_t began = now_ns();
    while (now_ns() < began + HOLD_NS)
        ;
    return began;
}

static void add(struct tally *tally, uint64_t began, uint64_t asked)
{
    tally->holds++;
    tally->longer += now_ns() - asked >= asked - began;
}

/* The first of a round has it until the other one waits for it. */
KNOWN_FUNCTION static void take_heavy(struct tally *tally, int other)
{
    pthread_mutex_lock(&heavy);
    if (taken++ % 2 == 0)
        known__await_sleep(other, &heavy, sizeof heavy);
    uint64_t began = hold(), asked = now_ns();
    pthread_mutex_unlock(&heavy);
    add(tally, began, asked);
}

KNOWN_FUNCTION static void take_light(struct tally *tally, pthread_mutex_t *light)
{
    pthread_mutex_lock(light);
    uint64_t began = hold(), asked = now_ns();
    pthread_mutex_unlock(light);
    add(tally, began, asked);
}

static void *work(void *argument)
{
    struct worker *self = argument, *other = &workers[self == workers];
    self->tid = known__tid();
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&both);
        take_heavy(&self->of_heavy, other->tid);
        take_light(&self->of_light, &self->light);
    }
    return NULL;
}

int main(int count, char **words)
{
    struct tally of_heavy = {0, 0}, of_light = {0, 0};
    if (count < 2)
        return 0;
    pthread_barrier_init(&both, NULL, 2);
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(workers[i].thread, NULL);
        of_heavy.holds += workers[i].of_heavy.holds;
        of_heavy.longer += workers[i].of_heavy.longer;
        of_light.holds += workers[i].of_light.holds;
        of_light.longer += workers[i].of_light.longer;
    }
    FILE *file = fopen(words[1], "a");
    if (!file)
        return 1;
    fprintf(file, "heavy %u %u light %u %u\n", of_heavy.holds, of_heavy.longer, of_light.holds,
            of_light.longer);
    return fclose(file) != 0;
}
