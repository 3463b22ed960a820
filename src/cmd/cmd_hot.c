#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/hot.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "cmd/values.h"
#include "kernel/hotspots.h"
#include "kernel/sampling.h"
#include "recorder/function_list.h"
#include "recorder/hot_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FREQUENCY_HZ 997 /* a prime: not in step with timers of 100, 250 or 1000 Hz */
#define DRAIN_EVERY_MS 200

struct hot_options {
    uint64_t frequency_hz;
    double min_percent;
    bool json;
    const char *output; /* NULL: stdout */
    char **command;
};

/* Runs the waiting child to its end while its samples are taken. Returns 0 or the exit status. */
static int sample(struct launch *launch, struct sampling *sampling, struct hotspots *hotspots,
                  int *wait_status)
{
    struct error error;
    int code = launch__go(launch, &error);
    if (code < 0) {
        failed(&error);
        return launch__status_of_failure(code);
    }
    while (!sampling__wait(sampling, launch->end_fd, DRAIN_EVERY_MS))
        sampling__drain(sampling, false, hotspots__take, hotspots);
    sampling__drain(sampling, true, hotspots__take, hotspots);
    return launch__wait(launch, wait_status, &error) < 0 ? failed(&error) : 0;
}

static int print(const struct hot_options *options, const struct hotspots *hotspots,
                 const struct hot_run *run, FILE *out)
{
    struct hot_table table = hot_table__make(hotspots, options->min_percent, NULL);
    if (!table.totals.samples)
        say("no samples: %s used too little CPU time, or the kernel does not let it be sampled "
            "(a setuid program)",
            options->command[0]);
    (options->json ? hot_table__print_json : hot_table__print)(&table, run, out);
    hot_table__free(&table);
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    say("cannot write the functions to %s: %s", options->output ? options->output : "stdout",
        strerror(errno));
    return EXIT_HEURT;
}

static int sample_and_print(const struct hot_options *options, struct launch *launch,
                            struct sampling *sampling, FILE *out, int *wait_status)
{
    struct hotspots *hotspots = hotspots__new();
    int status = sample(launch, sampling, hotspots, wait_status);
    if (!status) {
        struct hot_run run = {
            .command = options->command,
            .wall_ns = launch->ended_ns - launch->started_ns,
            .user_ns = timeval__ns(&launch->usage.ru_utime),
            .system_ns = timeval__ns(&launch->usage.ru_stime),
            .frequency_hz = (unsigned)options->frequency_hz,
            .sees_kernel = sampling__sees_kernel(sampling),
            .damaged = sampling__damaged(sampling),
        };
        status = print(options, hotspots, &run, out);
    }
    hotspots__free(hotspots);
    return status;
}

/* The result is an exit status of ours, or 0 and the command's end in *wait_status. */
static int start(const struct hot_options *options, FILE *out, int *wait_status)
{
    struct launch launch = LAUNCH_INIT;
    struct sampling *sampling = NULL;
    struct error error;
    /* stdout is for the list, unless that goes elsewhere or to the same eyes. */
    if (!options->output && !isatty(STDOUT_FILENO))
        launch.output = STDERR_FILENO;
    if (launch__start(options->command, NULL, &launch, &error) < 0)
        return failed(&error);
    struct sampling_settings settings = {launch.pid, (unsigned)options->frequency_hz};
    if (sampling__open(&settings, &sampling, &error) < 0) {
        launch__abandon(&launch);
        say("%s was not started: %s", options->command[0], error.text);
        return EXIT_HEURT;
    }
    int status = sample_and_print(options, &launch, sampling, out, wait_status);
    sampling__close(sampling);
    return status;
}

static bool read_percent(const char *text, void *percent)
{
    double value;
    bool is_one = decimal__parse(text, NULL, &value) && value <= 100;
    if (is_one)
        *(double *)percent = value;
    return is_one;
}

static const struct option_row option_rows[] = {
    {.name = "min",
     .value = "PERCENT",
     .help = "list functions with at least this share (1)",
     .expected = "a percentage from 0 to 100",
     VALUE(struct hot_options, min_percent, read_percent)},
    {.name = "frequency",
     .value = "HZ",
     .help = "samples per second of CPU time (997)",
     .expected = "samples a second",
     NUMBER(struct hot_options, frequency_hz, 1, 1000000)},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .help = "the list goes there; the program keeps standard output",
     TEXT(struct hot_options, output)},
    {.name = "json", .help = "the list as JSON", FLAG(struct hot_options, json)},
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct hot_options options = {.frequency_hz = FREQUENCY_HZ, .min_percent = 1};
    int status = options__read(self, argc, argv, &options);
    if (status)
        return status;
    options.command = argv + optind;
    if (!*options.command)
        return wrong_usage(self, "the program to sample is missing");
    standard_descriptors__reserve();
    FILE *out = options.output ? fopen(options.output, "we") : stdout;
    if (!out) {
        say("cannot write %s: %s", options.output, strerror(errno));
        return EXIT_HEURT;
    }
    int wait_status = 0;
    status = start(&options, out, &wait_status);
    if (options.output)
        fclose(out);
    return status ? status : launch__exit_like(wait_status);
}

int hot__functions(char **command, struct vec *patterns)
{
    const struct hot_options options = {
        .frequency_hz = FREQUENCY_HZ, .min_percent = 1, .command = command};
    char *text = NULL;
    size_t bytes = 0;
    struct error error;
    int wait_status = 0;
    FILE *list = open_memstream(&text, &bytes);
    int status = list ? start(&options, list, &wait_status) : EXIT_HEURT;
    if (list)
        fclose(list);
    FILE *in = status == 0 && bytes ? fmemopen(text, bytes, "r") : NULL;
    if (in && function_list__read(in, patterns, &error) < 0)
        status = failed(&error);
    if (in)
        fclose(in);
    free(text);
    return status;
}

const struct command command_hot = {
    .name = "hot",
    .summary = "sample a program and list the functions that it spends its time in",
    .rows = option_rows,
    .operands = "[--] PROGRAM [ARG]…",
    .runs_a_program = true,
    .run = run};
