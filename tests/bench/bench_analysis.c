/* bench_analysis.c: how fast `heurt report` reads a trace, and how much memory that takes.
 *
 * cost_probe is recorded shortly and at length; of the two reports
 *
 *     events/s = difference of the events / difference of the CPU times
 *
 * which leaves out what does not grow with the trace: start, symbols, output. */
#include "measured_run.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_LEAST = 5, RUNS_MOST = 99 };
enum { SHORT, LONG, LENGTHS };

struct sort {
    const char *name, *title, *what, *groups[LENGTHS]; /* cost_probe's arguments */
};

static const struct sort sorts[] = {
    {"function", "calls of a function", "function", {"1", "64"}},
    {"lock", "mutexes, locked and unlocked", "lock", {"1", "64"}},
};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

struct traces {
    char trace[LENGTHS][320];
    struct recording recording[LENGTHS];
    double cpu_s[LENGTHS][RUNS_MOST], wall_s[LENGTHS][RUNS_MOST], memory_kb[LENGTHS][RUNS_MOST];
    double rate[RUNS_MOST];
};

struct options {
    const char *heurt, *probe, *parent;
    size_t runs;
    bool json;
};

static int record(const struct options *options, const struct scratch *scratch,
                  const struct sort *sort, struct traces *traces, int length, struct error *error)
{
    struct words words = {0};
    char *text;
    snprintf(traces->trace[length], sizeof traces->trace[length], "%s-%s-%d", scratch->trace,
             sort->name, length);
    words__add(&words, (const char *const[]){options->heurt, "record", "--quiet", "-o",
                                             traces->trace[length], "--max-size", "8G", "-f",
                                             "measured_function", "--", options->probe, sort->what,
                                             "2", sort->groups[length], NULL});
    int code = child__run(&words, scratch->log, &text, error);
    free(text);
    return code ? code
                : recording__weigh(options->heurt, traces->trace[length], scratch->log,
                                   &traces->recording[length], error);
}

static int measure(const struct options *options, const struct scratch *scratch,
                   struct traces *traces, size_t index, struct error *error)
{
    for (int length = 0; length < LENGTHS; length++) {
        struct measured_run run;
        struct words words = {0};
        words__add(&words, (const char *const[]){options->heurt, "report", "--json", "-i",
                                                 traces->trace[length], NULL});
        int code = measured_run__make(&words, scratch->log, &run, error);
        if (code != 0)
            return code;
        traces->cpu_s[length][index] = run.cpu_s;
        traces->wall_s[length][index] = run.wall_s;
        traces->memory_kb[length][index] = run.memory_kb;
    }
    traces->rate[index] = (traces->recording[LONG].events - traces->recording[SHORT].events) /
                          (traces->cpu_s[LONG][index] - traces->cpu_s[SHORT][index]);
    return 0;
}

static void print(const struct options *options, const struct sort *sort, struct traces *traces,
                  bool last)
{
    double rate = samples__median(traces->rate, options->runs) / 1e6;
    double wall_s = samples__median(traces->wall_s[LONG], options->runs);
    double short_mb = samples__median(traces->memory_kb[SHORT], options->runs) / 1024;
    double long_mb = samples__median(traces->memory_kb[LONG], options->runs) / 1024;
    if (options->json)
        printf(
            "  {\"name\": \"%s\", \"events\": %.0f, \"bytes\": %.0f, \"events_per_cpu_s\": %.0f, "
            "\"wall_s\": %.3f, \"memory_short_mb\": %.2f, \"memory_mb\": %.2f}%s\n",
            sort->name, traces->recording[LONG].events, traces->recording[LONG].bytes, rate * 1e6,
            wall_s, short_mb, long_mb, last ? "" : ",");
    else
        printf("%-32s %11.0f %8.1f %10.1f %8.3f %10.1f %10.1f\n", sort->title,
               traces->recording[LONG].events, traces->recording[LONG].bytes / 1e6, rate, wall_s,
               long_mb, short_mb);
}

static int run_sort(const struct options *options, const struct scratch *scratch,
                    const struct sort *sort, bool last, struct error *error)
{
    static struct traces traces;
    int code = 0;
    for (int length = 0; length < LENGTHS && code == 0; length++)
        code = record(options, scratch, sort, &traces, length, error);
    for (size_t i = 0; i < options->runs && code == 0; i++)
        code = measure(options, scratch, &traces, i, error);
    if (code == 0)
        print(options, sort, &traces, last);
    for (int length = 0; length < LENGTHS; length++)
        directory__remove(traces.trace[length]);
    return code;
}

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    int code = 0;
    if (options->json)
        printf("{\"schema\": \"heurt.bench-analysis/1\", \"runs\": %zu, \"traces\": [\n",
               options->runs);
    else
        printf("medians of %zu reports; memory: most anonymous memory seen, of a trace with 1/64 "
               "of the events beside it\n%-32s %11s %8s %10s %8s %10s %10s\n",
               options->runs, "", "events", "MB", "M events/s", "wall s", "memory MB", "short MB");
    for (size_t i = 0; i < SORTS && code == 0; i++)
        code = run_sort(options, scratch, &sorts[i], i + 1 == SORTS, error);
    if (options->json)
        printf("]}\n");
    return code;
}

int main(int argc, char **argv)
{
    struct options options = {.heurt = BENCH_HEURT, .probe = BENCH_PROBE, .runs = 5};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"command", "HEURT", .text = &options.heurt},
        {"probe", "FILE", .text = &options.probe},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "N: 5 to 99; DIR: where the traces go (in memory when that is possible)\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = run_all(&options, &scratch, &error);
    if (code < 0) {
        fprintf(stderr, "bench-analysis: %s\n", error.text);
        return 125;
    }
    directory__remove(scratch.directory);
    return 0;
}
