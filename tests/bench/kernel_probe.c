/* kernel_probe.c: a program that switches, faults, and starts threads and processes, for
 * bench-kernel and bench-lives.
 *
 *     kernel_probe switches|faults|threads|forks|commands
 *
 * Prints ns=N: the median over rounds of what one operation takes.
 *   switches  a thread leaves its CPU and comes back: two of them on one CPU wake each other
 *   faults    a fresh page is touched
 *   threads   a thread is started and awaited
 *   forks     a child that ends at once, likewise
 *   commands  the same, and it runs true(1)
 * It is CPU time of the process and its children, so that neighbours take no part in it.
 * Once in a while a lock is released, where the recorder reads what the kernel told. What else is
 * called, heurt does not see. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "statistics.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 61, SWITCHES = 256, PAGES = 256, THREADS = 16, CHILDREN = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2][2];

static double ns_of(struct timeval time)
{
    return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static double now_ns(void)
{
    struct timespec now;
    struct rusage children;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec + ns_of(children.ru_utime) +
           ns_of(children.ru_stime);
}

static void let_read(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void stay_on_one_cpu(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void pass_on(int from, int to)
{
    char byte = 0;
    for (int i = 0; i < SWITCHES; i++)
        if (syscall(SYS_read, from, &byte, 1) != 1 || syscall(SYS_write, to, &byte, 1) != 1)
            exit(3);
    let_read();
}

static void *answer(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        pass_on(pipes[0][0], pipes[1][1]);
    return unused;
}

static double switch_round(void)
{
    char byte = 0;
    double began = now_ns();
    for (int i = 0; i < SWITCHES; i++)
        if (syscall(SYS_write, pipes[0][1], &byte, 1) != 1 ||
            syscall(SYS_read, pipes[1][0], &byte, 1) != 1)
            exit(3);
    let_read();
    return (now_ns() - began) / (2 * SWITCHES);
}

static double fault_round(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    volatile char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(3);
    madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
    double began = now_ns();
    for (int i = 0; i < PAGES; i++)
        memory[(size_t)i * page] = 1;
    let_read();
    double took = now_ns() - began;
    munmap((void *)memory, bytes);
    return took / PAGES;
}

static void *nothing(void *unused)
{
    return unused;
}

static double thread_round(void)
{
    double began = now_ns();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) != 0)
            exit(3);
        pthread_join(thread, NULL);
    }
    return (now_ns() - began) / THREADS;
}

static double child_round(const char *command)
{
    double began = now_ns();
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child < 0)
            exit(3);
        if (child == 0 && command)
            execlp(command, command, (char *)NULL);
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    return (now_ns() - began) / CHILDREN;
}

static double fork_round(void)
{
    return child_round(NULL);
}

static double command_round(void)
{
    return child_round("true");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    double samples[ROUNDS];
    pthread_t other;
    double (*round)(void) = strcmp(what, "switches") == 0   ? switch_round
                            : strcmp(what, "faults") == 0   ? fault_round
                            : strcmp(what, "forks") == 0    ? fork_round
                            : strcmp(what, "commands") == 0 ? command_round
                                                            : thread_round;
    if (round == switch_round) {
        stay_on_one_cpu();
        if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0 ||
            pthread_create(&other, NULL, answer, NULL) != 0)
            return 3;
    }
    for (int i = 0; i < ROUNDS; i++)
        samples[i] = round();
    if (round == switch_round)
        pthread_join(other, NULL);
    printf("ns=%.3f\n", samples__median(samples, ROUNDS));
    return 0;
}
