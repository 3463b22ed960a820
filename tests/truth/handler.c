/* A signal interrupts each worker every 4 ms, and its handler sums up all that the worker has.
 * TRUTH: signal; place=on_timer|sum_up
 * Fixed: the handler notes that a sum is wanted, which is made now and then. */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct worker {
    uint64_t state, told;
    volatile int wanted;
};

static int fixed;
static _Thread_local struct worker *self;

static void sum_up(struct worker *worker)
{
    worker->told = mix(worker->state, 1200000);
}

static void on_timer(int number)
{
    (void)number;
    if (fixed)
        self->wanted = 1;
    else
        sum_up(self);
}

static void *work(void *argument)
{
    struct worker *worker = self = argument;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    const struct itimerspec often = {{0, 4000000}, {0, 4000000}};
    timer_t timer;
    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return NULL;
    timer_settime(timer, 0, &often, NULL);
    for (int i = 0; i < 20000; i++) {
        worker->state = mix(worker->state, 30000);
        if (worker->wanted && i % 2000 == 0) {
            worker->wanted = 0;
            sum_up(worker);
        }
    }
    timer_delete(timer);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[2] = {{1, 0, 0}, {2, 0, 0}};
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    pthread_t threads[2];
    fixed = is_fixed(argc, argv);
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lx\n", (unsigned long)(workers[0].state + workers[1].state));
    return 0;
}
