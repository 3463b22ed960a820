/* locks_known.c: known numbers of operations on locks and their kin.  A contended acquisition is
 * made certain: the holder releases only when the waiter is seen asleep in the kernel on that very
 * lock (for a spinlock: when it has burnt processor time in it).
 *
 * For each object NAME: NAME_address, NAME_acquired (all successful acquisitions, those after a
 * wait and by a try or with a time limit included), NAME_contended (of them, after a wait),
 * NAME_busy (tries that failed), NAME_timed_out; whatever is not printed for an object is 0.  The
 * mutex that a condition wait takes again is not counted. */
#include "helper.h"

#include <semaphore.h>
#include <threads.h>

enum { CONTENDED = 20, UNCONTENDED = 1000, SHARED_THREADS = 4, ROUNDS = 50 };

static struct timespec far_away(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += 3600;
    return time;
}

/* ---- mutexes --------------------------------------------------------------------------------- */

static int lock_and_unlock(void *mutex)
{
    int error = pthread_mutex_lock(mutex);
    return error ? error : pthread_mutex_unlock(mutex);
}

static int timedlock_and_unlock(void *mutex)
{
    struct timespec limit = far_away(CLOCK_REALTIME);
    int error = pthread_mutex_timedlock(mutex, &limit);
    return error ? error : pthread_mutex_unlock(mutex);
}

static int clocklock_and_unlock(void *mutex)
{
    struct timespec limit = far_away(CLOCK_MONOTONIC);
    int error = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &limit);
    return error ? error : pthread_mutex_unlock(mutex);
}

static int try_busy(void *mutex)
{
    return pthread_mutex_trylock(mutex) == EBUSY ? 0 : 1;
}

static int time_out(void *mutex)
{
    struct timespec past = {1, 0};
    return pthread_mutex_timedlock(mutex, &past) == ETIMEDOUT ? 0 : 1;
}

static void contend_mutex(pthread_mutex_t *mutex, int (*job)(void *))
{
    for (int i = 0; i < CONTENDED; i++) {
        pthread_mutex_lock(mutex);
        helper__ask(job, mutex);
        known__await_sleep(helper.tid, mutex, sizeof *mutex);
        pthread_mutex_unlock(mutex);
        KNOWN_CHECK(helper__result() == 0);
    }
}

static void known_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    contend_mutex(&mutex, lock_and_unlock);
    contend_mutex(&mutex, timedlock_and_unlock);
    contend_mutex(&mutex, clocklock_and_unlock);
    for (int i = 0; i < UNCONTENDED; i++)
        lock_and_unlock(&mutex);
    for (int i = 0; i < ROUNDS; i++) {
        KNOWN_CHECK(pthread_mutex_trylock(&mutex) == 0);
        helper__ask(try_busy, &mutex);
        KNOWN_CHECK(helper__result() == 0);
        helper__ask(time_out, &mutex);
        KNOWN_CHECK(helper__result() == 0);
        pthread_mutex_unlock(&mutex);
    }
    known__address("mutex_address", &mutex);
    known__number("mutex_acquired", 3 * 2 * CONTENDED + UNCONTENDED + ROUNDS);
    known__number("mutex_contended", 3 * CONTENDED);
    known__number("mutex_busy", ROUNDS);
    known__number("mutex_timed_out", ROUNDS);
}

static void known_recursive_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    for (int i = 0; i < ROUNDS; i++) {
        for (int depth = 0; depth < 3; depth++)
            pthread_mutex_lock(&mutex);
        for (int depth = 0; depth < 3; depth++)
            pthread_mutex_unlock(&mutex);
    }
    contend_mutex(&mutex, lock_and_unlock);
    known__address("recursive_address", &mutex);
    known__number("recursive_acquired", 3 * ROUNDS + 2 * CONTENDED);
    known__number("recursive_contended", CONTENDED);
}

static pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *take_shared(void *unused)
{
    (void)unused;
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < UNCONTENDED; i++) {
        lock_and_unlock(&own);
        lock_and_unlock(&shared_mutex);
    }
    return NULL;
}

/* How many of the shared ones waited is left to chance; how many there are is not. */
static void known_shared_mutex(void)
{
    pthread_t threads[SHARED_THREADS];
    for (int i = 0; i < SHARED_THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, take_shared, NULL) == 0);
    for (int i = 0; i < SHARED_THREADS; i++)
        pthread_join(threads[i], NULL);
    known__address("shared_address", &shared_mutex);
    known__number("shared_acquired", SHARED_THREADS * UNCONTENDED);
    known__number("own_acquired", SHARED_THREADS * UNCONTENDED);
}

/* ---- read-write locks ------------------------------------------------------------------------ */

static int read_and_unlock(void *lock)
{
    int error = pthread_rwlock_rdlock(lock);
    return error ? error : pthread_rwlock_unlock(lock);
}

static int write_and_unlock(void *lock)
{
    int error = pthread_rwlock_wrlock(lock);
    return error ? error : pthread_rwlock_unlock(lock);
}

static int try_both_busy(void *lock)
{
    return pthread_rwlock_tryrdlock(lock) == EBUSY && pthread_rwlock_trywrlock(lock) == EBUSY ? 0
                                                                                              : 1;
}

static void contend_rwlock(pthread_rwlock_t *lock, int (*hold)(pthread_rwlock_t *),
                           int (*job)(void *))
{
    for (int i = 0; i < CONTENDED; i++) {
        hold(lock);
        helper__ask(job, lock);
        known__await_sleep(helper.tid, lock, sizeof *lock);
        pthread_rwlock_unlock(lock);
        KNOWN_CHECK(helper__result() == 0);
    }
}

static void known_rwlock(void)
{
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    contend_rwlock(&lock, pthread_rwlock_wrlock, read_and_unlock);
    contend_rwlock(&lock, pthread_rwlock_wrlock, write_and_unlock);
    contend_rwlock(&lock, pthread_rwlock_rdlock, write_and_unlock);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_rdlock(&lock);
        helper__ask(read_and_unlock, &lock); /* readers do not wait for readers */
        KNOWN_CHECK(helper__result() == 0);
        pthread_rwlock_unlock(&lock);
        KNOWN_CHECK(pthread_rwlock_trywrlock(&lock) == 0);
        helper__ask(try_both_busy, &lock);
        KNOWN_CHECK(helper__result() == 0);
        pthread_rwlock_unlock(&lock);
    }
    known__address("rwlock_address", &lock);
    known__number("rwlock_read_acquired", 2 * CONTENDED + 2 * ROUNDS);
    known__number("rwlock_read_contended", CONTENDED);
    known__number("rwlock_write_acquired", 4 * CONTENDED + ROUNDS);
    known__number("rwlock_write_contended", 2 * CONTENDED);
    known__number("rwlock_read_busy", ROUNDS);
    known__number("rwlock_write_busy", ROUNDS);
}

/* ---- spinlocks ------------------------------------------------------------------------------- */

static int arrived;

static int spin_and_unlock(void *argument)
{
    pthread_spinlock_t *lock = argument;
    __atomic_store_n(&arrived, 1, __ATOMIC_RELEASE);
    int error = pthread_spin_lock(lock);
    return error ? error : pthread_spin_unlock(lock);
}

static uint64_t helper__cpu_ns(void)
{
    clockid_t clock;
    struct timespec time;
    KNOWN_CHECK(pthread_getcpuclockid(helper.thread, &clock) == 0);
    KNOWN_CHECK(clock_gettime(clock, &time) == 0);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void known_spinlock(void)
{
    static pthread_spinlock_t lock;
    const uint64_t certain_ns = 5000000; /* after arrival it has nothing else to burn it on */
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < CONTENDED; i++) {
        pthread_spin_lock(&lock);
        arrived = 0;
        helper__ask(spin_and_unlock, (void *)&lock);
        known__await(&arrived, 1);
        uint64_t start_ns = helper__cpu_ns();
        while (helper__cpu_ns() - start_ns < certain_ns)
            known__yield();
        pthread_spin_unlock(&lock);
        KNOWN_CHECK(helper__result() == 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        KNOWN_CHECK(pthread_spin_trylock(&lock) == 0);
        KNOWN_CHECK(pthread_spin_trylock(&lock) == EBUSY);
        pthread_spin_unlock(&lock);
    }
    known__address("spin_address", (const void *)&lock);
    known__number("spin_acquired", 2 * CONTENDED + ROUNDS);
    known__number("spin_contended", CONTENDED);
    known__number("spin_busy", ROUNDS);
}

/* ---- semaphores, barriers, condition variables ----------------------------------------------- */

static int wait_semaphore(void *semaphore)
{
    return sem_wait(semaphore);
}

static int timedwait_semaphore(void *semaphore)
{
    struct timespec limit = far_away(CLOCK_REALTIME);
    return sem_timedwait(semaphore, &limit);
}

static void known_semaphore(void)
{
    static sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < 2 * CONTENDED; i++) {
        helper__ask(i % 2 ? timedwait_semaphore : wait_semaphore, &semaphore);
        known__await_sleep(helper.tid, &semaphore, sizeof semaphore);
        sem_post(&semaphore);
        KNOWN_CHECK(helper__result() == 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        sem_post(&semaphore);
        sem_post(&semaphore);
        KNOWN_CHECK(sem_wait(&semaphore) == 0);
        KNOWN_CHECK(sem_trywait(&semaphore) == 0);
        KNOWN_CHECK(sem_trywait(&semaphore) != 0 && errno == EAGAIN);
    }
    known__address("semaphore_address", &semaphore);
    known__number("semaphore_acquired", 2 * CONTENDED + 2 * ROUNDS);
    known__number("semaphore_contended", 2 * CONTENDED);
    known__number("semaphore_posted", 2 * CONTENDED + 2 * ROUNDS);
}

static pthread_barrier_t barrier;

static void *meet(void *last)
{
    for (int i = 0; i < ROUNDS; i++) {
        int result = pthread_barrier_wait(&barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add((int *)last, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void known_barrier(void)
{
    pthread_t threads[SHARED_THREADS];
    int last = 0;
    pthread_barrier_init(&barrier, NULL, SHARED_THREADS);
    for (int i = 0; i < SHARED_THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, meet, &last) == 0);
    for (int i = 0; i < SHARED_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    KNOWN_CHECK(last == ROUNDS);
    known__address("barrier_address", &barrier);
    known__number("barrier_waits", SHARED_THREADS * ROUNDS);
}

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int ready;
} meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

/* One call of wait, since it is signalled once only when it is seen asleep (a spurious return
 * would be one more, and is said). */
static int condition_wait(void *waits)
{
    pthread_mutex_lock(&meeting.mutex);
    while (!meeting.ready) {
        ++*(int *)waits;
        pthread_cond_wait(&meeting.condition, &meeting.mutex);
    }
    meeting.ready = 0;
    pthread_mutex_unlock(&meeting.mutex);
    return 0;
}

static int condition_timedwait(void *waits)
{
    struct timespec limit = far_away(CLOCK_REALTIME);
    pthread_mutex_lock(&meeting.mutex);
    while (!meeting.ready) {
        ++*(int *)waits;
        pthread_cond_timedwait(&meeting.condition, &meeting.mutex, &limit);
    }
    meeting.ready = 0;
    pthread_mutex_unlock(&meeting.mutex);
    return 0;
}

static void known_condition(void)
{
    int waits = 0;
    for (int i = 0; i < 2 * CONTENDED; i++) {
        helper__ask(i % 2 ? condition_timedwait : condition_wait, &waits);
        known__await_sleep(helper.tid, &meeting.condition, sizeof meeting.condition);
        pthread_mutex_lock(&meeting.mutex);
        meeting.ready = 1;
        pthread_mutex_unlock(&meeting.mutex);
        if (i < CONTENDED)
            pthread_cond_signal(&meeting.condition);
        else
            pthread_cond_broadcast(&meeting.condition);
        KNOWN_CHECK(helper__result() == 0);
    }
    known__address("condition_address", &meeting.condition);
    known__number("condition_waits", waits);
    known__number("condition_signals", CONTENDED);
    known__number("condition_broadcasts", CONTENDED);
    known__address("condition_mutex_address", &meeting.mutex);
    known__number("condition_mutex_acquired", 4 * CONTENDED);
}

/* ---- C11 threads ----------------------------------------------------------------------------- */

static int mtx_and_unlock(void *mutex)
{
    if (mtx_lock(mutex) != thrd_success)
        return 1;
    return mtx_unlock(mutex) == thrd_success ? 0 : 1;
}

static int mtx_busy(void *mutex)
{
    return mtx_trylock(mutex) == thrd_busy ? 0 : 1;
}

static struct {
    mtx_t mutex;
    cnd_t condition;
    int ready;
} c11;

static int c11_wait(void *waits)
{
    mtx_lock(&c11.mutex);
    while (!c11.ready) {
        ++*(int *)waits;
        cnd_wait(&c11.condition, &c11.mutex);
    }
    c11.ready = 0;
    mtx_unlock(&c11.mutex);
    return 0;
}

static int c11_thread(void *argument)
{
    return *(int *)argument;
}

static void known_c11(void)
{
    static mtx_t mutex;
    int waits = 0;
    mtx_init(&mutex, mtx_plain);
    for (int i = 0; i < CONTENDED; i++) {
        mtx_lock(&mutex);
        helper__ask(mtx_and_unlock, &mutex);
        known__await_sleep(helper.tid, &mutex, sizeof mutex);
        mtx_unlock(&mutex);
        KNOWN_CHECK(helper__result() == 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        KNOWN_CHECK(mtx_trylock(&mutex) == thrd_success);
        helper__ask(mtx_busy, &mutex);
        KNOWN_CHECK(helper__result() == 0);
        mtx_unlock(&mutex);
    }
    mtx_init(&c11.mutex, mtx_plain);
    cnd_init(&c11.condition);
    for (int i = 0; i < CONTENDED; i++) {
        helper__ask(c11_wait, &waits);
        known__await_sleep(helper.tid, &c11.condition, sizeof c11.condition);
        mtx_lock(&c11.mutex);
        c11.ready = 1;
        cnd_signal(&c11.condition);
        mtx_unlock(&c11.mutex);
        KNOWN_CHECK(helper__result() == 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        thrd_t thread;
        int result = 0;
        KNOWN_CHECK(thrd_create(&thread, c11_thread, &i) == thrd_success);
        KNOWN_CHECK(thrd_join(thread, &result) == thrd_success && result == i);
    }
    known__address("mtx_address", &mutex);
    known__number("mtx_acquired", 2 * CONTENDED + ROUNDS);
    known__number("mtx_contended", CONTENDED);
    known__number("mtx_busy", ROUNDS);
    known__address("cnd_address", &c11.condition);
    known__number("cnd_waits", waits);
    known__number("cnd_signals", CONTENDED);
    known__number("thrd_created", ROUNDS);
}

int main(void)
{
    helper__start();
    known_mutex();
    known_recursive_mutex();
    known_shared_mutex();
    known_rwlock();
    known_spinlock();
    known_semaphore();
    known_barrier();
    known_condition();
    known_c11();
    helper__end();
    known__number("threads_created", 1 + 2 * SHARED_THREADS + ROUNDS);
    return 0;
}
