#include "cmd/limits.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define STACK_BYTES (8u << 20)

static struct lifted_limit {
    int resource;
    struct rlimit found;
} limits[] = {{.resource = RLIMIT_STACK},
              {.resource = RLIMIT_NOFILE},
              {.resource = RLIMIT_AS},
              {.resource = RLIMIT_DATA},
              {.resource = RLIMIT_FSIZE}};
#define LIMITS (sizeof limits / sizeof limits[0])
#define DESCRIPTORS 4096 /* more than are ever open */

static bool are_lifted;

static void ignore(int signal_number)
{
    (void)signal_number;
}

/* A privileged process may go beyond the hard limit, which for descriptors is never endless. */
static void lift(const struct lifted_limit *limit)
{
    rlim_t most = limit->resource == RLIMIT_NOFILE ? DESCRIPTORS : RLIM_INFINITY;
    if (limit->found.rlim_cur >= most)
        return;
    struct rlimit wanted = {most, limit->found.rlim_max > most ? limit->found.rlim_max : most};
    if (setrlimit(limit->resource, &wanted) == 0)
        return;
    wanted = (struct rlimit){limit->found.rlim_max, limit->found.rlim_max};
    setrlimit(limit->resource, &wanted);
}

void limits__lift(void)
{
    struct sigaction before;
    for (size_t i = 0; i < LIMITS; i++)
        if (getrlimit(limits[i].resource, &limits[i].found) == 0)
            lift(&limits[i]);
    are_lifted = true;
    /* A handler, which the program's image does not inherit. */
    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        signal(SIGXFSZ, ignore);
    if (limits[0].found.rlim_cur >= STACK_BYTES)
        return;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

rlim_t limits__of_program(int resource)
{
    for (size_t i = 0; are_lifted && i < LIMITS; i++)
        if (limits[i].resource == resource)
            return limits[i].found.rlim_cur;
    return RLIM_INFINITY;
}

void limits__restore(void)
{
    for (size_t i = 0; are_lifted && i < LIMITS; i++)
        setrlimit(limits[i].resource, &limits[i].found);
}

struct stacked_call {
    int (*function)(int argc, char **argv);
    char **argv;
    int argc, result;
};

static void *make_call(void *argument)
{
    struct stacked_call *call = argument;
    call->result = call->function(call->argc, call->argv);
    return NULL;
}

int limits__with_stack(int (*function)(int argc, char **argv), int argc, char **argv)
{
    struct stacked_call call = {function, argv, argc, 0};
    struct rlimit now;
    pthread_t thread;
    if (getrlimit(RLIMIT_STACK, &now) == 0 && now.rlim_cur < STACK_BYTES &&
        pthread_create(&thread, NULL, make_call, &call) == 0)
        pthread_join(thread, NULL);
    else
        make_call(&call);
    return call.result;
}
