/* One lock that two threads need at a time, and its cure: a lock for each.
 *
 *     locks_split LOCKS           1 or 2
 *
 * In each round a thread has its lock until the other one sleeps at it (with one lock) and a
 * millisecond has gone by; then that one has it for as long.  Who comes first changes from round to
 * round, so that with one lock the critical path changes threads at each hand-over: of that lock
 * every acquisition is on it. */
#include "known.h"

#define ROUNDS 40
#define SECTION_NS 1000000

static pthread_mutex_t head = PTHREAD_MUTEX_INITIALIZER, tail = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *locks[2];
static int tids[2], turn, met[2];

static uint64_t now_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void hold(uint64_t ns)
{
    for (uint64_t until = now_ns() + ns; now_ns() < until;)
        known__yield();
}

/* Has its lock first; the turn tells the other one to come. */
KNOWN_FUNCTION static void go_first(int own, int round)
{
    pthread_mutex_lock(locks[own]);
    __atomic_store_n(&turn, 2 * round + 1, __ATOMIC_RELEASE);
    if (locks[0] == locks[1])
        known__await_sleep(tids[!own], locks[0], sizeof *locks[0]);
    hold(SECTION_NS);
    pthread_mutex_unlock(locks[own]);
}

KNOWN_FUNCTION static uint64_t go_second(int own, int round)
{
    known__await(&turn, 2 * round + 1);
    uint64_t asked_ns = now_ns();
    pthread_mutex_lock(locks[own]);
    uint64_t waited_ns = now_ns() - asked_ns;
    hold(SECTION_NS);
    pthread_mutex_unlock(locks[own]);
    return waited_ns;
}

static uint64_t waited_ns[2];

static void *take_turns(void *argument)
{
    int own = *(int *)argument;
    __atomic_store_n(&tids[own], known__tid(), __ATOMIC_RELEASE);
    while (!__atomic_load_n(&tids[!own], __ATOMIC_ACQUIRE))
        known__yield();
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 2 == own)
            go_first(own, round);
        else
            waited_ns[own] += go_second(own, round);
        __atomic_store_n(&met[own], round + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&met[!own], __ATOMIC_ACQUIRE) <= round)
            known__yield(); /* it may be a round ahead by now */
    }
    return NULL;
}

int main(int count, char **words)
{
    int own[] = {0, 1};
    pthread_t threads[2];
    bool split = count > 1 && strcmp(words[1], "2") == 0;
    locks[0] = &head;
    locks[1] = split ? &tail : &head;
    for (int i = 0; i < 2; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, take_turns, &own[i]) == 0);
    for (int i = 0; i < 2; i++)
        KNOWN_CHECK(pthread_join(threads[i], NULL) == 0);
    known__number("rounds", ROUNDS);
    known__number("section_ns", SECTION_NS);
    known__number("waited_ns", (long long)(waited_ns[0] + waited_ns[1]));
    return 0;
}
