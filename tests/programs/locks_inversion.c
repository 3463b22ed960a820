/* Locks in both orders. Each thread has ended before the next one begins, so that none can block.
 *
 *     alpha, beta                in both orders, by two threads
 *     gamma, delta               likewise, but always under gate
 *     epsilon, zeta              in both orders, by one thread
 *     one, two, three            in a circle, by three threads
 *     eta, theta                 always in one order, by two threads */
#include "known.h"

#define TIMES 7

static pthread_mutex_t alpha = PTHREAD_MUTEX_INITIALIZER, beta = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gamma_ = PTHREAD_MUTEX_INITIALIZER, delta = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t epsilon = PTHREAD_MUTEX_INITIALIZER, zeta = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t circle[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                    PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t eta = PTHREAD_MUTEX_INITIALIZER, theta = PTHREAD_MUTEX_INITIALIZER;

KNOWN_FUNCTION static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(first);
        pthread_mutex_lock(second);
        pthread_mutex_unlock(second);
        pthread_mutex_unlock(first);
    }
}

static void take_guarded(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(&gate);
    take_both(first, second);
    pthread_mutex_unlock(&gate);
}

static void *forwards(void *unused)
{
    take_both(&alpha, &beta);
    take_guarded(&gamma_, &delta);
    take_both(&eta, &theta);
    take_both(&circle[0], &circle[1]);
    return unused;
}

static void *backwards(void *unused)
{
    take_both(&beta, &alpha);
    take_guarded(&delta, &gamma_);
    take_both(&eta, &theta);
    take_both(&circle[1], &circle[2]);
    return unused;
}

static void *both_ways(void *unused)
{
    take_both(&epsilon, &zeta);
    take_both(&zeta, &epsilon);
    take_both(&circle[2], &circle[0]);
    return unused;
}

int main(void)
{
    void *(*const routines[])(void *) = {forwards, backwards, both_ways};
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        KNOWN_CHECK(pthread_create(&thread, NULL, routines[i], NULL) == 0);
        KNOWN_CHECK(pthread_join(thread, NULL) == 0);
    }
    known__address("alpha", &alpha);
    known__address("beta", &beta);
    known__address("gamma", &gamma_);
    known__address("delta", &delta);
    known__address("epsilon", &epsilon);
    known__address("zeta", &zeta);
    known__number("times", TIMES);
    return 0;
}
