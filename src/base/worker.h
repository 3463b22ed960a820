/* worker.h: threads that work beside the one that signals are meant for. */
#ifndef HEURT_BASE_WORKER_H
#define HEURT_BASE_WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* Starts a thread that no signal to the process comes to. What it does itself is told it: SIGBUS,
 * where a mapped file has become shorter. Its stack has 1 MiB. 0, or a negative errno; the caller
 * joins it. */
int worker__start(pthread_t *thread, void *(*work)(void *), void *self);

/* A thread that goes before all others. */
struct first_worker {
    volatile sig_atomic_t waited;
    bool is_first;
    timer_t timer;
};

/* Puts the calling thread before all others that share its CPU, where that is allowed, until it
 * takes a CPU for a second and more without a wait (worker__has_waited): then it is one among
 * others for good, so that no fault of it takes a CPU from the machine. Takes the process's
 * SIGXCPU, and nothing that a child inherits. self is the caller's, until worker__go_last. */
void worker__go_first(struct first_worker *self);

/* To be called by a thread that goes first each time it has waited. */
static inline void worker__has_waited(struct first_worker *self)
{
    self->waited = 1;
}

/* Before the thread ends. */
void worker__go_last(struct first_worker *self);

#endif
