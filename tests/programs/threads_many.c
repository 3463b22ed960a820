/* threads_many.c: many threads, one after another and at once; each does known work.
 *
 *     threads_many [SHORT [AT_ONCE]]      1000 short-lived threads, then 64 that live at once
 *
 * Every thread locks the same mutex LOCKS times and calls known_work CALLS times. */
#include "known.h"

enum { LOCKS = 10, CALLS = 10, THREADS_MAX = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;
static pthread_barrier_t all_live;

long known_work(long value);

KNOWN_FUNCTION long known_work(long value)
{
    return value * 2 + 1;
}

static void *live_shortly(void *unused)
{
    (void)unused;
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&mutex);
        total++;
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(known_work(i) == 2 * i + 1);
    return NULL;
}

static void *live_together(void *unused)
{
    pthread_barrier_wait(&all_live);
    live_shortly(unused);
    pthread_barrier_wait(&all_live);
    return NULL;
}

static void one_after_another(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        KNOWN_CHECK(pthread_create(&thread, NULL, live_shortly, NULL) == 0);
        KNOWN_CHECK(pthread_join(thread, NULL) == 0);
    }
}

static void at_once(int count)
{
    static pthread_t threads[THREADS_MAX];
    pthread_barrier_init(&all_live, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, live_together, NULL) == 0);
    for (int i = 0; i < count; i++)
        KNOWN_CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    int brief = argc > 1 ? atoi(argv[1]) : 1000, together = argc > 2 ? atoi(argv[2]) : 64;
    KNOWN_CHECK(brief >= 0 && together > 0 && together <= THREADS_MAX);
    one_after_another(brief);
    at_once(together);
    KNOWN_CHECK(total == (long)(brief + together) * LOCKS);
    known__number("threads_created", brief + together);
    known__number("threads_short", brief);
    known__number("threads_at_once", together);
    known__address("mutex_address", &mutex);
    known__number("mutex_acquired", total);
    known__number("known_work", (long)(brief + together) * CALLS);
    known__number("barrier_waits", 2 * together);
    return 0;
}
