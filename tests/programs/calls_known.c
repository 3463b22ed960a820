/* calls_known.c: functions that are called a known number of times, in every way in which a call
 * can go.  Each prints NAME=calls; call_arguments also NAME.argN of its last call.  The program
 * itself checks that every argument and every result came through unharmed. */
#include "known.h"

#include <setjmp.h>
#include <stdarg.h>

enum { CALLS = 1000, DEPTH = 20, THREADS = 4 };

struct large {
    long words[8];
};
struct pair {
    double real;
    long whole;
};

long call_plain(long value);
long call_recursive(long depth);
long call_mutual_even(long depth);
long call_mutual_odd(long depth);
long call_threaded(long value);
long call_tail_outer(long value);
long call_tail_inner(long value);
long call_arguments(long a, int b, const char *c, unsigned char d, long e, void *f);
long call_on_stack(long a, long b, long c, long d, long e, long f, long g, long h);
long call_variable(int count, ...);
double call_floating(double a, float b, long c);
long double call_long_double(long double a);
struct large call_large_result(long seed);
long call_large_argument(struct large large);
struct pair call_pair(double real, long whole);
long call_by_pointer(long value);
long call_loop_at_entry(long turns);
long call_switch(long value);
long call_tiny(void);
void call_empty(void);
void call_leaves_by_jump(jmp_buf target);
void call_ends_thread(long *value) __attribute__((noreturn));

/* What a call returned, used after it: the call cannot become a jump or a loop. */
static inline long kept(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

KNOWN_FUNCTION long call_plain(long value)
{
    return value * 3 + 1;
}

KNOWN_FUNCTION long call_recursive(long depth)
{
    return depth == 0 ? 0 : kept(call_recursive(depth - 1)) + 1;
}

KNOWN_FUNCTION long call_mutual_even(long depth)
{
    return depth == 0 ? 1 : kept(call_mutual_odd(depth - 1));
}

KNOWN_FUNCTION long call_mutual_odd(long depth)
{
    return depth == 0 ? 0 : kept(call_mutual_even(depth - 1));
}

KNOWN_FUNCTION long call_threaded(long value)
{
    return value ^ 0x55;
}

KNOWN_FUNCTION long call_tail_inner(long value)
{
    return value - 7;
}

/* Optimised, this is a jump: both are entered, and one return leaves both. */
KNOWN_FUNCTION long call_tail_outer(long value)
{
    return call_tail_inner(value * 2);
}

KNOWN_FUNCTION long call_arguments(long a, int b, const char *c, unsigned char d, long e, void *f)
{
    return a + b + c[0] + d + e + (f != NULL);
}

KNOWN_FUNCTION long call_on_stack(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

KNOWN_FUNCTION long call_variable(int count, ...)
{
    va_list arguments;
    long sum = 0;
    va_start(arguments, count);
    for (int i = 0; i < count; i++)
        sum += i % 2 ? (long)va_arg(arguments, double) : va_arg(arguments, long);
    va_end(arguments);
    return sum;
}

KNOWN_FUNCTION double call_floating(double a, float b, long c)
{
    return a * 2 + (double)b + (double)c;
}

KNOWN_FUNCTION long double call_long_double(long double a)
{
    return a / 2;
}

KNOWN_FUNCTION struct large call_large_result(long seed)
{
    struct large large;
    for (int i = 0; i < 8; i++)
        large.words[i] = seed + i;
    return large;
}

KNOWN_FUNCTION long call_large_argument(struct large large)
{
    long sum = 0;
    for (int i = 0; i < 8; i++)
        sum += large.words[i];
    return sum;
}

KNOWN_FUNCTION struct pair call_pair(double real, long whole)
{
    return (struct pair){real + 1, whole + 1};
}

KNOWN_FUNCTION long call_by_pointer(long value)
{
    return value + 11;
}

/* Its loop may jump back into its first bytes. */
KNOWN_FUNCTION long call_loop_at_entry(long turns)
{
    do
        __asm__ volatile("" : "+r"(turns));
    while (--turns > 0);
    return turns;
}

KNOWN_FUNCTION long call_switch(long value)
{
    switch (value % 6) {
    case 0:
        return call_plain(1);
    case 1:
        return value + 17;
    case 2:
        return value * 5;
    case 3:
        return value - 3;
    case 4:
        return value << 2;
    default:
        return -value;
    }
}

/* Few bytes each: may be refused for it, and then the reason must be listed. */
KNOWN_FUNCTION long call_tiny(void)
{
    __asm__ volatile(""); /* or its calls are known to be of no use */
    return 1;
}

KNOWN_FUNCTION void call_empty(void)
{
    __asm__ volatile("");
}

KNOWN_FUNCTION void call_leaves_by_jump(jmp_buf target)
{
    longjmp(target, 1);
}

KNOWN_FUNCTION void call_ends_thread(long *value)
{
    ++*value;
    pthread_exit(NULL);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static void integers(void)
{
    long (*volatile pointer)(long) = call_by_pointer;
    for (long i = 0; i < CALLS; i++) {
        KNOWN_CHECK(call_plain(i) == i * 3 + 1);
        KNOWN_CHECK(call_tail_outer(i) == i * 2 - 7);
        KNOWN_CHECK(call_on_stack(1, 2, 3, 4, 5, 6, 7, i) == 140 + 8 * i);
        KNOWN_CHECK(call_variable(4, i, 2.0, 3L, 4.0) == i + 9);
        KNOWN_CHECK(pointer(i) == i + 11);
        KNOWN_CHECK(call_loop_at_entry(3) == 0);
        KNOWN_CHECK(call_tiny() == 1);
        call_empty();
    }
    for (long i = 0; i < 6; i++)
        kept(call_switch(i));
    known__number("call_plain", CALLS + 2); /* once from call_switch, once after the jumps */
    known__number("call_tail_outer", CALLS);
    known__number("call_tail_inner", CALLS);
    known__number("call_on_stack", CALLS);
    known__number("call_variable", CALLS);
    known__number("call_by_pointer", CALLS);
    known__number("call_loop_at_entry", CALLS);
    known__number("call_tiny", CALLS);
    known__number("call_empty", CALLS);
    known__number("call_switch", 6);
    known__refusable("call_loop_at_entry", "loop begins at its first|jumps into its first");
    known__refusable("call_tiny", "shorter than");
    known__refusable("call_empty", "shorter than");
}

static void recursion(void)
{
    for (int i = 0; i < CALLS / DEPTH; i++) {
        KNOWN_CHECK(call_recursive(DEPTH) == DEPTH);
        KNOWN_CHECK(call_mutual_even(DEPTH) == 1);
    }
    known__number("call_recursive", CALLS / DEPTH * (DEPTH + 1));
    known__number("call_mutual_even", CALLS / DEPTH * (DEPTH / 2 + 1));
    known__number("call_mutual_odd", CALLS / DEPTH * (DEPTH / 2));
}

static void other_types(void)
{
    for (long i = 0; i < CALLS; i++) {
        KNOWN_CHECK(call_floating(1.5, 0.25f, i) == 3.25 + (double)i);
        KNOWN_CHECK(call_long_double((long double)i) * 2 == (long double)i);
        struct large large = call_large_result(i);
        KNOWN_CHECK(call_large_argument(large) == 8 * i + 28);
        struct pair pair = call_pair(0.5, i);
        KNOWN_CHECK(pair.real == 1.5 && pair.whole == i + 1);
    }
    known__number("call_floating", CALLS);
    known__number("call_long_double", CALLS);
    known__number("call_large_result", CALLS);
    known__number("call_large_argument", CALLS);
    known__refusable("call_large_argument", "jumps into its first"); /* its loop, with -Os */
    known__number("call_pair", CALLS);
}

/* Half of the calls with one set of values, half with another: they can serve as keys. */
static void arguments(void)
{
    static const char text[] = "A";
    static long object;
    for (int i = 0; i < CALLS; i++) {
        if (i % 2)
            KNOWN_CHECK(call_arguments(-1, -2, text, 200, 1L << 40, &object) ==
                        -3 + 'A' + 200 + (1L << 40) + 1);
        else
            KNOWN_CHECK(call_arguments(10, 20, text, 30, 50, NULL) == 110 + 'A');
    }
    known__number("call_arguments", CALLS);
    known__number("call_arguments.even", CALLS / 2);
    known__number("call_arguments.even.arg1", 10);
    known__number("call_arguments.even.arg2", 20);
    known__number("call_arguments.even.arg4", 30);
    known__number("call_arguments.even.arg5", 50);
    known__number("call_arguments.even.arg6", 0);
    known__number("call_arguments.odd.arg1", -1);
    known__number("call_arguments.odd.arg2", -2);
    known__number("call_arguments.odd.arg4", 200);
    known__number("call_arguments.odd.arg5", 1L << 40);
    known__address("call_arguments.odd.arg6", &object);
    known__address("call_arguments.arg3", text);
}

static void *call_from_thread(void *unused)
{
    (void)unused;
    for (long i = 0; i < CALLS; i++)
        KNOWN_CHECK(call_threaded(i) == (i ^ 0x55));
    return NULL;
}

static void *end_by_call(void *value)
{
    call_ends_thread(value);
}

static void threads(void)
{
    pthread_t threads[THREADS];
    long ended[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, call_from_thread, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, end_by_call, &ended[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        KNOWN_CHECK(ended[i] == 1);
    }
    known__number("call_threaded", THREADS * CALLS);
    known__number("call_threaded.threads", THREADS);
    known__number("call_ends_thread", THREADS);
}

static void jumps(void)
{
    static volatile int jumps;
    jmp_buf target;
    setjmp(target);
    if (jumps < 10) {
        jumps++;
        call_leaves_by_jump(target);
    }
    known__number("call_leaves_by_jump", jumps);
    known__abandoned("call_leaves_by_jump", jumps);
    KNOWN_CHECK(call_plain(1) == 4); /* calls still pair after that */
}

int main(void)
{
    integers();
    recursion();
    other_types();
    arguments();
    threads();
    jumps();
    return 0;
}
