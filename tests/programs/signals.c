/* signals.c: handlers that make hooked calls while the interrupted code is in hooked calls.
 *
 *     signals                  prints the counts and ends with status 0
 *     signals --exit N         … with status N
 *     signals --signal N       … by signal N
 *     signals --abort          … by abort()
 *
 * The second thread sends SIGNALS signals, each only when the one before was handled.  The handler
 * writes a byte to a pipe and posts a semaphore; the main code sleeps, locks and reads meanwhile.
 */
#include "known.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>

enum { SIGNALS = 500 };

static int ends[2];
static sem_t posted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int handled, over;
static pthread_t main_thread;

static void handle(int signal)
{
    int saved = errno;
    (void)signal;
    if (write(ends[1], "s", 1) != 1)
        _exit(98);
    sem_post(&posted);
    __atomic_add_fetch(&handled, 1, __ATOMIC_ACQ_REL);
    errno = saved;
}

static void *send_signals(void *unused)
{
    (void)unused;
    for (int i = 0; i < SIGNALS; i++) {
        KNOWN_CHECK(pthread_kill(main_thread, i % 2 ? SIGUSR1 : SIGUSR2) == 0);
        known__await(&handled, i + 1);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void install_handlers(void)
{
    struct sigaction action = {.sa_handler = handle};
    static char other_stack[64 * 1024];
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    KNOWN_CHECK(sigaltstack(&stack, NULL) == 0);
    KNOWN_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    KNOWN_CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
}

/* Calls that signals interrupt; returns how often the mutex was taken. */
static long work_meanwhile(void)
{
    long locks = 0;
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        struct timespec moment = {0, 20000};
        struct pollfd polled = {.fd = -1};
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        locks++;
        if (nanosleep(&moment, NULL) != 0)
            KNOWN_CHECK(errno == EINTR);
        if (poll(&polled, 1, 0) != 0)
            KNOWN_CHECK(errno == EINTR);
    }
    return locks;
}

static void report(long locks)
{
    char bytes[SIGNALS + 1];
    int semaphore = 0;
    KNOWN_CHECK(read(ends[0], bytes, sizeof bytes) == SIGNALS);
    while (sem_trywait(&posted) == 0)
        semaphore++;
    KNOWN_CHECK(semaphore == SIGNALS && handled == SIGNALS);
    known__number("signals_handled", handled);
    known__number("pipe_write", SIGNALS);
    known__number("semaphore_posted", SIGNALS);
    known__number("semaphore_acquired", SIGNALS);
    known__address("semaphore_address", &posted);
    known__address("mutex_address", &mutex);
    known__number("mutex_acquired", locks);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    pthread_t sender;
    sem_init(&posted, 0, 0);
    KNOWN_CHECK(pipe2(ends, O_CLOEXEC) == 0);
    install_handlers();
    main_thread = pthread_self();
    KNOWN_CHECK(pthread_create(&sender, NULL, send_signals, NULL) == 0);
    long locks = work_meanwhile();
    pthread_join(sender, NULL);
    report(locks);
    if (argc > 2 && strcmp(argv[1], "--signal") == 0) {
        kill(getpid(), atoi(argv[2]));
        pause();
    }
    if (argc > 1 && strcmp(argv[1], "--abort") == 0)
        abort();
    return argc > 2 && strcmp(argv[1], "--exit") == 0 ? atoi(argv[2]) : 0;
}
