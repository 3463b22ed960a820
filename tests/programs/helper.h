/* helper.h: a second thread that does one job at a time, for programs of known locks.  It is asked
 * and answers by atomics, which no hook sees. */
#ifndef HEURT_TESTS_HELPER_H
#define HEURT_TESTS_HELPER_H

#include "known.h"

enum { HELPER_IDLE, HELPER_ASKED, HELPER_DONE, HELPER_OVER };

static struct helper {
    pthread_t thread;
    int tid, state;
    int (*job)(void *);
    void *argument;
    int result;
} helper;

static void *helper__run(void *unused)
{
    (void)unused;
    __atomic_store_n(&helper.tid, known__tid(), __ATOMIC_RELEASE);
    for (;;) {
        int state = __atomic_load_n(&helper.state, __ATOMIC_ACQUIRE);
        if (state == HELPER_OVER)
            return NULL;
        if (state != HELPER_ASKED) {
            known__yield();
            continue;
        }
        helper.result = helper.job(helper.argument);
        __atomic_store_n(&helper.state, HELPER_DONE, __ATOMIC_RELEASE);
    }
}

static void helper__start(void)
{
    KNOWN_CHECK(pthread_create(&helper.thread, NULL, helper__run, NULL) == 0);
    while (__atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE) == 0)
        known__yield();
}

static void helper__end(void)
{
    __atomic_store_n(&helper.state, HELPER_OVER, __ATOMIC_RELEASE);
    pthread_join(helper.thread, NULL);
}

static void helper__ask(int (*job)(void *), void *argument)
{
    helper.job = job;
    helper.argument = argument;
    __atomic_store_n(&helper.state, HELPER_ASKED, __ATOMIC_RELEASE);
}

static int helper__result(void)
{
    known__await(&helper.state, HELPER_DONE);
    __atomic_store_n(&helper.state, HELPER_IDLE, __ATOMIC_RELEASE);
    return helper.result;
}

/* Asks and waits for the result. */
static inline int helper__do(int (*job)(void *), void *argument)
{
    helper__ask(job, argument);
    return helper__result();
}

#endif
