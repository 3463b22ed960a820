/* bench_micro.c: the experiment that validates the score.
 *
 * For each micro-benchmark of examples/ a parameter is swept from nearly no interference to the
 * most of it, while the work of the measured threads stays the same.  At each point, in each run,
 * one after the other:
 *
 *     contended   the example, by itself             its own elapsed_ns
 *     alone       the same work without interference its own elapsed_ns
 *     recorded    the contended one under heurt      the class's score and minimum
 *
 *     slowdown = contended / alone
 *
 * contended is the median over the runs of a point; alone, which the parameter does not change, the
 * median over all runs of all points (that it does not is printed).  The runs are interleaved.
 * The score is thus compared with a completion time that heurt had no part in.  Bar: Pearson's
 * correlation of score and slowdown over the points ≥ 0.95, for each benchmark. */
#include "base/memory.h"
#include "child.h"
#include "foreign.h"
#include "options.h"
#include "outcome.h"
#include "plot.h"
#include "recording.h"
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR 0.95
#define FOREIGN_MOST 0.1 /* of the CPUs; a measurement beside more is made again */
#define FLAT_RATIO 1.5   /* of largest to smallest minimum */
#define FLAT_NS 50.0     /* or so close together, whatever the ratio */

enum { POINTS_LEAST = 3, POINTS_MOST = 100, RUNS_MOST = 99, WORDS = 10, TRIES = 4 };

struct benchmark {
    const char *name;
    const char *title;
    const char *program;
    const char *contended[WORDS]; /* options besides --delay */
    const char *alone[WORDS];
    const char *function; /* to instrument, or NULL */
    struct class_choice class;
    const char *unit;               /* of the delay */
    double delay_first, delay_last; /* least and most interference */
    bool geometric;                 /* how the points lie between them */
};

static const struct benchmark benchmarks[] = {
    {
        .name = "mutex",
        .title = "POSIX mutex",
        .program = "mutex",
        .contended = {"--threads", "2", "--iterations", "1000"},
        .alone = {"--threads", "2", "--iterations", "1000", "--private"},
        .class = {.kind = "lock", .function = "pthread_mutex_lock"},
        .unit = "turns inside the lock, of 4000",
        .delay_first = 0,
        .delay_last = 4000,
    },
    {
        .name = "spinlock",
        .title = "Spinlock",
        .program = "spinlock",
        .contended = {"--threads", "2"},
        .alone = {"--threads", "2", "--private"},
        .class = {.kind = "lock", .function = "pthread_spin_lock"},
        .unit = "turns inside the lock, of 400",
        .delay_first = 0,
        .delay_last = 400,
    },
    {
        .name = "oversubscribed",
        .title = "Spinlock, one thread more than CPUs",
        .program = "spinlock",
        .contended = {"--oversubscribe", "--iterations", "60000"},
        .alone = {"--oversubscribe", "--iterations", "60000", "--private"},
        .class = {.kind = "lock", .function = "pthread_spin_lock"},
        .unit = "turns inside the lock, of 400",
        .delay_first = 0,
        .delay_last = 400,
    },
    {
        .name = "false-sharing",
        .title = "False sharing",
        .program = "false_sharing",
        .contended = {"--threads", "2", "--iterations", "20000"},
        .alone = {"--threads", "2", "--iterations", "20000", "--padded"},
        .function = "first_thread_access",
        .class = {.function = "first_thread_access"},
        .unit = "turns between two bursts of the other thread",
        .delay_first = 32000,
        .delay_last = 500,
        .geometric = true,
    },
    {
        .name = "disk",
        .title = "O_DIRECT reads of 512 bytes",
        .program = "disk",
        .contended = {"--threads", "6", "--iterations", "3000"},
        .alone = {"--threads", "1", "--iterations", "3000"},
        .class = {.kind = "disk", .function = "pread", .caller = "first_thread_read"},
        .unit = "µs between two reads of each other thread",
        .delay_first = 2000,
        .delay_last = 10,
        .geometric = true,
    },
};

enum { BENCHMARKS = sizeof benchmarks / sizeof benchmarks[0] };

struct options {
    const char *command;  /* heurt */
    const char *examples; /* directory of the programs */
    const char *output;   /* the plot */
    const char *only;
    size_t points, runs;
};

struct samples {
    double contended_ns[RUNS_MOST], alone_ns[RUNS_MOST], score[RUNS_MOST], min_ns[RUNS_MOST];
};

struct point {
    double delay;
    double contended_ns, alone_ns, score, min_ns; /* medians over the runs */
    double slowdown;
};

struct sweep {
    const struct benchmark *benchmark;
    size_t count;
    struct point *points;
    struct samples *samples; /* one a point */
    double correlation;      /* of score and slowdown, or, which is the same, completion time */
    double alone_ns;         /* median over all runs of all points */
    double alone_low_ns, alone_high_ns, min_low_ns, min_high_ns; /* over the points */
    bool flat;
    size_t disturbed; /* measurements that no try found quiet */
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-micro: out of memory (%zu bytes)\n", bytes);
    exit(125);
}

/* ---- one measurement ------------------------------------------------------------------------- */

static void words__example(struct words *words, const struct options *options,
                           const struct benchmark *benchmark, const char *const *arguments,
                           double delay, char scratch[2][4096])
{
    snprintf(scratch[0], 4096, "%s/%s", options->examples, benchmark->program);
    snprintf(scratch[1], 4096, "%.0f", delay);
    words__add(words, (const char *const[]){scratch[0], "--delay", scratch[1], NULL});
    words__add(words, arguments);
}

static int measure_alone(const struct options *options, const struct scratch *place,
                         const struct benchmark *benchmark, const char *const *arguments,
                         double delay, double *elapsed_ns, struct error *error)
{
    struct words words = {0};
    char scratch[2][4096], *text;
    words__example(&words, options, benchmark, arguments, delay, scratch);
    int code = child__run(&words, place->log, &text, error);
    if (code == 0)
        code = outcome__elapsed(text, elapsed_ns, error);
    free(text);
    return code;
}

static int record(const struct options *options, const struct scratch *place,
                  const struct benchmark *benchmark, double delay, struct error *error)
{
    struct words words = {0};
    char scratch[2][4096], *text;
    words__add(&words, (const char *const[]){options->command, "record", "-o", place->trace, NULL});
    if (benchmark->function)
        words__add(&words, (const char *const[]){"-f", benchmark->function, NULL});
    words__add(&words, (const char *const[]){"--", NULL});
    words__example(&words, options, benchmark, benchmark->contended, delay, scratch);
    int code = child__run(&words, place->log, &text, error);
    free(text);
    return code;
}

static int measure_recorded(const struct options *options, const struct scratch *place,
                            const struct benchmark *benchmark, double delay,
                            struct class_outcome *outcome, struct error *error)
{
    struct words words = {0};
    char *json = NULL;
    int code = record(options, place, benchmark, delay, error);
    words__add(&words, (const char *const[]){options->command, "report", "--json", "-i",
                                             place->trace, NULL});
    if (code == 0)
        code = child__run(&words, place->log, &json, error);
    if (code == 0)
        code = outcome__class(json, &benchmark->class, outcome, error);
    free(json);
    directory__remove(place->trace);
    return code;
}

/* One run of one point. */
struct measurement {
    double contended_ns, alone_ns;
    struct class_outcome outcome;
    double foreign; /* share of the CPUs that others used meanwhile */
};

static int measure_once(const struct options *options, const struct scratch *place,
                        const struct benchmark *benchmark, double delay,
                        struct measurement *measurement, struct error *error)
{
    struct cpu_use before = cpu_use__now();
    int code = measure_alone(options, place, benchmark, benchmark->contended, delay,
                             &measurement->contended_ns, error);
    if (code == 0)
        code = measure_alone(options, place, benchmark, benchmark->alone, delay,
                             &measurement->alone_ns, error);
    if (code == 0)
        code = measure_recorded(options, place, benchmark, delay, &measurement->outcome, error);
    struct cpu_use after = cpu_use__now();
    measurement->foreign = cpu_use__foreign(&before, &after);
    return code;
}

/* Again while other programs are busy, whatever the result; of TRIES the least disturbed. */
static int sweep__measure(struct sweep *sweep, const struct options *options,
                          const struct scratch *place, size_t point, size_t run,
                          struct error *error)
{
    struct samples *samples = &sweep->samples[point];
    struct measurement best = {.foreign = INFINITY};
    for (int i = 0; i < TRIES && best.foreign > FOREIGN_MOST; i++) {
        struct measurement measurement;
        int code = measure_once(options, place, sweep->benchmark, sweep->points[point].delay,
                                &measurement, error);
        if (code != 0)
            return code;
        if (measurement.foreign < best.foreign)
            best = measurement;
    }
    sweep->disturbed += best.foreign > FOREIGN_MOST;
    samples->contended_ns[run] = best.contended_ns;
    samples->alone_ns[run] = best.alone_ns;
    samples->score[run] = best.outcome.score;
    samples->min_ns[run] = best.outcome.min_ns;
    return 0;
}

/* ---- a sweep --------------------------------------------------------------------------------- */

static double benchmark__delay(const struct benchmark *benchmark, size_t point, size_t points)
{
    double share = (double)point / (double)(points - 1);
    double first = benchmark->delay_first, last = benchmark->delay_last;
    return round(benchmark->geometric ? first * pow(last / first, share)
                                      : first + share * (last - first));
}

static void sweep__init(struct sweep *sweep, const struct benchmark *benchmark, size_t points)
{
    *sweep = (struct sweep){.benchmark = benchmark, .count = points};
    sweep->points = memory__zeroed(points, sizeof *sweep->points);
    sweep->samples = memory__zeroed(points, sizeof *sweep->samples);
    for (size_t i = 0; i < points; i++)
        sweep->points[i].delay = benchmark__delay(benchmark, i, points);
}

static void sweep__free(struct sweep *sweep)
{
    free(sweep->points);
    free(sweep->samples);
}

/* Up the sweep in one run and down in the next, so that a drift of the machine cancels. */
static int sweep__run(struct sweep *sweep, const struct options *options,
                      const struct scratch *place, struct error *error)
{
    for (size_t run = 0; run < options->runs; run++) {
        for (size_t i = 0; i < sweep->count; i++) {
            size_t point = run % 2 ? sweep->count - 1 - i : i;
            int code = sweep__measure(sweep, options, place, point, run, error);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

/* The medians of one point; notes in *all what the runs alone took. */
static void point__conclude(struct point *point, struct samples *samples, size_t runs, double *all)
{
    memcpy(all, samples->alone_ns, runs * sizeof *all);
    point->contended_ns = samples__median(samples->contended_ns, runs);
    point->alone_ns = samples__median(samples->alone_ns, runs);
    point->score = samples__median(samples->score, runs);
    point->min_ns = samples__median(samples->min_ns, runs);
}

static void sweep__conclude(struct sweep *sweep, size_t runs)
{
    double slowdown[POINTS_MOST], score[POINTS_MOST];
    double *alone = memory__zeroed(sweep->count * runs, sizeof *alone);
    sweep->min_low_ns = sweep->alone_low_ns = INFINITY;
    for (size_t i = 0; i < sweep->count; i++) {
        struct point *point = &sweep->points[i];
        point__conclude(point, &sweep->samples[i], runs, alone + i * runs);
        sweep->min_low_ns = fmin(sweep->min_low_ns, point->min_ns);
        sweep->min_high_ns = fmax(sweep->min_high_ns, point->min_ns);
        sweep->alone_low_ns = fmin(sweep->alone_low_ns, point->alone_ns);
        sweep->alone_high_ns = fmax(sweep->alone_high_ns, point->alone_ns);
    }
    sweep->alone_ns = samples__median(alone, sweep->count * runs);
    free(alone);
    for (size_t i = 0; i < sweep->count; i++) {
        struct point *point = &sweep->points[i];
        slowdown[i] = point->slowdown = point->contended_ns / sweep->alone_ns;
        score[i] = point->score;
    }
    sweep->correlation = samples__correlation(slowdown, score, sweep->count);
    sweep->flat = sweep->min_high_ns - sweep->min_low_ns <= FLAT_NS ||
                  sweep->min_high_ns <= FLAT_RATIO * sweep->min_low_ns;
}

static void sweep__print(const struct sweep *sweep)
{
    printf("%s: %s; delay in %s\n", sweep->benchmark->name, sweep->benchmark->title,
           sweep->benchmark->unit);
    printf("  %8s  %12s  %9s  %12s  %6s\n", "delay", "time ms", "slowdown", "minimum ns", "score");
    for (size_t i = 0; i < sweep->count; i++) {
        const struct point *point = &sweep->points[i];
        printf("  %8.0f  %12.2f  %9.2f  %12.0f  %6.3f\n", point->delay, point->contended_ns / 1e6,
               point->slowdown, point->min_ns, point->score);
    }
    printf("  correlation of score and completion time %.3f\n", sweep->correlation);
    printf("  alone %.2f ms, over the points %.2f to %.2f ms\n", sweep->alone_ns / 1e6,
           sweep->alone_low_ns / 1e6, sweep->alone_high_ns / 1e6);
    if (sweep->disturbed)
        printf("  %zu measurements ran beside other programs that used more than %.0f %% of the "
               "CPUs\n",
               sweep->disturbed, FOREIGN_MOST * 100);
    printf("  minimum %.0f to %.0f ns: %s\n\n", sweep->min_low_ns, sweep->min_high_ns,
           sweep->flat ? "flat" : "not flat");
    fflush(stdout);
}

/* ---- the plot -------------------------------------------------------------------------------- */

static void panel__fill(struct panel *panel, const struct sweep *sweep, char note[96], double *x,
                        double *y)
{
    for (size_t i = 0; i < sweep->count; i++) {
        x[i] = sweep->points[i].slowdown;
        y[i] = sweep->points[i].score;
    }
    snprintf(note, 96, "r = %.3f   minimum %.0f–%.0f ns", sweep->correlation, sweep->min_low_ns,
             sweep->min_high_ns);
    *panel = (struct panel){.title = sweep->benchmark->title,
                            .subtitle = note,
                            .x_label = "completion time / time without interference",
                            .y_label = "score",
                            .x = x,
                            .y = y,
                            .count = sweep->count,
                            .x_from = 1,
                            .y_to = 0.1};
}

static int plot(const struct sweep *sweeps, size_t count, const char *path, struct error *error)
{
    static double x[BENCHMARKS][POINTS_MOST], y[BENCHMARKS][POINTS_MOST];
    static char notes[BENCHMARKS][96];
    struct panel panels[BENCHMARKS];
    FILE *out = fopen(path, "w");
    if (!out)
        return error__set(error, -errno, "cannot write the plot %s: %s", path, strerror(errno));
    for (size_t i = 0; i < count; i++)
        panel__fill(&panels[i], &sweeps[i], notes[i], x[i], y[i]);
    plot__write(out, "heurt: score and completion time of the micro-benchmarks", panels, count,
                count < 3 ? count : 3);
    if (fclose(out) != 0)
        return error__set(error, -errno, "cannot write the plot %s: %s", path, strerror(errno));
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int run_all(const struct options *options, const struct scratch *place, struct error *error)
{
    struct sweep sweeps[BENCHMARKS];
    size_t count = 0;
    int code = 0, missed = 0;
    for (size_t i = 0; i < BENCHMARKS && code == 0; i++) {
        if (options->only && strcmp(options->only, benchmarks[i].name) != 0)
            continue;
        struct sweep *sweep = &sweeps[count++];
        sweep__init(sweep, &benchmarks[i], options->points);
        code = sweep__run(sweep, options, place, error);
        if (code != 0)
            break;
        sweep__conclude(sweep, options->runs);
        sweep__print(sweep);
    }
    if (code == 0)
        code = plot(sweeps, count, options->output, error);
    for (size_t i = 0; i < count && code == 0; i++) {
        bool met = sweeps[i].correlation >= BAR;
        printf("%-16s r = %.3f  %s\n", sweeps[i].benchmark->name, sweeps[i].correlation,
               met ? "ok" : "below the bar of 0.95");
        missed += !met;
    }
    for (size_t i = 0; i < count; i++)
        sweep__free(&sweeps[i]);
    return code ? code : missed > 0;
}

static const char *benchmark_name(size_t index)
{
    return index < BENCHMARKS ? benchmarks[index].name : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {.command = BENCH_HEURT,
                              .examples = BENCH_EXAMPLES,
                              .output = BENCH_OUTPUT,
                              .points = 13,
                              .runs = 9};
    bool quick = false;
    const struct bench_option table[] = {
        {"points", "N", .number = &options.points, .least = POINTS_LEAST, .most = POINTS_MOST},
        {"runs", "N", .number = &options.runs, .least = 1, .most = RUNS_MOST},
        {"only", "NAME", .text = &options.only, .choice = benchmark_name},
        {"quick", .flag = &quick},
        {"command", "HEURT", .text = &options.command},
        {"examples", "DIR", .text = &options.examples},
        {"output", "FILE.svg", .text = &options.output},
        {NULL},
    };
    struct scratch place;
    struct error error;
    int status;
    if (!options__read(argc, argv, table, "--quick: 5 points, one run\n", &status))
        return status;
    if (quick)
        options.points = 5, options.runs = 1;
    /* Traces do not go to the disk that is measured. */
    int code = scratch__make(&place, NULL, &error);
    if (code == 0)
        code = run_all(&options, &place, &error);
    if (code < 0) {
        fprintf(stderr, "bench-micro: %s\n", error.text);
        return 125;
    }
    directory__remove(place.directory);
    return code;
}
