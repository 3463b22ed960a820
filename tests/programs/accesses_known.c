/* Accesses memory a known number of times, and prints how often it did: for a build that counts
 * them (-fsanitize=thread, libheurt-access.so), which a test makes. What is volatile or atomic is
 * accessed as it is written, however the compiler optimises. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, TALLIED = 10000, LOOKED = 7000, ADDED = 3000, COPIED = 50, ROUNDS = 300 };
enum { SIGNALS = 40, WIDE = 1 << 20, PAGE = 4096, PACKED = 900, FORKED = 1234 };

struct __attribute__((packed)) uneven {
    char before;
    volatile long value;
};

static volatile long tallies[THREADS] __attribute__((aligned(64)));
static volatile long table[8] __attribute__((aligned(64)));
static _Atomic long total __attribute__((aligned(64)));
static struct uneven uneven __attribute__((aligned(64)));
static char from[PAGE] __attribute__((aligned(64))), to[PAGE] __attribute__((aligned(64)));
static volatile long handled __attribute__((aligned(64)));
static volatile long forked __attribute__((aligned(64)));
static volatile long wide[WIDE] __attribute__((aligned(64)));
static volatile short halves[2] __attribute__((aligned(64)));

static void *work(void *argument)
{
    long me = (long)argument;
    for (int i = 0; i < TALLIED; i++)
        tallies[me] = tallies[me] + 1;
    for (int i = 0; i < LOOKED; i++)
        (void)table[i % 8];
    for (int i = 0; i < ADDED; i++)
        atomic_fetch_add(&total, 1);
    return NULL;
}

/* One after the other in the same memory, mostly: each belongs to its own object. */
static void first_use(void)
{
    volatile long *made = malloc(200);
    for (int i = 0; i < 3; i++)
        made[2] = i;
    free((void *)made);
}

static void second_use(void)
{
    volatile long *made = malloc(200);
    for (int i = 0; i < 5; i++)
        (void)made[2];
    free((void *)made);
}

static void handle(int number)
{
    (void)number;
    handled = handled + 1;
}

static void use_alone(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        first_use();
        second_use();
    }
    for (int i = 0; i < PACKED; i++)
        uneven.value = i;
    for (int i = 0; i < COPIED; i++) {
        memcpy(to, from, PAGE);
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
    }
    for (int i = 0; i < ROUNDS; i++) {
        halves[0] = (short)i;
        (void)halves[1];
        (void)halves[1];
    }
    signal(SIGUSR1, handle);
    for (int i = 0; i < SIGNALS; i++)
        raise(SIGUSR1);
}

/* What a child does is its own, not its parent's. */
static void use_in_child(void)
{
    forked = 1;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < FORKED; i++)
            forked = i;
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* More places than a small trace has room for. */
static int use_widely(void)
{
    for (int i = 0; i < WIDE; i++)
        wide[i] = i;
    printf("wide 0 %d private\n", WIDE);
    return 0;
}

int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    if (count > 1 && strcmp(arguments[1], "wide") == 0)
        return use_widely();
    for (int i = 0; i < 8; i++)
        table[i] = i;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    use_alone();
    use_in_child();
    if (count > 1 && strcmp(arguments[1], "killed") == 0)
        kill(getpid(), SIGKILL);
    printf("tallies %d %d false sharing\n", THREADS * TALLIED, THREADS * TALLIED);
    printf("table %d 8 read-only\n", THREADS * LOOKED);
    printf("total %d %d true sharing\n", THREADS * ADDED, THREADS * ADDED);
    printf("uneven 0 %d private\n", PACKED);
    printf("from %d 0 private\n", COPIED * PAGE / 64);
    printf("to 0 %d private\n", COPIED * PAGE / 64);
    printf("halves %d %d private\n", 2 * ROUNDS, ROUNDS);
    printf("handled %d %d private\n", SIGNALS, SIGNALS);
    printf("first_use 0 %d private\n", 3 * ROUNDS);
    printf("second_use %d 0 private\n", 5 * ROUNDS);
    printf("forked 0 1 private\nforked 0 %d private\n", FORKED);
    return 0;
}
