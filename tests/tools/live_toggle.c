/* live_toggle: patches and unpatches functions of a running program many times.
 *
 *     live_toggle LIBRARY TRACE MEBIBYTES TIMES PATTERN[,PATTERN…] PROGRAM [ARG…]
 *
 * Uses the recorder's own code. Writes a byte to the program's standard input when all is patched
 * for the last time. Then prints how often each function was called in the threads that began
 * with the first process and after that byte (but for those of a few calls), and checks that all
 * threads' spans of functions are well nested. Ends as the program does; 99: it could not be done.
 */
#include "base/memory.h"
#include "cmd/launch.h"
#include "format/reader.h"
#include "recorder/live_patch.h"
#include "recorder/planner.h"

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

/* ---- what was recorded ----------------------------------------------------------------------- */

/* Functions' enters and leaves of one thread; false: a leave that fits no enter. A thread that was
 * inside when the jump came has no enter and no leave. */
static bool count_thread(const struct trace *trace, const struct trace_thread *thread,
                         unsigned long *counts)
{
    struct trace_cursor cursor;
    struct event event;
    struct vec open = VEC_OF(uint32_t);
    bool good = true;
    trace_cursor__start(&cursor, trace, thread);
    while (good && trace_cursor__next(&cursor, &event)) {
        if (event.id < HEURT_EVENT_LIVE)
            continue;
        if (event.id % 2 == 0) {
            vec__push(&open, &event.id);
            counts[(event.id - HEURT_EVENT_LIVE) / 2]++;
        } else {
            good = open.count && *VEC_AT(&open, uint32_t, open.count - 1) == event.id - 1;
            open.count -= good;
        }
    }
    vec__free(&open);
    return good;
}

static void print_counts(const struct trace_process *process, const char *label,
                         const unsigned long *counts)
{
    VEC_EACH (function, &process->functions, const struct trace_function)
        if (function->id >= HEURT_EVENT_LIVE)
            printf("%s %s %lu\n", label, function->name,
                   counts[(function->id - HEURT_EVENT_LIVE) / 2]);
}

#define FUNCTIONS_MAX 2048
#define FEW_CALLS 100

static void add_counts(unsigned long *to, const unsigned long *counts)
{
    for (size_t i = 0; i < FUNCTIONS_MAX; i++)
        to[i] += counts[i];
}

static unsigned long sum_of(const unsigned long *counts)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < FUNCTIONS_MAX; i++)
        sum += counts[i];
    return sum;
}

/* Prints the main thread's counts, and those of all that began after tick. */
static bool check_trace(const char *directory, uint64_t tick)
{
    static unsigned long of_main[FUNCTIONS_MAX], of_late[FUNCTIONS_MAX];
    struct trace *trace = NULL;
    struct error error;
    if (trace__open(directory, &trace, &error) < 0)
        fail(error.text);
    const struct trace_process *first = trace__processes(trace)->items;
    bool good = true, whole = trace__events_lost(trace) == 0;
    VEC_EACH (thread, trace__threads(trace), const struct trace_thread) {
        unsigned long counts[FUNCTIONS_MAX] = {0};
        bool fits = count_thread(trace, thread, counts);
        if (thread->pid == first->pid && thread->tid == first->pid)
            add_counts(of_main, counts);
        else if (thread->start_tick > tick && sum_of(counts) > FEW_CALLS)
            add_counts(of_late, counts);
        if (!fits && whole)
            printf("thread %u: spans that are not nested\n", thread->tid);
        good &= fits || !whole;
    }
    print_counts(first, "main", of_main);
    print_counts(first, "late", of_late);
    trace__close(trace);
    return good;
}

/* ---- the run --------------------------------------------------------------------------------- */

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
        .limit_units = (strtoull(argv[3], NULL, 10) << 20) / HEURT_UNIT_BYTES,
        .patience_ms = 2000,
        .start = clock_pair(),
    };
    toggle->launch = (struct launch)LAUNCH_INIT;
    toggle->request =
        (struct plan_request){VEC_OF(char *), VEC_OF(char *), VEC_OF(struct plan_arguments)};
    for (char *pattern = strtok(argv[5], ","); pattern; pattern = strtok(NULL, ",")) {
        char *copy = memory__text(pattern);
        vec__push(&toggle->request.functions, &copy);
    }
    if (trace_writer__create(argv[2], &settings, &toggle->writer, &error) < 0 ||
        planner__open(&toggle->planner, argv[2], &toggle->request, &error) < 0)
        fail(error.text);
    toggle->planner.is_chosen = true;
    toggle->planner.library = argv[1];
    toggle->live = live__new(argv[2], &toggle->planner, toggle->writer);
    char *trace = realpath(argv[2], NULL);
    setenv("LD_PRELOAD", argv[1], 1);
    setenv(HEURT_ENVIRONMENT, trace, 1);
    int code = launch__start(argv + 6, environ, &toggle->launch, &error);
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
    if (argc < 7 || pipe(pipes) != 0)
        fail("live_toggle LIBRARY TRACE MEBIBYTES TIMES PATTERN[,PATTERN…] PROGRAM [ARG…]");
    dup2(pipes[0], STDIN_FILENO);
    close(pipes[0]);
    start(&toggle, argv);
    toggle_all(&toggle, strtoul(argv[4], NULL, 10));
    uint64_t tick = __rdtsc();
    if (write(pipes[1], "", 1) != 1)
        fail("the program does not read");
    while (turn(&toggle))
        ;
    struct live_counts counts = live__count(toggle.live);
    if (launch__wait(&toggle.launch, &wait_status, &error) < 0)
        fail(error.text);
    planner__close(&toggle.planner);
    planner__finish(&toggle.planner, toggle.writer, NULL);
    live__free(toggle.live);
    if (trace_writer__finish(toggle.writer, wait_status, clock_pair(), &error) < 0)
        fail(error.text);
    printf("toggled %lu\nfunctions %zu\nprocesses %zu\n", toggle.done, counts.functions,
           counts.processes);
    if (!check_trace(argv[2], tick))
        return 99;
    fflush(stdout);
    return launch__exit_like(wait_status);
}
