/* hook_initialise.c: where locks and their kin are made, so that one without a name of its own can
 * be told by that.  A call that fails has made nothing.  What is made at compile time
 * (PTHREAD_MUTEX_INITIALIZER, most std::mutex) calls nothing and leaves no event.
 *
 * These calls are rare beside the others, and nothing is known of a lock without its one: the
 * budget leaves none of them out. */
#include "runtime/real.h"
#include "runtime/runtime.h"

/* Not all of a site's objects get a call stack: they would all be much the same. */
static void initialised(uint64_t site, const void *object, uint64_t count)
{
    struct thread *thread = hook__thread();
    if (unlikely(!thread))
        return;
    hook__stack(thread, site, NULL);
    event__write3(thread, HEURT_EVENT_INITIALISED, site, (uintptr_t)object, count);
}

#define INITIALISE(kind, object, count, real)                       \
    do {                                                            \
        int result = real;                                          \
        if (likely(result == 0))                                    \
            initialised(SITE(kind), (const void *)(object), count); \
        return result;                                              \
    } while (0)

EXPORT int pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attributes)
{
    INITIALISE(HEURT_OBJECT_MUTEX, lock, 0, REAL(pthread_mutex_init)(lock, attributes));
}

EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    INITIALISE(HEURT_OBJECT_RWLOCK, lock, 0, REAL(pthread_rwlock_init)(lock, attributes));
}

EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    INITIALISE(HEURT_OBJECT_SPIN, lock, 0, REAL(pthread_spin_init)(lock, shared));
}

EXPORT int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    INITIALISE(HEURT_OBJECT_CONDITION, condition, 0,
               REAL(pthread_cond_init)(condition, attributes));
}

EXPORT int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                                unsigned parties)
{
    INITIALISE(HEURT_OBJECT_BARRIER, barrier, parties,
               REAL(pthread_barrier_init)(barrier, attributes, parties));
}

EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    INITIALISE(HEURT_OBJECT_SEMAPHORE, semaphore, value, REAL(sem_init)(semaphore, shared, value));
}

EXPORT int mtx_init(mtx_t *lock, int type)
{
    INITIALISE(HEURT_OBJECT_MUTEX, lock, 0, REAL(mtx_init)(lock, type));
}

EXPORT int cnd_init(cnd_t *condition)
{
    INITIALISE(HEURT_OBJECT_CONDITION, condition, 0, REAL(cnd_init)(condition));
}
