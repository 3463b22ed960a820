/* blame_known.c: waits of which it is known whom they are owed to, and what that one did meanwhile.
 *
 *     sleeps      one waits for a mutex whose holder sleeps and computes: slept_ns; late_ns in
 * which it had slept, but had no CPU yet; held_ns preempted   the holder shares its CPU with
 * another: runnable_ns, held_ns barrier     one of three always sleeps before it arrives: late_tid
 *     roles       who waits for work, for the end of it, and for a turn: address of each condition
 *
 * held_ns is from the beginning of the wait to the release, summed over rounds; the others are the
 * part of it that the holder counted. */
#include "known.h"

#include <sched.h>

enum { ROUNDS = 30, WORKERS = 2, ITEMS = 60, TURNS = 60 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static long long clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void compute_ns(long long ns)
{
    long long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        continue;
}

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* What the calling thread has waited for a CPU. */
static long long runnable_ns(void)
{
    char text[128];
    unsigned long long waited = 0;
    KNOWN_CHECK(known__task_file(known__tid(), "schedstat", text, sizeof text));
    KNOWN_CHECK(sscanf(text, "%*u %llu", &waited) == 1);
    return (long long)waited;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    KNOWN_CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

/* ---- a mutex --------------------------------------------------------------------------------- */

enum { ASKED = 1, WAITED, OVER };
static int waiter_tid, state, hog_runs;
static long long wait_began_ns;

static void *wait_for_mutex(void *unused)
{
    (void)unused;
    __atomic_store_n(&waiter_tid, known__tid(), __ATOMIC_RELEASE);
    for (;;) {
        int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
        if (now == OVER)
            return NULL;
        if (now != ASKED) {
            known__yield();
            continue;
        }
        wait_began_ns = clock_ns(CLOCK_MONOTONIC);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        __atomic_store_n(&state, WAITED, __ATOMIC_RELEASE);
    }
}

/* Holds the mutex, does what is told while another waits for it, and returns how long it waited. */
static long long hold(long long (*doing)(void), long long *done_ns)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&state, ASKED, __ATOMIC_RELEASE);
    known__await_sleep(waiter_tid, &mutex, sizeof mutex);
    *done_ns += doing();
    long long end_ns = clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&mutex);
    known__await(&state, WAITED);
    return end_ns - wait_began_ns;
}

static long long late_ns; /* the sleeps were over, but there was no CPU */

static long long sleep_and_compute(void)
{
    long long began_ns = clock_ns(CLOCK_MONOTONIC), waited_ns = runnable_ns();
    sleep_ns(2000000);
    long long delay_ns = runnable_ns() - waited_ns;
    long long slept_ns = clock_ns(CLOCK_MONOTONIC) - began_ns - delay_ns;
    late_ns += delay_ns;
    compute_ns(2000000);
    return slept_ns;
}

static long long compute_beside_another(void)
{
    long long before_ns = runnable_ns();
    compute_ns(12000000);
    return runnable_ns() - before_ns;
}

static void *hog(void *unused)
{
    (void)unused;
    while (__atomic_load_n(&hog_runs, __ATOMIC_ACQUIRE))
        continue;
    return NULL;
}

static void run_mutex(const char *key, int rounds, long long (*doing)(void))
{
    pthread_t waiter;
    long long held_ns = 0, done_ns = 0;
    KNOWN_CHECK(pthread_create(&waiter, NULL, wait_for_mutex, NULL) == 0);
    while (!__atomic_load_n(&waiter_tid, __ATOMIC_ACQUIRE))
        known__yield();
    for (int i = 0; i < rounds; i++)
        held_ns += hold(doing, &done_ns);
    __atomic_store_n(&state, OVER, __ATOMIC_RELEASE);
    KNOWN_CHECK(pthread_join(waiter, NULL) == 0);
    known__number("held_ns", held_ns);
    known__number(key, done_ns);
}

static void run_preempted(void)
{
    pthread_t other;
    cpu_set_t set;
    int cpu = 0;
    KNOWN_CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    pin(cpu);
    hog_runs = 1;
    KNOWN_CHECK(pthread_create(&other, NULL, hog, NULL) == 0);
    run_mutex("runnable_ns", ROUNDS / 3, compute_beside_another);
    __atomic_store_n(&hog_runs, 0, __ATOMIC_RELEASE);
    KNOWN_CHECK(pthread_join(other, NULL) == 0);
}

/* ---- a barrier ------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

/* One place of all arrivals, whatever a compiler makes of loops. */
KNOWN_FUNCTION static void meet(void)
{
    pthread_barrier_wait(&barrier);
    __asm__ volatile("" : : : "memory"); /* no jump to it instead of a call */
}

static void *arrive(void *late)
{
    if (late)
        known__number("late_tid", known__tid());
    for (int i = 0; i < ROUNDS; i++) {
        if (late)
            sleep_ns(2000000);
        meet();
    }
    return NULL;
}

static void run_barrier(void)
{
    pthread_t threads[2];
    KNOWN_CHECK(pthread_barrier_init(&barrier, NULL, 3) == 0);
    for (int i = 0; i < 2; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, arrive, i ? &barrier : NULL) == 0);
    arrive(NULL);
    for (int i = 0; i < 2; i++)
        KNOWN_CHECK(pthread_join(threads[i], NULL) == 0);
}

/* ---- roles ----------------------------------------------------------------------------------- */

static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER,
                      turn = PTHREAD_COND_INITIALIZER;
static int items, left, closed, whose;

static void *take_items(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!items && !closed)
            pthread_cond_wait(&work, &mutex);
        if (!items)
            break;
        items--;
        pthread_mutex_unlock(&mutex);
        sleep_ns(200000);
        pthread_mutex_lock(&mutex);
        if (--left == 0)
            pthread_cond_signal(&done);
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void put_items(int count)
{
    for (int i = 0; i < count; i++) {
        sleep_ns(count > 1 ? 0 : 300000);
        pthread_mutex_lock(&mutex);
        items++;
        left++;
        pthread_cond_signal(&work);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    while (left)
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void *take_turns(void *number)
{
    int mine = *(const int *)number;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&mutex);
        while (whose != mine)
            pthread_cond_wait(&turn, &mutex);
        pthread_mutex_unlock(&mutex);
        sleep_ns(200000);
        pthread_mutex_lock(&mutex);
        whose = (mine + 1) % WORKERS;
        pthread_cond_broadcast(&turn);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void run_threads(pthread_t threads[WORKERS], void *(*what)(void *))
{
    static const int numbers[WORKERS] = {0, 1};
    for (int i = 0; i < WORKERS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, what, (void *)&numbers[i]) == 0);
}

static void join_threads(const pthread_t threads[WORKERS])
{
    for (int i = 0; i < WORKERS; i++)
        KNOWN_CHECK(pthread_join(threads[i], NULL) == 0);
}

static void run_roles(void)
{
    pthread_t threads[WORKERS];
    run_threads(threads, take_items);
    for (int i = 0; i < ITEMS; i++)
        put_items(1);
    put_items(ITEMS);
    pthread_mutex_lock(&mutex);
    closed = 1;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&mutex);
    join_threads(threads);
    run_threads(threads, take_turns);
    join_threads(threads);
    known__address("work", &work);
    known__address("done", &done);
    known__address("turn", &turn);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "roles";
    if (strcmp(what, "sleeps") == 0) {
        run_mutex("slept_ns", ROUNDS, sleep_and_compute);
        known__number("late_ns", late_ns);
    } else if (strcmp(what, "preempted") == 0)
        run_preempted();
    else if (strcmp(what, "barrier") == 0)
        run_barrier();
    else
        run_roles();
    return 0;
}
