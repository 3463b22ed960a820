/* bench_cost.c: what recording costs, an operation.
 *
 * cost_probe measures itself: by itself, recorded without call stacks, and recorded as by default,
 * one after the other, several times.  Of each run
 *
 *     added = measured (recorded) - measured (plain)        ratio = added / two rdtsc (same run)
 *
 * and then the median over the runs.  steady is the median of short rounds; buffers included is
 * that of CPU time in rounds so long that each of them needed new room in the trace.  There is no
 * bar on an absolute time: two rdtsc are what two time stamps cost at least on the machine at hand.
 * What the report says of the measured function's duration is set beside what the same function
 * takes that is not recorded, its call included: the bar is 2 ns either way.  The mean is with what
 * else ran on the machine.
 */
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

enum { RUNS_LEAST = 5, RUNS_MOST = 99 };

enum mode { PLAIN, RECORDED, STACKS, MODES };

/* What cost_probe prints of each sort. */
enum figure { STEADY, BUFFERS, FIGURES };
static const char *const figure_keys[FIGURES] = {"median", "group"};
static const char *const figure_titles[FIGURES] = {"steady", "buffers included"};

struct measured {
    const char *name, *title;
    const char *what, *threads; /* cost_probe's arguments */
    bool is_sampled;            /* few of the operations are events */
};

static const struct measured cases[] = {
    {"function-1", "patched function, enter and exit", "function", "1", false},
    {"function-2", "the same, 2 threads", "function", "2", false},
    {"stack-1", "the same with arguments on the stack", "stack", "1", false},
    {"lock-1", "mutex, lock and unlock, nobody waits", "lock", "1", false},
    {"lock-2", "the same, 2 threads, a mutex each", "lock", "2", false},
    {"marker-1", "heurt_begin and heurt_end", "marker", "1", false},
    {"heap-1", "malloc of 64 bytes and free", "heap", "1", true},
    {"heap-2", "the same, 2 threads", "heap", "2", true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

struct run {
    double measured_ns[MODES][FIGURES], without_ns[MODES][FIGURES], two_rdtsc_ns[MODES][FIGURES];
    double event_bytes[MODES], p50_ns[MODES], mean_ns[MODES];
};

/* Medians over the runs. */
struct cost {
    double plain_ns, without_ns, two_rdtsc_ns;
    double recorded_ns[MODES], added_ns[MODES], ratio[MODES];
};

struct options {
    const char *heurt, *probe, *parent;
    const char *only;
    size_t runs;
    bool json;
};

/* ---- runs ------------------------------------------------------------------------------------ */

static void command(struct words *words, const struct options *options,
                    const struct scratch *scratch, const struct measured *measured, enum mode mode)
{
    if (mode != PLAIN)
        words__add(words, (const char *const[]){options->heurt, "record", "--quiet", "--no-pack",
                                                "-o", scratch->trace, "-f", "measured_*", NULL});
    if (mode == RECORDED)
        words__add(words, (const char *const[]){"--stack-every", "0", NULL});
    words__add(words,
               (const char *const[]){options->probe, measured->what, measured->threads, NULL});
}

static int read_sort(const char *text, const char *sort, double values[FIGURES],
                     struct error *error)
{
    for (int i = 0; i < FIGURES; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", sort, figure_keys[i]);
        values[i] = text__number(text, key);
        if (isnan(values[i]))
            return error__set(error, -EPROTO, "cost_probe did not print %s", key);
    }
    return 0;
}

static int read_run(const char *text, struct run *run, enum mode mode, struct error *error)
{
    int code = read_sort(text, "measured", run->measured_ns[mode], error);
    if (code == 0)
        code = read_sort(text, "without", run->without_ns[mode], error);
    return code ? code : read_sort(text, "two_rdtsc", run->two_rdtsc_ns[mode], error);
}

/* A trace without what was to be measured would look cheap: that fails. */
static int weigh(const struct options *options, const struct scratch *scratch,
                 const struct measured *measured, struct run *run, enum mode mode,
                 struct error *error)
{
    struct recording recording;
    int code = recording__weigh(options->heurt, scratch->trace, scratch->log, &recording, error);
    double least = measured->is_sampled ? 1e3 : 1e6;
    if (code == 0 && (recording.events < least || recording.lost > 0))
        code = error__set(error, -EPROTO, "%.0f events were recorded and %.0f were lost",
                          recording.events, recording.lost);
    run->event_bytes[mode] = recording.bytes / recording.events;
    run->p50_ns[mode] = recording.p50_ns;
    run->mean_ns[mode] = recording.mean_ns;
    directory__remove(scratch->trace);
    return code;
}

static int measure(const struct options *options, const struct scratch *scratch,
                   const struct measured *measured, enum mode mode, struct run *run,
                   struct error *error)
{
    struct words words = {0};
    char *text;
    command(&words, options, scratch, measured, mode);
    int code = child__run(&words, scratch->log, &text, error);
    if (code == 0)
        code = read_run(text, run, mode, error);
    free(text);
    if (code == 0 && mode != PLAIN)
        code = weigh(options, scratch, measured, run, mode, error);
    return code;
}

/* ---- medians --------------------------------------------------------------------------------- */

static struct cost cost__of(const struct run *runs, size_t count, enum figure figure)
{
    double plain[RUNS_MOST], without[RUNS_MOST], rdtsc[RUNS_MOST];
    struct cost cost = {0};
    for (int mode = RECORDED; mode < MODES; mode++) {
        double recorded[RUNS_MOST], added[RUNS_MOST], ratio[RUNS_MOST];
        for (size_t i = 0; i < count; i++) {
            recorded[i] = runs[i].measured_ns[mode][figure];
            added[i] = recorded[i] - runs[i].measured_ns[PLAIN][figure];
            ratio[i] = added[i] / runs[i].two_rdtsc_ns[mode][figure];
        }
        cost.recorded_ns[mode] = samples__median(recorded, count);
        cost.added_ns[mode] = samples__median(added, count);
        cost.ratio[mode] = samples__median(ratio, count);
    }
    for (size_t i = 0; i < count; i++) {
        plain[i] = runs[i].measured_ns[PLAIN][figure];
        without[i] = runs[i].without_ns[PLAIN][figure];
        rdtsc[i] = runs[i].two_rdtsc_ns[PLAIN][figure];
    }
    cost.plain_ns = samples__median(plain, count);
    cost.without_ns = samples__median(without, count);
    cost.two_rdtsc_ns = samples__median(rdtsc, count);
    return cost;
}

static double event_bytes(const struct run *runs, size_t count, enum mode mode)
{
    double bytes[RUNS_MOST];
    for (size_t i = 0; i < count; i++)
        bytes[i] = runs[i].event_bytes[mode];
    return samples__median(bytes, count);
}

/* What the report says of the function's own duration, over what it takes unrecorded. */
struct bias {
    double p50_ns, mean_ns;
};

static bool has_bias(const struct run *runs)
{
    return !isnan(runs->p50_ns[RECORDED]);
}

static struct bias bias__of(const struct run *runs, size_t count)
{
    double p50[RUNS_MOST], mean[RUNS_MOST];
    for (size_t i = 0; i < count; i++) {
        p50[i] = runs[i].p50_ns[RECORDED] - runs[i].without_ns[RECORDED][STEADY];
        mean[i] = runs[i].mean_ns[RECORDED] - runs[i].without_ns[RECORDED][STEADY];
    }
    return (struct bias){samples__median(p50, count), samples__median(mean, count)};
}

static void print_bias(const struct run *runs, size_t count)
{
    struct bias bias = bias__of(runs, count);
    printf("  reported duration beside the unrecorded call: p50 %+.2f ns, mean %+.2f ns\n",
           bias.p50_ns, bias.mean_ns);
}

static void print_bias_json(const struct run *runs, size_t count)
{
    struct bias bias = bias__of(runs, count);
    printf("      \"reported_bias_p50_ns\": %.3f, \"reported_bias_mean_ns\": %.3f,\n", bias.p50_ns,
           bias.mean_ns);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_row(const char *title, const struct cost *cost)
{
    printf("  %-18s %8.2f %8.2f %8.2f %8.2f %6.2fx %8.2f %8.2f %6.2fx\n", title, cost->two_rdtsc_ns,
           cost->plain_ns, cost->recorded_ns[RECORDED], cost->added_ns[RECORDED],
           cost->ratio[RECORDED], cost->recorded_ns[STACKS], cost->added_ns[STACKS],
           cost->ratio[STACKS]);
}

/* Memory that is tracked: the pair at most twice as long, and 25 ns longer. */
static void print_heap_bar(const struct run *runs, size_t count)
{
    struct cost cost = cost__of(runs, count, STEADY);
    double ratio = cost.recorded_ns[STACKS] / cost.plain_ns, added = cost.added_ns[STACKS];
    printf("  with tracking %.2f times the plain pair, %.1f ns added; bar 2.00, 25 ns: %s\n", ratio,
           added, ratio <= 2 && added <= 25 ? "met" : "missed");
}

static void print_processor(void)
{
    char line[256];
    FILE *in = fopen("/proc/cpuinfo", "re");
    while (in && fgets(line, sizeof line, in)) {
        const char *name = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && name) {
            printf("%s", name + 2);
            break;
        }
    }
    if (in)
        fclose(in);
}

static bool is_wanted(const struct options *options, size_t i)
{
    return !options->only || strcmp(options->only, cases[i].name) == 0;
}

static void print_table(struct run (*runs)[RUNS_MOST], const struct options *options)
{
    print_processor();
    printf("ns an operation, medians of %zu runs; ratio: added time over that of two rdtsc\n\n",
           options->runs);
    printf("  %-18s %8s %8s %26s %26s\n", "", "2 rdtsc", "plain", "recorded, no call stacks",
           "recorded, as by default");
    printf("  %-18s %8s %8s %8s %8s %7s %8s %8s %7s\n", "", "", "", "ns", "added", "ratio", "ns",
           "added", "ratio");
    for (size_t i = 0; i < CASES; i++) {
        if (!is_wanted(options, i))
            continue;
        printf("%s; without it %.2f; bytes an event %.2f, with call stacks %.2f\n", cases[i].title,
               cost__of(runs[i], options->runs, STEADY).without_ns,
               event_bytes(runs[i], options->runs, RECORDED),
               event_bytes(runs[i], options->runs, STACKS));
        for (int figure = 0; figure < FIGURES; figure++) {
            struct cost cost = cost__of(runs[i], options->runs, (enum figure)figure);
            print_row(figure_titles[figure], &cost);
        }
        if (has_bias(runs[i]))
            print_bias(runs[i], options->runs);
        if (cases[i].is_sampled)
            print_heap_bar(runs[i], options->runs);
    }
}

static void print_cost(const char *name, const struct cost *cost)
{
    printf("      \"%s\": {\"two_rdtsc_ns\": %.3f, \"plain_ns\": %.3f, \"without_ns\": %.3f,\n",
           name, cost->two_rdtsc_ns, cost->plain_ns, cost->without_ns);
    printf("        \"recorded_ns\": %.3f, \"added_ns\": %.3f, \"ratio\": %.4f,\n",
           cost->recorded_ns[RECORDED], cost->added_ns[RECORDED], cost->ratio[RECORDED]);
    printf("        \"stacks_recorded_ns\": %.3f, \"stacks_added_ns\": %.3f, \"stacks_ratio\": "
           "%.4f},\n",
           cost->recorded_ns[STACKS], cost->added_ns[STACKS], cost->ratio[STACKS]);
}

static void print_json(struct run (*runs)[RUNS_MOST], const struct options *options)
{
    const char *separator = "";
    printf("{\"schema\": \"heurt.bench-cost/1\", \"runs\": %zu, \"cases\": [\n", options->runs);
    for (size_t i = 0; i < CASES; i++) {
        if (!is_wanted(options, i))
            continue;
        struct cost steady = cost__of(runs[i], options->runs, STEADY);
        struct cost buffers = cost__of(runs[i], options->runs, BUFFERS);
        printf("%s    {\"name\": \"%s\", \"threads\": %s,\n", separator, cases[i].name,
               cases[i].threads);
        print_cost("steady", &steady);
        print_cost("buffers", &buffers);
        if (has_bias(runs[i]))
            print_bias_json(runs[i], options->runs);
        printf("      \"event_bytes\": %.3f, \"stacks_event_bytes\": %.3f}",
               event_bytes(runs[i], options->runs, RECORDED),
               event_bytes(runs[i], options->runs, STACKS));
        separator = ",\n";
    }
    printf("\n]}\n");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    static struct run runs[CASES][RUNS_MOST];
    for (size_t run = 0; run < options->runs; run++) {
        for (size_t i = 0; i < CASES; i++) {
            for (int mode = 0; mode < MODES && is_wanted(options, i); mode++) {
                int code =
                    measure(options, scratch, &cases[i], (enum mode)mode, &runs[i][run], error);
                if (code != 0)
                    return code;
            }
        }
    }
    if (options->json)
        print_json(runs, options);
    else
        print_table(runs, options);
    return 0;
}

static const char *case_name(size_t index)
{
    return index < CASES ? cases[index].name : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {.heurt = BENCH_HEURT, .probe = BENCH_PROBE, .runs = 7};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"json", .flag = &options.json},
        {"only", "NAME", .text = &options.only, .choice = case_name},
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
        fprintf(stderr, "bench-cost: %s\n", error.text);
        return 125;
    }
    directory__remove(scratch.directory);
    return 0;
}
