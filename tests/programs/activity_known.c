/* activity_known.c: threads that work and sleep by a plan, and what they did by their own clocks.
 *
 *     activity_known [THREADS PERIOD_US BUSY_US PHASE_US PERIODS]
 *
 * Each thread works BUSY_US of CPU time in each of PERIODS periods, and sleeps the rest; thread i
 * begins i × PHASE_US later. At the end it prints a line a thread: "thread TID CPU_NS", its CPU
 * time by CLOCK_THREAD_CPUTIME_ID, then "process CPU_NS", then "active NS SUM_NS": the time in
 * which one thread at least was between the beginning and the end of a piece of work, by
 * CLOCK_MONOTONIC, and the sum of these pieces. The latter are what the CPUs did where each thread
 * has one of its own, as long as nothing else wants them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MOST 64

static uint64_t period_ns = 1000000, busy_ns = 500000, phase_ns;
static unsigned thread_count = 2, period_count = 2;
static uint64_t origin_ns;

struct piece {
    uint64_t begin, end;
};

static struct worker {
    pthread_t thread;
    long tid;
    uint64_t cpu_ns;
    struct piece *pieces;
} workers[THREADS_MOST];

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
        ;
}

static void *work(void *argument)
{
    struct worker *self = argument;
    uint64_t begin = origin_ns + (uint64_t)(self - workers) * phase_ns;
    self->tid = syscall(SYS_gettid);
    for (unsigned i = 0; i < period_count; i++) {
        sleep_until(begin + i * period_ns);
        uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + busy_ns;
        self->pieces[i].begin = now(CLOCK_MONOTONIC);
        while (now(CLOCK_THREAD_CPUTIME_ID) < until)
            ;
        self->pieces[i].end = now(CLOCK_MONOTONIC);
    }
    self->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static int by_begin(const void *left, const void *right)
{
    const struct piece *one = left, *other = right;
    return (one->begin > other->begin) - (one->begin < other->begin);
}

static void tell_pieces(void)
{
    size_t count = 0;
    struct piece *all = calloc((size_t)thread_count * period_count, sizeof *all);
    uint64_t sum = 0, active = 0, end = 0;
    for (unsigned i = 0; i < thread_count; i++)
        for (unsigned j = 0; j < period_count; j++)
            all[count++] = workers[i].pieces[j];
    qsort(all, count, sizeof *all, by_begin);
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = all[i].begin > end ? all[i].begin : end;
        sum += all[i].end - all[i].begin;
        active += all[i].end > begin ? all[i].end - begin : 0;
        end = all[i].end > end ? all[i].end : end;
    }
    printf("active %ju %ju\n", (uintmax_t)active, (uintmax_t)sum);
    free(all);
}

int main(int count, char **words)
{
    if (count > 5) {
        thread_count = (unsigned)atoi(words[1]);
        period_ns = strtoull(words[2], NULL, 10) * 1000;
        busy_ns = strtoull(words[3], NULL, 10) * 1000;
        phase_ns = strtoull(words[4], NULL, 10) * 1000;
        period_count = (unsigned)atoi(words[5]);
    }
    if (thread_count < 1 || thread_count > THREADS_MOST || !period_count)
        return 2;
    origin_ns = now(CLOCK_MONOTONIC) + 2000000;
    for (unsigned i = 0; i < thread_count; i++) {
        workers[i].pieces = calloc(period_count, sizeof *workers[i].pieces);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (unsigned i = 0; i < thread_count; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("thread %ld %ju\n", workers[i].tid, (uintmax_t)workers[i].cpu_ns);
    }
    printf("process %ju\n", (uintmax_t)now(CLOCK_PROCESS_CPUTIME_ID));
    tell_pieces();
    for (unsigned i = 0; i < thread_count; i++)
        free(workers[i].pieces);
    return 0;
}
