/* sampled_known.c: functions that are called so often that a budget samples them, a known number of
 * times, with durations that differ on purpose.
 *
 *     sampled_known [THREADS]     each thread does all of it; prints NAME=calls of all threads
 *
 * and check=…, which is equal in every run: results must not depend on being recorded. */
#include "known.h"

#include <signal.h>
#include <sys/time.h>

enum {
    VARIED = 700000,
    SHORT = 15000000,
    RARE = 150,
    TREES = 25000,
    DEPTH = 4,
    SIGNALLED = 300000
};
enum { SHORT_TURNS = 240, LONG_TURNS = 2400, RARE_TURNS = 20000, LONG_PERIOD = 16 };

long sampled_varied(long turns);
long sampled_short(long value);
long sampled_rare(long value);
long sampled_tree(long depth);
long sampled_signalled(long value);
long sampled_on_stack(long a, long b, long c, long d, long e, long f, long g, long h);

static inline long work(long value, long turns)
{
    for (long i = 0; i < turns; i++) {
        value = value * 5 + (value >> 7 & 0xff) + 3;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

/* Every 16th call is ten times longer: a rhythm that drawing must not fall in step with. */
KNOWN_FUNCTION long sampled_varied(long turns)
{
    return work(turns, turns);
}

KNOWN_FUNCTION long sampled_short(long value)
{
    return value * 5 + (value >> 7 & 0xff) + 3;
}

KNOWN_FUNCTION long sampled_rare(long value)
{
    return work(value, RARE_TURNS);
}

/* Its second call must not become a loop. */
KNOWN_FUNCTION long sampled_tree(long depth)
{
    if (depth == 0)
        return work(1, 2 * SHORT_TURNS);
    long sum = sampled_tree(depth - 1);
    sum += 2 * sampled_tree(depth - 1);
    __asm__ volatile("" : "+r"(sum));
    return sum;
}

KNOWN_FUNCTION long sampled_signalled(long value)
{
    return work(value, SHORT_TURNS);
}

KNOWN_FUNCTION long sampled_on_stack(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return work(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h, SHORT_TURNS);
}

static long signalled;

static void on_alarm(int signal)
{
    (void)signal;
    sampled_signalled(7);
    __atomic_fetch_add(&signalled, 1, __ATOMIC_RELAXED);
}

struct result {
    pthread_t id;
    unsigned long check;
};

static void add(struct result *result, long value)
{
    result->check = result->check * 31 + (unsigned long)value;
}

static void *everything(void *data)
{
    struct result *result = data;
    for (long i = 0; i < VARIED; i++) {
        add(result, sampled_varied(i % LONG_PERIOD == 5 ? LONG_TURNS : SHORT_TURNS));
        if (i % (VARIED / RARE) == 0)
            add(result, sampled_rare(i));
    }
    for (long i = 0; i < TREES; i++)
        add(result, sampled_tree(DEPTH));
    for (long i = 0; i < SIGNALLED; i++) {
        add(result, sampled_signalled(i));
        add(result, sampled_on_stack(1, 2, 3, 4, 5, 6, 7, i));
    }
    for (long i = 0; i < SHORT; i++)
        add(result, sampled_short(i));
    return NULL;
}

static void alarms(bool on)
{
    struct itimerval often = {{0, on ? 500 : 0}, {0, on ? 500 : 0}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    KNOWN_CHECK(sigaction(SIGPROF, &action, NULL) == 0);
    KNOWN_CHECK(setitimer(ITIMER_PROF, &often, NULL) == 0);
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    struct result results[MOST] = {0};
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    unsigned long check = 0;
    KNOWN_CHECK(threads >= 1 && threads <= MOST);
    alarms(true);
    for (int i = 1; i < threads; i++)
        KNOWN_CHECK(pthread_create(&results[i].id, NULL, everything, &results[i]) == 0);
    everything(&results[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(results[i].id, NULL);
    alarms(false);
    for (int i = 0; i < threads; i++)
        check = check * 31 + results[i].check;
    known__number("sampled_varied", (long)threads * VARIED);
    known__number("sampled_short", (long)threads * SHORT);
    known__number("sampled_rare", (long)threads * ((VARIED + VARIED / RARE - 1) / (VARIED / RARE)));
    known__number("sampled_tree", (long)threads * TREES * ((2 << DEPTH) - 1));
    known__number("sampled_signalled", (long)threads * SIGNALLED + signalled);
    known__number("sampled_on_stack", (long)threads * SIGNALLED);
    known__number("check", (long long)check);
    return 0;
}
