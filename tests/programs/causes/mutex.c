/* Two threads, one mutex that each holds for most of its call. --cure: each has a mutex of its own.
 */
#include "cause.h"

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static bool cured;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    pthread_mutex_t *mutex = &mutexes[cured ? thread->number : 0];
    cause__compute(20000);
    injected__begin(thread);
    pthread_mutex_lock(mutex);
    injected__end(thread, 0);
    cause__compute(amount);
    pthread_mutex_unlock(mutex);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 120));
    return 250000;
}

int main(int count, char **words)
{
    cured = cause__read(count, words);
    return cause__run(&(struct cause){
        .name = "mutex", .parts = {"lock"}, .threads = 2, .calls = 500, .prepare = prepare});
}
