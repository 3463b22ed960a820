#include "cmd/launch.h"

#include "base/clock.h"
#include "base/worker.h"
#include "cmd/command.h"
#include "cmd/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int changed_signals[LAUNCH_SIGNALS] = {SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,
                                                    SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};

/* The one to whom signals are passed on; 0: nobody. Read by the signal handler. */
static volatile sig_atomic_t program_pid;

/* What a process sent was meant for the program. What the terminal sent it has got by itself. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (program_pid && info->si_code <= 0)
        kill(program_pid, signal_number);
    errno = saved;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* SIGCHLD must not be ignored, or the program's end could not be collected. Of the others, what
 * this process was told to ignore goes on being ignored, here and in the program. */
static void change_signals(struct launch *launch)
{
    struct sigaction pass = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct sigaction collect = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < LAUNCH_SIGNALS; i++)
        if (changed_signals[i] == SIGCHLD)
            sigaction(SIGCHLD, &collect, NULL);
        else if (launch->dispositions[i].sa_handler != SIG_IGN)
            sigaction(changed_signals[i], &pass, NULL);
}

static void restore_signals(const struct launch *launch)
{
    for (size_t i = 0; i < LAUNCH_SIGNALS; i++)
        sigaction(changed_signals[i], &launch->dispositions[i], NULL);
}

void standard_descriptors__reserve(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        while (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
                return;
}

/* The program gets the first so many of the CPUs that this process may use. */
static void restrict_cpus(unsigned most)
{
    cpu_set_t allowed, chosen;
    CPU_ZERO(&chosen);
    if (!most || sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && (unsigned)CPU_COUNT(&chosen) < most; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &chosen);
    sched_setaffinity(0, sizeof chosen, &chosen);
}

/* In the child, which was forked before this process changed any disposition: waits for the go,
 * then becomes the program. */
static _Noreturn void become(char **argv, char **envp, const struct launch *launch, int go,
                             int failed)
{
    if (launch->output >= 0 && launch->output != STDOUT_FILENO)
        dup2(launch->output, STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    limits__restore();
    restrict_cpus(launch->cpus);
    char byte;
    ssize_t got;
    do
        got = read(go, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1) {
        execvpe(argv[0], argv, envp);
        int code = errno;
        if (write(failed, &code, sizeof code) < 0)
            _exit(EXIT_HEURT);
    }
    _exit(EXIT_HEURT);
}

/* For kernels and containers without pidfd_open(2). */
static void *watch(void *argument)
{
    const struct launch *launch = argument;
    siginfo_t info;
    while (waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    eventfd_write(launch->end_fd, 1);
    return NULL;
}

static int watch_by_thread(struct launch *launch)
{
    launch->end_fd = eventfd(0, EFD_CLOEXEC);
    if (launch->end_fd < 0)
        return -errno;
    int code = worker__start(&launch->watcher, watch, launch);
    launch->watched = code == 0;
    return code;
}

static int open_end(struct launch *launch)
{
    launch->watched = false;
    launch->end_fd = (int)syscall(SYS_pidfd_open, launch->pid, 0); /* is CLOEXEC */
    return launch->end_fd >= 0 ? 0 : watch_by_thread(launch);
}

static void close_end(struct launch *launch)
{
    if (launch->watched)
        pthread_join(launch->watcher, NULL);
    launch->watched = false;
    close_fd(&launch->end_fd);
}

/* Every signal waits until both sides have their dispositions. */
static void fork_child(char **argv, char **envp, struct launch *launch, int go[2], int failed[2])
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &launch->mask);
    for (size_t i = 0; i < LAUNCH_SIGNALS; i++)
        sigaction(changed_signals[i], NULL, &launch->dispositions[i]);
    launch->pid = fork();
    if (launch->pid == 0) {
        close(go[1]);
        become(argv, envp, launch, go[0], failed[1]);
    }
    int saved = errno;
    if (launch->pid > 0) {
        program_pid = launch->pid;
        change_signals(launch);
    }
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    errno = saved;
}

int launch__start(char **argv, char **envp, struct launch *launch, struct error *error)
{
    int go[2] = {-1, -1}, failed[2] = {-1, -1};
    launch->name = argv[0];
    int code = pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0 ? -errno : 0;
    if (code == 0) {
        fork_child(argv, envp ? envp : environ, launch, go, failed);
        code = launch->pid < 0 ? -errno : 0;
    }
    close_fd(&go[0]);
    close_fd(&failed[1]);
    launch->go_fd = go[1];
    launch->failed_fd = failed[0];
    if (code == 0) {
        code = open_end(launch);
        if (code < 0)
            launch__abandon(launch);
    }
    if (code == 0)
        return 0;
    close_fd(&launch->go_fd);
    close_fd(&launch->failed_fd);
    return error__set(error, code, "cannot start %s: %s%s", argv[0], strerror(-code),
                      code == -EAGAIN ? " (ulimit -u: processes and threads of a user)" : "");
}

static int collect(struct launch *launch, int *wait_status)
{
    pid_t pid;
    do
        pid = wait4(launch->pid, wait_status, 0, &launch->usage);
    while (pid < 0 && errno == EINTR);
    int code = pid < 0 ? -errno : 0;
    launch->ended_ns = clock__ns(CLOCK_MONOTONIC);
    program_pid = 0;
    close_fd(&launch->go_fd);
    close_fd(&launch->failed_fd);
    close_end(launch);
    restore_signals(launch);
    return code;
}

static int explain_exec(const char *name, int code, struct error *error)
{
    if (code == -ENOENT && !strchr(name, '/'))
        return error__set(error, code, "%s: no such program along PATH", name);
    if (code == -ENOENT && access(name, F_OK) == 0)
        return error__set(error, code,
                          "%s is there, but the interpreter or loader that it names is not", name);
    if (code == -ENOENT)
        return error__set(error, code, "%s: no such file", name);
    if (code == -EACCES)
        return error__set(error, code, "%s cannot be run: it is no executable file (chmod +x?)",
                          name);
    return error__set(error, code, "%s cannot be run: %s", name, strerror(-code));
}

int launch__go(struct launch *launch, struct error *error)
{
    launch->started_ns = clock__ns(CLOCK_MONOTONIC);
    /* A child that is gone closed its end: the write must not kill us. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    ssize_t done = write(launch->go_fd, "", 1);
    sigaction(SIGPIPE, &before, NULL);
    (void)done; /* what became of it, launch__wait tells */
    close_fd(&launch->go_fd);
    int exec_errno = 0;
    ssize_t got;
    do
        got = read(launch->failed_fd, &exec_errno, sizeof exec_errno);
    while (got < 0 && errno == EINTR);
    close_fd(&launch->failed_fd);
    if (got != sizeof exec_errno)
        return 0;
    int wait_status;
    collect(launch, &wait_status);
    return explain_exec(launch->name, -exec_errno, error);
}

int launch__status_of_failure(int code)
{
    return code == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

void launch__abandon(struct launch *launch)
{
    int wait_status;
    kill(launch->pid, SIGKILL);
    collect(launch, &wait_status);
}

int launch__wait(struct launch *launch, int *wait_status, struct error *error)
{
    int code = collect(launch, wait_status);
    if (code < 0)
        return error__set(error, code, "cannot collect the end of %s: %s", launch->name,
                          strerror(-code));
    return 0;
}

int launch__exit_like(int wait_status)
{
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int signal_number = WTERMSIG(wait_status);
    /* A core file of ours would replace or outnumber the program's. Where cores are piped to a
     * handler the limit is not looked at, but undumpable processes are left out. */
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    fflush(NULL);
    signal(signal_number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(signal_number);
    return 128 + signal_number;
}
