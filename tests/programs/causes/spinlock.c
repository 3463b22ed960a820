/* Threads that spin for a lock. OVERSUBSCRIBED: one thread more than CPUs and hardly anything done
 * without the lock, so that its holder is preempted while the others spin. --cure: each thread has
 * a lock of its own. */
#include "cause.h"

#ifdef OVERSUBSCRIBED
enum { HELD_TURNS = 300000, REST_US = 0, CALLS = 600 };
#define NAME "oversubscribed"
#else
enum { HELD_TURNS = 250000, REST_US = 120, CALLS = 500 };
#define NAME "spinlock"
#endif

static pthread_spinlock_t locks[CAUSE_THREADS_MOST];
static bool cured;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    pthread_spinlock_t *lock = &locks[cured ? thread->number : 0];
    injected__begin(thread);
    pthread_spin_lock(lock);
    injected__end(thread, 0);
    cause__compute(amount);
    pthread_spin_unlock(lock);
}

static unsigned long prepare(struct cause_thread *thread)
{
    if (REST_US)
        cause__rest_us(cause__draw(thread, REST_US + 1));
    else
        cause__compute(cause__draw(thread, 20000));
    return HELD_TURNS;
}

int main(int count, char **words)
{
    unsigned threads = 2;
#ifdef OVERSUBSCRIBED
    threads = cause__cpus() + 1;
#endif
    cured = cause__read(count, words);
    for (unsigned i = 0; i < CAUSE_THREADS_MOST; i++)
        KNOWN_CHECK(pthread_spin_init(&locks[i], PTHREAD_PROCESS_PRIVATE) == 0);
    return cause__run(&(struct cause){
        .name = NAME, .parts = {"lock"}, .threads = threads, .calls = CALLS, .prepare = prepare});
}
