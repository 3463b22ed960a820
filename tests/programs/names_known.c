/* names_known.c: locks and their kin that have names in the source, or are made by calls at known
 * lines.
 *
 *     initialised KIND ADDRESS LINE COUNT    for each call that makes one (MANY heap mutexes are
 * made many ADDRESS LINE                      at one line) name ADDRESS NAME for each static
 * object, or field of one, that is waited for: a thread certainly waits for it once */
#include "known.h"

#include <semaphore.h>
#include <threads.h>

enum { MANY = 3000 };

#define INITIALISE(kind, object, count, call)                                                  \
    do {                                                                                       \
        KNOWN_CHECK((call) == 0);                                                              \
        printf("initialised %s 0x%llx %d %d\n", kind, (unsigned long long)(uintptr_t)(object), \
               __LINE__, count);                                                               \
    } while (0)

typedef struct table {
    int size;
    pthread_mutex_t lock;
    union {
        long number;
        struct {
            char padding[16];
            pthread_rwlock_t guard;
        } deep[2];
    } choice;
} table_t;

static pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t exported_lock = PTHREAD_MUTEX_INITIALIZER;
static table_t tables[4];
static pthread_mutex_t grid[3][5], row_mutexes[4];
static struct {
    struct {
        pthread_mutex_t head_lock, tail_lock;
    } ends;
    struct {
        int before;
        sem_t room; /* of a struct without a name, in place */
    };
    volatile const struct table *other;
    pthread_cond_t filled;
    pthread_spinlock_t spin;
    pthread_barrier_t all_here;
    mtx_t modern_lock;
    cnd_t modern;
} queue;

static void make_named(void)
{
    const unsigned parties = 2;
    for (int i = 0; i < 4; i++)
        INITIALISE("mutex", &tables[i].lock, 0, pthread_mutex_init(&tables[i].lock, NULL));
    pthread_rwlock_t *guard = &tables[2].choice.deep[1].guard;
    INITIALISE("rwlock", guard, 0, pthread_rwlock_init(guard, NULL));
    for (int i = 0; i < 15; i++)
        INITIALISE("mutex", &grid[i / 5][i % 5], 0, pthread_mutex_init(&grid[i / 5][i % 5], NULL));
    pthread_mutex_t *head = &queue.ends.head_lock, *tail = &queue.ends.tail_lock;
    INITIALISE("mutex", head, 0, pthread_mutex_init(head, NULL));
    INITIALISE("mutex", tail, 0, pthread_mutex_init(tail, NULL));
    INITIALISE("semaphore", &queue.room, 7, sem_init(&queue.room, 0, 7));
    INITIALISE("condition", &queue.filled, 0, pthread_cond_init(&queue.filled, NULL));
    INITIALISE("spin", &queue.spin, 0, pthread_spin_init(&queue.spin, 0));
    INITIALISE("barrier", &queue.all_here, 2, pthread_barrier_init(&queue.all_here, NULL, parties));
    INITIALISE("mutex", &queue.modern_lock, 0, mtx_init(&queue.modern_lock, mtx_plain));
    INITIALISE("condition", &queue.modern, 0, cnd_init(&queue.modern));
}

/* These make nothing, and say why in errno where they do. */
static void fail_to_make(void)
{
    pthread_barrier_t barrier;
    sem_t semaphore;
    KNOWN_CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    errno = 0;
    KNOWN_CHECK(sem_init(&semaphore, 0, UINT32_MAX) == -1 && errno == EINVAL);
    errno = ENOTTY;
    KNOWN_CHECK(sem_init(&semaphore, 0, 1) == 0 && errno == ENOTTY);
    printf("initialised semaphore 0x%llx %d 1\n", (unsigned long long)(uintptr_t)&semaphore,
           __LINE__ - 2);
}

static void make_many(void)
{
    pthread_mutex_t *locks = calloc(MANY, sizeof *locks);
    KNOWN_CHECK(locks);
    for (int i = 0; i < MANY; i++)
        KNOWN_CHECK(pthread_mutex_init(&locks[i], NULL) == 0);
    for (int i = 0; i < MANY; i++)
        printf("many 0x%llx %d\n", (unsigned long long)(uintptr_t)&locks[i], __LINE__ - 2);
    for (int i = 0; i < MANY; i++)
        pthread_mutex_destroy(&locks[i]);
    free(locks);
}

/* ---- waits that are certain ------------------------------------------------------------------ */

struct contended {
    pthread_mutex_t *lock;
    int tid;
};

static void *take(void *argument)
{
    struct contended *contended = argument;
    __atomic_store_n(&contended->tid, known__tid(), __ATOMIC_RELEASE);
    KNOWN_CHECK(pthread_mutex_lock(contended->lock) == 0);
    KNOWN_CHECK(pthread_mutex_unlock(contended->lock) == 0);
    return NULL;
}

static void *take_guard(void *argument)
{
    struct contended *contended = argument;
    pthread_rwlock_t *guard = &tables[2].choice.deep[1].guard;
    __atomic_store_n(&contended->tid, known__tid(), __ATOMIC_RELEASE);
    KNOWN_CHECK(pthread_rwlock_wrlock(guard) == 0);
    KNOWN_CHECK(pthread_rwlock_unlock(guard) == 0);
    return NULL;
}

static int await_tid(struct contended *contended)
{
    int tid;
    while (!(tid = __atomic_load_n(&contended->tid, __ATOMIC_ACQUIRE)))
        known__yield();
    return tid;
}

static void contend(pthread_mutex_t *lock, const char *name)
{
    struct contended contended = {.lock = lock};
    pthread_t thread;
    KNOWN_CHECK(pthread_mutex_lock(lock) == 0);
    KNOWN_CHECK(pthread_create(&thread, NULL, take, &contended) == 0);
    known__await_sleep(await_tid(&contended), lock, sizeof *lock);
    KNOWN_CHECK(pthread_mutex_unlock(lock) == 0);
    pthread_join(thread, NULL);
    printf("name 0x%llx %s\n", (unsigned long long)(uintptr_t)lock, name);
}

static void contend_guard(void)
{
    struct contended contended = {.tid = 0};
    pthread_rwlock_t *guard = &tables[2].choice.deep[1].guard;
    pthread_t thread;
    KNOWN_CHECK(pthread_rwlock_rdlock(guard) == 0);
    KNOWN_CHECK(pthread_create(&thread, NULL, take_guard, &contended) == 0);
    known__await_sleep(await_tid(&contended), guard, sizeof *guard);
    KNOWN_CHECK(pthread_rwlock_unlock(guard) == 0);
    pthread_join(thread, NULL);
    printf("name 0x%llx tables[2].choice.deep[1].guard\n", (unsigned long long)(uintptr_t)guard);
}

static void *arrive(void *unused)
{
    pthread_barrier_wait(&queue.all_here);
    return unused;
}

static void meet(void)
{
    pthread_t thread;
    KNOWN_CHECK(pthread_create(&thread, NULL, arrive, NULL) == 0);
    pthread_barrier_wait(&queue.all_here);
    pthread_join(thread, NULL);
    printf("name 0x%llx queue.all_here\n", (unsigned long long)(uintptr_t)&queue.all_here);
}

/* Ends by time, which is long past. */
static void wait_for_others(void)
{
    const struct timespec past = {1, 0};
    KNOWN_CHECK(pthread_mutex_lock(&plain_lock) == 0);
    KNOWN_CHECK(pthread_cond_timedwait(&queue.filled, &plain_lock, &past) == ETIMEDOUT);
    KNOWN_CHECK(pthread_mutex_unlock(&plain_lock) == 0);
    printf("name 0x%llx queue.filled\n", (unsigned long long)(uintptr_t)&queue.filled);
    for (int i = 0; i < 7; i++)
        KNOWN_CHECK(sem_wait(&queue.room) == 0);
    KNOWN_CHECK(sem_timedwait(&queue.room, &past) == -1 && errno == ETIMEDOUT);
    printf("name 0x%llx queue.room\n", (unsigned long long)(uintptr_t)&queue.room);
}

/* ---- a wait that is much longer than the others, from elsewhere ------------------------------ */

static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;

KNOWN_FUNCTION static void lock_and_unlock(void)
{
    KNOWN_CHECK(pthread_mutex_lock(&slow_lock) == 0);
    KNOWN_CHECK(pthread_mutex_unlock(&slow_lock) == 0);
}

KNOWN_FUNCTION static void come_early(void)
{
    lock_and_unlock();
    __asm__ volatile(""); /* no tail call */
}

KNOWN_FUNCTION static void come_late(void)
{
    lock_and_unlock();
    __asm__ volatile("");
}

static struct visitor {
    int tid, turn, passed; /* turn: set by the thread that holds the lock */
} visitor;

static void *visit(void *unused)
{
    __atomic_store_n(&visitor.tid, known__tid(), __ATOMIC_RELEASE);
    known__await(&visitor.turn, 1);
    come_early();
    __atomic_store_n(&visitor.passed, 1, __ATOMIC_RELEASE);
    known__await(&visitor.turn, 2);
    come_late();
    __atomic_store_n(&visitor.passed, 2, __ATOMIC_RELEASE);
    return unused;
}

static uint64_t now_ns(void)
{
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The visitor waits for the lock for at least that long. */
static void hold_for(int turn, uint64_t ns)
{
    int tid;
    while (!(tid = __atomic_load_n(&visitor.tid, __ATOMIC_ACQUIRE)))
        known__yield();
    KNOWN_CHECK(pthread_mutex_lock(&slow_lock) == 0);
    __atomic_store_n(&visitor.turn, turn, __ATOMIC_RELEASE);
    known__await_sleep(tid, &slow_lock, sizeof slow_lock);
    for (uint64_t until = now_ns() + ns; now_ns() < until;)
        known__yield();
    KNOWN_CHECK(pthread_mutex_unlock(&slow_lock) == 0);
    known__await(&visitor.passed, turn);
}

static void wait_long(void)
{
    pthread_t thread;
    KNOWN_CHECK(pthread_create(&thread, NULL, visit, NULL) == 0);
    hold_for(1, 0);
    hold_for(2, 300000000);
    pthread_join(thread, NULL);
    printf("slow 0x%llx\n", (unsigned long long)(uintptr_t)&slow_lock);
}

static void contend_local(void)
{
    static pthread_mutex_t local_lock = PTHREAD_MUTEX_INITIALIZER;
    contend(&local_lock, "local_lock");
}

int main(void)
{
    make_named();
    fail_to_make();
    make_many();
    contend(&plain_lock, "plain_lock");
    contend(&exported_lock, "exported_lock");
    contend(&tables[3].lock, "tables[3].lock");
    contend(&grid[1][4], "grid[1][4]");
    contend(&row_mutexes[2], "row_mutexes[2]");
    contend(&queue.ends.tail_lock, "queue.ends.tail_lock");
    contend_local();
    contend_guard();
    meet();
    wait_for_others();
    wait_long();
    return 0;
}
