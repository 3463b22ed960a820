/* worker.h: threads that work beside the one that signals are meant for. */
#ifndef HEURT_BASE_WORKER_H
#define HEURT_BASE_WORKER_H

#include <pthread.h>

/* Starts a thread that no signal to the process comes to. What it does itself is told it: SIGBUS,
 * where a mapped file has become shorter. Its stack has 1 MiB. 0, or a negative errno; the caller
 * joins it. */
int worker__start(pthread_t *thread, void *(*work)(void *), void *self);

#endif
