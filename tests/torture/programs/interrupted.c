/* interrupted.c: signals that come at any instruction of a recorded function, its stub or a hook,
 * and whose handlers call recorded functions, too: from a timer, from another thread, on a stack of
 * their own, one within the other. What they count is what they did. */
#include "known.h"

#include <signal.h>
#include <sys/time.h>

enum { THREADS = 3, CALLS = 60000, HANDLED = 300, SENT = 1000 };

#define FUNCTION KNOWN_FUNCTION static

static long handled[3], more;
static int finished;

static inline long kept(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

FUNCTION long t_work(long n)
{
    return n * 3 + 1;
}

FUNCTION long t_work_stack(long a, long b, long c, long d, long e, long f, long g)
{
    return kept(t_work(a + b + c + d + e + f)) + g;
}

FUNCTION double t_work_real(double x)
{
    return x * 1.0000001 + 0.5;
}

FUNCTION long t_in_handler(long a, long b, long c, long d, long e, long f, long g)
{
    return a + b + c + d + e + f + g;
}

FUNCTION void t_handler(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    int error = errno;
    int which = number == SIGALRM ? 0 : number == SIGUSR1 ? 1 : 2;
    __atomic_add_fetch(&handled[which], 1, __ATOMIC_SEQ_CST);
    if (t_in_handler(1, 2, 3, 4, 5, 6, number) != 21 + number)
        _exit(99);
    errno = error;
}

static void *work(void *unused)
{
    static char stacks[THREADS][1 << 16];
    static int next;
    (void)unused;
    int mine = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
    stack_t stack = {.ss_sp = stacks[mine], .ss_size = sizeof stacks[mine]};
    sigaltstack(&stack, NULL);
    long sum = 0;
    double real = 0;
    for (long i = 0; i < CALLS; i++) {
        errno = (int)i;
        sum = sum % 1000003 * 5 + t_work_stack(1, 2, 3, 4, 5, 6, i);
        real = t_work_real(real);
        KNOWN_CHECK(errno == (int)i);
    }
    printf("%ld %.17g\n", sum, real);
    __atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) <= THREADS) {
        for (int i = 0; i < 1000; i++)
            kept(t_work(i)); /* more for the signals to meet */
        __atomic_add_fetch(&more, 1000, __ATOMIC_SEQ_CST);
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_sigaction = t_handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &action, NULL); /* may be interrupted by the two others */
    action.sa_flags |= SA_NODEFER;     /* and by itself */
    sigaction(SIGALRM, &action, NULL);
    action.sa_flags |= SA_ONSTACK;
    action.sa_flags &= ~SA_NODEFER;
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    struct itimerval often = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < SENT; i++) {
        pthread_kill(threads[i % THREADS], i % 2 ? SIGUSR1 : SIGUSR2);
        if (i % 10 == 0)
            known__yield();
    }
    while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) < THREADS ||
           __atomic_load_n(&handled[0], __ATOMIC_SEQ_CST) < HANDLED)
        known__yield();
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    __atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    long all = handled[0] + handled[1] + handled[2];
    KNOWN_CHECK(handled[1] > 0 && handled[2] > 0);
    known__count("t_handler", all);
    known__count("t_in_handler", all);
    known__count("t_work", THREADS * CALLS + more);
    known__count("t_work_stack", THREADS * CALLS);
    known__count("t_work_real", THREADS * CALLS);
    return 0;
}
