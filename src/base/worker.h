/* worker.h: threads that work beside the one that signals are meant for. */
#ifndef HEURT_BASE_WORKER_H
#define HEURT_BASE_WORKER_H

#include <pthread.h>

/* Starts a thread that no signal to the process comes to. What it does itself is told it: SIGBUS,
 * where a mapped file has become shorter. Its stack has 1 MiB. 0, or a negative errno; the caller
 * joins it. */
int worker__start(pthread_t *thread, void *(*work)(void *), void *self);

/* Puts the calling thread before all others that share its CPU, where that is allowed, until it
 * takes a CPU for a second and more without a wait (worker__has_waited): then it is one among
 * others for good, so that no fault of it takes a CPU from the machine. For one thread of a
 * process; takes SIGXCPU there, and nothing that a child inherits. */
void worker__go_first(void);

/* To be called by a thread that goes first each time it has waited. */
void worker__has_waited(void);

#endif
