/* Making the runs of a sweep, each in a process of its own: a recording is made once in a process,
 * and what a run changes is gone with it. */
#include "cmd/sweep.h"

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/launch.h"
#include "format/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACEHOLDER "{}"

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

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
#define INTERRUPTS (sizeof interrupts / sizeof *interrupts)

static void hold_signals(struct sigaction before[INTERRUPTS])
{
    struct sigaction action = {.sa_sigaction = interrupt, .sa_flags = SA_SIGINFO};
    interrupted_by = 0;
    for (size_t i = 0; i < INTERRUPTS; i++) {
        sigaction(interrupts[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(interrupts[i], &action, NULL);
    }
}

static void release_signals(const struct sigaction before[INTERRUPTS])
{
    for (size_t i = 0; i < INTERRUPTS; i++)
        sigaction(interrupts[i], &before[i], NULL);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* free() it. */
static char *with_number(const char *word, uint32_t number)
{
    char *text = memory__text("");
    for (const char *at; (at = strstr(word, PLACEHOLDER)); word = at + strlen(PLACEHOLDER))
        text = text__append(text, "%.*s%" PRIu32, (int)(at - word), word, number);
    return text__append(text, "%s", word);
}

/* first: words in front of it. NULL-ended; it lives as long as the run's process. */
static char **words_of(const struct sweep *sweep, uint32_t threads, const struct vec *first)
{
    size_t count = 0;
    char **words = memory__zeroed(first->count + sweep->command.count + 1, sizeof *words);
    VEC_EACH (word, first, const char *)
        words[count++] = memory__text(*word);
    VEC_EACH (word, &sweep->command, char *)
        words[count++] = with_number(*word, threads);
    return words;
}

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

/* ---- in the run's process -------------------------------------------------------------------- */

/* What a run alone tells, by a pipe. */
struct told_run {
    int code; /* an exit status of heurt's own; 0: what follows stands */
    int wait_status;
    uint64_t wall_ns, cpu_ns;
};

static struct told_run run_alone(const struct sweep *sweep, const struct sweep_place *place)
{
    struct launch launch = LAUNCH_INIT;
    struct told_run told = {.code = EXIT_HEURT};
    struct error error;
    char *path = sweep__output(sweep, place);
    launch.output = open_output(path);
    launch.cpus = place->pinned;
    free(path);
    if (launch.output < 0)
        return told;
    char **words = words_of(sweep, place->threads, &VEC_OF(const char *));
    int code = launch__start(words, NULL, &launch, &error);
    if (code == 0 && (code = launch__go(&launch, &error)) < 0)
        told.code = launch__status_of_failure(code);
    if (code == 0 && (code = launch__wait(&launch, &told.wait_status, &error)) == 0)
        told = (struct told_run){0, told.wait_status, launch.ended_ns - launch.started_ns,
                                 timeval__ns(&launch.usage.ru_utime) +
                                     timeval__ns(&launch.usage.ru_stime)};
    if (code < 0)
        say("%s", error.text);
    return told;
}

/* As the command line heurt record would. Does not return where a signal ended the program. */
static int record_run(const struct sweep *sweep, const struct sweep_place *place)
{
    struct vec first = VEC_OF(const char *);
    char *trace = sweep__trace(sweep, place), *output = sweep__output(sweep, place);
    char *cpus = memory__format("%" PRIu32, place->pinned);
    const char *const options[] = {"record", "--quiet", "--output", trace, "--output-to", output};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        vec__push(&first, &options[i]);
    if (place->pinned)
        for (size_t i = 0; i < 2; i++)
            vec__push(&first, &(const char *[]){"--on-cpus", cpus}[i]);
    vec__push(&first, &(const char *){"--"});
    char **words = words_of(sweep, place->threads, &first);
    int count = 0;
    while (words[count])
        count++;
    trace_directory__unmake(trace, false); /* of a run that was interrupted, or failed */
    optind = 0;
    return command_record.run(&command_record, count, words);
}

static _Noreturn void be_run(const struct sweep *sweep, const struct sweep_place *place, int pipe)
{
    char number[16];
    struct sigaction now;
    for (size_t i = 0; i < INTERRUPTS; i++)
        if (sigaction(interrupts[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(interrupts[i], SIG_DFL);
    snprintf(number, sizeof number, "%" PRIu32, place->threads);
    setenv("OMP_NUM_THREADS", number, 1);
    begin_input();
    if (place->is_recorded)
        _exit(record_run(sweep, place));
    struct told_run told = run_alone(sweep, place);
    _exit(descriptor__write_all(pipe, &told, sizeof told) ? told.code : EXIT_HEURT);
}

/* ---- in heurt scale -------------------------------------------------------------------------- */

static int wait_for_run(pid_t pid)
{
    int wait_status = 0;
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
        ;
    run_pid = 0;
    return wait_status;
}

/* The program cannot be run, or heurt could not: more runs would tell the same. */
static int status_of_failure(int wait_status)
{
    int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
    bool is_ours = status == EXIT_HEURT || status == EXIT_CANNOT_RUN || status == EXIT_NOT_FOUND;
    return is_ours ? status : 0;
}

static int make_run(const struct sweep *sweep, struct sweep_entry *entry)
{
    struct told_run told = {.code = EXIT_HEURT};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0 || (run_pid = fork()) < 0) {
        say("cannot start a process for the next run: %s", strerror(errno));
        run_pid = 0;
        return EXIT_HEURT;
    }
    if (run_pid == 0) {
        close(ends[0]);
        be_run(sweep, &entry->place, ends[1]);
    }
    close(ends[1]);
    bool is_told = !entry->place.is_recorded && descriptor__read_all(ends[0], &told, sizeof told);
    close(ends[0]);
    entry->wait_status = wait_for_run(run_pid);
    if (!entry->place.is_recorded && is_told) {
        entry->wait_status = told.wait_status;
        entry->wall_ns = told.wall_ns;
        entry->cpu_ns = told.cpu_ns;
        return told.code;
    }
    return status_of_failure(entry->wait_status);
}

/* "4 threads on 2 CPUs, recorded". free() it. */
static char *place_text(const struct sweep_place *place)
{
    char *text =
        memory__format("%" PRIu32 " thread%s", place->threads, place->threads == 1 ? "" : "s");
    if (place->pinned)
        text = text__append(text, " on %" PRIu32 " CPU%s", place->pinned,
                            place->pinned == 1 ? "" : "s");
    return text__append(text, "%s", place->is_recorded ? ", recorded" : ", alone");
}

static void say_failure(const struct sweep *sweep, const struct sweep_entry *entry)
{
    char *where = place_text(&entry->place), *output = sweep__output(sweep, &entry->place);
    if (WIFSIGNALED(entry->wait_status))
        say("the run with %s was ended by signal %d (%s): no conclusion is drawn from it; what it "
            "wrote is in %s",
            where, WTERMSIG(entry->wait_status), strsignal(WTERMSIG(entry->wait_status)), output);
    else
        say("the run with %s failed with status %d: no conclusion is drawn from it; what it wrote "
            "is in %s",
            where, WEXITSTATUS(entry->wait_status), output);
    free(where);
    free(output);
}

/* How far it is. */
struct sweep_progress {
    size_t now, all;
    uint64_t started_ns;
    bool is_quiet, is_line; /* a line that is written over */
};

static void say_progress(const struct sweep_progress *progress, const struct sweep_place *place)
{
    char *where = place_text(place), *rest = memory__text("");
    uint64_t spent_ns = clock__ns(CLOCK_MONOTONIC) - progress->started_ns;
    if (progress->now > 1) {
        uint64_t ns = spent_ns / (progress->now - 1) * (progress->all - progress->now + 1);
        rest = text__append(rest, "; about %" PRIu64 " s more", (ns + 500000000u) / 1000000000u);
    }
    if (progress->is_line)
        fprintf(stderr, "\r\033[Kheurt: run %zu of %zu: %s%s", progress->now, progress->all, where,
                rest);
    else if (!progress->is_quiet)
        say("run %zu of %zu: %s%s", progress->now, progress->all, where, rest);
    free(where);
    free(rest);
}

static void end_line(const struct sweep_progress *progress)
{
    if (progress->is_line)
        fputs("\r\033[K", stderr);
}

/* ---- which, and in which order --------------------------------------------------------------- */

uint32_t sweep__cpus(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) < 0 ? 1 : (uint32_t)CPU_COUNT(&allowed);
}

static void plan_pair(const struct sweep *sweep, struct vec *missing, struct sweep_place place)
{
    for (unsigned i = 0; i < 2; i++) {
        /* Neither always comes after the other. */
        place.is_recorded = (i ^ place.repetition) & 1;
        const struct sweep_entry *entry = sweep__entry(sweep, &place);
        if (!entry || !sweep_entry__is_good(entry))
            vec__push(missing, &place);
    }
}

/* All counts, and then all of them again: what changes on the machine meanwhile hits all alike. */
static struct vec missing_runs(const struct sweep *sweep, const struct sweep_plan *plan)
{
    struct vec missing = VEC_OF(struct sweep_place);
    for (uint32_t repetition = 1; repetition <= plan->repeat; repetition++)
        VEC_EACH (threads, &plan->threads, uint32_t) {
            struct sweep_place place = {.threads = *threads, .repetition = repetition};
            if (!plan->cores.count)
                plan_pair(sweep, &missing, place);
            VEC_EACH (cores, &plan->cores, uint32_t) {
                place.pinned = *cores;
                plan_pair(sweep, &missing, place);
            }
        }
    return missing;
}

static int make_one(struct sweep *sweep, const struct sweep_place *place,
                    const struct sweep_progress *progress)
{
    struct sweep_entry entry = {.place = *place,
                                .cpus = place->pinned ? place->pinned : sweep__cpus()};
    struct error error;
    say_progress(progress, place);
    int status = make_run(sweep, &entry);
    if (interrupted_by)
        return 128 + interrupted_by;
    if (status == 0 && sweep__add(sweep, &entry, &error) < 0)
        status = failed(&error);
    if (status == 0 && !sweep_entry__is_good(&entry)) {
        end_line(progress);
        say_failure(sweep, &entry);
    }
    return status;
}

int sweep__make(struct sweep *sweep, const struct sweep_plan *plan)
{
    struct sigaction before[INTERRUPTS];
    struct vec missing = missing_runs(sweep, plan);
    struct sweep_progress progress = {.all = missing.count,
                                      .started_ns = clock__ns(CLOCK_MONOTONIC),
                                      .is_quiet = plan->quiet,
                                      .is_line = !plan->quiet && isatty(STDERR_FILENO)};
    int status = 0;
    hold_signals(before);
    VEC_EACH (place, &missing, struct sweep_place) {
        if (status)
            break;
        progress.now++;
        status = make_one(sweep, place, &progress);
    }
    end_line(&progress);
    release_signals(before);
    if (status > 128)
        say("interrupted before run %zu of %zu had ended: the same command goes on from here",
            progress.now, progress.all);
    vec__free(&missing);
    return status;
}
