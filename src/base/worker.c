#include "base/worker.h"

#include <signal.h>

/* Where the address space is limited, stacks of the usual 8 MB are what others then lack. */
#define STACK_BYTES (1u << 20)

int worker__start(pthread_t *thread, void *(*work)(void *), void *self)
{
    sigset_t others, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&others);
    sigdelset(&others, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    int code = -pthread_create(thread, &attributes, work, self);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
