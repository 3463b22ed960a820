/* leaves.c: recorded functions that are not left by a return: pthread_exit, cancellation, longjmp,
 * siglongjmp. And what unwinders see while they run: backtrace(3). */
#include "known.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

enum { THREADS = 40, JUMPS = 100000, SIGNAL_JUMPS = 2000, TRACES = 100, DEPTH = 12 };

#define FUNCTION KNOWN_FUNCTION static

static long cleaned;

static void clean(void *amount)
{
    __atomic_add_fetch(&cleaned, *(long *)amount, __ATOMIC_SEQ_CST);
}

static inline long kept(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

/* ---- a thread that ends within --------------------------------------------------------------- */

FUNCTION long t_exits(long n)
{
    if (n >= 0)
        pthread_exit((void *)n);
    return n;
}

FUNCTION long t_around_exit(long depth, long n)
{
    long amount = 1, result;
    pthread_cleanup_push(clean, &amount);
    result = depth == 0 ? t_exits(n) : kept(t_around_exit(depth - 1, n)) + 1;
    pthread_cleanup_pop(0);
    return result;
}

/* Its seventh argument is on the stack. */
FUNCTION long t_around_exit_stack(long a, long b, long c, long d, long e, long f, long n)
{
    long amount = 1000;
    volatile long result = a + b + c + d + e + f;
    pthread_cleanup_push(clean, &amount);
    result += t_around_exit(DEPTH, n);
    pthread_cleanup_pop(0);
    return result;
}

static void *exit_within(void *n)
{
    return (void *)t_around_exit_stack(1, 2, 3, 4, 5, 6, (long)n);
}

static int ready;

FUNCTION void t_waits(void)
{
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause(); /* a cancellation point */
}

FUNCTION long t_spins(volatile long *turns)
{
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        ++*turns;
    return *turns;
}

FUNCTION void t_around_wait(long how)
{
    long amount = 1, turns = 0;
    pthread_cleanup_push(clean, &amount);
    if (how)
        t_spins(&turns);
    else
        t_waits();
    pthread_cleanup_pop(0);
}

static void *wait_to_be_cancelled(void *how)
{
    int old;
    pthread_setcanceltype(how ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, &old);
    t_around_wait((long)how);
    return NULL;
}

static void ends(void)
{
    pthread_t threads[THREADS];
    long sum = 0;
    for (long i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, exit_within, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("ended %ld, cleaned %ld\n", sum, cleaned);
    cleaned = 0;
    for (long i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, wait_to_be_cancelled, (void *)(i % 2)) == 0);
    known__await(&ready, THREADS);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_cancel(threads[i]);
        pthread_join(threads[i], &result);
        KNOWN_CHECK(result == PTHREAD_CANCELED);
    }
    printf("cancelled, cleaned %ld\n", cleaned);
    known__count("t_exits", THREADS);
    known__count("t_around_exit", THREADS * (DEPTH + 1));
    known__count("t_around_exit_stack", THREADS);
    known__count("t_waits", THREADS / 2);
    known__count("t_spins", THREADS / 2);
    known__count("t_around_wait", THREADS);
}

/* ---- jumps ----------------------------------------------------------------------------------- */

static jmp_buf target;
static sigjmp_buf signal_target;

FUNCTION long t_jumps(long n)
{
    if (n % 3 != 2)
        longjmp(target, (int)(n % 3) + 1);
    return n;
}

FUNCTION long t_around_jump(long depth, long n)
{
    return depth == 0 ? t_jumps(n) : kept(t_around_jump(depth - 1, n)) + 1;
}

FUNCTION long t_jumps_stack(long a, long b, long c, long d, long e, long f, long n)
{
    if (n % 2)
        longjmp(target, 7);
    return a + b + c + d + e + f + n;
}

/* setjmp in a recorded function, and the jump comes back into it. */
FUNCTION long t_sets(long n)
{
    jmp_buf mine, others;
    memcpy(others, target, sizeof target);
    volatile long result = 0;
    if (setjmp(mine) == 0) {
        memcpy(target, mine, sizeof target);
        result = t_around_jump(n % 4, n);
    } else {
        result = -1;
    }
    memcpy(target, others, sizeof target);
    return result;
}

FUNCTION long t_after(long n)
{
    return n * 3;
}

static void jumps(void)
{
    static volatile long sum, jumped, n;
    for (n = 0; n < JUMPS; n++) {
        if (setjmp(target) == 0) {
            sum += t_around_jump(0, n);
            sum += t_jumps_stack(1, 2, 3, 4, 5, 6, n);
        } else {
            jumped++;
        }
        sum += t_after(n);
    }
    for (n = 0; n < JUMPS / 100; n++)
        sum += t_sets(n);
    printf("jumps %ld, sum %ld\n", jumped, sum);
    long returned = (JUMPS - 2) / 3 + 1, nested = JUMPS / 100, deep = 0;
    for (long i = 0; i < nested; i++)
        deep += i % 4 + 1;
    known__count("t_after", JUMPS);
    known__count("t_jumps", JUMPS + nested);
    known__abandoned("t_jumps", JUMPS + nested);
    known__count("t_around_jump", JUMPS + deep);
    known__abandoned("t_around_jump", JUMPS + deep);
    known__count("t_jumps_stack", returned);
    known__abandoned("t_jumps_stack", returned);
    known__count("t_sets", nested);
    known__abandoned("t_sets", 0);
}

static long handled;

FUNCTION void t_handles(int number)
{
    handled++;
    if (handled % 2)
        siglongjmp(signal_target, number);
}

FUNCTION long t_raises(long n)
{
    raise(SIGUSR1);
    return n;
}

static void signal_jumps(void)
{
    static volatile long n, jumped;
    struct sigaction action = {.sa_handler = t_handles};
    sigaction(SIGUSR1, &action, NULL);
    for (n = 0; n < SIGNAL_JUMPS; n++)
        if (sigsetjmp(signal_target, 1) == 0)
            t_raises(n);
        else
            jumped++;
    printf("signal jumps %ld of %ld\n", jumped, n);
    known__count("t_handles", SIGNAL_JUMPS);
    known__abandoned("t_handles", SIGNAL_JUMPS);
    known__count("t_raises", SIGNAL_JUMPS);
    known__abandoned("t_raises", SIGNAL_JUMPS);
}

/* ---- what unwinders see ---------------------------------------------------------------------- */

/* The functions of this program on the stack, inner ones first; heurt's own frames have none of its
 * addresses. */
FUNCTION void t_looks(char *text, size_t size)
{
    void *frames[64];
    int count = backtrace(frames, 64);
    *text = 0;
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (dladdr((char *)frames[i] - 1, &info) && info.dli_sname &&
            strncmp(info.dli_sname, "t_", 2) == 0 && strlen(text) + 40 < size)
            strcat(strcat(text, info.dli_sname), " ");
    }
}

/* Exported, so that dladdr knows them. */
long t_look_inner(char *text, size_t size, long n);
long t_look_middle(long a, long b, long c, long d, long e, long f, char *text, size_t size);
long t_look_outer(char *text, size_t size, long n);

KNOWN_FUNCTION long t_look_inner(char *text, size_t size, long n)
{
    t_looks(text, size);
    return n + 1;
}
KNOWN_FUNCTION long t_look_middle(long a, long b, long c, long d, long e, long f, char *text,
                                  size_t size)
{
    return kept(t_look_inner(text, size, a + b + c + d + e + f)) * 2;
}
KNOWN_FUNCTION long t_look_outer(char *text, size_t size, long n)
{
    return kept(t_look_middle(1, 2, 3, 4, 5, n, text, size)) +
           (n ? kept(t_look_outer(text, size, 0)) : 0);
}

static void traces(void)
{
    char text[4096], first[4096] = "";
    for (int i = 0; i < TRACES; i++) {
        t_look_outer(text, sizeof text, 1);
        if (i == 0)
            strcpy(first, text);
        KNOWN_CHECK(strcmp(first, text) == 0);
    }
    printf("frames: %s\n", first);
    known__count("t_looks", 2 * TRACES);
    known__count("t_look_inner", 2 * TRACES);
    known__count("t_look_middle", 2 * TRACES);
    known__count("t_look_outer", 2 * TRACES);
}

int main(void)
{
    ends();
    jumps();
    signal_jumps();
    traces();
    return 0;
}
