/* popped.cc: functions that take arguments on the stack, left in every way in which a call can end.
 * Prints NAME=calls, and NAME.thrown=how many of them an exception left; checks every argument and
 * result itself, and that calls which never end cost no memory.  --stop: prints its process id in a
 * call that never returns. */
#include "known.h"

#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <execinfo.h>
#include <stdexcept>
#include <ucontext.h>

namespace popped
{
enum { CALLS = 1000, DEPTH = 1000, DEEP = 10000, JUMPS = 1000000, THREADS = 4, ROUNDS = 50 };

struct large {
    long words[8];
};

/* The last two of eight come on the stack. */
#define EIGHT long a, long b, long c, long d, long e, long f, long g, long h
#define WEIGHED kept(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h)
#define ONE_TO_EIGHT 1, 2, 3, 4, 5, 6, 7, 8
enum { WEIGHT = 204 }; /* of ONE_TO_EIGHT */

/* Nobody knows what it does: calls of functions with it are made as they are written. */
static inline long kept(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

/* ---- arguments and results of every kind ----------------------------------------------------- */

KNOWN_FUNCTION long integers(EIGHT)
{
    return WEIGHED;
}

KNOWN_FUNCTION double variable(int count, ...)
{
    va_list arguments;
    double sum = 0;
    va_start(arguments, count);
    for (int i = 0; i < count; i++)
        sum += i % 2 ? va_arg(arguments, double) : va_arg(arguments, int);
    va_end(arguments);
    return sum;
}

KNOWN_FUNCTION struct large larges(struct large one, long factor, struct large other)
{
    struct large result;
    for (int i = 0; i < 8; i++)
        result.words[i] = one.words[i] * factor + other.words[i];
    return result;
}

KNOWN_FUNCTION long double long_doubles(long double a, long double b)
{
    return a / b;
}

KNOWN_FUNCTION __int128 int128s(__int128 a, __int128 b, __int128 c, __int128 d)
{
    return a + b + c - d;
}

KNOWN_FUNCTION double doubles(double a, double b, double c, double d, double e, double f, double g,
                              double h, double i, float j)
{
    return a + b + c + d + e + f + g + h + 2 * i + 4 * static_cast<double>(j);
}

/* Optimised, a jump: both find their arguments in one place, and one return leaves both. */
KNOWN_FUNCTION long jumped_to(EIGHT)
{
    return WEIGHED;
}

KNOWN_FUNCTION long ends_in_jump(EIGHT)
{
    return jumped_to(h, g, f, e, d, c, b, a);
}

KNOWN_FUNCTION long recursive(EIGHT)
{
    return a == 0 ? WEIGHED : kept(recursive(a - 1, b, c, d, e, f, g, h)) + 1;
}

static void arguments()
{
    struct large one = {{1, 2, 3, 4, 5, 6, 7, 8}}, other = {{8, 7, 6, 5, 4, 3, 2, 1}};
    const __int128 big = static_cast<__int128>(1) << 100;
    for (int i = 0; i < CALLS; i++) {
        KNOWN_CHECK(integers(ONE_TO_EIGHT) == WEIGHT);
        KNOWN_CHECK(variable(20, i, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8,
                             8.5, 9, 9.5) == i + 45 + 50);
        struct large both = larges(one, i, other);
        KNOWN_CHECK(both.words[0] == i + 8 && both.words[7] == 8L * i + 1);
        KNOWN_CHECK(long_doubles(i, 2) * 2 == i);
        KNOWN_CHECK(int128s(big, i, 2 * big, big) == 2 * big + i);
        KNOWN_CHECK(doubles(1, 2, 3, 4, 5, 6, 7, 8, 0.5, 0.25f) == 38);
        KNOWN_CHECK(ends_in_jump(8, 7, 6, 5, 4, 3, 2, 1) == WEIGHT);
    }
    KNOWN_CHECK(recursive(DEEP, 1, 1, 1, 1, 1, 1, 1) == 35 + DEEP);
    known__number("popped::variable", CALLS);
    known__number("popped::larges", CALLS);
    known__number("popped::long_doubles", CALLS);
    known__number("popped::int128s", CALLS);
    known__number("popped::doubles", CALLS);
    known__number("popped::ends_in_jump", CALLS);
    known__number("popped::jumped_to", CALLS);
}

/* ---- left by exceptions ---------------------------------------------------------------------- */

struct counted {
    static __thread long left;
    ~counted()
    {
        left++;
    }
};
__thread long counted::left;

KNOWN_FUNCTION long throws(EIGHT)
{
    if (WEIGHED == WEIGHT)
        throw a;
    return h;
}

KNOWN_FUNCTION long throws_deep(EIGHT)
{
    counted one;
    if (a == 0)
        throw h;
    return kept(throws_deep(a - 1, b, c, d, e, f, g, h)) + 1;
}

/* Catches and throws again, at every level. */
KNOWN_FUNCTION long throws_again(EIGHT)
{
    try {
        if (a == 0)
            throw h;
        return kept(throws_again(a - 1, b, c, d, e, f, g, h)) + 1;
    } catch (long) {
        throw;
    }
}

KNOWN_FUNCTION long catches(EIGHT)
{
    try {
        return throws(a, b, c, d, e, f, g, h);
    } catch (long value) {
        return value + h;
    }
}

static void throw_all()
{
    long before = counted::left, caught = 0;
    for (int i = 0; i < CALLS; i++) {
        try { /* the handler is in the immediate caller */
            caught -= throws(ONE_TO_EIGHT);
        } catch (long value) {
            caught += value;
        }
        KNOWN_CHECK(catches(ONE_TO_EIGHT) == 9);
    }
    KNOWN_CHECK(caught == CALLS);
    try {
        throws_deep(DEPTH - 1, 2, 3, 4, 5, 6, 7, 8);
    } catch (long value) {
        caught += value;
    }
    try {
        throws_again(DEPTH - 1, 2, 3, 4, 5, 6, 7, 9);
    } catch (long value) {
        caught += value;
    }
    KNOWN_CHECK(caught == CALLS + 17 && counted::left == before + DEPTH);
}

static void *throw_in_thread(void *unused)
{
    throw_all();
    return unused;
}

static void exceptions()
{
    pthread_t threads[THREADS];
    for (pthread_t &thread : threads)
        KNOWN_CHECK(pthread_create(&thread, NULL, throw_in_thread, NULL) == 0);
    for (pthread_t thread : threads)
        pthread_join(thread, NULL);
    throw_all();
    known__number("popped::throws", 2 * CALLS * (THREADS + 1));
    known__number("popped::throws.thrown", 2 * CALLS * (THREADS + 1));
    known__number("popped::throws_deep", DEPTH * (THREADS + 1));
    known__number("popped::throws_deep.thrown", DEPTH * (THREADS + 1));
    known__number("popped::throws_again", DEPTH * (THREADS + 1));
    known__number("popped::throws_again.thrown", DEPTH * (THREADS + 1));
}

/* ---- left by the thread's end ---------------------------------------------------------------- */

KNOWN_FUNCTION long exits(EIGHT)
{
    counted one;
    if (WEIGHED == WEIGHT)
        pthread_exit(&counted::left);
    return h;
}

static int waiting;

KNOWN_FUNCTION long is_cancelled(EIGHT)
{
    counted one;
    __atomic_fetch_add(&waiting, 1, __ATOMIC_RELEASE);
    while (WEIGHED == WEIGHT)
        pthread_testcancel();
    return h;
}

static void *exit_in_thread(void *unused)
{
    counted outer;
    exits(ONE_TO_EIGHT);
    return unused;
}

static void *cancel_in_thread(void *unused)
{
    counted outer;
    is_cancelled(ONE_TO_EIGHT);
    return unused;
}

static void forced()
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t exiting, cancelled;
        void *value;
        KNOWN_CHECK(pthread_create(&exiting, NULL, exit_in_thread, NULL) == 0);
        pthread_join(exiting, &value);
        KNOWN_CHECK(value && value != PTHREAD_CANCELED);
        KNOWN_CHECK(pthread_create(&cancelled, NULL, cancel_in_thread, NULL) == 0);
        known__await(&waiting, i + 1);
        pthread_cancel(cancelled);
        pthread_join(cancelled, &value);
        KNOWN_CHECK(value == PTHREAD_CANCELED);
    }
    known__number("popped::exits", ROUNDS);
    known__number("popped::exits.thrown", ROUNDS);
    known__number("popped::is_cancelled", ROUNDS);
    known__number("popped::is_cancelled.thrown", ROUNDS);
}

/* ---- left by longjmp, a million times -------------------------------------------------------- */

/* As luaL_error is. */
KNOWN_FUNCTION void jumps(jmp_buf *target, int count, ...)
{
    va_list arguments;
    long sum = 0;
    va_start(arguments, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(arguments, int);
    va_end(arguments);
    if (sum == 36)
        longjmp(*target, 1);
}

static long anonymous_kib()
{
    char text[4096];
    KNOWN_CHECK(known__task_file(known__tid(), "status", text, sizeof text));
    const char *line = strstr(text, "RssAnon:");
    return line ? atol(line + 8) : 0;
}

static void jump(int times)
{
    jmp_buf target;
    for (volatile int i = 0; i < times; i++)
        if (setjmp(target) == 0)
            jumps(&target, 8, ONE_TO_EIGHT);
}

/* Calls that are under way while others are thrown away in thousands still end. */
KNOWN_FUNCTION long jumps_below(EIGHT)
{
    if (a == 0)
        jump(DEEP);
    return a == 0 ? WEIGHED : kept(jumps_below(a - 1, b, c, d, e, f, g, h)) + 1;
}

/* Enough that all records of the calls before it are used up. */
KNOWN_FUNCTION long jumps_jumped_to(EIGHT)
{
    jump(5 * DEEP);
    return WEIGHED;
}

KNOWN_FUNCTION long jumps_after_jump(EIGHT)
{
    return jumps_jumped_to(h, g, f, e, d, c, b, a);
}

static void longjmps()
{
    jump(DEEP);
    long before = anonymous_kib();
    jump(JUMPS - DEEP);
    long grown = anonymous_kib() - before;
    KNOWN_CHECK(grown < 4096);
    KNOWN_CHECK(jumps_below(DEEP, 1, 1, 1, 1, 1, 1, 1) == 35 + DEEP);
    KNOWN_CHECK(jumps_after_jump(8, 7, 6, 5, 4, 3, 2, 1) == WEIGHT);
    known__number("popped::jumps", JUMPS + 6 * DEEP);
    known__number("popped::jumps_below", DEEP + 1);
    known__number("popped::jumps_jumped_to", 1);
    known__number("popped::jumps_after_jump", 1);
}

/* ---- coroutines: calls end in another order than they began, and in other threads ------------ */

struct coroutine {
    ucontext_t context, *back;
    char stack[65536];
    long turns, sum;
    bool done;
};

KNOWN_FUNCTION long suspends(struct coroutine *self, long b, long c, long d, long e, long f, long g,
                             long h)
{
    for (long i = 0; i < self->turns; i++) {
        self->sum += b + 2 * c + 3 * d + 4 * e + 5 * f + 6 * g + 7 * h;
        swapcontext(&self->context, self->back);
    }
    return h;
}

static void coroutine_main(unsigned low, unsigned high)
{
    struct coroutine *self =
        reinterpret_cast<struct coroutine *>(low | static_cast<uintptr_t>(high) << 32);
    self->sum += suspends(self, 1, 2, 3, 4, 5, 6, 7);
    self->done = true;
    for (;;)
        swapcontext(&self->context, self->back);
}

static struct coroutine coroutines[8];

static void coroutine_start(struct coroutine *self, long turns)
{
    self->turns = turns;
    self->sum = 0;
    self->done = false;
    getcontext(&self->context);
    self->context.uc_stack.ss_sp = self->stack;
    self->context.uc_stack.ss_size = sizeof self->stack;
    self->context.uc_link = NULL;
    uintptr_t address = reinterpret_cast<uintptr_t>(self);
    makecontext(&self->context, reinterpret_cast<void (*)()>(coroutine_main), 2,
                static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
}

static void coroutine_resume(struct coroutine *self)
{
    ucontext_t here;
    self->back = &here;
    swapcontext(&here, &self->context);
}

/* Begun in one thread, ended in others; each has all of them once at a time. */
static void *resume_all(void *unused)
{
    for (struct coroutine &one : coroutines)
        coroutine_resume(&one);
    return unused;
}

static void switches()
{
    for (int i = 0; i < ROUNDS; i++) {
        long turns = 1;
        for (struct coroutine &one : coroutines)
            coroutine_start(&one, turns++);
        for (int turn = 0; turn < 9; turn++) {
            pthread_t thread;
            if (turn % 3 == 0) {
                resume_all(NULL);
                continue;
            }
            KNOWN_CHECK(pthread_create(&thread, NULL, resume_all, NULL) == 0);
            pthread_join(thread, NULL);
        }
        for (struct coroutine &one : coroutines)
            KNOWN_CHECK(one.done && one.sum == one.turns * 140 + 7);
    }
    known__number("popped::suspends", ROUNDS * 8);
}

/* ---- signal handlers ------------------------------------------------------------------------- */

static long handled, handlers_ended;
static sigjmp_buf out_of_handler;
static volatile sig_atomic_t may_jump;

KNOWN_FUNCTION long in_handler(EIGHT)
{
    return WEIGHED + 1;
}

KNOWN_FUNCTION long under_signals(EIGHT)
{
    return WEIGHED + 2;
}

static void on_signal(int)
{
    handled++;
    KNOWN_CHECK(in_handler(ONE_TO_EIGHT) == WEIGHT + 1);
    __atomic_store_n(&handlers_ended, handled, __ATOMIC_RELEASE);
    if (may_jump) {
        may_jump = 0;
        siglongjmp(out_of_handler, 1);
    }
}

static bool interrupting;

/* The next signal is sent when the last one's handler has ended: on a busy machine, and recorded,
 * handlers would else take all of the thread's time, and none would be left for its own work. */
static void *interrupt(void *tid)
{
    for (long sent = 1; __atomic_load_n(&interrupting, __ATOMIC_ACQUIRE); sent++) {
        syscall(SYS_tgkill, getpid(), *static_cast<int *>(tid), SIGUSR1);
        while (__atomic_load_n(&handlers_ended, __ATOMIC_ACQUIRE) < sent)
            sched_yield();
        for (volatile int i = 0; i < 500;)
            i = i + 1;
    }
    return NULL;
}

/* Handlers come between any two instructions, call the like, and some jump away. */
static void signals()
{
    int tid = known__tid();
    pthread_t thread;
    struct sigaction action = {};
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    interrupting = true;
    KNOWN_CHECK(pthread_create(&thread, NULL, interrupt, &tid) == 0);
    static volatile long calls = 0;
    for (static volatile int round = 0; round < ROUNDS; round = round + 1) {
        for (int i = 0; i < CALLS; i++)
            KNOWN_CHECK(under_signals(ONE_TO_EIGHT) == WEIGHT + 2);
        calls = calls + CALLS;
        if (sigsetjmp(out_of_handler, 1) == 0)
            /* The call that is left so may have been counted or not yet. */
            for (may_jump = 1;;)
                KNOWN_CHECK(integers(ONE_TO_EIGHT) == WEIGHT);
    }
    __atomic_store_n(&interrupting, false, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    KNOWN_CHECK(handled >= ROUNDS);
    known__number("popped::in_handler", handled);
    known__number("popped::under_signals", calls);
}

/* ---- backtrace ------------------------------------------------------------------------------- */

static void *frames[16];
static int frame_count;

KNOWN_FUNCTION long takes_backtrace(EIGHT)
{
    frame_count = backtrace(frames, 16);
    return WEIGHED;
}

KNOWN_FUNCTION long calls_backtrace(EIGHT)
{
    return kept(takes_backtrace(a, b, c, d, e, f, g, h)) + 1;
}

/* The caller's caller is among the frames: a stub's is one more each, not the end. */
static void backtraces()
{
    for (int i = 0; i < ROUNDS; i++) {
        KNOWN_CHECK(calls_backtrace(ONE_TO_EIGHT) == WEIGHT + 1);
        const char *from = reinterpret_cast<const char *>(&backtraces);
        bool found = false;
        for (int k = 0; k < frame_count; k++) {
            const char *at = static_cast<const char *>(frames[k]);
            found = found || (at > from && at < from + 4096 && k >= 2);
        }
        KNOWN_CHECK(found);
    }
    known__number("popped::takes_backtrace", ROUNDS);
    known__number("popped::calls_backtrace", ROUNDS);
}

/* ---- for a debugger -------------------------------------------------------------------------- */

KNOWN_FUNCTION long stops(EIGHT)
{
    printf("%d\n", static_cast<int>(getpid()));
    fflush(stdout);
    pause();
    return WEIGHED;
}

KNOWN_FUNCTION long calls_stops(EIGHT)
{
    return kept(stops(a, b, c, d, e, f, g, h)) + 1;
}
} // namespace popped

int main(int argc, char **argv)
{
    using namespace popped;
    if (argc == 2 && strcmp(argv[1], "--stop") == 0)
        return calls_stops(ONE_TO_EIGHT) != WEIGHT + 1;
    arguments();
    exceptions();
    forced();
    longjmps();
    switches();
    signals();
    backtraces();
    return 0;
}
