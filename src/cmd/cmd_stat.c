/* heurt stat: what threads do with the CPUs, without recording them. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/html_file.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/stat_watch.h"
#include "cmd/values.h"
#include "kernel/process_threads.h"
#include "present/stat/stat_screens.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define INTERVAL_NS 5000000u
#define INTERVAL_LEAST_NS 10000u
#define PID_MOST 4194304u /* the kernel's PID_MAX_LIMIT */

struct stat_request {
    uint64_t pid, duration_ns, interval_ns, width;
    const char *output, *table;
    const struct table_format *format; /* NULL: a screen, or JSON */
    bool json;
    char **command;
};

/* ---- showing --------------------------------------------------------------------------------- */

struct stat_showing {
    const struct stat_request *request;
    const struct stat_view *view;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct stat_showing *showing = subject;
    const struct stat_request *request = showing->request;
    if (request->json)
        stat__put_json(showing->view, out);
    else if (request->format)
        named_table__put(stat_tables, request->table, showing->view, request->format, style, out);
    else
        stat__put_text(showing->view, style, out);
}

static void put_file(const void *subject, FILE *out)
{
    const struct stat_showing *showing = subject;
    const struct style plain = {.columns = screen__columns(showing->request->width),
                                .unicode = true};
    present(subject, &plain, out);
}

static int show_view(const struct stat_request *request, const struct stat_view *view)
{
    const struct stat_showing showing = {request, view};
    if (!request->output)
        return show_either(!request->json && !request->format, present, &showing, request->width);
    return html_file__write(DEFAULT_TRACE, request->output, put_file, &showing);
}

static uint64_t count_of(const struct stat_watch *watch, enum task_count_kind kind)
{
    struct task_count count = task_counts__read(&watch->counts, kind);
    return count.is_known ? count.value : UINT64_MAX;
}

static void take_counts(const struct stat_watch *watch, struct stat_view *view)
{
    static const enum task_count_kind kinds[STAT_COUNTERS] = {
        COUNT_CYCLES, COUNT_INSTRUCTIONS, COUNT_STALLED_CYCLES, COUNT_CACHE_REFERENCES,
        COUNT_CACHE_MISSES};
    view->task_clock_ns = count_of(watch, COUNT_CPU_NS);
    if (view->task_clock_ns != UINT64_MAX)
        view->task_clock_ns -= watch->first_cpu_ns;
    view->minor_faults = count_of(watch, COUNT_MINOR_FAULTS);
    view->major_faults = count_of(watch, COUNT_MAJOR_FAULTS);
    for (int i = 0; i < STAT_COUNTERS; i++) {
        view->counters[i] = count_of(watch, kinds[i]);
        view->why_no_counter[i] = task_counts__why_none(&watch->counts, kinds[i]);
    }
}

static uint32_t cpus_of(pid_t pid)
{
    cpu_set_t allowed;
    return sched_getaffinity(pid, sizeof allowed, &allowed) < 0 ? 1 : (uint32_t)CPU_COUNT(&allowed);
}

static struct stat_view view_of(const struct stat_watch *watch, const char *command, uint32_t cpus)
{
    struct stat_view view = {.command = command,
                             .log = &watch->log,
                             .cpus = cpus,
                             .cycles_a_second = watch->cycles_a_second,
                             .usage_ns = UINT64_MAX,
                             .usage_voluntary = UINT64_MAX,
                             .usage_involuntary = UINT64_MAX,
                             .usage_minor = UINT64_MAX,
                             .usage_major = UINT64_MAX,
                             .lost = watch->lost,
                             .own_ns = watch->own_ns};
    take_counts(watch, &view);
    return view;
}

/* ---- a program that is started --------------------------------------------------------------- */

/* What the child had used before its exec is not the program's. */
static void take_usage(const struct rusage *usage, uint64_t before_ns, struct stat_view *view)
{
    uint64_t ns = timeval__ns(&usage->ru_utime) + timeval__ns(&usage->ru_stime);
    view->usage_ns = ns > before_ns ? ns - before_ns : 0;
    view->usage_voluntary = (uint64_t)usage->ru_nvcsw;
    view->usage_involuntary = (uint64_t)usage->ru_nivcsw;
    view->usage_minor = (uint64_t)usage->ru_minflt;
    view->usage_major = (uint64_t)usage->ru_majflt;
}

static char *command_text(char **words)
{
    char *text = NULL;
    for (; *words; words++)
        text = text__join(text, " ", *words);
    return text;
}

static int show_program(const struct stat_request *request, struct stat_watch *watch,
                        const struct launch *launch, uint64_t before_ns)
{
    char *command = command_text(request->command);
    stat_watch__end(watch);
    struct stat_view view = view_of(watch, command, cpus_of(0));
    take_usage(&launch->usage, before_ns, &view);
    int status = show_view(request, &view);
    free(command);
    return status;
}

static int run_program(const struct stat_request *request)
{
    struct launch launch = LAUNCH_INIT;
    struct stat_watch watch;
    struct thread_told told;
    struct error error;
    int wait_status = 0, code = launch__start(request->command, NULL, &launch, &error);
    if (code < 0)
        return failed(&error);
    code = stat_watch__open(&watch, launch.pid, false, request->interval_ns, &error);
    if (code < 0) {
        launch__abandon(&launch);
        stat_watch__free(&watch);
        return failed(&error);
    }
    thread_told__read(launch.pid, (uint32_t)launch.pid, &told);
    code = launch__go(&launch, &error);
    if (code < 0) {
        stat_watch__free(&watch);
        say("%s", error.text);
        return launch__status_of_failure(code);
    }
    stat_watch__follow(&watch, launch.end_fd);
    code = launch__wait(&launch, &wait_status, &error);
    int status = code < 0 ? failed(&error) : show_program(request, &watch, &launch, told.run_ns);
    stat_watch__free(&watch);
    return status ? status : launch__exit_like(wait_status);
}

/* ---- a process that runs --------------------------------------------------------------------- */

/* Becomes readable when the process ends, a signal wants heurt to end, or the time is over. */
struct stat_ending {
    int all, process, signals, timer;
};

static void add_fd(struct stat_ending *ending, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    if (fd >= 0)
        epoll_ctl(ending->all, EPOLL_CTL_ADD, fd, &event);
}

static struct stat_ending await_end(pid_t pid, uint64_t duration_ns)
{
    struct stat_ending ending = {.all = epoll_create1(EPOLL_CLOEXEC), .timer = -1};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ending.signals = signalfd(-1, &set, SFD_CLOEXEC);
    ending.process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (duration_ns) {
        const struct itimerspec once = {
            .it_value = {(time_t)(duration_ns / 1000000000u), (long)(duration_ns % 1000000000u)}};
        ending.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        timerfd_settime(ending.timer, 0, &once, NULL);
    }
    add_fd(&ending, ending.signals);
    add_fd(&ending, ending.process);
    add_fd(&ending, ending.timer);
    return ending;
}

static void end_awaiting(const struct stat_ending *ending)
{
    const int fds[] = {ending->all, ending->process, ending->signals, ending->timer};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static int watch_process(const struct stat_request *request, struct stat_watch *watch)
{
    pid_t pid = (pid_t)request->pid;
    struct thread_told told;
    uint32_t cpus = cpus_of(pid);
    char *name = thread_told__read(pid, (uint32_t)pid, &told)
                     ? memory__format("%s (process %d)", told.name, (int)pid)
                     : memory__format("process %d", (int)pid);
    struct stat_ending ending = await_end(pid, request->duration_ns);
    stat_watch__follow(watch, ending.all);
    end_awaiting(&ending);
    bool is_cut = kill(pid, 0) == 0;
    stat_watch__end(watch);
    struct stat_view view = view_of(watch, name, cpus);
    view.pid = (uint32_t)pid;
    view.is_cut = is_cut;
    int status = show_view(request, &view);
    free(name);
    return status;
}

static int run_attached(const struct stat_request *request)
{
    struct stat_watch watch;
    struct error error;
    int code = stat_watch__open(&watch, (pid_t)request->pid, true, request->interval_ns, &error);
    int status = code < 0 ? failed(&error) : watch_process(request, &watch);
    stat_watch__free(&watch);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static const struct option_row option_rows[] = {
    {.letter = 'p',
     .name = "pid",
     .value = "PID",
     .help = "a process that runs: until it ends, or Ctrl-C",
     .expected = "the number of a process from 1 to 4194304",
     NUMBER(struct stat_request, pid, 1, PID_MOST)},
    {.name = "duration",
     .value = "TIME",
     .help = "with -p, no longer than that",
     .expected = DURATION_FORM,
     VALUE(struct stat_request, duration_ns, duration__parse)},
    {.name = "interval",
     .value = "TIME",
     .help = "of the interval form of A (5ms)",
     .expected = DURATION_FORM,
     VALUE(struct stat_request, interval_ns, duration__parse)},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .help = "into this file; it is there as a whole or not at all",
     TEXT(struct stat_request, output)},
    {.name = "table",
     .value = "NAME",
     .help = "this table alone: threads, activity, intervals, model, counters or\n"
             "checks",
     TEXT(struct stat_request, table)},
    WIDTH_ROW(struct stat_request, width),
    {.name = "json", .help = "everything as JSON", .group = 'f', FLAG(struct stat_request, json)},
    {.name = "csv",
     .help = "a table (threads) as comma-separated values",
     .group = 'f',
     CONSTANT(struct stat_request, format, &table_csv)},
    {.name = "latex",
     .help = "likewise as LaTeX",
     .group = 'f',
     CONSTANT(struct stat_request, format, &table_latex)},
    {.name = "markdown",
     .help = "likewise as Markdown",
     .group = 'f',
     CONSTANT(struct stat_request, format, &table_markdown)},
    {0},
};

static int check_request(const struct command *self, struct stat_request *request)
{
    if (!request->command && !request->pid)
        return wrong_usage(self, "which program? Or -p and a process that runs");
    if (request->command && request->pid)
        return wrong_usage(self, "-p and a program exclude each other");
    if (request->duration_ns && !request->pid)
        return wrong_usage(self, "--duration goes with -p: a program is looked at until it ends");
    if (request->interval_ns < INTERVAL_LEAST_NS)
        return wrong_usage(self, "--interval: expected 10us at least");
    if (request->pid == (uint64_t)getpid())
        return wrong_usage(self, "-p %d is heurt itself", (int)getpid());
    if (request->table && !named_table__of(stat_tables, request->table))
        return wrong_usage(self, "--table: there is no table '%s': " STAT_TABLES, request->table);
    if (request->table && !request->format && !request->json)
        request->format = &table_text;
    request->table = request->table ? request->table : "threads";
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    standard_descriptors__reserve();
    struct stat_request request = {.interval_ns = INTERVAL_NS};
    int status = options__read(self, argc, argv, &request);
    if (status)
        return status;
    request.command = optind < argc ? argv + optind : NULL;
    status = check_request(self, &request);
    if (status)
        return status;
    return request.pid ? run_attached(&request) : run_program(&request);
}

const struct command command_stat = {
    .name = "stat",
    .summary = "what threads do with the CPUs, exactly and without recording them",
    .rows = option_rows,
    .operands = "[--] [PROGRAM [ARG]…]",
    .runs_a_program = true,
    .run = run};
