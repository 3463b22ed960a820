#include "base/worker.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

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

#define LOOKED_AT_S 1 /* of the CPU time of who goes first */

static void become_last(void)
{
    const struct sched_param last = {.sched_priority = 0};
    sched_setscheduler(0, SCHED_OTHER, &last);
}

static void step_back(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    int error = errno;
    struct first_worker *self = info->si_code == SI_TIMER ? info->si_value.sival_ptr : NULL;
    if (self && !self->waited)
        become_last();
    if (self)
        self->waited = 0;
    errno = error;
}

void worker__go_first(struct first_worker *self)
{
    sigset_t own;
    const struct sched_param first = {.sched_priority = 1};
    struct sigaction action = {.sa_sigaction = step_back, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGXCPU};
    const struct itimerspec each = {{.tv_sec = LOOKED_AT_S}, {.tv_sec = LOOKED_AT_S}};
    event.sigev_value.sival_ptr = self;
    event._sigev_un._tid = gettid();
    sigemptyset(&own);
    sigaddset(&own, SIGXCPU);
    self->waited = 1;
    self->is_first = sigaction(SIGXCPU, &action, NULL) == 0 &&
                     pthread_sigmask(SIG_UNBLOCK, &own, NULL) == 0 &&
                     timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &self->timer) == 0;
    if (self->is_first && timer_settime(self->timer, 0, &each, NULL) == 0)
        sched_setscheduler(0, SCHED_FIFO, &first);
}

void worker__go_last(struct first_worker *self)
{
    if (!self->is_first)
        return;
    become_last();
    timer_delete(self->timer);
    self->is_first = false;
}
