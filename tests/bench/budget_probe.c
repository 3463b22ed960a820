/* budget_probe.c: a program that calls functions at a given rate, for bench-budget.
 *
 *     budget_probe WHAT OPERATIONS
 *
 * Its functions are called budget_*.  Prints the CPU time of it all, cpu_ns=…, and a result=…. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__clang__)
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

static inline __attribute__((always_inline)) uint64_t work(uint64_t value, unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        value = value * 5 + (value >> 7) + 3;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

#define FUNCTION(name, turns)           \
    KEPT uint64_t name(uint64_t value); \
    uint64_t name(uint64_t value)       \
    {                                   \
        return work(value, turns);      \
    }

FUNCTION(budget_shortest, 1)
FUNCTION(budget_ns50, 65)
FUNCTION(budget_ns200, 260)
FUNCTION(budget_ns1000, 1300)
FUNCTION(budget_ns50000, 65000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static inline __attribute__((always_inline)) uint64_t mixed(uint64_t value, uint64_t i)
{
    value = budget_ns200(budget_ns200(value));
    if (i % 4 == 0)
        value = budget_ns1000(budget_ns50(value));
    return i % 500 == 0 ? budget_ns50000(value) : value;
}

/* Quiet and busy in turns, of some ms. */
static inline __attribute__((always_inline)) uint64_t bursts(uint64_t value, uint64_t i)
{
    return i >> 13 & 1 ? budget_ns200(value) : budget_ns1000(value);
}

/* A hook does not ask who calls. */
static inline __attribute__((always_inline)) uint64_t locks(uint64_t value)
{
    pthread_mutex_lock(&lock);
    value = work(value, 260);
    pthread_mutex_unlock(&lock);
    return value;
}

typedef uint64_t operations(uint64_t count);

#define OPERATIONS(name, one)                  \
    static uint64_t name##__do(uint64_t count) \
    {                                          \
        uint64_t value = 1;                    \
        for (uint64_t i = 0; i < count; i++)   \
            value = one;                       \
        return value;                          \
    }
OPERATIONS(shortest, budget_shortest(value))
OPERATIONS(ns50, budget_ns50(value))
OPERATIONS(ns200, budget_ns200(value))
OPERATIONS(ns1000, budget_ns1000(value))
OPERATIONS(mixed, mixed(value, i))
OPERATIONS(bursts, bursts(value, i))
OPERATIONS(locks, locks(value))

static const struct sort {
    const char *name;
    operations *all;
} sorts[] = {
    {"shortest", shortest__do}, {"ns50", ns50__do},   {"ns200", ns200__do},
    {"ns1000", ns1000__do},     {"mixed", mixed__do}, {"bursts", bursts__do},
    {"locks", locks__do},
};

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
    const struct sort *sort = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof sorts / sizeof sorts[0]; i++)
        if (strcmp(argv[1], sorts[i].name) == 0)
            sort = &sorts[i];
    if (!sort) {
        fputs("usage: budget_probe WHAT OPERATIONS\n", stderr);
        return 2;
    }
    uint64_t count = strtoull(argv[2], NULL, 10), before = cpu_ns();
    uint64_t result = sort->all(count);
    printf("cpu_ns=%llu\nresult=%llu\n", (unsigned long long)(cpu_ns() - before),
           (unsigned long long)result);
    return 0;
}
