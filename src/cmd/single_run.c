#include "cmd/single_run.h"

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/memory.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/launch.h"
#include "format/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the handler: the process of the run that is made (0: none), and the signal that came. */
static volatile sig_atomic_t run_pid, interrupted_by;

static void interrupt(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    /* What the terminal sends, the run gets by itself. */
    if (run_pid > 0 && (info->si_code <= 0 || interrupted_by))
        kill(run_pid, interrupted_by ? SIGTERM : signal_number);
    interrupted_by = signal_number;
}

static const int interrupting[INTERRUPTS] = {SIGINT, SIGTERM, SIGHUP};

void interrupts__hold(struct interrupts *interrupts)
{
    struct sigaction action = {.sa_sigaction = interrupt, .sa_flags = SA_SIGINFO};
    interrupted_by = 0;
    for (size_t i = 0; i < INTERRUPTS; i++) {
        sigaction(interrupting[i], NULL, &interrupts->before[i]);
        if (interrupts->before[i].sa_handler != SIG_IGN)
            sigaction(interrupting[i], &action, NULL);
    }
}

void interrupts__release(const struct interrupts *interrupts)
{
    for (size_t i = 0; i < INTERRUPTS; i++)
        sigaction(interrupting[i], &interrupts->before[i], NULL);
}

int interrupts__came(void)
{
    return interrupted_by;
}

/* ---- in the run's process -------------------------------------------------------------------- */

/* Each run reads standard input from its beginning, where it is a file; else there is none. */
static void begin_input(void)
{
    struct stat status;
    bool is_file = fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
    int input = open(is_file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (input >= 0)
        dup2(input, STDIN_FILENO);
}

static int open_output(const char *path)
{
    int output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (output < 0)
        say("%s cannot be written: %s", path, strerror(errno));
    return output;
}

/* What a run alone tells, by a pipe. */
struct told_run {
    int code; /* an exit status of heurt's own; 0: what follows stands */
    struct run_end end;
};

static struct told_run run_alone(const struct single_run *run)
{
    struct launch launch = LAUNCH_INIT;
    struct told_run told = {.code = EXIT_HEURT};
    struct error error;
    launch.output = open_output(run->output);
    launch.cpus = run->cpus;
    if (launch.output < 0)
        return told;
    int code = launch__start((char **)run->words, NULL, &launch, &error);
    if (code == 0 && (code = launch__go(&launch, &error)) < 0)
        told.code = launch__status_of_failure(code);
    if (code == 0 && (code = launch__wait(&launch, &told.end.wait_status, &error)) == 0)
        told = (struct told_run){
            0,
            {told.end.wait_status, launch.ended_ns - launch.started_ns,
             timeval__ns(&launch.usage.ru_utime) + timeval__ns(&launch.usage.ru_stime)}};
    if (code < 0)
        say("%s", error.text);
    return told;
}

/* As the command line heurt record would. Does not return where a signal ended the program. */
static int record_run(const struct single_run *run)
{
    struct vec words = VEC_OF(const char *);
    char *cpus = memory__format("%" PRIu32, run->cpus);
    const char *const options[] = {"record",      "--quiet",   "--output",  run->trace,
                                   "--output-to", run->output, "--on-cpus", cpus};
    size_t all = sizeof options / sizeof *options, count = run->cpus ? all : all - 2;
    for (size_t i = 0; i < count; i++)
        vec__push(&words, &options[i]);
    if (run->holds) {
        vec__push(&words, &(const char *){"--hold-longer"});
        vec__push(&words, &run->holds);
    }
    vec__push(&words, &(const char *){"--"});
    for (char *const *word = run->words; *word; word++)
        vec__push(&words, word);
    vec__push(&words, &(const char *){NULL});
    trace_directory__unmake(run->trace, false); /* of a run that was interrupted, or failed */
    optind = 0;
    return command_record.run(&command_record, (int)words.count - 1, words.items);
}

static _Noreturn void be_run(const struct single_run *run, int pipe)
{
    char number[16];
    struct sigaction now;
    for (size_t i = 0; i < INTERRUPTS; i++)
        if (sigaction(interrupting[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(interrupting[i], SIG_DFL);
    snprintf(number, sizeof number, "%" PRIu32, run->threads);
    if (run->threads)
        setenv("OMP_NUM_THREADS", number, 1);
    begin_input();
    if (run->trace)
        _exit(record_run(run));
    struct told_run told = run_alone(run);
    _exit(descriptor__write_all(pipe, &told, sizeof told) ? told.code : EXIT_HEURT);
}

/* ---- in this process ------------------------------------------------------------------------- */

static int wait_for_run(pid_t pid)
{
    int wait_status = 0;
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
        ;
    run_pid = 0;
    return wait_status;
}

static int status_of_failure(int wait_status)
{
    int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
    bool is_ours = status == EXIT_HEURT || status == EXIT_CANNOT_RUN || status == EXIT_NOT_FOUND;
    return is_ours ? status : 0;
}

int single_run__make(const struct single_run *run, struct run_end *end)
{
    struct told_run told = {.code = EXIT_HEURT};
    int ends[2];
    *end = (struct run_end){0};
    if (pipe2(ends, O_CLOEXEC) < 0 || (run_pid = fork()) < 0) {
        say("cannot start a process for the next run: %s", strerror(errno));
        run_pid = 0;
        return EXIT_HEURT;
    }
    if (run_pid == 0) {
        close(ends[0]);
        be_run(run, ends[1]);
    }
    close(ends[1]);
    bool is_told = !run->trace && descriptor__read_all(ends[0], &told, sizeof told);
    close(ends[0]);
    end->wait_status = wait_for_run(run_pid);
    if (is_told) {
        *end = told.end;
        return told.code;
    }
    return status_of_failure(end->wait_status);
}
