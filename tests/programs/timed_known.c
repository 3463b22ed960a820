/* What a timer in each thread could disturb, and must not: calls that a signal would cut short,
 * sets of signals, threads that wait for all signals, real-time signals that the program has for
 * itself, threads with little stack, alternate stacks, forked children. All of it while the threads
 * use their CPUs. It prints what it saw, the same in each run. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long turns;

__attribute__((noinline)) static void use_cpu(long count)
{
    for (volatile long i = 0; i < count; i++)
        turns++;
}

/* Work, then a call that ends with EINTR when a signal has a handler. */
static void *call_all(void *cut_short)
{
    long *cut = cut_short;
    for (int i = 0; i < 300; i++) {
        struct timespec brief = {0, 20000}, left;
        use_cpu(200000);
        *cut += nanosleep(&brief, &left) != 0;
        use_cpu(200000);
        *cut += poll(NULL, 0, 0) != 0;
        errno = 1234;
        use_cpu(200000);
        *cut += errno != 1234;
    }
    return NULL;
}

/* Until SIGUSR1 comes; another signal must not. */
static void *wait_for_all(void *found)
{
    sigset_t all;
    int number = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 20; i++)
        use_cpu(1000000);
    sigwait(&all, &number);
    *(int *)found = number;
    return NULL;
}

static void *have_little_stack(void *unused)
{
    char room[1024];
    memset(room, 1, sizeof room);
    use_cpu(20000000);
    return room[17] ? unused : NULL;
}

static void start_small(pthread_t *thread)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    pthread_create(thread, &attributes, have_little_stack, NULL);
    pthread_attr_destroy(&attributes);
}

static int run_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        use_cpu(50000000);
        _exit(7);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno == EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static volatile sig_atomic_t caught[65];

static void catch (int number)
{
    caught[number]++;
}

/* Each of them belongs to nobody, and does what the program wants of it. */
static void use_signals(void)
{
    int with_handler = 0, lost = 0;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        struct sigaction ours = {.sa_handler = catch}, before;
        sigaction(number, NULL, &before);
        with_handler += before.sa_handler != SIG_DFL;
        sigaction(number, &ours, &before);
        with_handler += before.sa_handler != SIG_DFL;
        use_cpu(2000000);
        raise(number);
        lost += caught[number] != 1;
    }
    printf("signals that had a handler: %d, that came too rarely or too often: %d\n", with_handler,
           lost);
}

int main(int count, char **arguments)
{
    pthread_t threads[4];
    stack_t stack = {0};
    long cut[2] = {0};
    int number = 0;
    sigaltstack(NULL, &stack);
    printf("an alternate stack: %s\n", stack.ss_flags & SS_DISABLE ? "none" : "there is one");
    pthread_create(&threads[0], NULL, call_all, &cut[0]);
    pthread_create(&threads[1], NULL, call_all, &cut[1]);
    pthread_create(&threads[2], NULL, wait_for_all, &number);
    start_small(&threads[3]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_kill(threads[2], SIGUSR1);
    pthread_join(threads[2], NULL);
    pthread_join(threads[3], NULL);
    printf("calls cut short: %ld; waited for %s\n", cut[0] + cut[1], strsignal(number));
    printf("the child ended with %d\n", run_child());
    if (count > 1 && strcmp(arguments[1], "signals") == 0)
        use_signals();
    return 0;
}
