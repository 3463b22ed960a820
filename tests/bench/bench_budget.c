/* bench_budget.c: whether recording stays within its budget (heurt record --overhead).
 *
 * Programs that call functions at different rates run plain, recorded, and plain again, one after
 * the other, several times.  Of each round
 *
 *     overhead = CPU time recorded / CPU time plain - 1      noise = plain again / plain - 1
 *
 * and then the median over the rounds (of noise: of its absolute values).  The CPU time is the
 * program's own, without start and end. */
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

struct program {
    const char *name, *title;
    const char *operations; /* NULL: not budget_probe but the C++ word count */
    bool bound;             /* false: that the budget cannot hold is expected, and said */
};

static const struct program programs[] = {
    {"shortest", "1.6 ns function, nothing else", "300000000", true},
    {"ns50", "50 ns function, nothing else", "12000000", true},
    {"ns200", "200 ns function, nothing else", "3000000", true},
    {"ns1000", "1 us function, nothing else", "600000", true},
    {"mixed", "four functions, 50 ns to 50 us", "700000", true},
    {"bursts", "1 us and 200 ns in turns of some ms", "900000", true},
    {"locks", "mutex held for 200 ns", "2500000", true},
    {"word-count", "C++ word count, its functions and locks", NULL, false},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

struct samples {
    double overhead[RUNS_MOST], noise[RUNS_MOST];
    bool told; /* by the report: that the budget does not hold */
};

struct result {
    double overhead, noise; /* in per cent */
};

struct options {
    const char *heurt, *probe, *word_count, *parent, *percent, *only;
    size_t runs;
    bool json;
};

static void program_words(struct words *words, const struct options *options,
                          const struct program *program)
{
    if (program->operations)
        words__add(words,
                   (const char *const[]){options->probe, program->name, program->operations, NULL});
    else
        words__add(words, (const char *const[]){options->word_count, NULL});
}

/* CPU time in ns. */
static int run_once(const struct options *options, const struct scratch *scratch,
                    const struct program *program, bool recorded, double *ns, struct error *error)
{
    struct words words = {0};
    char *text;
    if (recorded)
        words__add(&words, (const char *const[]){
                               options->heurt, "record", "--quiet", "-o", scratch->trace,
                               "--overhead", options->percent, "-f",
                               program->operations ? "budget_*" : "words::*", "--", NULL});
    program_words(&words, options, program);
    int code = child__run(&words, scratch->log, &text, error);
    if (code != 0)
        return code;
    *ns = text__number(text, "cpu_ns");
    free(text);
    if (isnan(*ns))
        return error__set(error, -EPROTO, "%s did not print its cpu_ns", program->name);
    return 0;
}

/* Whether the report of the last run owns up to what it could not hold. */
static int look_at_report(const struct options *options, const struct scratch *scratch, bool *told,
                          struct error *error)
{
    struct words words = {0};
    char *text;
    words__add(&words, (const char *const[]){options->heurt, "report", "--json", "-i",
                                             scratch->trace, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    if (code == 0)
        *told = strstr(text, "costs more than --overhead") != NULL;
    free(code == 0 ? text : NULL);
    directory__remove(scratch->trace);
    return code;
}

static int measure(const struct options *options, const struct scratch *scratch,
                   const struct program *program, struct samples *samples, size_t run,
                   struct error *error)
{
    double plain, recorded, again;
    int code = run_once(options, scratch, program, false, &plain, error);
    if (code == 0)
        code = run_once(options, scratch, program, true, &recorded, error);
    if (code == 0)
        code = run_once(options, scratch, program, false, &again, error);
    if (code != 0)
        return code;
    samples->overhead[run] = 100 * (2 * recorded / (plain + again) - 1);
    samples->noise[run] = 100 * fabs(again / plain - 1);
    return look_at_report(options, scratch, &samples->told, error);
}

/* ---- output ---------------------------------------------------------------------------------- */

/* A budget that cannot be held and is owned up to is no failure. */
static const char *verdict(const struct program *program, const struct samples *samples,
                           const struct result *result, double budget)
{
    if (result->overhead <= budget)
        return "inside";
    if (result->overhead <= budget + result->noise)
        return "inside but for noise";
    return samples->told && !program->bound ? "above, and said" : "ABOVE";
}

static struct result result_of(struct samples *samples, size_t runs)
{
    return (struct result){samples__median(samples->overhead, runs),
                           samples__median(samples->noise, runs)};
}

static bool is_chosen(const struct options *options, const struct program *program)
{
    return !options->only || strcmp(options->only, program->name) == 0;
}

/* True when each budget that can be held was. */
static bool print_results(const struct options *options, struct samples *samples)
{
    double budget = strtod(options->percent, NULL);
    bool good = true, first = true;
    printf(options->json ? "{\"schema\": \"heurt.bench-budget/1\", \"runs\": %zu, \"budget\": "
                           "%g, \"programs\": [\n"
                         : "medians of %zu rounds; budget: %g %% of the program's own CPU time\n\n",
           options->runs, budget);
    if (!options->json)
        printf("  %-42s %9s %9s\n", "", "overhead", "noise");
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (!is_chosen(options, &programs[i]))
            continue;
        struct result result = result_of(&samples[i], options->runs);
        const char *text = verdict(&programs[i], &samples[i], &result, budget);
        good = good && strcmp(text, "ABOVE") != 0;
        if (options->json)
            printf("%s  {\"name\": \"%s\", \"overhead\": %.3f, \"noise\": %.3f, \"verdict\": "
                   "\"%s\"}",
                   first ? "" : ",\n", programs[i].name, result.overhead, result.noise, text);
        else
            printf("  %-42s %7.2f %% %7.2f %%  %s\n", programs[i].title, result.overhead,
                   result.noise, text);
        first = false;
    }
    if (options->json)
        puts("\n]}");
    return good;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct samples *samples, struct error *error)
{
    for (size_t run = 0; run < options->runs; run++) {
        for (size_t i = 0; i < PROGRAMS; i++) {
            int code = is_chosen(options, &programs[i])
                           ? measure(options, scratch, &programs[i], &samples[i], run, error)
                           : 0;
            if (code != 0)
                return code;
        }
    }
    return 0;
}

static const char *program_name(size_t index)
{
    return index < PROGRAMS ? programs[index].name : NULL;
}

int main(int argc, char **argv)
{
    static struct samples samples[PROGRAMS];
    struct options options = {.heurt = BENCH_HEURT,
                              .probe = BENCH_PROBE,
                              .word_count = BENCH_WORD_COUNT,
                              .percent = "5",
                              .runs = 5};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"overhead", "PERCENT", .text = &options.percent},
        {"only", "PROGRAM", .text = &options.only, .choice = program_name},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"command", "HEURT", .text = &options.heurt},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "DIR: where the traces go (in memory when that is possible)\n", &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = run_all(&options, &scratch, samples, &error);
    if (code < 0) {
        fprintf(stderr, "bench-budget: %s\n", error.text);
        return 125;
    }
    directory__remove(scratch.directory);
    return print_results(&options, samples) ? 0 : 1;
}
