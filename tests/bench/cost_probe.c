/* cost_probe.c: a program that measures what its own calls cost, for bench-cost.
 *
 *     cost_probe WHAT [THREADS] [GROUPS]      WHAT: function, stack, lock, marker, heap, nothing
 *
 * A round is OPERATIONS operations of one sort.  Rounds of the measured sort, of the same work
 * without anything that heurt could see, and of two rdtsc take turns, so that what disturbs the
 * machine disturbs them alike.  Prints, in ns an operation:
 *
 *     NAME_min NAME_median   of the rounds
 *     NAME_group             median over groups of GROUP_ROUNDS rounds of the group's mean of the
 *                            thread's CPU time; a group needs more than one buffer of the recorder,
 *                            so that this is with what buffers cost
 *
 * for NAME in measured, without and two_rdtsc; and calls, how many operations of the measured sort
 * there were.  The function that it calls, measured_function, is a file of its own, which is built
 * in several ways. */
#include "heurt.h"
#include "short_function.h"
#include "statistics.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPERATIONS = 1024, GROUP_ROUNDS = 80, THREADS_MOST = 64, SORTS = 3 };

uint64_t unseen_function(uint64_t value)
{
    return SHORT_WORK(value);
}

/* The same with arguments on the stack. */
#define STACK_PARAMETERS \
    uint64_t value, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g
KEPT uint64_t measured_stack(STACK_PARAMETERS);
uint64_t measured_stack(STACK_PARAMETERS)
{
    return SHORT_WORK(value) + b + c + d + e + f + g;
}
KEPT uint64_t unseen_stack(STACK_PARAMETERS);
uint64_t unseen_stack(STACK_PARAMETERS)
{
    return SHORT_WORK(value) + b + c + d + e + f + g;
}

static pthread_barrier_t start;

struct thread {
    pthread_t id;
    pthread_mutex_t lock;
    uint64_t value;
    uint64_t rounds;
    double *samples[SORTS]; /* ns an operation, by round */
    double *cpu[SORTS];     /* the same of the thread's CPU time */
};

typedef void operation(struct thread *thread);

static inline __attribute__((always_inline)) void one_rdtsc(struct thread *thread)
{
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    thread->value += low;
}

#define ROUND(name, work)                               \
    static void name(struct thread *thread)             \
    {                                                   \
        for (unsigned i = 0; i < OPERATIONS; i++) {     \
            work;                                       \
            __asm__ volatile("" : "+m"(thread->value)); \
        }                                               \
    }

ROUND(round_two_rdtsc, one_rdtsc(thread); one_rdtsc(thread))
ROUND(round_function, thread->value = measured_function(thread->value))
ROUND(round_unseen, thread->value = unseen_function(thread->value))
ROUND(round_stack, thread->value = measured_stack(thread->value, 1, 2, 3, 4, 5, 6))
ROUND(round_unseen_stack, thread->value = unseen_stack(thread->value, 1, 2, 3, 4, 5, 6))
ROUND(round_lock, pthread_mutex_lock(&thread->lock); thread->value++;
      pthread_mutex_unlock(&thread->lock))
ROUND(round_marker, heurt_begin("probe"); thread->value++; heurt_end("probe"))
ROUND(round_heap, void *memory = malloc(64); __asm__ volatile("" : "+r"(memory)); free(memory))
ROUND(round_nothing, thread->value++)

struct what {
    const char *name;
    operation *measured, *without;
};

static const struct what choices[] = {
    {"function", round_function, round_unseen}, {"stack", round_stack, round_unseen_stack},
    {"lock", round_lock, round_nothing},        {"marker", round_marker, round_nothing},
    {"heap", round_heap, round_nothing},        {"nothing", round_nothing, round_nothing},
};
static const char *const sorts[SORTS] = {"measured", "without", "two_rdtsc"};

static const struct what *what;

static double now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *run(void *argument)
{
    struct thread *thread = argument;
    operation *const operations[SORTS] = {what->measured, what->without, round_two_rdtsc};
    pthread_barrier_wait(&start);
    for (uint64_t round = 0; round < thread->rounds; round++) {
        for (int sort = 0; sort < SORTS; sort++) {
            double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), before = now_ns(CLOCK_MONOTONIC);
            operations[sort](thread);
            thread->samples[sort][round] = (now_ns(CLOCK_MONOTONIC) - before) / OPERATIONS;
            thread->cpu[sort][round] = (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / OPERATIONS;
        }
    }
    return NULL;
}

/* The samples of all threads, one after the other; sorts the first. */
static void print_sort(const char *name, double *samples, const double *cpu, size_t count)
{
    size_t groups = count / GROUP_ROUNDS;
    double *means = calloc(groups, sizeof *means);
    for (size_t i = 0; means && i < groups * GROUP_ROUNDS; i++)
        means[i / GROUP_ROUNDS] += cpu[i] / GROUP_ROUNDS;
    if (means)
        printf("%s_group=%.3f\n", name, samples__median(means, groups));
    free(means);
    printf("%s_median=%.3f\n", name, samples__median(samples, count));
    printf("%s_min=%.3f\n", name, samples[0]);
}

/* Written once, so that no page of it is missing while the clock runs. */
static double *samples__make(size_t count)
{
    double *samples = malloc(count * sizeof *samples);
    if (!samples)
        exit(1);
    for (size_t i = 0; i < count; i++)
        samples[i] = (double)i;
    return samples;
}

static bool thread__begin(struct thread *thread, uint64_t rounds, double **samples, double **cpu,
                          size_t first)
{
    thread->rounds = rounds;
    pthread_mutex_init(&thread->lock, NULL);
    for (int sort = 0; sort < SORTS; sort++) {
        thread->samples[sort] = samples[sort] + first;
        thread->cpu[sort] = cpu[sort] + first;
    }
    return pthread_create(&thread->id, NULL, run, thread) == 0;
}

static int measure(struct thread *threads, size_t count, uint64_t rounds)
{
    double *samples[SORTS], *cpu[SORTS];
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int sort = 0; sort < SORTS; sort++) {
        samples[sort] = samples__make(count * rounds);
        cpu[sort] = samples__make(count * rounds);
    }
    for (size_t i = 0; i < count; i++)
        if (!thread__begin(&threads[i], rounds, samples, cpu, i * rounds))
            return 1;
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i].id, NULL);
    for (int sort = 0; sort < SORTS; sort++) {
        print_sort(sorts[sort], samples[sort], cpu[sort], count * rounds);
        free(samples[sort]);
        free(cpu[sort]);
    }
    printf("calls=%llu\n", (unsigned long long)count * rounds * OPERATIONS);
    return 0;
}

int main(int argc, char **argv)
{
    static struct thread threads[THREADS_MOST] __attribute__((aligned(64)));
    long count = argc > 2 ? atol(argv[2]) : 1, groups = argc > 3 ? atol(argv[3]) : 8;
    for (size_t i = 0; argc > 1 && i < sizeof choices / sizeof choices[0]; i++)
        if (strcmp(argv[1], choices[i].name) == 0)
            what = &choices[i];
    if (!what || count < 1 || count > THREADS_MOST || groups < 1) {
        fputs("usage: cost_probe function|stack|lock|marker|heap|nothing [THREADS] [GROUPS]\n",
              stderr);
        return 2;
    }
    return measure(threads, (size_t)count, (uint64_t)groups * GROUP_ROUNDS);
}
