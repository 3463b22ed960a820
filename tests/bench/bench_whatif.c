/* bench_whatif.c: does a cure gain what heurt says?
 *
 * Each program is run as it is, with its cure, and recorded, in turns with the others. heurt is
 * asked what the program would take with the change that the cure is (a lock that nobody waits for,
 * two locks, no sleep …), which is laid beside what the cured program took:
 *
 *     wall       of the program as it is, without heurt
 *     predicted  of the cured one, by the recording of the other; and its range
 *     cured      of the cured one, without heurt
 *     error      predicted over cured, less 1
 *     replay     of the unchanged run over its recording, less 1
 *     record     the recorded run over the one without heurt, less 1
 *     again      runs that other programs disturbed, made again
 *
 * All are medians. Bars: the median of the errors' sizes is at most 10 %, none is above 25 %. */
#include "child.h"
#include "figure.h"
#include "forecast.h"
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

#define QUIET_MOST 0.1 /* of the CPUs */

enum { RUNS_LEAST = 1, RUNS_MOST = SAMPLES_MOST, WORDS = 8 };

/* In words of a change: the object of the lock that lost the most, the number of the costliest
 * class of the kind or function. */
#define LOCK "@lock"
#define LOSER "@loser"

struct cure {
    const char *program, *cured; /* names of executables */
    const char *words[WORDS];    /* of both */
    const char *cure[WORDS];     /* more words of the cured one */
    const char *change[WORDS];   /* as heurt whatif is asked */
    const char *kind, *function; /* of the loser; NULL: any */
    const char *record[WORDS];   /* options of the recording */
    const char *beyond;          /* why no replay can know it; NULL: it can */
};

#define EXAMPLE(name, ...)      \
    {                           \
        name, name, __VA_ARGS__ \
    }
#define CAUSE(name, ...)                          \
    {                                             \
        "cause_" name, "cause_" name, __VA_ARGS__ \
    }
#define REMOVE_LOCK              \
    {                            \
        "--remove", "lock=" LOCK \
    }
#define TAKES(...) .words = {__VA_ARGS__}
#define CURED_BY(...) .cure = {__VA_ARGS__}
#define ASKED(...) .change = {__VA_ARGS__}
#define REMOVE_WORK \
    ASKED("--remove", LOSER), .kind = "call", .function = "work", .record = {"-f", "work"}

/* What a thread decides by looking at a variable is not in a trace. */
#define POLLS .beyond = "other threads work on until one is done"
#define ANSWERS .beyond = "a thread of its own answers, over a socket"

static const struct cure cures[] = {
    EXAMPLE("mutex", TAKES("--iterations", "30000"), CURED_BY("--private"), .change = REMOVE_LOCK),
    EXAMPLE("mutex", TAKES("--iterations", "30000"), CURED_BY("--delay", "0"),
            .change = REMOVE_LOCK),
    EXAMPLE("mutex", TAKES("--iterations", "30000"), CURED_BY("--delay", "0", "--work", "2000"),
            ASKED("--shrink", "lock=" LOCK ":0%")),
    EXAMPLE("mutex", TAKES("--iterations", "30000"), CURED_BY("--delay", "1000", "--work", "3000"),
            ASKED("--shrink", "lock=" LOCK ":50%")),
    EXAMPLE("spinlock", TAKES("--iterations", "200000"), CURED_BY("--private"),
            .change = REMOVE_LOCK),
    EXAMPLE("spinlock", TAKES("--iterations", "200000", "--oversubscribe"), CURED_BY("--private"),
            .change = REMOVE_LOCK),
    EXAMPLE("spinlock", TAKES("--threads", "3", "--iterations", "200000"),
            CURED_BY("--threads", "2", "--iterations", "300000"), ASKED("--threads", "2")),
    EXAMPLE("mutex", TAKES("--threads", "2", "--iterations", "30000"),
            CURED_BY("--threads", "4", "--iterations", "15000"), ASKED("--threads", "4")),
    EXAMPLE("queue", TAKES("--iterations", "100000"), CURED_BY("--locks", "2"),
            ASKED("--split", "lock=" LOCK ":site")),
    EXAMPLE("ray_counter", TAKES("--iterations", "500000", "--delay", "200"),
            CURED_BY("--cure", "atomic"), .change = REMOVE_LOCK),
    EXAMPLE("ray_counter", TAKES("--iterations", "500000", "--delay", "200"),
            CURED_BY("--cure", "padded"), .change = REMOVE_LOCK),
    EXAMPLE("false_sharing", TAKES("--iterations", "200000", "--delay", "2000"),
            CURED_BY("--padded"), ASKED("--remove", LOSER), .kind = "call",
            .function = "first_thread_access", .record = {"-f", "*_access"}, POLLS),
    EXAMPLE("disk", TAKES("--iterations", "4000"), CURED_BY("--threads", "1"),
            ASKED("--remove", LOSER), .kind = "disk", .function = "first_thread_read", POLLS),
    CAUSE("mutex", TAKES("--times", "2"), CURED_BY("--cure"), .change = REMOVE_LOCK),
    CAUSE("rwlock", TAKES("--times", "2"), CURED_BY("--cure"), .change = REMOVE_LOCK, POLLS),
    CAUSE("spinlock", TAKES("--times", "2"), CURED_BY("--cure"), .change = REMOVE_LOCK),
    CAUSE("oversubscribed", TAKES("--times", "2"), CURED_BY("--cure"), .change = REMOVE_LOCK),
    CAUSE("condition", TAKES("--times", "2"), CURED_BY("--cure"), ASKED("--remove", LOSER),
          .kind = "condition"),
    CAUSE("semaphore", TAKES("--times", "2"), CURED_BY("--cure"), ASKED("--remove", LOSER),
          .kind = "semaphore"),
    CAUSE("barrier", TAKES("--times", "2"), CURED_BY("--cure"), ASKED("--remove", LOSER),
          .kind = "barrier"),
    CAUSE("disk", TAKES("--times", "4"), CURED_BY("--cure"), REMOVE_WORK),
    CAUSE("network", TAKES("--times", "2"), CURED_BY("--cure"), REMOVE_WORK, ANSWERS),
    CAUSE("sleep", TAKES("--times", "4"), CURED_BY("--cure"), REMOVE_WORK),
    CAUSE("page_fault", TAKES("--times", "2"), CURED_BY("--cure"), REMOVE_WORK),
    {"cause_false_sharing", "cause_padded", TAKES("--times", "2"), CURED_BY(NULL), REMOVE_WORK},
};
enum { CURES = sizeof cures / sizeof cures[0] };

struct samples {
    double wall[RUNS_MOST], cured[RUNS_MOST];
    struct forecast forecasts[RUNS_MOST];
    size_t count, disturbed;
    char missing[512]; /* why there are no more; empty: there are all */
    bool failed;       /* it was not the machine's fault */
};

struct options {
    const char *heurt, *examples, *programs, *parent, *only;
    size_t runs, tries;
    bool json;
};

/* ---- runs ------------------------------------------------------------------------------------ */

static const char *program_path(const struct options *options, const char *name, char path[4096])
{
    bool cause = strncmp(name, "cause_", 6) == 0;
    snprintf(path, 4096, "%s/%s", cause ? options->programs : options->examples, name);
    return path;
}

static void plain_words(const struct options *options, const struct cure *cure, bool cured,
                        char path[4096], struct words *words)
{
    const char *name = cured ? cure->cured : cure->program;
    words__add(words, (const char *const[]){program_path(options, name, path), NULL});
    words__add(words, cure->words);
    if (cured)
        words__add(words, cure->cure);
}

static void record_words(const struct options *options, const struct scratch *scratch,
                         const struct cure *cure, char path[4096], struct words *words)
{
    words__add(words, (const char *const[]){options->heurt, "record", "-q", "--no-choice", "-o",
                                            scratch->trace, NULL});
    words__add(words, cure->record);
    words__add(words,
               (const char *const[]){"--", program_path(options, cure->program, path), NULL});
    words__add(words, cure->words);
}

/* One run and its whole time. While other programs have more than QUIET_MOST of the CPUs during it,
 * it is made again, a few times at most. */
static int run(const struct options *options, const struct scratch *scratch,
               const struct words *words, double *wall, struct samples *samples,
               struct error *error)
{
    for (size_t i = 0; i < options->tries; i++) {
        char *text;
        directory__remove(scratch->trace);
        if (options->tries > 1)
            cpu_use__await_quiet();
        struct cpu_use before = cpu_use__now(), after;
        int code = child__run(words, scratch->log, &text, error);
        after = cpu_use__now();
        free(text);
        *wall = after.wall_s - before.wall_s;
        if (code != 0 || cpu_use__foreign(&before, &after) <= QUIET_MOST)
            return code;
        samples->disturbed++;
    }
    return 0;
}

static int run_plain(const struct options *options, const struct scratch *scratch,
                     const struct cure *cure, bool cured, struct samples *samples,
                     struct error *error)
{
    struct words words = {0};
    char path[4096];
    plain_words(options, cure, cured, path, &words);
    double *walls = cured ? samples->cured : samples->wall;
    return run(options, scratch, &words, &walls[samples->count], samples, error);
}

static int record(const struct options *options, const struct scratch *scratch,
                  const struct cure *cure, struct samples *samples, struct error *error)
{
    struct words words = {0};
    char path[4096];
    double wall;
    record_words(options, scratch, cure, path, &words);
    return run(options, scratch, &words, &wall, samples, error);
}

static int find_loser(const struct options *options, const struct scratch *scratch,
                      const struct cure *cure, struct loser *loser, struct error *error)
{
    struct words words = {0};
    char *text;
    words__add(&words, (const char *const[]){options->heurt, "report", "--json", "-i",
                                             scratch->trace, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    if (code != 0)
        return code;
    code = loser__find(text, cure->kind ? cure->kind : "lock", cure->function ? cure->function : "",
                       loser, error);
    free(text);
    return code;
}

/* A word of the change with what was found in place of what stands for it. */
static const char *fill_in(const char *word, const struct loser *loser, char text[128])
{
    const char *lock = strstr(word, LOCK);
    if (strcmp(word, LOSER) == 0)
        snprintf(text, 128, "%zu", loser->rank);
    else if (lock)
        snprintf(text, 128, "%.*s%s%s", (int)(lock - word), word, loser->object,
                 lock + strlen(LOCK));
    else
        snprintf(text, 128, "%s", word);
    return text;
}

static int predict(const struct options *options, const struct scratch *scratch,
                   const struct cure *cure, struct forecast *forecast, struct error *error)
{
    struct words words = {0};
    struct loser loser;
    char filled[WORDS][128], *text;
    int code = find_loser(options, scratch, cure, &loser, error);
    if (code != 0)
        return code;
    words__add(&words, (const char *const[]){options->heurt, "whatif", "--json", "-i",
                                             scratch->trace, NULL});
    for (size_t i = 0; i < WORDS && cure->change[i]; i++)
        words__add(&words,
                   (const char *const[]){fill_in(cure->change[i], &loser, filled[i]), NULL});
    code = child__run(&words, scratch->log, &text, error);
    if (code != 0)
        return code;
    code = forecast__read(text, forecast, error);
    free(text);
    return code;
}

static void measure(const struct options *options, const struct scratch *scratch,
                    const struct cure *cure, struct samples *samples)
{
    struct error error;
    int code = run_plain(options, scratch, cure, false, samples, &error);
    if (code == 0)
        code = run_plain(options, scratch, cure, true, samples, &error);
    if (code == 0)
        code = record(options, scratch, cure, samples, &error);
    if (code == 0)
        code = predict(options, scratch, cure, &samples->forecasts[samples->count], &error);
    if (code == 0) {
        samples->count++;
        return;
    }
    child__reason(scratch->log, &error, samples->missing, sizeof samples->missing);
    samples->failed = !strstr(error.text, "status 77"); /* what it needs is not here */
}

static bool is_chosen(const struct options *options, const struct cure *cure)
{
    return !options->only || strcmp(options->only, cure->program) == 0;
}

static void measure_all(const struct options *options, const struct scratch *scratch,
                        struct samples samples[CURES])
{
    for (size_t run = 0; run < options->runs; run++)
        for (size_t i = 0; i < CURES; i++)
            if (is_chosen(options, &cures[i]) && !*samples[i].missing)
                measure(options, scratch, &cures[i], &samples[i]);
}

/* ---- what it comes to ------------------------------------------------------------------------ */

static double median_of(const struct samples *samples, size_t offset)
{
    double values[RUNS_MOST];
    for (size_t i = 0; i < samples->count; i++)
        memcpy(&values[i], (const char *)&samples->forecasts[i] + offset, sizeof *values);
    return samples__median(values, samples->count);
}

static struct forecast_row row_of(const struct samples *samples)
{
    double measured = median_of(samples, offsetof(struct forecast, measured));
    double wall = samples__middle(samples->wall, samples->count);
    return (struct forecast_row){
        .wall = wall,
        .cured = samples__middle(samples->cured, samples->count),
        .predicted = median_of(samples, offsetof(struct forecast, wall)),
        .least = median_of(samples, offsetof(struct forecast, least)),
        .most = median_of(samples, offsetof(struct forecast, most)),
        .replay_error = median_of(samples, offsetof(struct forecast, replayed)) / measured - 1,
        .recording = measured / wall - 1,
    };
}

/* The words with a blank between them. */
static void join(const char *const *words, char *text, size_t bytes)
{
    *text = '\0';
    for (size_t i = 0; i < WORDS && words[i]; i++)
        snprintf(text + strlen(text), bytes - strlen(text), "%s%s", i ? " " : "", words[i]);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_row(const struct cure *cure, const struct samples *samples)
{
    char change[128], cured[128];
    join(cure->change, change, sizeof change);
    join(cure->cure, cured, sizeof cured);
    printf("%c %-20s %-25s %-23s", cure->beyond ? '*' : ' ', cure->program,
           *cured ? cured : cure->cured, change);
    if (!samples->count) {
        printf(" %s: %s\n", samples->failed ? "failed" : "skipped", samples->missing);
        return;
    }
    const struct forecast_row row = row_of(samples);
    printf(" %6.3f %6.3f (%5.3f to %5.3f) %6.3f %6.1f %4s %7.1f %7.1f %5zu\n", row.wall,
           row.predicted, row.least, row.most, row.cured, 100 * forecast_row__error(&row),
           forecast_row__in_range(&row) ? "yes" : "no", 100 * row.replay_error, 100 * row.recording,
           samples->disturbed);
}

/* all: also of the rows that are beyond any replay. */
static struct forecast_summary summary_of(const struct samples *samples, bool all)
{
    struct forecast_row rows[CURES];
    size_t count = 0;
    for (size_t i = 0; i < CURES; i++)
        if (samples[i].count && (all || !cures[i].beyond))
            rows[count++] = row_of(&samples[i]);
    return forecast__summary(rows, count);
}

static void print_summary(const char *of, const struct forecast_summary *summary)
{
    printf(
        "  %-30s median error %.1f %% (at most %.0f), largest %.1f %% (at most %.0f), %zu of %zu "
        "in range: %s\n",
        of, 100 * summary->median, 100 * FORECAST_MEDIAN_BAR, 100 * summary->worst,
        100 * FORECAST_WORST_BAR, summary->in_range, summary->rows,
        !summary->rows                      ? "not measured"
        : forecast_summary__is_met(summary) ? "met"
                                            : "MISSED");
}

static void print_all(const struct options *options, const struct samples *samples)
{
    printf("%zu runs of each, interleaved; wall times in seconds, medians; errors in %%\n\n",
           options->runs);
    printf("  %-20s %-25s %-23s %6s %-24s %6s %6s %4s %7s %7s %5s\n", "program", "cure", "change",
           "wall", "predicted (range)", "cured", "error", "in", "replay", "record", "again");
    for (size_t i = 0; i < CURES; i++)
        if (is_chosen(options, &cures[i]))
            print_row(&cures[i], &samples[i]);
    const struct forecast_summary known = summary_of(samples, false);
    const struct forecast_summary all = summary_of(samples, true);
    puts("");
    for (size_t i = 0; i < CURES; i++)
        if (is_chosen(options, &cures[i]) && cures[i].beyond)
            printf("  * %s: %s\n", cures[i].program, cures[i].beyond);
    print_summary("what a replay can know (no *):", &known);
    print_summary("all:", &all);
}

static struct json_object *json__row(const struct cure *cure, const struct samples *samples)
{
    struct json_object *object = json_object_new_object();
    char text[128];
    json_object_object_add(object, "program", json_object_new_string(cure->program));
    join(cure->cure, text, sizeof text);
    json_object_object_add(object, "cure", json_object_new_string(text));
    join(cure->change, text, sizeof text);
    json_object_object_add(object, "change", json_object_new_string(text));
    if (!samples->count) {
        figure__missing(object, samples->failed, samples->missing);
        return object;
    }
    const struct forecast_row row = row_of(samples);
    figure__add(object, "wall_s", row.wall);
    figure__add(object, "predicted_s", row.predicted);
    figure__add(object, "least_s", row.least);
    figure__add(object, "most_s", row.most);
    figure__add(object, "cured_s", row.cured);
    figure__add(object, "error", forecast_row__error(&row));
    figure__add(object, "replay_error", row.replay_error);
    figure__add(object, "recording", row.recording);
    json_object_object_add(object, "in_range",
                           json_object_new_boolean(forecast_row__in_range(&row)));
    return object;
}

static void print_json(const struct options *options, const struct samples *samples)
{
    struct json_object *all = json_object_new_object(), *rows = json_object_new_array();
    const struct forecast_summary summary = summary_of(samples, true);
    json_object_object_add(all, "schema", json_object_new_string("heurt.bench-whatif/1"));
    for (size_t i = 0; i < CURES; i++)
        if (is_chosen(options, &cures[i]))
            json_object_array_add(rows, json__row(&cures[i], &samples[i]));
    json_object_object_add(all, "rows", rows);
    figure__add(all, "median_error", summary.median);
    figure__add(all, "largest_error", summary.worst);
    json_object_object_add(all, "met", json_object_new_boolean(forecast_summary__is_met(&summary)));
    puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
    json_object_put(all);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Of those that differ. */
static const char *program_name(size_t index)
{
    for (size_t i = 0; i < CURES; i++) {
        bool again = i > 0 && strcmp(cures[i].program, cures[i - 1].program) == 0;
        if (!again && index-- == 0)
            return cures[i].program;
    }
    return NULL;
}

static bool any_failed(const struct samples *samples)
{
    for (size_t i = 0; i < CURES; i++)
        if (samples[i].failed)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static struct samples samples[CURES];
    struct options options = {.heurt = BENCH_HEURT,
                              .examples = BENCH_EXAMPLES,
                              .programs = BENCH_CAUSES,
                              .runs = 5,
                              .tries = 4};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"tries", "N", .number = &options.tries, .least = 1, .most = 100},
        {"only", "PROGRAM", .text = &options.only, .choice = program_name},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"command", "HEURT", .text = &options.heurt},
        {"examples", "DIR", .text = &options.examples},
        {"programs", "DIR", .text = &options.programs},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(
            argc, argv, table,
            "DIR: where the traces go (in memory when that is possible)\n"
            "--tries: how often a run that others disturb is made; 1: waits for nobody\n",
            &status))
        return status;
    if (scratch__make(&scratch, options.parent, &error) < 0) {
        fprintf(stderr, "bench-whatif: %s\n", error.text);
        return 125;
    }
    measure_all(&options, &scratch, samples);
    directory__remove(scratch.directory);
    const struct forecast_summary summary = summary_of(samples, true);
    if (options.json)
        print_json(&options, samples);
    else
        print_all(&options, samples);
    return forecast_summary__is_met(&summary) && !any_failed(samples) ? 0 : 1;
}
