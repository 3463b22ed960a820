/* Threads that are blocked in system calls which the kernel does not restart by itself when a
 * process has been stopped, while others call functions that are patched. Ends when a byte can be
 * read from standard input, and prints how many wake-ups there were, how many of those that were
 * sent never came (missed), and how many nobody sent (invented). Usage: blocked_known */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int is_over;
static atomic_ulong woken, missed, invented;
static sem_t answered;
static int event, epoll;
static atomic_int word;
static atomic_long words_sent, words_woken; /* as FUTEX_WAKE tells, and FUTEX_WAIT */
static atomic_int signals;                  /* that the handler has seen */
static pthread_t suspended;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wake(int is_true)
{
    if (is_true)
        woken++;
    else
        invented++;
}

/* ---- who is woken by others ------------------------------------------------------------------ */

static void *wait_for_event(void *unused)
{
    struct epoll_event ready;
    uint64_t count;
    sigset_t none;
    sigemptyset(&none);
    while (!is_over) {
        int result = epoll_pwait(epoll, &ready, 1, -1, &none);
        int is_true =
            result == 1 && read(event, &count, sizeof count) == sizeof count && count == 1;
        wake(is_true);
        if (is_true)
            sem_post(&answered);
    }
    return unused;
}

/* Who sees the new word without having waited may be woken for it when it waits for the next one:
 * what is sent and what comes are counted, and compared at the end. */
static void *wait_for_word(void *unused)
{
    for (int seen = 0; !is_over;) {
        long result = syscall(SYS_futex, &word, FUTEX_WAIT, seen, NULL, NULL, 0);
        words_woken += result == 0;
        if (result != 0 && errno != EAGAIN)
            wake(0);
        if (word == seen)
            continue;
        wake(1);
        seen = word;
        sem_post(&answered);
    }
    return unused;
}

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static void *wait_for_signal(void *unused)
{
    sigset_t open;
    pthread_sigmask(SIG_BLOCK, NULL, &open);
    sigdelset(&open, SIGUSR1);
    for (int seen = 0; !is_over;) {
        sigsuspend(&open);
        int is_true = signals == seen + 1;
        wake(is_true);
        if (is_true)
            sem_post(&answered);
        seen = signals;
    }
    return unused;
}

/* ---- who is woken by time -------------------------------------------------------------------- */

static void *wait_for_time(void *polls)
{
    const struct timespec time = {.tv_nsec = 2000000};
    struct pollfd nothing = {.fd = -1};
    sigset_t none;
    sigemptyset(&none);
    while (!is_over) {
        uint64_t since = now_ns();
        int result = polls ? ppoll(&nothing, 1, &time, &none) : nanosleep(&time, NULL);
        wake(result == 0 && now_ns() - since >= (uint64_t)time.tv_nsec);
    }
    return NULL;
}

/* ---- load ------------------------------------------------------------------------------------ */

unsigned work_little(unsigned value);
__attribute__((noinline)) unsigned work_little(unsigned value)
{
    for (unsigned i = 0; i < 50; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

unsigned work_more(unsigned value);
__attribute__((noinline)) unsigned work_more(unsigned value)
{
    for (unsigned i = 0; i < 20; i++)
        value ^= work_little(value);
    return value;
}

static void *work(void *unused)
{
    static _Atomic unsigned sum;
    while (!is_over)
        sum += work_more(sum);
    return unused;
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* One of each kind. */
static void send(void)
{
    eventfd_write(event, 1);
    word++;
    words_sent += syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_kill(suspended, SIGUSR1);
}

/* And an answer to each. */
static void send_all(void)
{
    struct timespec until;
    send();
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 60; /* far beyond any delay */
    for (int i = 0; i < 3; i++)
        while (sem_clockwait(&answered, CLOCK_MONOTONIC, &until) != 0)
            if (errno == ETIMEDOUT) {
                missed++;
                break;
            }
}

static pthread_t begin(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        exit(3);
    return thread;
}

int main(void)
{
    static struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    signal(SIGUSR1, on_signal);
    sem_init(&answered, 0, 0);
    event = eventfd(0, 0);
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, event, &(struct epoll_event){.events = EPOLLIN});
    suspended = begin(wait_for_signal, NULL);
    pthread_t others[] = {begin(wait_for_event, NULL), begin(wait_for_word, NULL),
                          begin(wait_for_time, NULL), begin(wait_for_time, &input),
                          begin(work, NULL)};
    while (poll(&input, 1, 0) == 0 && !missed)
        send_all();
    is_over = 1;
    if (!missed) {
        send(); /* so that they see it: who has seen it already does not answer */
        pthread_join(suspended, NULL);
        for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
            pthread_join(others[i], NULL);
    }
    missed += words_sent > words_woken;
    invented += words_sent < words_woken;
    printf("woken %lu\nmissed %lu\ninvented %lu\n", woken, missed, invented);
    return missed || invented;
}
