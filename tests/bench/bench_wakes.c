/* bench-wakes: what the tracepoints that root's recorder opens cost a program: a wake-up, a call of
 * futex(2), and any other system call, with and without them by turns. Needs root and tracefs.
 *
 * The measured process is this program again ("measured"): it tells ns for each. */
#include "base/memory.h"
#include "kernel/wakes.h"
#include "statistics.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAKES = 20000, CALLS = 20000, ROUNDS = 11, KINDS = 4 };

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-wakes: out of memory (%zu bytes)\n", bytes);
    exit(1);
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- the measured process -------------------------------------------------------------------- */

static int ends[2];
static uint32_t asleep, word;

static void *sleeps(void *unused)
{
    char byte;
    (void)unused;
    for (int i = 0; i < WAKES; i++) {
        __atomic_store_n(&asleep, 1, __ATOMIC_RELEASE);
        if (read(ends[0], &byte, 1) != 1)
            exit(1);
    }
    return NULL;
}

static void pause_until_asleep(void)
{
    while (!__atomic_load_n(&asleep, __ATOMIC_ACQUIRE))
        sched_yield();
    for (double until = now_ns() + 10000; now_ns() < until;)
        sched_yield(); /* it was about to read */
    __atomic_store_n(&asleep, 0, __ATOMIC_RELAXED);
}

/* The middle one of the writes, each of which wakes the other thread. */
static double measure_wake(void)
{
    static double samples[WAKES];
    pthread_t thread;
    if (pipe(ends) < 0 || pthread_create(&thread, NULL, sleeps, NULL) != 0)
        exit(1);
    for (int i = 0; i < WAKES; i++) {
        pause_until_asleep();
        double before = now_ns();
        if (write(ends[1], "x", 1) != 1)
            exit(1);
        samples[i] = now_ns() - before;
    }
    pthread_join(thread, NULL);
    return samples__median(samples, WAKES);
}

/* The middle one of a hundred rows of calls. */
static double measure_calls(long number, int operation)
{
    double samples[100];
    for (int i = 0; i < 100; i++) {
        double before = now_ns();
        for (int k = 0; k < CALLS / 100; k++)
            syscall(number, &word, operation, 1, NULL, NULL, 0); /* word is 0: no wait */
        samples[i] = (now_ns() - before) / (CALLS / 100.0);
    }
    return samples__median(samples, 100);
}

static int measured(void)
{
    printf("%f %f %f %f\n", measure_wake(), measure_calls(SYS_futex, FUTEX_WAIT_PRIVATE),
           measure_calls(SYS_futex, FUTEX_WAKE_PRIVATE), measure_calls(SYS_getppid, 0));
    return 0;
}

/* ---- the one that measures ------------------------------------------------------------------- */

static pid_t start(const char *self, int *go, int *output)
{
    int to_child[2], from_child[2];
    if (pipe(to_child) < 0 || pipe(from_child) < 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(to_child[1]);
        dup2(from_child[1], 1);
        if (read(to_child[0], &byte, 1) == 1)
            execl(self, self, "measured", (char *)NULL);
        _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    *go = to_child[1];
    *output = from_child[0];
    return pid;
}

/* 0, or why there are no tracepoints is in error. *lost: records. */
static int run(const char *self, bool traced, double *figures, uint64_t *lost, struct error *error)
{
    int go, output, code = 0;
    struct wakes *wakes = NULL;
    pid_t pid = start(self, &go, &output);
    if (traced)
        code = wakes__open(pid, CLOCK_MONOTONIC_RAW, &wakes, error);
    if (code == 0 && write(go, "x", 1) != 1)
        exit(1);
    close(go);
    struct pollfd set[2] = {{output, POLLIN, 0}, {wakes ? wakes__fd(wakes) : -1, POLLIN, 0}};
    while (code == 0 && !(set[0].revents & (POLLIN | POLLHUP)) && poll(set, 2, 16) >= 0)
        if (wakes)
            wakes__drain(wakes, false);
    FILE *in = fdopen(output, "r");
    if (code == 0 && (!in || fscanf(in, "%lf %lf %lf %lf", &figures[0], &figures[1], &figures[2],
                                    &figures[3]) != KINDS))
        exit(1);
    fclose(in);
    waitpid(pid, NULL, 0);
    if (wakes)
        *lost += wakes__log(wakes)->lost;
    wakes__close(wakes);
    return code;
}

static void mount_tracefs(void)
{
    if (access("/sys/kernel/tracing/events", F_OK) == 0 || unshare(CLONE_NEWNS) < 0)
        return;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        (void)!mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

int main(int argc, char **argv)
{
    static const char *const kinds[KINDS] = {"a write that wakes a thread", "futex(2): a wait",
                                             "futex(2): a wake", "any other system call"};
    double without[KINDS][ROUNDS], with[KINDS][ROUNDS];
    uint64_t lost = 0;
    struct error error;
    if (argc > 1 && strcmp(argv[1], "measured") == 0)
        return measured();
    mount_tracefs();
    for (int round = 0; round < ROUNDS; round++) {
        double figures[2][KINDS];
        if (run("/proc/self/exe", false, figures[0], &lost, &error) < 0 ||
            run("/proc/self/exe", true, figures[1], &lost, &error) < 0) {
            printf("skipped: %s\n", error.text);
            return 77;
        }
        for (int kind = 0; kind < KINDS; kind++) {
            without[kind][round] = figures[0][kind];
            with[kind][round] = figures[1][kind];
        }
    }
    printf("%-30s %10s %10s %10s\n", "ns, middle of 11 rounds", "without", "with", "more");
    for (int kind = 0; kind < KINDS; kind++) {
        double before = samples__median(without[kind], ROUNDS);
        double after = samples__median(with[kind], ROUNDS);
        printf("%-30s %10.0f %10.0f %10.0f\n", kinds[kind], before, after, after - before);
    }
    printf("records lost: %llu\n", (unsigned long long)lost);
    return 0;
}
