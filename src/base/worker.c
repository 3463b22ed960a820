#include "base/worker.h"

#include <signal.h>

int worker__start(pthread_t *thread, void *(*work)(void *), void *self)
{
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    int code = -pthread_create(thread, NULL, work, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
