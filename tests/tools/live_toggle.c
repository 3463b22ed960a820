/* live_toggle: patches and unpatches functions of a running program many times.
 *
 *     live_toggle LIBRARY TRACE TIMES PATTERN[,PATTERN…] PROGRAM [ARG…]
 *
 * Uses the recorder's own code. Writes a byte to the program's standard input when all is patched
 * for the last time, and ends as the program does; 99: it could not be done. */
#include "base/memory.h"
#include "cmd/launch.h"
#include "cmd/live.h"
#include "cmd/planner.h"

#include <cpuid.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

extern char **environ;

_Noreturn void out_of_memory(size_t bytes)
{
    (void)bytes;
    _exit(99);
}

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "live_toggle: %s\n", what);
    exit(99);
}

static struct heurt_clock_pair clock_pair(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (struct heurt_clock_pair){__rdtsc(),
                                     (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
}

struct toggle {
    struct launch launch;
    struct planner planner;
    struct plan_request request;
    struct trace_writer *writer;
    struct live *live;
    unsigned long done;
    size_t functions; /* that were patched at once at most */
};

/* One turn of the recorder's loop. False: the program has ended. */
static bool turn(struct toggle *toggle)
{
    struct error error;
    struct pollfd set[2] = {{.fd = toggle->launch.end_fd, .events = POLLIN},
                            {.fd = toggle->planner.fd, .events = POLLIN}};
    int wait_ms = live__look(toggle->live);
    poll(set, 2, wait_ms < 5 ? wait_ms : 5);
    trace_writer__prepare(toggle->writer);
    if (set[1].revents & POLLIN)
        planner__answer(&toggle->planner, toggle->writer, &error);
    return !set[0].revents;
}

/* Until nothing waits. */
static bool settle(struct toggle *toggle)
{
    do
        if (!turn(toggle))
            return false;
    while (live__count(toggle->live).waiting);
    return true;
}

static void toggle_all(struct toggle *toggle, unsigned long times)
{
    /* The first thread's record begins when the program has asked for its plans, if it does. */
    while (!__atomic_load_n(&trace_writer__session(toggle->writer)->next_thread, __ATOMIC_SEQ_CST))
        if (!turn(toggle))
            return;
    live__start(toggle->live);
    while (live__count(toggle->live).functions == 0)
        if (!turn(toggle))
            return;
    for (; toggle->done < times; toggle->done++) {
        live__set_all(toggle->live, toggle->done % 2 != 0);
        if (!settle(toggle))
            return;
        size_t functions = live__count(toggle->live).functions;
        if (functions > toggle->functions)
            toggle->functions = functions;
    }
    live__set_all(toggle->live, true);
    settle(toggle);
}

static void start(struct toggle *toggle, char **argv)
{
    struct error error;
    struct heurt_session settings = {
        .clock = HEURT_CLOCK_TSC,
        .flags = HEURT_SESSION_LIVE,
        .limit_units = (2ull << 30) / HEURT_UNIT_BYTES,
        .start = clock_pair(),
    };
    toggle->launch = (struct launch)LAUNCH_INIT;
    toggle->request =
        (struct plan_request){VEC_OF(char *), VEC_OF(char *), VEC_OF(struct plan_arguments)};
    for (char *pattern = strtok(argv[4], ","); pattern; pattern = strtok(NULL, ",")) {
        char *copy = memory__text(pattern);
        vec__push(&toggle->request.functions, &copy);
    }
    if (planner__open(&toggle->planner, &toggle->request, &error) < 0)
        fail(error.text);
    toggle->planner.is_chosen = true;
    memcpy(settings.socket, toggle->planner.name, sizeof settings.socket);
    if (trace_writer__create(argv[2], &settings, &toggle->writer, &error) < 0)
        fail(error.text);
    toggle->live = live__new(argv[2], &toggle->planner, toggle->writer);
    char *trace = realpath(argv[2], NULL);
    setenv("LD_PRELOAD", argv[1], 1);
    setenv(HEURT_ENVIRONMENT, trace, 1);
    int code = launch__start(argv + 5, environ, &toggle->launch, &error);
    unsetenv("LD_PRELOAD");
    unsetenv(HEURT_ENVIRONMENT);
    if (code < 0 || launch__go(&toggle->launch, &error) < 0)
        fail(error.text);
    free(trace);
}

int main(int argc, char **argv)
{
    static struct toggle toggle;
    struct error error;
    int pipes[2], wait_status = 0;
    if (argc < 6 || pipe(pipes) != 0)
        fail("live_toggle LIBRARY TRACE TIMES PATTERN[,PATTERN…] PROGRAM [ARG…]");
    dup2(pipes[0], STDIN_FILENO);
    close(pipes[0]);
    start(&toggle, argv);
    toggle_all(&toggle, strtoul(argv[3], NULL, 10));
    if (write(pipes[1], "", 1) != 1)
        fail("the program does not read");
    while (turn(&toggle))
        ;
    struct live_counts counts = live__count(toggle.live);
    if (launch__wait(&toggle.launch, &wait_status, &error) < 0)
        fail(error.text);
    planner__close(&toggle.planner);
    planner__finish(&toggle.planner, toggle.writer);
    live__free(toggle.live);
    if (trace_writer__finish(toggle.writer, wait_status, clock_pair(), &error) < 0)
        fail(error.text);
    printf("toggled %lu\nfunctions %zu\nprocesses %zu\n", toggle.done, counts.functions,
           counts.processes);
    return launch__exit_like(wait_status);
}
