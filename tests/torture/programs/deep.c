/* deep.c: calls in calls in calls, on several threads, and calls that are jumps. */
#include "known.h"

enum { DEPTH = 10000, THREADS = 6, TAILS = 1000000, SHORT_TAILS = 1000 };

#define FUNCTION KNOWN_FUNCTION static

static inline long kept(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

FUNCTION long t_deep(long depth)
{
    return depth == 0 ? 1 : kept(t_deep(depth - 1)) * 3 + depth;
}

/* Its last argument is on the stack. */
FUNCTION long t_deep_stack(long depth, long a, long b, long c, long d, long e, long f)
{
    return depth == 0 ? f : kept(t_deep_stack(depth - 1, a, b, c, d, e, f + depth)) + a + e;
}

FUNCTION long t_deep_other(long depth);
FUNCTION long t_deep_one(long depth)
{
    return depth == 0 ? 1 : kept(t_deep_other(depth - 1)) ^ depth;
}
FUNCTION long t_deep_other(long depth)
{
    return depth == 0 ? 2 : kept(t_deep_one(depth - 1)) + depth;
}

FUNCTION long t_deep_array(long depth)
{
    volatile char text[depth % 40 + 1];
    text[depth % 7 % sizeof text] = 3;
    return depth == 0 ? 1 : kept(t_deep_array(depth - 1)) + text[depth % 7 % sizeof text];
}

static unsigned long descend(void)
{
    return (unsigned long)t_deep(DEPTH) ^ (unsigned long)t_deep_stack(DEPTH, 1, 2, 3, 4, 5, 6) ^
           (unsigned long)t_deep_one(DEPTH) ^ (unsigned long)t_deep_array(DEPTH);
}

static void *descend_on_thread(void *unused)
{
    (void)unused;
    return (void *)descend();
}

static void recursion(void)
{
    pthread_t threads[THREADS];
    unsigned long mine = descend();
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, descend_on_thread, NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *theirs;
        pthread_join(threads[i], &theirs);
        KNOWN_CHECK((unsigned long)theirs == mine);
    }
    printf("deep %lx\n", mine);
    known__count("t_deep", (DEPTH + 1) * (THREADS + 1));
    known__count("t_deep_stack", (DEPTH + 1) * (THREADS + 1));
    known__count("t_deep_one", (DEPTH / 2 + 1) * (THREADS + 1));
    known__count("t_deep_other", DEPTH / 2 * (THREADS + 1));
    known__count("t_deep_array", (DEPTH + 1) * (THREADS + 1));
}

/* ---- calls that are jumps -------------------------------------------------------------------- */

#ifdef __OPTIMIZE__
FUNCTION long t_last(long n, long sum)
{
    return n ^ sum;
}
static long (*volatile last)(long, long) = t_last;

FUNCTION long t_tail_direct(long n, long sum)
{
    return t_last(n + 1, sum);
}
FUNCTION long t_tail_indirect(long n, long sum)
{
    return last(n, sum + 2);
}
FUNCTION long t_last_stack(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return a ^ b ^ c ^ d ^ e ^ f ^ (g * 3) ^ (h * 5);
}
FUNCTION long t_tail_stack(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return t_last_stack(b, a, c, d, e, f, h, g);
}

/* So long that no stack could hold them as calls. */
FUNCTION long t_tail_even(long n, long sum);
FUNCTION long t_tail_odd(long n, long sum)
{
    return n == 0 ? sum : t_tail_even(n - 1, sum * 3 + n);
}
FUNCTION long t_tail_even(long n, long sum)
{
    return n == 0 ? ~sum : t_tail_odd(n - 1, sum + n);
}

/* An interpreter whose operations jump to the next one. */
struct machine {
    const unsigned char *at;
    long counts[3];
};
typedef long operation(struct machine *machine, long value);
static operation *const operations[];

FUNCTION long t_op_add(struct machine *machine, long value)
{
    machine->counts[0]++;
    return operations[*machine->at++](machine, value + 7);
}
FUNCTION long t_op_multiply(struct machine *machine, long value)
{
    machine->counts[1]++;
    return operations[*machine->at++](machine, value * 3);
}
FUNCTION long t_op_end(struct machine *machine, long value)
{
    machine->counts[2]++;
    return value;
}
static operation *const operations[] = {t_op_add, t_op_multiply, t_op_end};

static void interpret(void)
{
    static unsigned char program[TAILS];
    struct machine machine = {.at = program};
    for (size_t i = 0; i < sizeof program; i++)
        program[i] = i % 3 == 1;
    program[sizeof program - 1] = 2;
    printf("interpreted %lx\n", (unsigned long)operations[*machine.at++](&machine, 1));
    static const char *const names[] = {"t_op_add", "t_op_multiply", "t_op_end"};
    for (int i = 0; i < 3; i++) {
        known__count(names[i], machine.counts[i]);
        known__refusable(names[i], "not known here|beginning again");
    }
}

static void tails(void)
{
    unsigned long sum = 0;
    for (long i = 0; i < SHORT_TAILS; i++)
        sum = sum * 5 + (unsigned long)t_tail_direct(i, 3) + (unsigned long)t_tail_indirect(i, 4) +
              (unsigned long)t_tail_stack(1, 2, 3, 4, 5, 6, 7, i);
    printf("tails %lx %lx\n", sum, (unsigned long)t_tail_odd(TAILS, 1));
    known__count("t_tail_direct", SHORT_TAILS);
    known__count("t_tail_indirect", SHORT_TAILS);
    known__count("t_last", 2 * SHORT_TAILS);
    known__count("t_tail_stack", SHORT_TAILS);
    known__count("t_last_stack", SHORT_TAILS);
    known__count("t_tail_odd", TAILS / 2 + 1);
    known__refusable("t_tail_odd", "to its beginning again");
    known__count("t_tail_even", TAILS / 2);
    known__refusable("t_tail_even", "to its beginning again");
    interpret();
}
#else
static void tails(void)
{
}
#endif

/* The number of turns, for those who want to meet it while it runs. */
int main(int count, char **words)
{
    for (int turns = count > 1 ? atoi(words[1]) : 1; turns > 1; turns--)
        descend();
    recursion();
    tails();
    return 0;
}
