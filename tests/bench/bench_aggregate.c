/* bench_aggregate.c: what an aggregated run costs: time an occurrence, and memory in all.
 *
 * cost_probe calls a short function in two threads.  Runs of it take turns: recorded with a trace,
 * and aggregated; then one long aggregated run (--events), during which the most is looked for that
 * at any moment (looked at every 10 ms) was taken by
 *
 *     the recorder      its resident memory but for what it maps of the trace
 *     the trace         bytes on disk of its directory
 *     the program       its anonymous memory, less that of the same program without heurt */
#include "child.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_LEAST = 5, RUNS_MOST = 99, GROUPS_SHORT = 16, THREADS = 2 };
enum { TRACED, AGGREGATED, MODES };
/* Events of one of cost_probe's groups in one thread: 80 rounds of 1024 calls. */
#define GROUP_EVENTS (80.0 * 1024 * 2)

struct options {
    const char *heurt, *probe, *parent;
    size_t runs, million_events;
    bool json;
};

struct memory {
    double recorder_kb, trace_kb, program_kb;
};

static const char *const modes[MODES] = {"with a trace", "aggregated"};

/* ---- time ------------------------------------------------------------------------------------ */

static int time_run(const struct options *options, const struct scratch *scratch, int mode,
                    double *ns, double *bare_ns, struct error *error)
{
    char groups[16], *text = NULL;
    struct words words = {0};
    snprintf(groups, sizeof groups, "%d", GROUPS_SHORT);
    words__add(&words, (const char *const[]){options->heurt, "record", "--quiet", "--no-pack", "-o",
                                             scratch->trace, "-f", "measured_function",
                                             mode == AGGREGATED ? "--aggregate" : "--",
                                             mode == AGGREGATED ? "--" : NULL, NULL});
    words__add(&words, (const char *const[]){options->probe, "function", "2", groups, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    if (code == 0) {
        *ns = text__number(text, "measured_group");
        *bare_ns = text__number(text, "without_group");
    }
    free(text);
    directory__remove(scratch->trace);
    return code;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A field of /proc/PID/status in kB; 0 when it cannot be told. */
static double status_kb(pid_t process, const char *field)
{
    char path[64], line[256];
    double kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, field, strlen(field)) == 0) {
            kb = strtod(line + strlen(field) + 1, NULL);
            break;
        }
    if (in)
        fclose(in);
    return kb;
}

static pid_t first_child(pid_t process)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
    FILE *in = fopen(path, "re");
    if (in && fscanf(in, "%d", &child) != 1)
        child = 0;
    if (in)
        fclose(in);
    return child;
}

static double directory_kb(const char *path)
{
    double kb = 0;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct stat info;
        if (fstatat(dirfd(directory), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            kb += (double)info.st_blocks / 2;
    }
    if (directory)
        closedir(directory);
    return kb;
}

static pid_t start(char *const *words, const char *log)
{
    pid_t process = fork();
    if (process != 0)
        return process;
    int out = open("/dev/null", O_WRONLY), err = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(words[0], words);
    _exit(127);
}

/* Runs it to its end and looks what it takes meanwhile. trace: NULL when it is the program. */
static int watch(const char *const *words, const struct scratch *scratch, bool recorded,
                 struct memory *most, struct error *error)
{
    int status = 0;
    *most = (struct memory){0};
    pid_t process = start((char *const *)(uintptr_t)words, scratch->log);
    if (process < 0)
        return error__set(error, -errno, "cannot start %s: %s", words[0], strerror(errno));
    while (waitpid(process, &status, WNOHANG) == 0) {
        pid_t program = recorded ? first_child(process) : process;
        most->program_kb = fmax(most->program_kb, status_kb(program, "RssAnon:"));
        if (recorded) {
            double kb = status_kb(process, "RssAnon:") + status_kb(process, "RssFile:");
            most->recorder_kb = fmax(most->recorder_kb, kb);
            most->trace_kb = fmax(most->trace_kb, directory_kb(scratch->trace));
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error__set(error, -ECHILD, "%s failed; what it said is in %s", words[0],
                          scratch->log);
    return 0;
}

static int weigh(const struct options *options, const struct scratch *scratch,
                 struct memory *memory, struct recording *recording, struct error *error)
{
    char groups[16];
    struct memory bare;
    double events = (double)options->million_events * 1e6;
    snprintf(groups, sizeof groups, "%.0f", ceil(events / GROUP_EVENTS / THREADS));
    const char *const alone[] = {options->probe, "function", "2", groups, NULL};
    const char *const recorded[] = {
        options->heurt,      "record", "--quiet",      "--aggregate", "-o", scratch->trace, "-f",
        "measured_function", "--",     options->probe, "function",    "2",  groups,         NULL};
    int code = watch(alone, scratch, false, &bare, error);
    if (code == 0)
        code = watch(recorded, scratch, true, memory, error);
    memory->program_kb = fmax(memory->program_kb - bare.program_kb, 0);
    if (code == 0)
        code = recording__weigh(options->heurt, scratch->trace, scratch->log, recording, error);
    return code;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void print(const struct options *options, const double ns[MODES], double bare_ns,
                  const struct memory *memory, const struct recording *recording)
{
    double all_mb = (memory->recorder_kb + memory->trace_kb + memory->program_kb) / 1024;
    if (options->json) {
        printf("{\"schema\": \"heurt.bench-aggregate/1\", \"runs\": %zu, \"bare_ns\": %.3f, "
               "\"trace_ns\": %.3f, \"aggregated_ns\": %.3f, \"events\": %.0f, \"lost\": %.0f, "
               "\"wall_s\": %.3f, \"recorder_mb\": %.2f, \"trace_mb\": %.2f, \"program_mb\": %.2f, "
               "\"all_mb\": %.2f}\n",
               options->runs, bare_ns, ns[TRACED], ns[AGGREGATED], recording->events,
               recording->lost, recording->wall_ns / 1e9, memory->recorder_kb / 1024,
               memory->trace_kb / 1024, memory->program_kb / 1024, all_mb);
        return;
    }
    printf("a call of a short function, medians of %zu runs: alone %.1f ns\n", options->runs,
           bare_ns);
    for (int mode = 0; mode < MODES; mode++)
        printf("  %-14s %6.1f ns\n", modes[mode], ns[mode]);
    printf("%.0f events in %.1f s, %.0f lost; the most memory seen:\n"
           "  recorder %.1f MB + trace %.1f MB + in the program %.1f MB = %.1f MB\n",
           recording->events, recording->wall_ns / 1e9, recording->lost, memory->recorder_kb / 1024,
           memory->trace_kb / 1024, memory->program_kb / 1024, all_mb);
}

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    double ns[MODES][RUNS_MOST], bare[RUNS_MOST];
    struct memory memory;
    struct recording recording;
    int code = 0;
    for (size_t i = 0; i < options->runs && code == 0; i++)
        for (int mode = 0; mode < MODES && code == 0; mode++)
            code = time_run(options, scratch, mode, &ns[mode][i], &bare[i], error);
    if (code == 0)
        code = weigh(options, scratch, &memory, &recording, error);
    if (code != 0)
        return code;
    const double medians[MODES] = {samples__median(ns[TRACED], options->runs),
                                   samples__median(ns[AGGREGATED], options->runs)};
    print(options, medians, samples__median(bare, options->runs), &memory, &recording);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {
        .heurt = BENCH_HEURT, .probe = BENCH_PROBE, .runs = 5, .million_events = 1000};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"events", "M", .number = &options.million_events, .least = 1, .most = 1000000},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"command", "HEURT", .text = &options.heurt},
        {"probe", "FILE", .text = &options.probe},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(
            argc, argv, table,
            "N: 5 to 99; M: millions of events of the long run; DIR: where the traces go "
            "(in memory when that is possible)\n",
            &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = run_all(&options, &scratch, &error);
    if (code < 0) {
        fprintf(stderr, "bench-aggregate: %s\n", error.text);
        return 125;
    }
    directory__remove(scratch.directory);
    return 0;
}
