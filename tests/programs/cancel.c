/* cancel.c: threads that end in the middle of a hooked call: cancelled in read, in a condition
 * wait, in nanosleep, sem_wait, poll and join, and by pthread_exit with cleanup handlers. */
#include "known.h"

#include <poll.h>
#include <semaphore.h>

enum { TIMES = 10 };

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int tid, cleaned;

static void count_cleanup(void *unused)
{
    (void)unused;
    __atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}

static void unlock_cleanup(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&mutex);
}

static void announce(void)
{
    __atomic_store_n(&tid, known__tid(), __ATOMIC_RELEASE);
}

static void wait_in_read(void)
{
    static char byte;
    KNOWN_CHECK(read(ends[0], &byte, 1) == 1);
}

static void wait_in_condition(void)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock_cleanup, NULL);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
}

static void wait_in_nanosleep(void)
{
    static const struct timespec long_time = {3600, 0};
    nanosleep(&long_time, NULL);
}

static void wait_in_semaphore(void)
{
    sem_wait(&semaphore);
}

static void wait_in_poll(void)
{
    static struct pollfd polled = {.events = POLLIN};
    polled.fd = ends[0];
    poll(&polled, 1, -1);
}

static void *run(void *wait)
{
    void (*wait_somewhere)(void) = *(void (**)(void))wait;
    pthread_cleanup_push(count_cleanup, NULL);
    announce();
    wait_somewhere();
    pthread_cleanup_pop(0);
    return NULL;
}

/* Asleep for good: seen so, after it said that it was about to. */
static void await_asleep(void)
{
    int who;
    while ((who = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)) == 0)
        known__yield();
    known__await_sleep(who, NULL, 0);
}

static void cancel_in(void (*wait)(void))
{
    for (int i = 0; i < TIMES; i++) {
        pthread_t thread;
        void *result;
        __atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
        KNOWN_CHECK(pthread_create(&thread, NULL, run, &wait) == 0);
        await_asleep();
        KNOWN_CHECK(pthread_cancel(thread) == 0);
        KNOWN_CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
}

static void *exit_with_cleanup(void *unused)
{
    (void)unused;
    pthread_cleanup_push(count_cleanup, NULL);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock_cleanup, NULL);
    pthread_exit((void *)5);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void exits(void)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_t thread;
        void *result;
        KNOWN_CHECK(pthread_create(&thread, NULL, exit_with_cleanup, NULL) == 0);
        KNOWN_CHECK(pthread_join(thread, &result) == 0 && result == (void *)5);
    }
}

int main(void)
{
    KNOWN_CHECK(pipe2(ends, O_CLOEXEC) == 0);
    sem_init(&semaphore, 0, 0);
    cancel_in(wait_in_read);
    cancel_in(wait_in_condition);
    cancel_in(wait_in_nanosleep);
    cancel_in(wait_in_semaphore);
    cancel_in(wait_in_poll);
    exits();
    KNOWN_CHECK(cleaned == 6 * TIMES);
    KNOWN_CHECK(pthread_mutex_trylock(&mutex) == 0);
    known__number("threads_created", 6 * TIMES);
    known__number("cancelled_in_read", TIMES);
    known__number("cancelled_in_condition", TIMES);
    known__number("cancelled_in_nanosleep", TIMES);
    known__number("cancelled_in_semaphore", TIMES);
    known__number("cancelled_in_poll", TIMES);
    known__number("exited", TIMES);
    known__number("cleaned", cleaned);
    return 0;
}
