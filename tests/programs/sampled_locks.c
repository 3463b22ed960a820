/* sampled_locks.c: locks that are taken so often that a budget samples them, a known number of
 * times, and between them waits by construction.
 *
 * Thread by thread: acquired=… (pthread_mutex_lock and pthread_rwlock_rdlock that did not wait),
 * semaphore=… (sem_wait that did not), waits=…: in wait_for_it, each for a lock that the function
 * rightful holds until the waiter sleeps; the function others has acquired and released it before
 * in each way there is. */
#include "known.h"

#include <semaphore.h>

enum { ROUNDS = 200, OFTEN = 8000, SEMAPHORES = 2000, AROUND = 30 };

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t nested;
static sem_t semaphore;
static int turn, waiter_tid;
static long acquired;

KNOWN_FUNCTION static void wait_for_it(void)
{
    pthread_mutex_lock(&shared);
    pthread_mutex_unlock(&shared);
    __asm__ volatile("" : : : "memory");
}

static void *waiter(void *unused)
{
    __atomic_store_n(&waiter_tid, known__tid(), __ATOMIC_RELEASE);
    for (int i = 0; i < ROUNDS; i++) {
        known__await(&turn, 2 * i + 1);
        wait_for_it();
        __atomic_store_n(&turn, 2 * i + 2, __ATOMIC_RELEASE);
    }
    return unused;
}

/* No function: the acquisition is that of the function around it. */
#define LOCK(mutex)                                  \
    do {                                             \
        KNOWN_CHECK(pthread_mutex_lock(mutex) == 0); \
        acquired++;                                  \
    } while (0)

/* Of one lock right after the other, so that each is now left out, now not. */
KNOWN_FUNCTION static void others(void)
{
    static const struct timespec past = {1, 0};
    for (int i = 0; i < AROUND; i++) {
        LOCK(&shared);
        pthread_mutex_unlock(&shared);
    }
    LOCK(&shared);
    KNOWN_CHECK(pthread_cond_timedwait(&condition, &shared, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&shared);
}

KNOWN_FUNCTION static void rightful(int round)
{
    LOCK(&shared);
    __atomic_store_n(&turn, 2 * round + 1, __ATOMIC_RELEASE);
    known__await_sleep(waiter_tid, &shared, sizeof shared);
    pthread_mutex_unlock(&shared);
    known__await(&turn, 2 * round + 2);
}

KNOWN_FUNCTION static void often(void)
{
    for (int i = 0; i < OFTEN; i++) {
        LOCK(&own);
        pthread_mutex_unlock(&own);
    }
    LOCK(&nested);
    LOCK(&nested);
    LOCK(&nested);
    for (int i = 0; i < 3; i++)
        pthread_mutex_unlock(&nested);
    KNOWN_CHECK(pthread_rwlock_rdlock(&readers) == 0);
    acquired++;
    pthread_rwlock_unlock(&readers);
    for (int i = 0; i < SEMAPHORES; i++) {
        sem_post(&semaphore);
        sem_wait(&semaphore);
    }
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&nested, &recursive);
    KNOWN_CHECK(sem_init(&semaphore, 0, 0) == 0);
    KNOWN_CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
    while (!__atomic_load_n(&waiter_tid, __ATOMIC_ACQUIRE))
        known__yield();
    for (int i = 0; i < ROUNDS; i++) {
        often();
        others();
        rightful(i);
    }
    pthread_join(thread, NULL);
    known__number("acquired", acquired);
    known__number("semaphore", (long)ROUNDS * SEMAPHORES);
    known__number("waits", ROUNDS);
    return 0;
}
