/* hook_lock.c: mutexes, reader-writer locks, spin locks, and C11's mutexes.
 *
 * Each acquisition tries first: when that succeeds it did not wait and is one event; when the lock
 * is held the real call is made inside a span.  Trying first is what the real calls do, too, so
 * neither order nor result changes.
 *
 * To stay within a budget, acquisitions that did not wait are sampled, all of a thread's together
 * (lock_events.h). Not those of locks that processes share: who waits in another one is not known
 * here. */
#include "runtime/lock_events.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>

__attribute__((noinline)) void lock__write_acquired(struct thread *thread, uint64_t site,
                                                    const void *lock)
{
    lock__was_left_out(thread, lock, NULL);
    hook__stack(thread, site, lock);
    event__write2(thread, HEURT_EVENT_LOCK_ACQUIRED, site, (uintptr_t)lock);
}

__attribute__((noinline)) void lock__write_held(struct thread *thread, uint64_t acquired_site,
                                                const void *lock)
{
    const struct waited_lock *waited = lock__waited(lock);
    uint64_t waits = __atomic_load_n(&waited->waits, __ATOMIC_ACQUIRE), tick = clock__tick();
    bool is_known = waits && __atomic_load_n(&waited->lock, __ATOMIC_RELAXED) == lock;
    uint64_t since = waits >> WAITERS_BITS;
    event__write3(thread, HEURT_EVENT_LOCK_HELD, acquired_site, (uintptr_t)lock,
                  is_known ? (tick - since) & HEURT_TICK_MASK : 0);
}

__attribute__((noinline)) void lock__write_released(struct thread *thread, uint64_t site,
                                                    const void *lock)
{
    event__write2(thread, HEURT_EVENT_LOCK_RELEASED, site, (uintptr_t)lock);
}

__attribute__((noinline)) void lock__add_waiter(const void *lock)
{
    struct waited_lock *waited = lock__waited(lock);
    uint64_t waits = __atomic_load_n(&waited->waits, __ATOMIC_RELAXED), now;
    if (!heurt_state.has_waited_locks)
        heurt_state.has_waited_locks = true;
    if (!waits)
        __atomic_store_n(&waited->lock, lock, __ATOMIC_RELAXED);
    do
        now = waits ? waits + 1 : clock__tick() << WAITERS_BITS | 1;
    while (!__atomic_compare_exchange_n(&waited->waits, &waits, now, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED));
}

/* A child that was forked knows nothing of those who waited before. */
__attribute__((noinline)) void lock__drop_waiter(const void *lock)
{
    struct waited_lock *waited = lock__waited(lock);
    uint64_t waits = __atomic_load_n(&waited->waits, __ATOMIC_RELAXED), now;
    do
        now = (waits & WAITERS_MASK) > 1 ? waits - 1 : 0;
    while (!__atomic_compare_exchange_n(&waited->waits, &waits, now, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED));
}

static inline bool mutex__is_shared(const pthread_mutex_t *lock)
{
    return lock->__data.__kind & 128; /* glibc's PTHREAD_MUTEX_PSHARED_BIT */
}

static inline bool rwlock__is_shared(const pthread_rwlock_t *lock)
{
    return lock->__data.__shared;
}

/* An acquisition: try is called first; busy is its answer for "held"; then the real call. */
#define ACQUIRE(kind, lock, is_shared, try, busy, real)                 \
    do {                                                                \
        struct thread *thread = hook__thread();                         \
        if (unlikely(!thread))                                          \
            return real;                                                \
        int result = try;                                               \
        if (likely(result == 0 || result == EOWNERDEAD))                \
            lock__acquired(thread, SITE(kind), lock, is_shared);        \
        if (likely(result != (busy)))                                   \
            return result;                                              \
        uint64_t since = lock__wait_begins(thread, SITE(kind), lock);   \
        return lock__wait_ended(thread, SITE(kind), since, lock, real); \
    } while (0)

/* A try that the program makes itself. */
#define TRY(kind, lock, is_shared, busy, real)                                        \
    do {                                                                              \
        struct thread *thread = hook__thread();                                       \
        int result = real;                                                            \
        if (thread && (result == 0 || result == EOWNERDEAD))                          \
            lock__acquired(thread, SITE((kind) | HEURT_LOCK_TRIED), lock, is_shared); \
        else if (thread && result == (busy))                                          \
            lock__refused(thread, SITE(kind), (uintptr_t)(lock));                     \
        return result;                                                                \
    } while (0)

#define RELEASE(kind, lock, real)                      \
    do {                                               \
        struct thread *thread = hook__thread();        \
        if (likely(thread))                            \
            lock__releasing(thread, SITE(kind), lock); \
        return real;                                   \
    } while (0)

EXPORT int pthread_mutex_lock(pthread_mutex_t *lock)
{
    ACQUIRE(HEURT_LOCK_MUTEX, lock, mutex__is_shared(lock), REAL(pthread_mutex_trylock)(lock),
            EBUSY, REAL(pthread_mutex_lock)(lock));
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *lock)
{
    TRY(HEURT_LOCK_MUTEX, lock, mutex__is_shared(lock), EBUSY, REAL(pthread_mutex_trylock)(lock));
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until)
{
    ACQUIRE(HEURT_LOCK_MUTEX, lock, mutex__is_shared(lock), REAL(pthread_mutex_trylock)(lock),
            EBUSY, REAL(pthread_mutex_timedlock)(lock, until));
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *lock, clockid_t clock,
                                   const struct timespec *until)
{
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return REAL(pthread_mutex_clocklock)(lock, clock, until);
    ACQUIRE(HEURT_LOCK_MUTEX, lock, mutex__is_shared(lock), REAL(pthread_mutex_trylock)(lock),
            EBUSY, REAL(pthread_mutex_clocklock)(lock, clock, until));
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    RELEASE(HEURT_LOCK_MUTEX, lock, REAL(pthread_mutex_unlock)(lock));
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    ACQUIRE(HEURT_LOCK_READ, lock, rwlock__is_shared(lock), REAL(pthread_rwlock_tryrdlock)(lock),
            EBUSY, REAL(pthread_rwlock_rdlock)(lock));
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    TRY(HEURT_LOCK_READ, lock, rwlock__is_shared(lock), EBUSY,
        REAL(pthread_rwlock_tryrdlock)(lock));
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    ACQUIRE(HEURT_LOCK_READ, lock, rwlock__is_shared(lock), REAL(pthread_rwlock_tryrdlock)(lock),
            EBUSY, REAL(pthread_rwlock_timedrdlock)(lock, until));
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                      const struct timespec *until)
{
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return REAL(pthread_rwlock_clockrdlock)(lock, clock, until);
    ACQUIRE(HEURT_LOCK_READ, lock, rwlock__is_shared(lock), REAL(pthread_rwlock_tryrdlock)(lock),
            EBUSY, REAL(pthread_rwlock_clockrdlock)(lock, clock, until));
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    ACQUIRE(HEURT_LOCK_WRITE, lock, rwlock__is_shared(lock), REAL(pthread_rwlock_trywrlock)(lock),
            EBUSY, REAL(pthread_rwlock_wrlock)(lock));
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    TRY(HEURT_LOCK_WRITE, lock, rwlock__is_shared(lock), EBUSY,
        REAL(pthread_rwlock_trywrlock)(lock));
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    ACQUIRE(HEURT_LOCK_WRITE, lock, rwlock__is_shared(lock), REAL(pthread_rwlock_trywrlock)(lock),
            EBUSY, REAL(pthread_rwlock_timedwrlock)(lock, until));
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                      const struct timespec *until)
{
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return REAL(pthread_rwlock_clockwrlock)(lock, clock, until);
    ACQUIRE(HEURT_LOCK_WRITE, lock, rwlock__is_shared(lock), REAL(pthread_rwlock_trywrlock)(lock),
            EBUSY, REAL(pthread_rwlock_clockwrlock)(lock, clock, until));
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    RELEASE(HEURT_LOCK_RW_ANY, lock, REAL(pthread_rwlock_unlock)(lock));
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
    ACQUIRE(HEURT_LOCK_SPIN, (const void *)lock, false, REAL(pthread_spin_trylock)(lock), EBUSY,
            REAL(pthread_spin_lock)(lock));
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    TRY(HEURT_LOCK_SPIN, (const void *)lock, false, EBUSY, REAL(pthread_spin_trylock)(lock));
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    RELEASE(HEURT_LOCK_SPIN, (const void *)lock, REAL(pthread_spin_unlock)(lock));
}

EXPORT int mtx_lock(mtx_t *lock)
{
    ACQUIRE(HEURT_LOCK_MUTEX, lock, false, REAL(mtx_trylock)(lock), thrd_busy,
            REAL(mtx_lock)(lock));
}

EXPORT int mtx_trylock(mtx_t *lock)
{
    TRY(HEURT_LOCK_MUTEX, lock, false, thrd_busy, REAL(mtx_trylock)(lock));
}

EXPORT int mtx_timedlock(mtx_t *lock, const struct timespec *until)
{
    ACQUIRE(HEURT_LOCK_MUTEX, lock, false, REAL(mtx_trylock)(lock), thrd_busy,
            REAL(mtx_timedlock)(lock, until));
}

EXPORT int mtx_unlock(mtx_t *lock)
{
    RELEASE(HEURT_LOCK_MUTEX, lock, REAL(mtx_unlock)(lock));
}
