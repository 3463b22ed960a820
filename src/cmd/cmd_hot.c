#include "cmd/command.h"
#include "cmd/launch.h"
#include "kernel/hotspots.h"
#include "kernel/sampling.h"
#include "recorder/hot_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FREQUENCY_HZ 997 /* a prime: not in step with timers of 100, 250 or 1000 Hz */
#define DRAIN_EVERY_MS 200

struct hot_options {
    unsigned frequency_hz;
    double min_percent;
    bool json;
    const char *output; /* NULL: stdout */
    char **command;
};

enum { OPTION_FREQUENCY = 256, OPTION_MIN, OPTION_JSON };

static const struct option long_options[] = {
    {"frequency", required_argument, NULL, OPTION_FREQUENCY},
    {"min", required_argument, NULL, OPTION_MIN},
    {"json", no_argument, NULL, OPTION_JSON},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int set_frequency(struct hot_options *options, const char *text)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || number < 1 || number > 1000000)
        return wrong_usage(&command_hot, "--frequency wants samples a second, 1 to 1000000, not %s",
                           text);
    options->frequency_hz = (unsigned)number;
    return 0;
}

static int set_min(struct hot_options *options, const char *text)
{
    char *end;
    options->min_percent = strtod(text, &end);
    if (end == text || *end || !(options->min_percent >= 0 && options->min_percent <= 100))
        return wrong_usage(&command_hot, "--min wants a percentage, 0 to 100, not %s", text);
    return 0;
}

/* 0: go on; else the exit status, or -1: help was shown. */
static int read_options(int argc, char **argv, struct hot_options *options)
{
    int option, status = 0;
    optind = 0;
    while (!status && (option = getopt_long(argc, argv, "+o:h", long_options, NULL)) != -1) {
        switch (option) {
        case OPTION_FREQUENCY:
            status = set_frequency(options, optarg);
            break;
        case OPTION_MIN:
            status = set_min(options, optarg);
            break;
        case OPTION_JSON:
            options->json = true;
            break;
        case 'o':
            options->output = optarg;
            break;
        case 'h':
            show_help(&command_hot);
            return -1;
        default:
            return wrong_usage(&command_hot, "that option is not known or lacks its value");
        }
    }
    options->command = argv + optind;
    if (!status && !*options->command)
        return wrong_usage(&command_hot, "the program to sample is missing");
    return status;
}

/* Runs the waiting child to its end while its samples are taken. Returns 0 or the exit status. */
static int sample(struct launch *launch, struct sampling *sampling, struct hotspots *hotspots,
                  int *wait_status)
{
    struct error error;
    int code = launch__go(launch, &error);
    if (code < 0) {
        say("%s", error.text);
        return launch__status_of_failure(code);
    }
    while (!sampling__wait(sampling, launch->end_fd, DRAIN_EVERY_MS))
        sampling__drain(sampling, false, hotspots__take, hotspots);
    sampling__drain(sampling, true, hotspots__take, hotspots);
    if (launch__wait(launch, wait_status, &error) < 0) {
        say("%s", error.text);
        return EXIT_HEURT;
    }
    return 0;
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
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
                            struct sampling *sampling, FILE *out)
{
    struct hotspots *hotspots = hotspots__new();
    int wait_status = 0;
    int status = sample(launch, sampling, hotspots, &wait_status);
    if (!status) {
        struct hot_run run = {
            .command = options->command,
            .wall_ns = launch->ended_ns - launch->started_ns,
            .user_ns = ns_of(launch->usage.ru_utime),
            .system_ns = ns_of(launch->usage.ru_stime),
            .frequency_hz = options->frequency_hz,
            .sees_kernel = sampling__sees_kernel(sampling),
            .damaged = sampling__damaged(sampling),
        };
        status = print(options, hotspots, &run, out);
        if (!status)
            status = launch__exit_like(wait_status);
    }
    hotspots__free(hotspots);
    return status;
}

static int start(const struct hot_options *options, FILE *out)
{
    struct launch launch = LAUNCH_INIT;
    struct sampling *sampling = NULL;
    struct error error;
    /* stdout is for the list, unless that goes elsewhere or to the same eyes. */
    if (!options->output && !isatty(STDOUT_FILENO))
        launch.output = STDERR_FILENO;
    if (launch__start(options->command, NULL, &launch, &error) < 0) {
        say("%s", error.text);
        return EXIT_HEURT;
    }
    struct sampling_settings settings = {launch.pid, options->frequency_hz};
    if (sampling__open(&settings, &sampling, &error) < 0) {
        launch__abandon(&launch);
        say("%s was not started: %s", options->command[0], error.text);
        return EXIT_HEURT;
    }
    int status = sample_and_print(options, &launch, sampling, out);
    sampling__close(sampling);
    return status;
}

static int run(int argc, char **argv)
{
    struct hot_options options = {.frequency_hz = FREQUENCY_HZ, .min_percent = 1};
    int status = read_options(argc, argv, &options);
    if (status)
        return status < 0 ? 0 : status;
    standard_descriptors__reserve();
    FILE *out = options.output ? fopen(options.output, "we") : stdout;
    if (!out) {
        say("cannot write %s: %s", options.output, strerror(errno));
        return EXIT_HEURT;
    }
    status = start(&options, out);
    if (options.output)
        fclose(out);
    return status;
}

static const char options_help[] =
    "  --min PERCENT               list functions with at least this share (1)\n"
    "  --frequency HZ              samples per second of CPU time (997)\n"
    "  -o, --output FILE           the list goes there; the program keeps standard output\n"
    "  --json                      the list as JSON\n";

const struct command command_hot = {
    "hot", "[--frequency HZ] [--min PERCENT] [--json] [-o FILE] [--] CMD [ARG]…",
    "sample a program and list the functions that it spends its time in", run, options_help};
