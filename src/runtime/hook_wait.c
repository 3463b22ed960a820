/* hook_wait.c: condition variables, barriers, semaphores, raw futexes. */
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <linux/futex.h>

/* A call that waits, as one span: site, object and perhaps a second object. */
#define WAIT(event, object, real)                                         \
    do {                                                                  \
        struct thread *thread = hook__thread();                           \
        if (unlikely(!thread))                                            \
            return real;                                                  \
        hook__stack(thread, SITE(0), object);                             \
        event__write2(thread, event, SITE(0), (uintptr_t)(object));       \
        uint64_t since = clock__tick();                                   \
        int result = real;                                                \
        wait__end(thread, (event) | 1, since, (uint64_t)(int64_t)result); \
        return result;                                                    \
    } while (0)

#define CONDITION_WAIT(condition, mutex, real)                                             \
    do {                                                                                   \
        struct thread *thread = hook__thread();                                            \
        if (unlikely(!thread))                                                             \
            return real;                                                                   \
        hook__stack(thread, SITE(0), condition);                                           \
        event__write3(thread, HEURT_EVENT_CONDITION_WAIT, SITE(0), (uintptr_t)(condition), \
                      (uintptr_t)(mutex));                                                 \
        uint64_t since = clock__tick();                                                    \
        int result = real;                                                                 \
        lock__was_left_out(thread, mutex); /* it is acquired anew */                       \
        wait__end(thread, HEURT_EVENT_CONDITION_WAIT | 1, since, (uint64_t)result);        \
        return result;                                                                     \
    } while (0)

#define POINT(event, how, object)                                         \
    do {                                                                  \
        struct thread *thread = hook__thread();                           \
        if (likely(thread))                                               \
            event__write2(thread, event, SITE(how), (uintptr_t)(object)); \
    } while (0)

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    CONDITION_WAIT(condition, mutex, REAL(pthread_cond_wait)(condition, mutex));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    CONDITION_WAIT(condition, mutex, REAL(pthread_cond_timedwait)(condition, mutex, until));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until)
{
    CONDITION_WAIT(condition, mutex, REAL(pthread_cond_clockwait)(condition, mutex, clock, until));
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 0, condition);
    return REAL(pthread_cond_signal)(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 1, condition);
    return REAL(pthread_cond_broadcast)(condition);
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    CONDITION_WAIT(condition, mutex, REAL(cnd_wait)(condition, mutex));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                         const struct timespec *restrict until)
{
    CONDITION_WAIT(condition, mutex, REAL(cnd_timedwait)(condition, mutex, until));
}

EXPORT int cnd_signal(cnd_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 0, condition);
    return REAL(cnd_signal)(condition);
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 1, condition);
    return REAL(cnd_broadcast)(condition);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    WAIT(HEURT_EVENT_BARRIER_WAIT, barrier, REAL(pthread_barrier_wait)(barrier));
}

static inline void semaphore__acquired(struct thread *thread, uint64_t site, sem_t *semaphore)
{
    if (hook__leaves_out(thread, HEURT_EVENT_SEMAPHORE_ACQUIRED))
        return;
    hook__stack(thread, site, semaphore);
    event__write2(thread, HEURT_EVENT_SEMAPHORE_ACQUIRED, site, (uintptr_t)semaphore);
}

/* Takes the semaphore if that needs no waiting. sem_wait and its kin act upon a pending
 * cancellation even then. */
static bool semaphore__try(struct thread *thread, uint64_t site, sem_t *semaphore)
{
    int saved = errno;
    pthread_testcancel();
    bool taken = REAL(sem_trywait)(semaphore) == 0;
    errno = saved;
    if (taken)
        semaphore__acquired(thread, site, semaphore);
    return taken;
}

#define SEMAPHORE_WAIT(semaphore, real)                           \
    do {                                                          \
        struct thread *waiter = hook__thread();                   \
        if (waiter && semaphore__try(waiter, SITE(0), semaphore)) \
            return 0;                                             \
        WAIT(HEURT_EVENT_SEMAPHORE_WAIT, semaphore, real);        \
    } while (0)

EXPORT int sem_wait(sem_t *semaphore)
{
    SEMAPHORE_WAIT(semaphore, REAL(sem_wait)(semaphore));
}

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
        return REAL(sem_timedwait)(semaphore, until);
    SEMAPHORE_WAIT(semaphore, REAL(sem_timedwait)(semaphore, until));
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    if ((clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || until->tv_nsec < 0 ||
        until->tv_nsec >= 1000000000)
        return REAL(sem_clockwait)(semaphore, clock, until);
    SEMAPHORE_WAIT(semaphore, REAL(sem_clockwait)(semaphore, clock, until));
}

EXPORT int sem_trywait(sem_t *semaphore)
{
    int result = REAL(sem_trywait)(semaphore);
    if (result == 0) {
        struct thread *thread = hook__thread();
        if (thread)
            semaphore__acquired(thread, SITE(0), semaphore);
    }
    return result;
}

EXPORT int sem_post(sem_t *semaphore)
{
    POINT(HEURT_EVENT_SEMAPHORE_POSTED, 0, semaphore);
    return REAL(sem_post)(semaphore);
}

/* ---- syscall(SYS_futex, …): called by stub.S with syscall's own arguments -------------------- */

static bool futex__waits(int command)
{
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == FUTEX_LOCK_PI2 || command == FUTEX_WAIT_REQUEUE_PI;
}

static bool futex__wakes(int command)
{
    return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP ||
           command == FUTEX_UNLOCK_PI || command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE;
}

long heurt_futex(long number, long address, long operation, long c, long d, long e, long f);
long heurt_futex(long number, long address, long operation, long c, long d, long e, long f)
{
    struct thread *thread = hook__thread();
    int command = (int)operation & FUTEX_CMD_MASK;
    uint64_t site = SITE((unsigned)command);
    if (thread && thread->is_in_wait)
        thread = NULL;
    bool waits = thread && futex__waits(command);
    if (waits) {
        hook__stack(thread, site, (void *)address);
        event__write2(thread, HEURT_EVENT_FUTEX_WAIT, site, (uint64_t)address);
    } else if (thread && futex__wakes(command)) {
        event__write2(thread, HEURT_EVENT_FUTEX_WOKEN, site, (uint64_t)address);
    }
    uint64_t since = waits ? clock__tick() : 0;
    long result = REAL(syscall)(number, address, operation, c, d, e, f);
    if (waits)
        wait__end(thread, HEURT_EVENT_FUTEX_WAIT | 1, since, (uint64_t)result);
    return result;
}

long heurt_early_syscall(long number, long a, long b, long c, long d, long e, long f);
long heurt_early_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    return REAL(syscall)(number, a, b, c, d, e, f);
}
