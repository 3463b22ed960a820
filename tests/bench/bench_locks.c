/* bench_locks.c: how fast the analyses of locks are, and how much memory they take.
 *
 * locks_probe is recorded shortly and at length; of the two runs of each command
 *
 *     events/s = difference of the events / difference of the CPU times
 *
 * which leaves out what does not grow with the trace.  A command that refuses so long a trace is
 * shown with what it says. */
#include "measured_run.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_LEAST = 1, RUNS_MOST = 99, OPERATIONS = 25000000, SHORTER = 16 };
enum { SHORT, LONG, LENGTHS };

static const struct verb {
    const char *title;
    const char *words[4]; /* behind "heurt" */
} verbs[] = {
    {"report", {"report", "--json"}},
    {"locks", {"locks", "--json"}},
    {"locks --path", {"locks", "--path", "--json"}},
    {"whatif", {"whatif", "--json"}},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

struct options {
    const char *heurt, *probe, *parent;
    size_t runs, operations, threads, locks;
    bool json;
};

struct traces {
    char path[LENGTHS][320];
    struct recording recording[LENGTHS];
};

struct costs {
    double cpu_s[LENGTHS][RUNS_MOST], wall_s[LENGTHS][RUNS_MOST], memory_mb[LENGTHS][RUNS_MOST];
    double rate[RUNS_MOST];
};

static int record(const struct options *options, const struct scratch *scratch, int length,
                  struct traces *traces, struct error *error)
{
    struct words words = {0};
    char threads[32], locks[32], operations[32], *text;
    snprintf(traces->path[length], sizeof traces->path[length], "%s-%d", scratch->trace, length);
    snprintf(threads, sizeof threads, "%zu", options->threads);
    snprintf(locks, sizeof locks, "%zu", options->locks);
    snprintf(operations, sizeof operations, "%zu",
             length == LONG ? options->operations : options->operations / SHORTER);
    words__add(&words,
               (const char *const[]){options->heurt, "record", "--quiet", "--overhead", "none",
                                     "-o", traces->path[length], "--max-size", "16G", "--",
                                     options->probe, threads, locks, operations, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    free(text);
    return code ? code
                : recording__weigh(options->heurt, traces->path[length], scratch->log,
                                   &traces->recording[length], error);
}

static int measure(const struct options *options, const struct scratch *scratch,
                   const struct verb *verb, const struct traces *traces, struct costs *costs,
                   size_t index, struct error *error)
{
    for (int length = 0; length < LENGTHS; length++) {
        struct measured_run run;
        struct words words = {0};
        words__add(&words, (const char *const[]){options->heurt, NULL});
        words__add(&words, verb->words);
        words__add(&words, (const char *const[]){"-i", traces->path[length], NULL});
        int code = measured_run__make(&words, scratch->log, &run, error);
        if (code != 0)
            return code;
        costs->cpu_s[length][index] = run.cpu_s;
        costs->wall_s[length][index] = run.wall_s;
        costs->memory_mb[length][index] = run.memory_kb / 1024;
    }
    costs->rate[index] = (traces->recording[LONG].events - traces->recording[SHORT].events) /
                         (costs->cpu_s[LONG][index] - costs->cpu_s[SHORT][index]);
    return 0;
}

static void print(const struct options *options, const struct verb *verb, struct costs *costs,
                  bool last)
{
    double rate = samples__median(costs->rate, options->runs);
    double wall_s = samples__median(costs->wall_s[LONG], options->runs);
    double short_mb = samples__median(costs->memory_mb[SHORT], options->runs);
    double long_mb = samples__median(costs->memory_mb[LONG], options->runs);
    if (options->json)
        printf("  {\"name\": \"%s\", \"events_per_cpu_s\": %.0f, \"wall_s\": %.3f, "
               "\"memory_short_mb\": %.2f, \"memory_mb\": %.2f}%s\n",
               verb->title, rate, wall_s, short_mb, long_mb, last ? "" : ",");
    else
        printf("%-14s %10.1f %8.3f %10.1f %10.1f\n", verb->title, rate / 1e6, wall_s, long_mb,
               short_mb);
}

static void print_refusal(const struct options *options, const struct verb *verb, const char *log,
                          const struct error *error, bool last)
{
    char reason[512];
    child__reason(log, error, reason, sizeof reason);
    if (options->json)
        printf("  {\"name\": \"%s\", \"events_per_cpu_s\": null}%s\n", verb->title,
               last ? "" : ",");
    else
        printf("%-14s %s\n", verb->title, reason);
}

static void run_verb(const struct options *options, const struct scratch *scratch,
                     const struct verb *verb, const struct traces *traces, bool last)
{
    static struct costs costs;
    struct error error;
    int code = 0;
    for (size_t i = 0; i < options->runs && code == 0; i++)
        code = measure(options, scratch, verb, traces, &costs, i, &error);
    if (code == 0)
        print(options, verb, &costs, last);
    else
        print_refusal(options, verb, scratch->log, &error, last);
    fflush(stdout);
}

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    static struct traces traces;
    int code = 0;
    for (int length = 0; length < LENGTHS && code == 0; length++)
        code = record(options, scratch, length, &traces, error);
    if (code != 0)
        return code;
    if (options->json)
        printf("{\"schema\": \"heurt.bench-locks/1\", \"runs\": %zu, \"events\": %.0f, "
               "\"bytes\": %.0f, \"commands\": [\n",
               options->runs, traces.recording[LONG].events, traces.recording[LONG].bytes);
    else
        printf("medians of %zu runs over a trace of %.1f million events, %.0f MB, %zu threads, "
               "%zu locks\n%-14s %10s %8s %10s %10s\n",
               options->runs, traces.recording[LONG].events / 1e6,
               traces.recording[LONG].bytes / 1e6, options->threads, options->locks, "heurt",
               "M events/s", "wall s", "memory MB", "of 1/16");
    for (size_t i = 0; i < VERBS; i++)
        run_verb(options, scratch, &verbs[i], &traces, i + 1 == VERBS);
    if (options->json)
        printf("]}\n");
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {.heurt = BENCH_HEURT,
                              .probe = BENCH_PROBE,
                              .runs = 3,
                              .operations = OPERATIONS,
                              .threads = 4,
                              .locks = 1000};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"operations", "N", .number = &options.operations, .least = 16000, .most = 1000000000},
        {"threads", "N", .number = &options.threads, .least = 1, .most = 1024},
        {"locks", "N", .number = &options.locks, .least = 1, .most = 10000000},
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
                       "operations: locks taken, two events each; DIR: where the traces go (in "
                       "memory when that is possible)\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = run_all(&options, &scratch, &error);
    if (code < 0) {
        fprintf(stderr, "bench-locks: %s\n", error.text);
        return 125;
    }
    directory__remove(scratch.directory);
    return 0;
}
