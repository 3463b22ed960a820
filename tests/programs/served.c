/* Threads at work until standard input ends: served THREADS. They take a lock, sleep, allocate, and
 * write to and read from a pipe. What was done under the lock is counted twice; prints "ok COUNT"
 * when both counts agree. Without an argument there is nothing to do. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long guarded;
static atomic_bool ends;

struct worker {
    pthread_t thread;
    unsigned long done, wrong;
    int pipe[2];
};

static void take_turn(struct worker *worker)
{
    pthread_mutex_lock(&lock);
    unsigned long before = guarded;
    for (volatile int i = 0; i < 200; i++)
        ;
    guarded = before + 1;
    pthread_mutex_unlock(&lock);
    worker->done++;
}

/* What was written is read again, whole and in order; a call that comes back with EINTR is wrong:
 * there is no handler. */
static void use_pipe(struct worker *worker)
{
    unsigned long got = 0;
    if (write(worker->pipe[1], &worker->done, sizeof worker->done) != sizeof worker->done ||
        read(worker->pipe[0], &got, sizeof got) != sizeof got || got != worker->done)
        worker->wrong++;
}

static void rest(struct worker *worker)
{
    if (nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL) != 0)
        worker->wrong++;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    do { /* once at least: it may be asked to end before it began */
        char *memory = malloc(64 + worker->done % 1000);
        take_turn(worker);
        memset(memory, 1, 64);
        use_pipe(worker);
        free(memory);
        if (worker->done % 8 == 0)
            rest(worker);
    } while (!ends);
    return NULL;
}

static void await_end_of_input(void)
{
    char byte;
    ssize_t got;
    while ((got = read(STDIN_FILENO, &byte, 1)) > 0)
        ;
    if (got < 0)
        fprintf(stderr, "served: standard input: %s\n", strerror(errno));
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    int count = argc > 1 ? atoi(argv[1]) : 0;
    unsigned long sum = 0, wrong = 0;
    if (count < 0 || count > THREADS_MAX)
        return 2;
    for (int i = 0; i < count; i++)
        if (pipe(workers[i].pipe) != 0 ||
            pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 2;
    if (count)
        await_end_of_input();
    ends = true;
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].done;
        wrong += workers[i].wrong;
    }
    printf("%s %lu\n", sum == guarded && !wrong ? "ok" : "wrong", sum);
    return sum == guarded && !wrong ? 0 : 1;
}
