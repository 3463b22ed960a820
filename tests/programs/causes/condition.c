/* A turnstile: two threads pass it in turns, each waits for its turn and signals the other's.
 * --cure: each passes when it comes. */
#include "cause.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static unsigned turn;
static bool cured;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    cause__compute(amount);
    pthread_mutex_lock(&mutex);
    injected__begin(thread);
    while (!cured && turn != thread->number)
        pthread_cond_wait(&passed, &mutex);
    injected__end(thread, 0);
    turn = !thread->number;
    pthread_cond_signal(&passed);
    pthread_mutex_unlock(&mutex);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 4) ? 10 : 1000);
    return 50000;
}

int main(int count, char **words)
{
    cured = cause__read(count, words);
    return cause__run(&(struct cause){.name = "condition",
                                      .parts = {"condition"},
                                      .threads = 2,
                                      .calls = 600,
                                      .prepare = prepare});
}
