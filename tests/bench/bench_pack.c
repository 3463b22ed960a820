/* bench_pack.c: what packing a finished trace makes of it, and what it costs.
 *
 * Programs of different kinds are recorded once, unpacked.  Then, in turns, a copy of the trace is
 * packed on one processor and on all, and every event of the raw and of the packed trace is read by
 * the cursors that all analyses use.  Medians; the time of packing on all processors is wall time,
 * the others are CPU time.
 *
 * Where the clock's ticks come in steps, all of that is done once more for the trace as a clock
 * that counts every tick could have made it: with low bits of chance.  Beside the bytes an event
 * stands how much of them is the entropy of its tick. */
#include "base/memory.h"
#include "child.h"
#include "format/layout.h"
#include "format/pack.h"
#include "format/reader.h"
#include "recording.h"
#include "statistics.h"
#include "ticks.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { RUNS_LEAST = 1, RUNS_MOST = 99 };

struct sort {
    const char *name, *title;
    const char *words[12]; /* of heurt record, the program included */
};

static const struct sort sorts[] = {
    {"function",
     "calls of one function, 2 threads",
     {"-f", "measured_function", "--", BENCH_PROBE, "function", "2", "16"}},
    {"lock", "mutexes, locked and unlocked, 2 threads", {"--", BENCH_PROBE, "lock", "2", "16"}},
    {"words", "C++ word count, locks, 4 threads", {"--", BENCH_WORDS}},
    {"git",
     "git log --stat, all its functions",
     {"-f", "*", "--", "git", "-C", BENCH_SOURCE, "log", "--stat"}},
    {"io",
     "dd, 512 bytes at a time",
     {"--", "dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=200000", "status=none"}},
};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

enum figure { PACK_ONE, PACK_ALL, READ_RAW, READ_PACKED, FIGURES };

struct result {
    double raw_bytes, packed_bytes, entropy_bytes; /* entropy: an event */
    uint64_t step;                                 /* of the clock */
    uint64_t events;
    double seconds[FIGURES][RUNS_MOST];
};

struct options {
    const char *heurt, *parent, *only, *trace;
    size_t runs;
    bool json;
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-pack: out of memory (%zu bytes)\n", bytes);
    exit(125);
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double length_of(const char *trace)
{
    char path[400];
    struct stat status = {0};
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, trace);
    stat(path, &status);
    return (double)status.st_size;
}

static int record(const struct options *options, const struct scratch *scratch,
                  const struct sort *sort, struct error *error)
{
    struct words words = {0};
    char *text;
    if (options->trace) {
        words__add(&words, (const char *const[]){"cp", "-r", options->trace, scratch->trace, NULL});
    } else {
        words__add(&words, (const char *const[]){options->heurt, "record", "--quiet", "--no-pack",
                                                 "-o", scratch->trace, NULL});
        words__add(&words, sort->words);
    }
    int code = child__run(&words, scratch->log, &text, error);
    free(text);
    return code;
}

static int read_events(const char *directory, uint64_t *events, double *seconds,
                       struct error *error)
{
    struct trace *trace;
    double before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    int code = trace__open(directory, &trace, error);
    if (code < 0)
        return code;
    *events = 0;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread) {
        struct trace_cursor cursor;
        struct event event;
        for (trace_cursor__start(&cursor, trace, thread); trace_cursor__next(&cursor, &event);)
            ++*events;
    }
    trace__close(trace);
    *seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - before;
    return 0;
}

static int pack_copy(const char *from, const char *to, unsigned threads, double *seconds,
                     struct error *error)
{
    struct words words = {0};
    struct pack_options options = {.threads = threads};
    enum pack_outcome outcome;
    char *text;
    directory__remove(to);
    words__add(&words, (const char *const[]){"cp", "-r", from, to, NULL});
    int code = child__run(&words, NULL, &text, error);
    free(text);
    if (code != 0)
        return code;
    clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double before = seconds_of(clock);
    code = trace__pack(to, &options, &outcome, error);
    *seconds = seconds_of(clock) - before;
    if (code == 0 && outcome != PACK_DONE)
        code = error__set(error, -EINVAL, "%s could not be packed", to);
    return code;
}

static int measure(const char *raw, const char *packed, struct result *result, size_t run,
                   struct error *error)
{
    uint64_t events;
    int code = pack_copy(raw, packed, 1, &result->seconds[PACK_ONE][run], error);
    if (code == 0)
        code = pack_copy(raw, packed, 0, &result->seconds[PACK_ALL][run], error);
    if (code == 0)
        code = read_events(raw, &result->events, &result->seconds[READ_RAW][run], error);
    if (code == 0)
        code = read_events(packed, &events, &result->seconds[READ_PACKED][run], error);
    if (code == 0 && events != result->events)
        code = error__set(error, -EINVAL, "%s has other events than %s", packed, raw);
    result->raw_bytes = length_of(raw);
    result->packed_bytes = length_of(packed);
    return code;
}

static double rate(struct result *result, enum figure figure, size_t runs)
{
    return (double)result->events / samples__median(result->seconds[figure], runs) / 1e6;
}

static void print(const struct options *options, const struct sort *sort, struct result *result,
                  bool first)
{
    double events = (double)result->events;
    const char *format =
        options->json ? "%s  {\"name\": \"%s\", \"clock_step_ticks\": %.0f, \"events\": %.0f, "
                        "\"raw_event_bytes\": %.3f, \"packed_event_bytes\": %.3f, "
                        "\"tick_entropy_event_bytes\": %.3f, "
                        "\"pack_one_m_events_s\": %.2f, \"pack_all_m_events_s\": %.2f, "
                        "\"read_raw_m_events_s\": %.2f, \"read_packed_m_events_s\": %.2f}"
                      : "%s%-40s %4.0f %11.0f %8.2f %8.3f %8.3f %8.1f %8.1f %8.1f %8.1f\n";
    printf(format, options->json && !first ? ",\n" : "", options->json ? sort->name : sort->title,
           (double)result->step, events, result->raw_bytes / events, result->packed_bytes / events,
           result->entropy_bytes, rate(result, PACK_ONE, options->runs),
           rate(result, PACK_ALL, options->runs), rate(result, READ_RAW, options->runs),
           rate(result, READ_PACKED, options->runs));
    fflush(stdout);
}

/* Of the trace that there is, on the clock that it has. */
static int run_clock(const struct options *options, const struct scratch *scratch,
                     const struct sort *sort, bool first, struct result *result,
                     struct error *error)
{
    char packed[320];
    snprintf(packed, sizeof packed, "%s.packed", scratch->trace);
    int code = ticks__entropy(scratch->trace, &result->entropy_bytes, &result->step, error);
    for (size_t run = 0; run < options->runs && code == 0; run++)
        code = measure(scratch->trace, packed, result, run, error);
    if (code == 0)
        print(options, sort, result, first);
    directory__remove(packed);
    return code;
}

static int run_sort(const struct options *options, const struct scratch *scratch,
                    const struct sort *sort, bool first, struct error *error)
{
    static struct result result;
    int code = record(options, scratch, sort, error);
    if (code == 0)
        code = run_clock(options, scratch, sort, first, &result, error);
    if (code == 0 && result.step > 1) {
        code = ticks__refine(scratch->trace, result.step, error);
        if (code == 0)
            code = run_clock(options, scratch, sort, false, &result, error);
    }
    directory__remove(scratch->trace);
    return code;
}

/* A program that is not there, or has nothing to work on, is left out and named. */
static void run_all(const struct options *options, const struct scratch *scratch)
{
    struct error error;
    bool first = true;
    if (options->json)
        printf("{\"schema\": \"heurt.bench-pack/2\", \"runs\": %zu, \"traces\": [\n",
               options->runs);
    else
        printf(
            "medians of %zu; the clock's step in ticks; bytes an event, and how many of them the "
            "entropy of its\ntick takes at least; million events a second\n"
            "%-40s %4s %11s %8s %8s %8s %8s %8s %8s %8s\n"
            "%-40s %4s %11s %8s %8s %8s %8s %8s %8s %8s\n",
            options->runs, "", "", "", "bytes", "bytes", "bytes", "packed", "packed", "read",
            "read", "", "step", "events", "raw", "packed", "entropy", "on 1 CPU", "on all", "raw",
            "packed");
    const struct sort given = {"given", options->trace, {NULL}};
    const struct sort *from = options->trace ? &given : sorts;
    for (size_t i = 0; i < (options->trace ? 1 : SORTS); i++) {
        if (!options->trace && options->only && strcmp(options->only, from[i].name) != 0)
            continue;
        if (run_sort(options, scratch, &from[i], first, &error) != 0)
            fprintf(stderr, "bench-pack: %s is left out: %s\n", from[i].name, error.text);
        else
            first = false;
    }
    if (options->json)
        printf("\n]}\n");
}

static bool read_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {
        {"runs", required_argument, NULL, 'r'},
        {"json", no_argument, NULL, 'j'},
        {"on", required_argument, NULL, 'o'},
        {"only", required_argument, NULL, 'n'},
        {"command", required_argument, NULL, 'c'},
        {"trace", required_argument, NULL, 't'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 'r':
            options->runs = strtoul(optarg, NULL, 10);
            break;
        case 'j':
            options->json = true;
            break;
        case 'o':
            options->parent = optarg;
            break;
        case 'n':
            options->only = optarg;
            break;
        case 'c':
            options->heurt = optarg;
            break;
        case 't':
            options->trace = optarg;
            break;
        default:
            return false;
        }
    }
    return optind == argc && options->runs >= RUNS_LEAST && options->runs <= RUNS_MOST;
}

int main(int argc, char **argv)
{
    struct options options = {.heurt = BENCH_HEURT, .runs = 5};
    struct scratch scratch;
    struct error error;
    if (!read_options(argc, argv, &options)) {
        fputs("usage: bench-pack [--runs N] [--json] [--on DIR] [--only NAME] [--command HEURT] "
              "[--trace DIR]\n"
              "N: 1 to 99; DIR: where the traces go (in memory when that is possible);\n"
              "NAME: function, lock, words, git, io; --trace: of this unpacked trace, not of "
              "recorded ones\n",
              stderr);
        return 2;
    }
    if (scratch__make(&scratch, options.parent, &error) < 0) {
        fprintf(stderr, "bench-pack: %s\n", error.text);
        return 125;
    }
    run_all(&options, &scratch);
    directory__remove(scratch.directory);
    return 0;
}
