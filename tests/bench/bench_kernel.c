/* bench_kernel.c: what the kernel's records cost the recorded program.
 *
 * Runs with and without them (heurt record, heurt record --no-kernel) take turns; a figure is the
 * median over the pairs of runs of their difference:
 *
 *     switch     out and in again, with what reads the records      kernel_probe switches
 *     fault      likewise                                           kernel_probe faults
 *     thread     start to end                                       kernel_probe threads
 *     call       a patched function in which nothing happens        cost_probe function */
#include "child.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_LEAST = 5, RUNS_MOST = 99 };
enum { WITHOUT, WITH, MODES };

struct options {
    const char *heurt, *probe, *cost_probe, *parent;
    size_t runs;
    bool json;
};

struct figure_of_kernel {
    const char *name, *what, *key;
    double bar_ns;
    double without_ns, added_ns;
};

static int run(const struct options *options, const struct scratch *scratch,
               const struct figure_of_kernel *figure, int mode, double *ns, struct error *error)
{
    char *text = NULL;
    struct words words = {0};
    bool call = figure->what == NULL;
    words__add(&words, (const char *const[]){options->heurt, "record", "--quiet", "--no-pack", "-o",
                                             scratch->trace, call ? "-f" : "--no-choice",
                                             call ? "measured_function" : NULL, NULL});
    words__add(&words, (const char *const[]){mode == WITHOUT ? "--no-kernel" : NULL, NULL});
    words__add(&words,
               call ? (const char *const[]){"--", options->cost_probe, "function", "1", "8", NULL}
                    : (const char *const[]){"--", options->probe, figure->what, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    if (code == 0)
        *ns = text__number(text, figure->key);
    free(text);
    directory__remove(scratch->trace);
    return code;
}

static int measure(const struct options *options, const struct scratch *scratch,
                   struct figure_of_kernel *figure, struct error *error)
{
    double without[RUNS_MOST], added[RUNS_MOST];
    for (size_t i = 0; i < options->runs; i++) {
        double ns[MODES] = {0};
        for (size_t turn = 0; turn < MODES; turn++) {
            int mode = (int)((turn + i) % MODES); /* neither is always the first */
            int code = run(options, scratch, figure, mode, &ns[mode], error);
            if (code < 0)
                return code;
        }
        without[i] = ns[WITHOUT];
        added[i] = ns[WITH] - ns[WITHOUT];
    }
    figure->without_ns = samples__median(without, options->runs);
    figure->added_ns = samples__median(added, options->runs);
    return 0;
}

static void print(const struct options *options, const struct figure_of_kernel *figures,
                  size_t count)
{
    if (!options->json)
        printf("what the kernel's records add, medians of %zu pairs of runs:\n", options->runs);
    else
        printf("{\"schema\": \"heurt.bench-kernel/1\", \"runs\": %zu", options->runs);
    for (size_t i = 0; i < count; i++) {
        const struct figure_of_kernel *figure = &figures[i];
        if (options->json)
            printf(", \"%s\": {\"without_ns\": %.3f, \"added_ns\": %.3f}", figure->name,
                   figure->without_ns, figure->added_ns);
        else
            printf("  %-8s %10.1f ns  %+9.1f ns%s\n", figure->name, figure->without_ns,
                   figure->added_ns,
                   !figure->bar_ns                      ? ""
                   : figure->added_ns <= figure->bar_ns ? "  within the bar"
                                                        : "  above the bar");
    }
    if (options->json)
        printf("}\n");
}

int main(int argc, char **argv)
{
    struct options options = {
        .heurt = BENCH_HEURT, .probe = BENCH_PROBE, .cost_probe = BENCH_COST_PROBE, .runs = 9};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"command", "HEURT", .text = &options.heurt},
        {NULL},
    };
    struct figure_of_kernel figures[] = {
        {"switch", "switches", "ns", .bar_ns = 1600},
        {"fault", "faults", "ns", .bar_ns = 500},
        {"call", NULL, "measured_median", .bar_ns = 1},
        {"thread", "threads", "ns"},
    };
    enum { FIGURES = sizeof figures / sizeof *figures };
    struct scratch scratch;
    struct error error;
    int status, code = 0;
    if (!options__read(argc, argv, table,
                       "N: 5 to 99; DIR: where the traces go (in memory when that is possible)\n",
                       &status))
        return status;
    code = scratch__make(&scratch, options.parent, &error);
    for (size_t i = 0; i < FIGURES && code == 0; i++)
        code = measure(&options, &scratch, &figures[i], &error);
    if (code < 0) {
        fprintf(stderr, "bench-kernel: %s\n", error.text);
        return 125;
    }
    print(&options, figures, FIGURES);
    directory__remove(scratch.directory);
    return 0;
}
