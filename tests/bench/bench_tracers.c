/* bench_tracers.c: what tracers cost, what they keep, and what they tell, side by side.
 *
 * tracers.sh runs cost_probe under each tracer, with 1 and with 2 threads; all take turns, so that
 * what disturbs the machine disturbs them alike.  cost_probe measures its calls itself; the rest is
 * what the tracer's own reader says about its trace.  Of each round
 *
 *     added = a call, traced - a call, bare
 *     bias  = mean duration that the tracer reports - a call, bare
 *
 * and then the medians over the rounds; but of the bias the lowest, as a thread that loses its CPU
 * between two time stamps makes a mean longer, never shorter, whatever the tracer.  steady is the
 * median of short rounds of calls; with buffers is CPU time of the calling thread over so many
 * calls that each tracer needed new buffers (what its daemons and writers use besides is not in
 * it).  A tracer that is not installed or fails is a row that says why. */
#include "child.h"
#include "figure.h"
#include "foreign.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS_LEAST = 5, RUNS_MOST = SAMPLES_MOST, THREADS = 2 };

struct tracer {
    const char *name, *title; /* the name is tracers.sh's */
};

/* The first is what the others are compared with. */
static const struct tracer tracers[] = {
    {"bare", "bare function"},
    {"callbacks", "-finstrument-functions, empty callbacks"},
    {"heurt", "heurt, plain binary"},
    {"heurt-packed", "heurt, trace packed at the end"},
    {"heurt-aggregate", "heurt --aggregate"},
    {"heurt-overhead", "heurt --overhead 5%"},
    {"uftrace", "uftrace -P, plain binary"},
    {"uftrace-pg", "uftrace, -pg"},
    {"uftrace-callbacks", "uftrace, -finstrument-functions"},
    {"eztrace", "EZTrace, a plugin for a library"},
    {"lttng-callbacks", "LTTng-UST, -finstrument-functions"},
    {"lttng-tracepoints", "LTTng-UST, two tracepoints in the source"},
    {"lock-bare", "mutex, lock and unlock: bare"},
    {"lock-heurt", "mutex, lock and unlock: heurt"},
};
enum { TRACERS = sizeof tracers / sizeof tracers[0], LOCK_BARE = TRACERS - 2 };

/* What tracers.sh prints. */
enum figure {
    STEADY,
    BUFFERS,
    TWO_RDTSC,
    TWO_RDTSC_BUFFERS,
    CALLS,
    PROBED, /* the figures before are of every row */
    COUNTED = PROBED,
    BYTES,
    DURATION, /* the figures before are of every trace */
    MEAN = DURATION,
    LEAST,
    FIGURES
};
static const char *const figure_keys[FIGURES] = {
    [STEADY] = "measured_median",
    [BUFFERS] = "measured_group",
    [TWO_RDTSC] = "two_rdtsc_median",
    [TWO_RDTSC_BUFFERS] = "two_rdtsc_group",
    [CALLS] = "calls",
    [COUNTED] = "counted",
    [BYTES] = "bytes",
    [MEAN] = "mean_ns",
    [LEAST] = "min_ns",
};

/* A tracer with a number of threads. */
struct row {
    char missing[512]; /* why there are no figures; empty: there are */
    bool failed;       /* it was there, but did not work */
    double figures[FIGURES][RUNS_MOST];
};

/* Medians over the rounds; NAN: this row has none. */
struct conclusion {
    double two_rdtsc_ns, two_rdtsc_buffers_ns;
    double steady_ns, buffers_ns, added_steady_ns, added_buffers_ns;
    double ratio; /* added_steady_ns over two rdtsc */
    double event_bytes, mean_ns, least_ns;
    double bias_ns;        /* of the round where it is lowest */
    double calls, counted; /* the count that is farthest from the calls */
};

struct options {
    const char *heurt, *script, *probes, *parent, *only;
    size_t runs;
    bool json;
};

/* ---- runs ------------------------------------------------------------------------------------ */

/* What it is compared with. */
static size_t tracer__baseline(size_t tracer)
{
    return tracer < LOCK_BARE ? 0 : LOCK_BARE;
}

/* The bare function and what the chosen one is compared with are always measured. */
static bool chosen(const struct options *options, size_t tracer)
{
    size_t only = tracer;
    for (size_t i = 0; options->only && i < TRACERS; i++)
        if (strcmp(options->only, tracers[i].name) == 0)
            only = i;
    return tracer == 0 || tracer == only || tracer == tracer__baseline(only);
}

static void row__fail(struct row *row, const char *log, const struct error *error)
{
    child__reason(log, error, row->missing, sizeof row->missing);
    row->failed = true;
}

static void row__check(struct row *row, const struct options *options,
                       const struct scratch *scratch, size_t tracer)
{
    struct words words = {0};
    struct error error;
    char *text;
    words__add(&words, (const char *const[]){options->script, "check", tracers[tracer].name, NULL});
    if (child__run(&words, scratch->log, &text, &error) != 0) {
        row__fail(row, scratch->log, &error);
        return;
    }
    snprintf(row->missing, sizeof row->missing, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

/* How many of the figures a row must have. */
static enum figure figures_needed(size_t tracer)
{
    if (tracer < 2 || tracer == LOCK_BARE)
        return PROBED;
    return tracer < LOCK_BARE ? FIGURES : DURATION;
}

static int row__read(struct row *row, size_t tracer, size_t run, const char *text,
                     struct error *error)
{
    enum figure needed = figures_needed(tracer);
    for (enum figure i = 0; i < FIGURES; i++) {
        row->figures[i][run] = text__number(text, figure_keys[i]);
        if (i < needed && isnan(row->figures[i][run]))
            return error__set(error, -EPROTO, "there is no %s in what it printed", figure_keys[i]);
    }
    return 0;
}

static void row__measure(struct row *row, const struct options *options,
                         const struct scratch *scratch, size_t tracer, unsigned threads, size_t run)
{
    struct words words = {0};
    struct error error;
    char *text, number[16];
    snprintf(number, sizeof number, "%u", threads);
    words__add(&words, (const char *const[]){options->script, tracers[tracer].name, number, NULL});
    unlink(scratch->log);
    int code = child__run(&words, scratch->log, &text, &error);
    if (code == 0)
        code = row__read(row, tracer, run, text, &error);
    if (code != 0)
        row__fail(row, scratch->log, &error);
    free(text);
}

/* ---- medians --------------------------------------------------------------------------------- */

static double lowest_difference(const double *left, const double *right, size_t count)
{
    double lowest = left[0] - right[0];
    for (size_t i = 1; i < count; i++)
        lowest = fmin(lowest, left[i] - right[i]);
    return lowest;
}

static double median_difference(const double *left, const double *right, size_t count)
{
    double difference[RUNS_MOST];
    for (size_t i = 0; i < count; i++)
        difference[i] = left[i] - right[i];
    return samples__median(difference, count);
}

static double median_ratio(const double *left, const double *right, size_t count)
{
    double ratio[RUNS_MOST];
    for (size_t i = 0; i < count; i++)
        ratio[i] = left[i] / right[i];
    return samples__median(ratio, count);
}

static double farthest(const double *samples, double from, size_t count)
{
    double found = samples[0];
    for (size_t i = 1; i < count; i++)
        if (fabs(samples[i] - from) > fabs(found - from))
            found = samples[i];
    return found;
}

static struct conclusion conclude(const struct row *row, const struct row *bare, size_t runs)
{
    const double(*own)[RUNS_MOST] = row->figures, (*base)[RUNS_MOST] = bare->figures;
    struct conclusion all = {
        .two_rdtsc_ns = samples__middle(base[TWO_RDTSC], runs),
        .two_rdtsc_buffers_ns = samples__middle(base[TWO_RDTSC_BUFFERS], runs),
        .steady_ns = samples__middle(own[STEADY], runs),
        .buffers_ns = samples__middle(own[BUFFERS], runs),
        .added_steady_ns = median_difference(own[STEADY], base[STEADY], runs),
        .added_buffers_ns = median_difference(own[BUFFERS], base[BUFFERS], runs),
        .event_bytes = median_ratio(own[BYTES], own[COUNTED], runs) / 2,
        .mean_ns = samples__middle(own[MEAN], runs),
        .least_ns = samples__middle(own[LEAST], runs),
        .bias_ns = lowest_difference(own[MEAN], base[STEADY], runs),
        .calls = own[CALLS][0],
    };
    all.ratio = all.added_steady_ns / all.two_rdtsc_ns;
    all.counted = farthest(own[COUNTED], all.calls, runs);
    return all;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_number(double value, int width, int digits)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, value);
}

static void print_row(const char *title, const struct row *row, const struct row *bare, size_t runs)
{
    printf("%-40s", title);
    if (*row->missing) {
        printf("  %s: %s\n", row->failed ? "failed" : "skipped", row->missing);
        return;
    }
    struct conclusion all = conclude(row, bare, runs);
    bool compared = row != bare;
    print_number(all.steady_ns, 7, 2);
    print_number(compared ? all.added_steady_ns : NAN, 7, 2);
    print_number(compared ? all.ratio : NAN, 6, 2);
    print_number(all.buffers_ns, 8, 2);
    print_number(compared ? all.added_buffers_ns : NAN, 7, 2);
    print_number(all.event_bytes, 7, 2);
    print_number(all.mean_ns, 7, 2);
    print_number(all.least_ns, 5, 1);
    print_number(all.bias_ns, 7, 2);
    print_number(all.calls, 9, 0);
    print_number(all.counted, 9, 0);
    putchar('\n');
}

static void print_rdtsc(const struct row *bare, size_t runs)
{
    struct conclusion all = conclude(bare, bare, runs);
    printf("%-40s %7.2f %7s %6s %8.2f\n", "two rdtsc, the least of two time stamps",
           all.two_rdtsc_ns, "", "", all.two_rdtsc_buffers_ns);
}

static void print_bar(const struct row *rows, size_t runs)
{
    const struct row *lock = &rows[LOCK_BARE + 1];
    if (*lock->missing || *rows[LOCK_BARE].missing)
        return;
    struct conclusion all = conclude(lock, &rows[LOCK_BARE], runs);
    printf("%-40s %7s %7.2f   two rdtsc + 10 ns\n", "  at most", "", all.two_rdtsc_ns + 10);
}

static void print_threads(const struct options *options, const struct row *rows, unsigned threads)
{
    printf("\n%-40s %22s %16s %7s %21s\n", threads == 1 ? "1 thread" : "2 threads",
           "steady: ns a call", "with buffers", "bytes", "reported duration, ns");
    printf("%-40s %7s %7s %6s %8s %7s %7s %7s %5s %7s %9s %9s\n", "", "", "added", "ratio", "",
           "added", "event", "mean", "min", "bias", "calls", "counted");
    for (size_t i = 0; i < TRACERS; i++) {
        const struct row *bare = &rows[tracer__baseline(i)];
        if (!chosen(options, i))
            continue;
        print_row(tracers[i].title, &rows[i], bare, options->runs);
        if (i == 0)
            print_rdtsc(bare, options->runs);
    }
    if (chosen(options, LOCK_BARE + 1))
        print_bar(rows, options->runs);
}

static void print_table(const struct options *options, struct row (*rows)[TRACERS],
                        double foreign_share)
{
    printf(
        "medians of %zu rounds in which all took turns; added: over the bare one; ratio: added "
        "over two rdtsc;\nbytes: an event, a call has two; bias: lowest mean of a round, less the "
        "bare call; counted: calls in the trace\nother programs used %.0f %% of the CPUs "
        "meanwhile\n",
        options->runs, foreign_share * 100);
    for (unsigned threads = 1; threads <= THREADS; threads++)
        print_threads(options, rows[threads - 1], threads);
}

static void json__conclude(struct json_object *object, const struct row *row,
                           const struct row *bare, size_t runs)
{
    struct conclusion all = conclude(row, bare, runs);
    figure__add(object, "steady_ns", all.steady_ns);
    figure__add(object, "added_steady_ns", all.added_steady_ns);
    figure__add(object, "ratio", all.ratio);
    figure__add(object, "buffers_ns", all.buffers_ns);
    figure__add(object, "added_buffers_ns", all.added_buffers_ns);
    figure__add(object, "two_rdtsc_ns", all.two_rdtsc_ns);
    figure__add(object, "two_rdtsc_buffers_ns", all.two_rdtsc_buffers_ns);
    figure__add(object, "event_bytes", all.event_bytes);
    figure__add(object, "mean_ns", all.mean_ns);
    figure__add(object, "min_ns", all.least_ns);
    figure__add(object, "bias_ns", all.bias_ns);
    figure__add(object, "calls", all.calls);
    figure__add(object, "counted", all.counted);
}

static struct json_object *json__row(const struct options *options, const struct row *rows,
                                     size_t tracer, unsigned threads)
{
    struct json_object *object = json_object_new_object();
    const struct row *row = &rows[tracer];
    json_object_object_add(object, "name", json_object_new_string(tracers[tracer].name));
    json_object_object_add(object, "threads", json_object_new_int((int)threads));
    if (*row->missing)
        figure__missing(object, row->failed, row->missing);
    else
        json__conclude(object, row, &rows[tracer__baseline(tracer)], options->runs);
    return object;
}

static void print_json(const struct options *options, struct row (*rows)[TRACERS],
                       double foreign_share)
{
    struct json_object *all = json_object_new_object(), *list = json_object_new_array();
    json_object_object_add(all, "schema", json_object_new_string("heurt.bench-tracers/1"));
    json_object_object_add(all, "runs", json_object_new_int((int)options->runs));
    figure__add(all, "foreign_cpu_share", foreign_share);
    for (unsigned threads = 1; threads <= THREADS; threads++)
        for (size_t i = 0; i < TRACERS; i++)
            if (chosen(options, i))
                json_object_array_add(list, json__row(options, rows[threads - 1], i, threads));
    json_object_object_add(all, "rows", list);
    puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
    json_object_put(all);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void measure_all(const struct options *options, const struct scratch *scratch,
                        struct row (*rows)[TRACERS])
{
    for (size_t i = 0; i < TRACERS * THREADS; i++)
        if (chosen(options, i % TRACERS))
            row__check(&rows[i / TRACERS][i % TRACERS], options, scratch, i % TRACERS);
    for (size_t run = 0; run < options->runs; run++) {
        for (size_t i = 0; i < TRACERS * THREADS; i++) {
            struct row *row = &rows[i / TRACERS][i % TRACERS];
            if (chosen(options, i % TRACERS) && !*row->missing)
                row__measure(row, options, scratch, i % TRACERS, (unsigned)(i / TRACERS) + 1, run);
        }
    }
}

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    static struct row rows[THREADS][TRACERS];
    struct cpu_use before = cpu_use__now();
    int code = 0;
    measure_all(options, scratch, rows);
    struct cpu_use after = cpu_use__now();
    double foreign_share = cpu_use__foreign(&before, &after);
    for (size_t i = 0; i < THREADS && code == 0; i++)
        if (*rows[i][0].missing)
            code = error__set(error, -ECHILD, "the bare function was not measured: %s",
                              rows[i][0].missing);
    if (code == 0)
        (options->json ? print_json : print_table)(options, rows, foreign_share);
    return code;
}

/* The script works in the scratch directory and finds what was built by these. */
static int enter(const struct options *options, const struct scratch *scratch, struct error *error)
{
    setenv("PROBES", options->probes, 1);
    setenv("HEURT", options->heurt, 1);
    setenv("JSON_GET", BENCH_JSON_GET, 1);
    setenv("LC_ALL", "C", 1);
    if (chdir(scratch->directory) != 0)
        return error__set(error, -errno, "cannot enter %s: %s", scratch->directory,
                          strerror(errno));
    return 0;
}

static const char *tracer_name(size_t index)
{
    return index < TRACERS ? tracers[index].name : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {
        .heurt = BENCH_HEURT, .script = BENCH_SCRIPT, .probes = BENCH_PROBES, .runs = 5};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"only", "NAME", .text = &options.only, .choice = tracer_name},
        {"command", "HEURT", .text = &options.heurt},
        {"probes", "DIR", .text = &options.probes},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(
            argc, argv, table,
            "N: 5 to 99; DIR: of --on, an absolute path, where the traces go (in memory when "
            "possible)\n",
            &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = enter(&options, &scratch, &error);
    if (code == 0)
        code = run_all(&options, &scratch, &error);
    if (code < 0)
        fprintf(stderr, "bench-tracers: %s\n", error.text);
    directory__remove(scratch.directory);
    return code < 0 ? 125 : 0;
}
