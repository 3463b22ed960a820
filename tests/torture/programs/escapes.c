/* escapes.c: signals meet recorded functions and their stubs at any instruction, and their handlers
 * do not come back: siglongjmp to where the calls began, or asynchronous cancellation of the
 * thread. What is recorded afterwards must not suffer. */
#include "known.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

enum { ESCAPES = 1000, CANCELLED = 40, AFTER = 20000 };

#define FUNCTION KNOWN_FUNCTION static

static sigjmp_buf target;
static volatile sig_atomic_t may_escape;
static volatile long escapes, bodies[2];

static inline long kept(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

FUNCTION long t_work(long n)
{
    bodies[0]++;
    return n + 1;
}

/* Its last argument is on the stack. */
FUNCTION long t_work_stack(long a, long b, long c, long d, long e, long f, long g)
{
    bodies[1]++;
    return kept(t_work(a + b + c + d + e + f)) + g;
}

FUNCTION long t_after(long n)
{
    return n * 3;
}

static void escape(int number)
{
    if (!may_escape)
        return;
    may_escape = 0;
    siglongjmp(target, number);
}

static void jump_out(void)
{
    struct sigaction action = {.sa_handler = escape};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (escapes = 0; escapes < ESCAPES; escapes++) {
        if (sigsetjmp(target, 1) != 0)
            continue;
        may_escape = 1;
        for (long i = 0;; i++)
            t_work_stack(1, 2, 3, 4, 5, 6, i);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

static int ready;

static void *work_for_ever(void *unused)
{
    int old;
    (void)unused;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
    for (long i = 0;; i++)
        t_work_stack(1, 2, 3, 4, 5, 6, i);
    return NULL;
}

static void cancel(void)
{
    for (int i = 0; i < CANCELLED; i++) {
        pthread_t thread;
        void *result;
        __atomic_store_n(&ready, 0, __ATOMIC_SEQ_CST);
        KNOWN_CHECK(pthread_create(&thread, NULL, work_for_ever, NULL) == 0);
        known__await(&ready, 1);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        KNOWN_CHECK(result == PTHREAD_CANCELED);
    }
}

/* How often they were entered is only nearly known: an entry may have been recorded and its body
 * not come to run, or the leave not. */
static void tell(const char *name, long entered)
{
    known__count(name, entered);
    known__uncertain(name, ESCAPES + CANCELLED);
    known__abandoned(name, 2 * (ESCAPES + CANCELLED));
}

int main(void)
{
    long sum = 0;
    jump_out();
    for (long i = 0; i < AFTER; i++)
        sum += t_after(i);
    cancel();
    for (long i = 0; i < AFTER; i++)
        sum += t_after(i);
    printf("after %ld\n", sum);
    known__count("t_after", 2 * AFTER);
    tell("t_work", bodies[0]);
    tell("t_work_stack", bodies[1]);
    return 0;
}
