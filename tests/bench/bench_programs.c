/* bench_programs.c: how much longer real programs take when they are recorded.
 *
 * programs.sh runs each of them under a load of fixed size, plain and recorded in turns; the
 * measure is the time of the load (of a server) or of the whole command, with heurt's own start and
 * end.  ratio: the median over the pairs of runs of recorded / plain.  Without heurt's start and
 * end: the program's time as the trace has it, over the plain run's. */
#include "child.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS_LEAST = 5, RUNS_MOST = 99 };

struct program {
    const char *name, *title;
    bool server;              /* ends when we say so: only the load's time means something */
    const char *arguments[7]; /* of heurt record */
};

static const struct program programs[] = {
    {"memcached", "memcached -t 4, 80,000 operations", true, {NULL}},
    {"redis", "redis-server, 4 io-threads, 1,000 requests", true, {NULL}},
    {"pbzip2", "pbzip2 -p2, 9.6 MB", false, {NULL}},
    {"word-count", "C++ word count, 4 threads", false, {NULL}},
    {"openmp", "OpenMP loops, 4 threads, its regions", false, {"-f", "*omp_fn*", NULL}},
    {"openmp-calls", "the same, every call of a 1 ns function", false, {"-f", "known_item", NULL}},
    {"compiler", "gcc -O2 -c of a file", false, {NULL}},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

struct samples {
    double plain_s[RUNS_MOST], recorded_s[RUNS_MOST], ratio[RUNS_MOST], inside[RUNS_MOST];
    struct recording recording; /* of the last run */
    bool skipped;
};

struct result {
    double plain_s, recorded_s, ratio, ratio_low, ratio_high, inside;
};

struct options {
    const char *heurt, *script, *parent, *only;
    size_t runs;
    bool json;
};

static int run_once(const struct options *options, const struct scratch *scratch,
                    const struct program *program, bool recorded, double *seconds,
                    struct error *error)
{
    struct words words = {0};
    char *text;
    words__add(&words, (const char *const[]){options->script, program->name, NULL});
    if (recorded) {
        words__add(&words, (const char *const[]){options->heurt, "record", "--quiet", "-o",
                                                 scratch->trace, "--max-size", "4G", NULL});
        words__add(&words, program->arguments);
        words__add(&words, (const char *const[]){"--", NULL});
    }
    int code = child__run(&words, scratch->log, &text, error);
    if (code != 0)
        return code;
    *seconds = text__number(text, "seconds");
    free(text);
    return isnan(*seconds)
               ? error__set(error, -EPROTO, "%s did not print its seconds", program->name)
               : 0;
}

/* One pair of runs. */
static int measure(const struct options *options, const struct scratch *scratch,
                   const struct program *program, struct samples *samples, size_t run,
                   struct error *error)
{
    int code = run_once(options, scratch, program, false, &samples->plain_s[run], error);
    if (code == 0)
        code = run_once(options, scratch, program, true, &samples->recorded_s[run], error);
    if (code == 0)
        code = recording__weigh(options->heurt, scratch->trace, scratch->log, &samples->recording,
                                error);
    directory__remove(scratch->trace);
    samples->ratio[run] = samples->recorded_s[run] / samples->plain_s[run];
    samples->inside[run] = samples->recording.wall_ns / 1e9 / samples->plain_s[run];
    return code;
}

/* Whether the script can run the program here; it says itself what is missing. */
static bool installed(const struct options *options, const struct program *program)
{
    char command[8192];
    snprintf(command, sizeof command, "'%s' %s >/dev/null", options->script, program->name);
    int status = system(command);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 77);
}

static struct result conclude(struct samples *samples, size_t runs)
{
    struct result result = {.plain_s = samples__median(samples->plain_s, runs),
                            .recorded_s = samples__median(samples->recorded_s, runs),
                            .ratio = samples__median(samples->ratio, runs),
                            .inside = samples__median(samples->inside, runs)};
    result.ratio_low = samples->ratio[0]; /* sorted */
    result.ratio_high = samples->ratio[runs - 1];
    return result;
}

static void print_row(const struct program *program, struct samples *samples, size_t runs)
{
    if (samples->skipped) {
        printf("%-42s skipped\n", program->title);
        return;
    }
    struct result result = conclude(samples, runs);
    char inside[32] = "-";
    if (!program->server)
        snprintf(inside, sizeof inside, "%.2fx", result.inside);
    printf("%-42s %8.3f %8.3f %6.2fx %5.2f–%-5.2f %7s %11.0f %8.1f", program->title, result.plain_s,
           result.recorded_s, result.ratio, result.ratio_low, result.ratio_high, inside,
           samples->recording.events, samples->recording.bytes / 1e6);
    printf(samples->recording.lost > 0 ? "  %.0f lost\n" : "\n", samples->recording.lost);
}

static void print_json(const struct program *program, struct samples *samples, size_t runs,
                       const char *before)
{
    if (samples->skipped) {
        printf("%s\n  {\"name\": \"%s\", \"skipped\": true}", before, program->name);
        return;
    }
    struct result result = conclude(samples, runs);
    printf("%s\n  {\"name\": \"%s\", \"plain_s\": %.6f, \"recorded_s\": %.6f, \"ratio\": %.4f, "
           "\"ratio_low\": %.4f, \"ratio_high\": %.4f,\n",
           before, program->name, result.plain_s, result.recorded_s, result.ratio, result.ratio_low,
           result.ratio_high);
    if (!program->server)
        printf("   \"program_ratio\": %.4f,", result.inside);
    printf("   \"events\": %.0f, \"events_lost\": %.0f, \"bytes\": %.0f}",
           samples->recording.events, samples->recording.lost, samples->recording.bytes);
}

static bool chosen(const struct options *options, const struct program *program)
{
    return !options->only || strcmp(options->only, program->name) == 0;
}

static void print_all(const struct options *options, struct samples *samples)
{
    const char *before = "";
    if (options->json)
        printf("{\"schema\": \"heurt.bench-programs/1\", \"runs\": %zu, \"programs\": [",
               options->runs);
    else
        printf("medians of %zu pairs of runs; program: without heurt's own start and end\n"
               "%-42s %8s %8s %7s %11s %7s %11s %8s\n",
               options->runs, "", "plain s", "recorded", "ratio", "low–high", "program", "events",
               "MB");
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (!chosen(options, &programs[i]))
            continue;
        if (options->json)
            print_json(&programs[i], &samples[i], options->runs, before);
        else
            print_row(&programs[i], &samples[i], options->runs);
        before = ",";
    }
    if (options->json)
        printf("\n]}\n");
}

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    static struct samples samples[PROGRAMS];
    for (size_t i = 0; i < PROGRAMS; i++)
        samples[i].skipped = chosen(options, &programs[i]) && !installed(options, &programs[i]);
    for (size_t run = 0; run < options->runs; run++) {
        for (size_t i = 0; i < PROGRAMS; i++) {
            if (!chosen(options, &programs[i]) || samples[i].skipped)
                continue;
            int code = measure(options, scratch, &programs[i], &samples[i], run, error);
            if (code != 0)
                return code;
        }
    }
    print_all(options, samples);
    return 0;
}

/* The script works in the scratch directory and finds what was built by these. */
static int enter(const struct scratch *scratch, struct error *error)
{
    setenv("PROGRAMS", BENCH_PROGRAMS, 1);
    setenv("BENCH", BENCH_BUILD, 1);
    setenv("HEURT_SOURCE", BENCH_SOURCE, 1);
    if (chdir(scratch->directory) != 0)
        return error__set(error, -errno, "cannot enter %s: %s", scratch->directory,
                          strerror(errno));
    return 0;
}

static const char *program_name(size_t index)
{
    return index < PROGRAMS ? programs[index].name : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {
        .heurt = BENCH_HEURT, .script = BENCH_SOURCE "/tests/bench/programs.sh", .runs = 5};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"only", "NAME", .text = &options.only, .choice = program_name},
        {"command", "HEURT", .text = &options.heurt},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "N: 5 to 99; DIR: an absolute path, where the traces go (in memory when "
                       "possible)\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = enter(&scratch, &error);
    if (code == 0)
        code = run_all(&options, &scratch, &error);
    if (code < 0) {
        fprintf(stderr, "bench-programs: %s\n", error.text);
        return 125;
    }
    directory__remove(scratch.directory);
    return 0;
}
