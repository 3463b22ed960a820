/* locks_strange.c: locks used as programs use them that are not written for a textbook.
 *
 *     locks_strange [CASE]...     these; without arguments all but "killed"
 *
 * A case prints, for each object that it used, the line
 *
 *     object NAME KIND ADDRESS CALLS ACQUIRED CONTENDED BUSY GAVE_UP
 *
 * KIND: mutex, read, write (sides of an rwlock), semaphore, condition, barrier.  CALLS: calls that
 * got it; ACQUIRED: likewise, but of a recursive lock only those that did not have it yet;
 * CONTENDED: those of them that waited, BUSY: tries that failed; GAVE_UP: waits that ended without
 * it.  Of a condition ACQUIRED are the waits that were woken, of a barrier the rounds, CALLS the
 * waits.  -1: left to chance.  All processes are meant.  Further truths are lines "key=value".
 *
 * A contended acquisition is made certain as in locks_known.c. */
#include "helper.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
    ROUNDS = 20,
    CHILDREN = 3,
    PARTIES_MAX = 4,
    MANY_THREADS = 2000,
    AT_ONCE = 50,
    MANY_LOCKS = 200000,
    UNKNOWN = -1
};

struct truth {
    int calls, acquired, contended, busy, gave_up;
};

static void tell(const char *name, const char *kind, const void *address, struct truth truth)
{
    printf("object %s %s 0x%llx %d %d %d %d %d\n", name, kind,
           (unsigned long long)(uintptr_t)address, truth.calls, truth.acquired, truth.contended,
           truth.busy, truth.gave_up);
}

static struct timespec soon(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static const struct timespec long_ago = {1, 0};

static void mutex__init(pthread_mutex_t *mutex, int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    KNOWN_CHECK(pthread_mutex_init(mutex, &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
}

static int lock(void *mutex)
{
    return pthread_mutex_lock(mutex);
}

static int unlock(void *mutex)
{
    return pthread_mutex_unlock(mutex);
}

static int lock_and_unlock(void *mutex)
{
    int error = pthread_mutex_lock(mutex);
    return error ? error : pthread_mutex_unlock(mutex);
}

/* ---- owners that die ------------------------------------------------------------------------- */

static pthread_mutex_t *robust__make(void)
{
    pthread_mutexattr_t attributes;
    void *memory = mmap(NULL, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    KNOWN_CHECK(memory != MAP_FAILED);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    KNOWN_CHECK(pthread_mutex_init(memory, &attributes) == 0);
    return memory;
}

static int inherit(void *mutex)
{
    KNOWN_CHECK(pthread_mutex_lock(mutex) == EOWNERDEAD);
    pthread_mutex_consistent(mutex);
    return pthread_mutex_unlock(mutex);
}

/* Ends with the lock, while the helper waits for it. */
static void *die_with_waiter(void *mutex)
{
    KNOWN_CHECK(pthread_mutex_lock(mutex) == 0);
    helper__ask(inherit, mutex);
    known__await_sleep(helper.tid, mutex, sizeof(pthread_mutex_t));
    return NULL;
}

static void *die(void *mutex)
{
    KNOWN_CHECK(pthread_mutex_lock(mutex) == 0);
    return NULL;
}

static void run_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    KNOWN_CHECK(pthread_create(&thread, NULL, run, argument) == 0);
    pthread_join(thread, NULL);
}

static void robust(void)
{
    pthread_mutex_t *mutex = robust__make(), *lost = robust__make();
    for (int i = 0; i < ROUNDS; i++) {
        run_thread(die_with_waiter, mutex);
        KNOWN_CHECK(helper__result() == 0);
        run_thread(die, mutex);
        KNOWN_CHECK(inherit(mutex) == 0);
    }
    run_thread(die, lost);
    KNOWN_CHECK(pthread_mutex_lock(lost) == EOWNERDEAD);
    pthread_mutex_unlock(lost);
    KNOWN_CHECK(pthread_mutex_lock(lost) == ENOTRECOVERABLE);
    tell("robust", "mutex", mutex, (struct truth){4 * ROUNDS, 4 * ROUNDS, ROUNDS, 0, 0});
    tell("lost", "mutex", lost, (struct truth){2, 2, 0, 0, 0});
}

static void await_child(pid_t child)
{
    int status;
    KNOWN_CHECK(child > 0);
    while (waitpid(child, &status, 0) < 0)
        KNOWN_CHECK(errno == EINTR);
    KNOWN_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Another process dies with the lock. */
static void robust_shared(void)
{
    pthread_mutex_t *mutex = robust__make();
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(pthread_mutex_lock(mutex) != 0);
        await_child(child);
        KNOWN_CHECK(inherit(mutex) == 0);
    }
    tell("robust_shared", "mutex", mutex, (struct truth){2 * CHILDREN, 2 * CHILDREN, 0, 0, 0});
}

/* One that is not robust stays locked for ever. */
static int give_up(void *mutex)
{
    struct timespec limit = soon();
    return pthread_mutex_timedlock(mutex, &limit) == ETIMEDOUT ? 0 : 1;
}

static void abandoned(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    run_thread(die, &mutex);
    for (int i = 0; i < ROUNDS; i++)
        KNOWN_CHECK(helper__do(give_up, &mutex) == 0);
    KNOWN_CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    tell("abandoned", "mutex", &mutex, (struct truth){1, 1, 0, 1, ROUNDS});
}

/* ---- kinds of mutexes ------------------------------------------------------------------------ */

static void recursive(void)
{
    static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    for (int i = 0; i < ROUNDS; i++) {
        for (int depth = 0; depth < 3; depth++)
            KNOWN_CHECK(pthread_mutex_lock(&mutex) == 0);
        KNOWN_CHECK(pthread_mutex_trylock(&mutex) == 0);
        helper__ask(lock_and_unlock, &mutex);
        known__await_sleep(helper.tid, &mutex, sizeof mutex);
        for (int depth = 0; depth < 4; depth++)
            pthread_mutex_unlock(&mutex);
        KNOWN_CHECK(helper__result() == 0);
    }
    tell("recursive", "mutex", &mutex, (struct truth){5 * ROUNDS, 2 * ROUNDS, ROUNDS, 0, 0});
}

/* Taking it twice, and releasing what another has, are refused. */
static void errorcheck(void)
{
    static pthread_mutex_t mutex;
    mutex__init(&mutex, PTHREAD_MUTEX_ERRORCHECK);
    for (int i = 0; i < ROUNDS; i++) {
        KNOWN_CHECK(pthread_mutex_lock(&mutex) == 0);
        KNOWN_CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
        KNOWN_CHECK(helper__do(unlock, &mutex) == EPERM);
        helper__ask(lock_and_unlock, &mutex);
        known__await_sleep(helper.tid, &mutex, sizeof mutex);
        KNOWN_CHECK(pthread_mutex_unlock(&mutex) == 0);
        KNOWN_CHECK(helper__result() == 0);
        KNOWN_CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    }
    tell("errorcheck", "mutex", &mutex, (struct truth){2 * ROUNDS, 2 * ROUNDS, ROUNDS, 0, ROUNDS});
}

/* Locked by one thread and unlocked by another, to and fro: not allowed, and done. */
static void handed_over(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < ROUNDS; i++) {
        KNOWN_CHECK(pthread_mutex_lock(&mutex) == 0);
        KNOWN_CHECK(helper__do(unlock, &mutex) == 0);
        KNOWN_CHECK(helper__do(lock, &mutex) == 0);
        KNOWN_CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    tell("handed_over", "mutex", &mutex, (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
}

/* One address: a mutex, a recursive one, an rwlock, again and again. */
static void reborn(void)
{
    static union {
        pthread_mutex_t mutex;
        pthread_rwlock_t rwlock;
    } place;
    for (int i = 0; i < ROUNDS; i++) {
        mutex__init(&place.mutex, PTHREAD_MUTEX_NORMAL);
        KNOWN_CHECK(helper__do(lock_and_unlock, &place.mutex) == 0);
        pthread_mutex_destroy(&place.mutex);
        mutex__init(&place.mutex, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_lock(&place.mutex);
        pthread_mutex_lock(&place.mutex);
        pthread_mutex_unlock(&place.mutex);
        pthread_mutex_unlock(&place.mutex);
        pthread_mutex_destroy(&place.mutex);
        pthread_rwlock_init(&place.rwlock, NULL);
        pthread_rwlock_rdlock(&place.rwlock);
        pthread_rwlock_unlock(&place.rwlock);
        pthread_rwlock_wrlock(&place.rwlock);
        pthread_rwlock_unlock(&place.rwlock);
        pthread_rwlock_destroy(&place.rwlock);
    }
    tell("reborn_mutex", "mutex", &place, (struct truth){3 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
    tell("reborn_read", "read", &place, (struct truth){ROUNDS, ROUNDS, 0, 0, 0});
    tell("reborn_write", "write", &place, (struct truth){ROUNDS, ROUNDS, 0, 0, 0});
}

/* ---- time limits and tries ------------------------------------------------------------------- */

static int clock_give_up(void *mutex)
{
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &limit) == ETIMEDOUT ? 0 : 1;
}

static int give_up_both(void *rwlock)
{
    struct timespec limit = soon();
    return pthread_rwlock_timedrdlock(rwlock, &limit) == ETIMEDOUT &&
                   pthread_rwlock_timedwrlock(rwlock, &long_ago) == ETIMEDOUT
               ? 0
               : 1;
}

static void timed(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    static sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        KNOWN_CHECK(helper__do(give_up, &mutex) == 0);
        KNOWN_CHECK(helper__do(clock_give_up, &mutex) == 0);
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_wrlock(&rwlock);
        KNOWN_CHECK(helper__do(give_up_both, &rwlock) == 0);
        pthread_rwlock_unlock(&rwlock);
        struct timespec limit = soon();
        KNOWN_CHECK(sem_timedwait(&semaphore, &limit) != 0 && errno == ETIMEDOUT);
    }
    tell("timed_mutex", "mutex", &mutex, (struct truth){ROUNDS, ROUNDS, 0, 0, 2 * ROUNDS});
    tell("timed_read", "read", &rwlock, (struct truth){0, 0, 0, 0, ROUNDS});
    tell("timed_write", "write", &rwlock, (struct truth){ROUNDS, ROUNDS, 0, 0, ROUNDS});
    tell("timed_semaphore", "semaphore", &semaphore, (struct truth){0, 0, 0, 0, ROUNDS});
}

static int tries_failed;

static int try_until_it_succeeds(void *mutex)
{
    while (pthread_mutex_trylock(mutex) != 0) {
        __atomic_fetch_add(&tries_failed, 1, __ATOMIC_RELEASE);
        known__yield();
    }
    return pthread_mutex_unlock(mutex);
}

static void tries(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < ROUNDS; i++) {
        int before = __atomic_load_n(&tries_failed, __ATOMIC_ACQUIRE);
        pthread_mutex_lock(&mutex);
        helper__ask(try_until_it_succeeds, &mutex);
        while (__atomic_load_n(&tries_failed, __ATOMIC_ACQUIRE) - before < ROUNDS)
            known__yield();
        pthread_mutex_unlock(&mutex);
        KNOWN_CHECK(helper__result() == 0);
    }
    tell("tries", "mutex", &mutex, (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, tries_failed, 0});
}

/* Readers that want to write, writers that want to read: neither is possible. */
static void upgrade(void)
{
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_rdlock(&rwlock);
        KNOWN_CHECK(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
        KNOWN_CHECK(pthread_rwlock_timedwrlock(&rwlock, &long_ago) == ETIMEDOUT);
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
        KNOWN_CHECK(pthread_rwlock_rdlock(&rwlock) == EDEADLK);
        KNOWN_CHECK(pthread_rwlock_wrlock(&rwlock) == EDEADLK);
        pthread_rwlock_unlock(&rwlock);
    }
    tell("upgrade_read", "read", &rwlock, (struct truth){ROUNDS, ROUNDS, 0, 0, ROUNDS});
    tell("upgrade_write", "write", &rwlock, (struct truth){ROUNDS, ROUNDS, 0, ROUNDS, 2 * ROUNDS});
}

/* One thread reads twice at once: it has it until it has released it twice. */
static int write_and_unlock(void *rwlock)
{
    int error = pthread_rwlock_wrlock(rwlock);
    return error ? error : pthread_rwlock_unlock(rwlock);
}

static void read_twice(void)
{
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        helper__ask(write_and_unlock, &rwlock);
        known__await_sleep(helper.tid, &rwlock, sizeof rwlock);
        pthread_rwlock_unlock(&rwlock);
        KNOWN_CHECK(helper__result() == 0);
    }
    tell("twice_read", "read", &rwlock, (struct truth){2 * ROUNDS, ROUNDS, 0, 0, 0});
    tell("twice_write", "write", &rwlock, (struct truth){ROUNDS, ROUNDS, ROUNDS, 0, 0});
}

/* ---- conditions, barriers, semaphores -------------------------------------------------------- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int ready, waits, timed_out;
} meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static int wait_until_ready(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&meeting.mutex);
    while (!meeting.ready) {
        pthread_cond_wait(&meeting.condition, &meeting.mutex);
        __atomic_fetch_add(&meeting.waits, 1, __ATOMIC_RELEASE);
    }
    meeting.ready = 0;
    return pthread_mutex_unlock(&meeting.mutex);
}

static int wait_in_vain(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&meeting.mutex);
    if (pthread_cond_timedwait(&meeting.condition, &meeting.mutex, &long_ago) == ETIMEDOUT)
        meeting.timed_out++;
    return pthread_mutex_unlock(&meeting.mutex);
}

/* Woken again and again for nothing, signalled when nobody waits, and timed out. */
static void vain(void)
{
    int signals = 0;
    helper__ask(wait_until_ready, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int before = __atomic_load_n(&meeting.waits, __ATOMIC_ACQUIRE);
        known__await_sleep(helper.tid, &meeting.condition, sizeof meeting.condition);
        if (i == ROUNDS - 1) {
            pthread_mutex_lock(&meeting.mutex);
            meeting.ready = 1;
            pthread_mutex_unlock(&meeting.mutex);
        }
        pthread_cond_broadcast(&meeting.condition);
        while (__atomic_load_n(&meeting.waits, __ATOMIC_ACQUIRE) == before)
            known__yield();
    }
    KNOWN_CHECK(helper__result() == 0);
    for (int i = 0; i < ROUNDS; i++, signals++) {
        pthread_cond_signal(&meeting.condition);
        KNOWN_CHECK(helper__do(wait_in_vain, NULL) == 0);
    }
    tell(
        "vain_condition", "condition", &meeting.condition,
        (struct truth){meeting.waits + ROUNDS, meeting.waits, meeting.waits, 0, meeting.timed_out});
    tell("vain_mutex", "mutex", &meeting.mutex,
         (struct truth){2 + ROUNDS, 2 + ROUNDS, UNKNOWN, 0, 0});
    known__number("vain_broadcasts", ROUNDS);
    known__number("vain_signals_for_nobody", signals);
}

static void unlock_in_cleanup(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void *wait_for_cancellation(void *tid)
{
    __atomic_store_n((int *)tid, known__tid(), __ATOMIC_RELEASE);
    pthread_mutex_lock(&meeting.mutex);
    pthread_cleanup_push(unlock_in_cleanup, &meeting.mutex);
    for (;;)
        pthread_cond_wait(&meeting.condition, &meeting.mutex);
    pthread_cleanup_pop(1);
    return NULL;
}

/* Cancelled in a condition wait, which takes the mutex once more before it ends. */
static void cancelled(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        int tid = 0;
        KNOWN_CHECK(pthread_create(&thread, NULL, wait_for_cancellation, &tid) == 0);
        while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE) == 0)
            known__yield();
        known__await_sleep(tid, &meeting.condition, sizeof meeting.condition);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        KNOWN_CHECK(lock_and_unlock(&meeting.mutex) == 0);
    }
    tell("cancelled_condition", "condition", &meeting.condition,
         (struct truth){ROUNDS, 0, 0, 0, ROUNDS});
    tell("cancelled_mutex", "mutex", &meeting.mutex,
         (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
}

static pthread_barrier_t barrier;

static void *meet(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        pthread_barrier_wait(&barrier);
    return unused;
}

/* One barrier's place for one, two, three and four threads. */
static void barriers(void)
{
    int waits = 0;
    for (int parties = 1; parties <= PARTIES_MAX; parties++) {
        pthread_t threads[PARTIES_MAX];
        pthread_barrier_init(&barrier, NULL, (unsigned)parties);
        for (int i = 1; i < parties; i++)
            KNOWN_CHECK(pthread_create(&threads[i], NULL, meet, NULL) == 0);
        meet(NULL);
        for (int i = 1; i < parties; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        waits += parties * ROUNDS;
    }
    tell("barriers", "barrier", &barrier,
         (struct truth){waits, PARTIES_MAX * ROUNDS, UNKNOWN, 0, 0});
}

static int post(void *semaphore)
{
    return sem_post(semaphore);
}

/* A semaphore as a lock that another thread releases. */
static void posted_by_other(void)
{
    static sem_t semaphore;
    sem_init(&semaphore, 0, 1);
    for (int i = 0; i < ROUNDS; i++) {
        KNOWN_CHECK(sem_wait(&semaphore) == 0);
        KNOWN_CHECK(helper__do(post, &semaphore) == 0);
    }
    tell("posted_by_other", "semaphore", &semaphore, (struct truth){ROUNDS, ROUNDS, 0, 0, 0});
    known__number("posted_by_other_posts", ROUNDS);
}

static void do_nothing(int signal)
{
    (void)signal;
}

static int interruptions;

static int wait_interrupted(void *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        __atomic_fetch_add(&interruptions, 1, __ATOMIC_RELEASE);
    return 0;
}

static void interrupted(void)
{
    static sem_t semaphore;
    struct sigaction action = {.sa_handler = do_nothing};
    sem_init(&semaphore, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        helper__ask(wait_interrupted, &semaphore);
        known__await_sleep(helper.tid, &semaphore, sizeof semaphore);
        pthread_kill(helper.thread, SIGUSR1);
        known__await(&interruptions, i + 1);
        known__await_sleep(helper.tid, &semaphore, sizeof semaphore);
        sem_post(&semaphore);
        helper__result();
    }
    tell("interrupted", "semaphore", &semaphore, (struct truth){ROUNDS, ROUNDS, ROUNDS, 0, ROUNDS});
}

/* ---- processes ------------------------------------------------------------------------------- */

/* A child begins with its parent's lock locked. */
static void forked(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < CHILDREN; i++) {
        pthread_mutex_lock(&mutex);
        pid_t child = fork();
        if (child == 0) {
            pthread_mutex_unlock(&mutex);
            _exit(lock_and_unlock(&mutex));
        }
        await_child(child);
        pthread_mutex_unlock(&mutex);
    }
    tell("forked", "mutex", &mutex, (struct truth){2 * CHILDREN, 2 * CHILDREN, 0, 0, 0});
}

/* Killed in the critical section, for which another thread waits. */
static void killed(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    KNOWN_CHECK(lock_and_unlock(&mutex) == 0);
    pthread_mutex_lock(&mutex);
    helper__ask(lock_and_unlock, &mutex);
    known__await_sleep(helper.tid, &mutex, sizeof mutex);
    tell("killed", "mutex", &mutex, (struct truth){2, 2, 0, 0, 1});
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

/* ---- many ------------------------------------------------------------------------------------ */

static pthread_mutex_t everyones = PTHREAD_MUTEX_INITIALIZER;

static void *take_own_and_everyones(void *unused)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    lock_and_unlock(&own);
    lock_and_unlock(&everyones);
    return unused;
}

static void many_threads(void)
{
    for (int i = 0; i < MANY_THREADS; i += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        for (int j = 0; j < AT_ONCE; j++)
            KNOWN_CHECK(pthread_create(&threads[j], NULL, take_own_and_everyones, NULL) == 0);
        for (int j = 0; j < AT_ONCE; j++)
            pthread_join(threads[j], NULL);
    }
    tell("everyones", "mutex", &everyones,
         (struct truth){MANY_THREADS, MANY_THREADS, UNKNOWN, UNKNOWN, 0});
    known__number("own_acquired", MANY_THREADS);
}

static int take_each(void *mutexes)
{
    pthread_mutex_t *mutex = mutexes;
    for (int i = 0; i < MANY_LOCKS; i++)
        KNOWN_CHECK(lock_and_unlock(&mutex[i]) == 0);
    return 0;
}

static void many_locks(void)
{
    pthread_mutex_t *mutexes = calloc(MANY_LOCKS, sizeof *mutexes);
    KNOWN_CHECK(mutexes);
    take_each(mutexes);
    KNOWN_CHECK(helper__do(take_each, mutexes) == 0);
    known__number("many_locks", MANY_LOCKS);
    known__number("many_locks_acquired", 2 * MANY_LOCKS);
    free(mutexes);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static pthread_mutex_t pair[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t circle[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                    PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t guarded[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t ordered[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t tried[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

struct nesting {
    pthread_mutex_t *outer, *inner;
};

static int nest(void *argument)
{
    struct nesting *nesting = argument;
    pthread_mutex_lock(nesting->outer);
    lock_and_unlock(nesting->inner);
    return pthread_mutex_unlock(nesting->outer);
}

static int nest_guarded(void *nesting)
{
    pthread_mutex_lock(&guard);
    nest(nesting);
    return pthread_mutex_unlock(&guard);
}

static int nest_try(void *argument)
{
    struct nesting *nesting = argument;
    pthread_mutex_lock(nesting->outer);
    KNOWN_CHECK(pthread_mutex_trylock(nesting->inner) == 0);
    pthread_mutex_unlock(nesting->inner);
    return pthread_mutex_unlock(nesting->outer);
}

/* Never at the same time, so that none of it blocks; the pair and the circle could. */
static void inversion(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        nest(&(struct nesting){&pair[0], &pair[1]});
        helper__do(nest, &(struct nesting){&pair[1], &pair[0]});
        for (int j = 0; j < 3; j++)
            nest(&(struct nesting){&circle[j], &circle[(j + 1) % 3]});
        nest_guarded(&(struct nesting){&guarded[0], &guarded[1]});
        helper__do(nest_guarded, &(struct nesting){&guarded[1], &guarded[0]});
        nest(&(struct nesting){&tried[0], &tried[1]});
        helper__do(nest_try, &(struct nesting){&tried[1], &tried[0]});
        nest(&(struct nesting){&ordered[0], &ordered[1]});
        helper__do(nest, &(struct nesting){&ordered[0], &ordered[1]});
    }
    for (int i = 0; i < 2; i++) {
        tell("inversion_pair", "mutex", &pair[i], (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
        tell("inversion_guarded", "mutex", &guarded[i],
             (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
        tell("inversion_tried", "mutex", &tried[i],
             (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
        tell("inversion_ordered", "mutex", &ordered[i],
             (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
    }
    for (int i = 0; i < 3; i++)
        tell("inversion_circle", "mutex", &circle[i],
             (struct truth){2 * ROUNDS, 2 * ROUNDS, 0, 0, 0});
}

/* ----  ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"robust", robust},
    {"robust_shared", robust_shared},
    {"abandoned", abandoned},
    {"recursive", recursive},
    {"errorcheck", errorcheck},
    {"handed_over", handed_over},
    {"reborn", reborn},
    {"timed", timed},
    {"tries", tries},
    {"upgrade", upgrade},
    {"read_twice", read_twice},
    {"vain", vain},
    {"cancelled", cancelled},
    {"barriers", barriers},
    {"posted_by_other", posted_by_other},
    {"interrupted", interrupted},
    {"forked", forked},
    {"many_threads", many_threads},
    {"many_locks", many_locks},
    {"inversion", inversion},
    {"killed", killed},
};

enum { CASES = sizeof cases / sizeof cases[0] };

static void run_case(const char *name)
{
    int i = 0;
    while (i < CASES && strcmp(cases[i].name, name) != 0)
        i++;
    if (i == CASES) {
        fprintf(stderr, "locks_strange: there is no case %s\n", name);
        exit(2);
    }
    cases[i].run();
}

int main(int argc, char **argv)
{
    helper__start();
    for (int i = 1; i < argc; i++)
        run_case(argv[i]);
    for (int i = 0; argc == 1 && i < CASES - 1; i++)
        cases[i].run();
    fflush(stdout);
    helper__end();
    return 0;
}
