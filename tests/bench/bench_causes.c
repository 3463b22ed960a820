/* bench_causes.c: does heurt find the cause that was injected?
 *
 * Each program of tests/programs/causes is recorded several times, in turns with the others, and
 * tells what it injected by its own measure. What `heurt report` says of its function work is laid
 * beside:
 *
 *     share    of the excess, as the program measured it, and as heurt found it (medians)
 *     right    runs in which the answer was the one that its kind asks for (cause.h)
 *
 * A run in which the program itself lost more by waiting for a CPU than by what it injects, or by
 * neither, is disturbed: it is made again, a few times at most, and counted.
 *
 * Then the same beside a neighbour, a program that keeps CPUs busy: there the answer has to be
 * "runnable" as soon as the calls lost more by waiting for a CPU than by anything else.
 *
 * Bars: the right cause in 95 % of the runs; mixed causes within 10 points; no program without
 * interference ranked as such above 0.05; work that varies never ranked as interference; beside
 * the neighbour the right cause in 95 % of the runs. */
#include "cause.h"
#include "child.h"
#include "figure.h"
#include "foreign.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RIGHT_BAR 0.95

enum { RUNS_LEAST = 1, RUNS_MOST = SAMPLES_MOST, TRIES = 4, WORDS_MOST = 24 };

extern char **environ;

static const struct cause_program programs[] = {
    {"mutex", CAUSE_INTERFERENCE, {"lock"}},
    {"rwlock", CAUSE_INTERFERENCE, {"lock"}},
    {"spinlock", CAUSE_INTERFERENCE, {"lock"}},
    {"oversubscribed", CAUSE_INTERFERENCE, {"lock"}},
    {"condition", CAUSE_INTERFERENCE, {"condition"}},
    {"semaphore", CAUSE_INTERFERENCE, {"condition"}},
    {"barrier", CAUSE_INTERFERENCE, {"barrier"}},
    {"disk", CAUSE_INTERFERENCE, {"disk"}},
    {"network", CAUSE_INTERFERENCE, {"network"}},
    {"sleep", CAUSE_INTERFERENCE, {"sleep"}},
    {"page_fault", CAUSE_INTERFERENCE, {"page_fault"}},
    {"preemption", CAUSE_INTERFERENCE, {"runnable"}},
    {"false_sharing", CAUSE_INTERFERENCE, {"overlap"}},
    {"mixed", CAUSE_MIXED, {"lock", "sleep"}},
    {"mixed_faults", CAUSE_MIXED, {"lock", "page_fault"}},
    {"argument", CAUSE_ARGUMENT, {"workload"}},
    {"insertion", CAUSE_DATA, {"workload"}},
    {"search", CAUSE_DATA, {"workload"}},
    {"padded", CAUSE_QUIET, {NULL}},
    {"none", CAUSE_QUIET, {NULL}},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

struct run {
    struct cause_truth truth;
    struct cause_found found;
};

struct samples {
    struct run runs[RUNS_MOST];
    size_t count, disturbed;
    char missing[512]; /* why there are no more; empty: there are all */
    bool failed;       /* it was not the machine's fault */
};

struct options {
    const char *heurt, *programs, *parent, *only;
    size_t runs, neighbours;
    bool json, at_once;
};

/* ---- the neighbour --------------------------------------------------------------------------- */

struct neighbour {
    pid_t process;
    int input; /* it ends when this is closed, even when we are killed */
};

static int neighbour__start(struct neighbour *neighbour, const struct options *options,
                            struct error *error)
{
    char path[4096], threads[16];
    int ends[2];
    snprintf(path, sizeof path, "%s/cause_neighbour", options->programs);
    snprintf(threads, sizeof threads, "%zu", options->neighbours);
    char *words[] = {path, threads, NULL};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error__set(error, -errno, "no pipe: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int code = -posix_spawn(&neighbour->process, path, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    neighbour->input = ends[1];
    if (code != 0) {
        close(ends[1]);
        return error__set(error, code, "cannot run %s: %s", path, strerror(-code));
    }
    return 0;
}

static void neighbour__end(struct neighbour *neighbour)
{
    close(neighbour->input);
    while (waitpid(neighbour->process, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int record(const struct options *options, const struct scratch *scratch,
                  const struct cause_program *program, struct run *run, struct error *error)
{
    struct words words = {0};
    char path[4096], *text;
    bool argument = program->kind == CAUSE_ARGUMENT;
    snprintf(path, sizeof path, "%s/cause_%s", options->programs, program->name);
    words__add(&words, (const char *const[]){options->heurt, "record", "-q", "-o", scratch->trace,
                                             argument ? "-A" : "-f",
                                             argument ? "work=amount" : "work", "--", path, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    if (code != 0)
        return code;
    code = cause_truth__read(program, text, &run->truth, error);
    free(text);
    return code;
}

static int report(const struct options *options, const struct scratch *scratch,
                  const struct cause_program *program, struct run *run, struct error *error)
{
    struct words words = {0};
    char *text;
    words__add(&words, (const char *const[]){options->heurt, "report", "--no-rules", "--json", "-i",
                                             scratch->trace, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    if (code != 0)
        return code;
    code = cause_found__read(program, text, &run->found, error);
    free(text);
    return code;
}

/* alone: a disturbed run is made again. */
static void measure(const struct options *options, const struct scratch *scratch, size_t index,
                    bool alone, struct samples *samples)
{
    struct run *run = &samples->runs[samples->count];
    const struct cause_program *program = &programs[index];
    struct error error;
    for (unsigned i = 0; i < TRIES; i++) {
        directory__remove(scratch->trace);
        if (alone && !options->at_once)
            cpu_use__await_quiet();
        int code = record(options, scratch, program, run, &error);
        if (code == 0)
            code = report(options, scratch, program, run, &error);
        if (code != 0) {
            child__reason(scratch->log, &error, samples->missing, sizeof samples->missing);
            samples->failed = !strstr(error.text, "status 77"); /* what it needs is not here */
            return;
        }
        if (!alone || !cause__is_disturbed(program, &run->truth)) {
            samples->count++;
            return;
        }
        samples->disturbed++;
    }
}

static bool is_chosen(const struct options *options, size_t index)
{
    return !options->only || strcmp(options->only, programs[index].name) == 0;
}

static void run_all(const struct options *options, const struct scratch *scratch, bool alone,
                    struct samples samples[PROGRAMS])
{
    for (size_t run = 0; run < options->runs; run++)
        for (size_t i = 0; i < PROGRAMS; i++)
            if (is_chosen(options, i) && !*samples[i].missing)
                measure(options, scratch, i, alone, &samples[i]);
}

/* ---- what it comes to ------------------------------------------------------------------------ */

struct conclusion {
    size_t right, runs;
    double injected[CAUSE_PARTS], found[CAUSE_PARTS]; /* medians of shares */
    double runnable;                                  /* likewise, by the program */
    double difference, score;                         /* largest of its runs */
};

static double median_of(const struct samples *samples, size_t offset)
{
    double values[RUNS_MOST];
    for (size_t i = 0; i < samples->count; i++)
        memcpy(&values[i], (const char *)&samples->runs[i] + offset, sizeof *values);
    return samples__median(values, samples->count);
}

static struct conclusion conclude(size_t index, const struct samples *samples)
{
    struct conclusion all = {.runs = samples->count};
    for (size_t i = 0; i < samples->count; i++) {
        const struct run *run = &samples->runs[i];
        all.right += cause__is_right(&programs[index], &run->truth, &run->found);
        all.difference =
            fmax(all.difference, cause__difference(&programs[index], &run->truth, &run->found));
        if (strcmp(run->found.verdict, "interference") == 0)
            all.score = fmax(all.score, run->found.score);
    }
    for (size_t part = 0; part < CAUSE_PARTS; part++) {
        all.injected[part] =
            median_of(samples, offsetof(struct run, truth.share) + part * sizeof(double));
        all.found[part] =
            median_of(samples, offsetof(struct run, found.share) + part * sizeof(double));
    }
    all.runnable = median_of(samples, offsetof(struct run, truth.runnable));
    return all;
}

/* How often there was each word. */
struct word_counts {
    const char *words[WORDS_MOST];
    size_t counts[WORDS_MOST], used;
};

static void count_word(struct word_counts *counts, const char *word)
{
    size_t i = 0;
    while (i < counts->used && strcmp(counts->words[i], word) != 0)
        i++;
    if (i == WORDS_MOST)
        return;
    if (i == counts->used) {
        counts->words[counts->used++] = word;
        counts->counts[i] = 0;
    }
    counts->counts[i]++;
}

static size_t count_of(const struct word_counts *counts, const char *word)
{
    for (size_t i = 0; i < counts->used; i++)
        if (strcmp(counts->words[i], word) == 0)
            return counts->counts[i];
    return 0;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_share(const struct cause_program *program, const double share[CAUSE_PARTS])
{
    char text[32] = "-";
    if (program->parts[0])
        snprintf(text, sizeof text, "%.0f", 100 * share[0]);
    if (program->parts[1])
        snprintf(text + strlen(text), sizeof text - strlen(text), " + %.0f", 100 * share[1]);
    printf(" %10s", text);
}

static void print_program(size_t index, const struct samples *samples)
{
    const struct cause_program *program = &programs[index];
    struct conclusion all = conclude(index, samples);
    struct word_counts found = {0};
    char parts[64], separator = ' ';
    snprintf(parts, sizeof parts, "%s%s%s", program->parts[0] ? program->parts[0] : "nothing",
             program->parts[1] ? " + " : "", program->parts[1] ? program->parts[1] : "");
    printf("  %-15s %-18s", program->name, parts);
    if (*samples->missing || !samples->count) {
        printf(" %s: %s\n", *samples->missing && samples->failed ? "failed" : "skipped",
               *samples->missing ? samples->missing : "every run was disturbed");
        return;
    }
    print_share(program, all.injected);
    print_share(program, all.found);
    printf(" %8.0f %5zu/%zu %5zu ", 100 * all.runnable, all.right, all.runs, samples->disturbed);
    for (size_t i = 0; i < samples->count; i++)
        count_word(&found, cause_found__word(&samples->runs[i].found));
    for (size_t i = 0; i < found.used; i++) {
        printf("%c %s %zu", separator, found.words[i], found.counts[i]);
        separator = ',';
    }
    putchar('\n');
}

/* Rows: what the answer has to be. Columns: what it was; those of the rows first, in their order.
 */
struct confusion {
    struct word_counts rows, columns, cells[WORDS_MOST]; /* by row: counts by column */
};

static void confusion__add(struct confusion *confusion, const char *row, const char *column)
{
    size_t place = 0;
    count_word(&confusion->rows, row);
    count_word(&confusion->columns, column);
    while (place < confusion->rows.used && strcmp(confusion->rows.words[place], row) != 0)
        place++;
    if (place < WORDS_MOST)
        count_word(&confusion->cells[place], column);
}

static struct confusion confusion_of(const struct options *options, const struct samples *samples)
{
    struct confusion all = {{{0}}};
    for (unsigned turn = 0; turn < 2; turn++) { /* first what there is, to have its order */
        struct word_counts order = all.rows;
        all = (struct confusion){.columns = order};
        for (size_t i = 0; i < PROGRAMS; i++) {
            for (size_t k = 0; is_chosen(options, i) && k < samples[i].count; k++) {
                const struct run *run = &samples[i].runs[k];
                confusion__add(&all, cause__expected(&programs[i], &run->truth),
                               cause_found__word(&run->found));
            }
        }
    }
    return all;
}

static void print_confusion(const struct options *options, const struct samples *samples)
{
    const struct confusion all = confusion_of(options, samples);
    if (!all.rows.used)
        return;
    printf("\n  %-12s", "has to be");
    for (size_t i = 0; i < all.columns.used; i++)
        printf(" %10s", all.columns.words[i]);
    putchar('\n');
    for (size_t i = 0; i < all.rows.used; i++) {
        printf("  %-12s", all.rows.words[i]);
        for (size_t k = 0; k < all.columns.used; k++) {
            char text[24] = ".";
            size_t count = count_of(&all.cells[i], all.columns.words[k]);
            if (count)
                snprintf(text, sizeof text, "%zu", count);
            printf(" %10s", text);
        }
        putchar('\n');
    }
}

static void print_table(const struct options *options, const struct samples *samples)
{
    printf("  %-15s %-18s %10s %10s %8s %7s %5s  %s\n", "program", "injected", "share, %",
           "found, %", "runnable", "right", "again", "answers");
    for (size_t i = 0; i < PROGRAMS; i++)
        if (is_chosen(options, i))
            print_program(i, &samples[i]);
    print_confusion(options, samples);
}

/* ---- bars ------------------------------------------------------------------------------------ */

struct bars {
    size_t right, runs;         /* of interference and mixed */
    size_t beside, beside_runs; /* of all, beside the neighbour */
    size_t ranked, varying;     /* of work that varies: ranked as interference, of so many runs */
    double difference, quiet_score; /* NAN: nothing was measured */
    bool failed;
};

static void bars__add(struct bars *bars, size_t index, const struct samples *samples)
{
    struct conclusion all = conclude(index, samples);
    bars->failed |= *samples->missing && samples->failed;
    if (!samples->count)
        return;
    switch (programs[index].kind) {
    case CAUSE_MIXED:
        bars->difference = fmax(bars->difference, all.difference);
        /* fall through */
    case CAUSE_INTERFERENCE:
        bars->right += all.right;
        bars->runs += all.runs;
        break;
    case CAUSE_QUIET:
        bars->quiet_score = fmax(bars->quiet_score, all.score);
        break;
    default:
        for (size_t i = 0; i < samples->count; i++)
            bars->ranked += strcmp(samples->runs[i].found.verdict, "interference") == 0;
        bars->varying += all.runs;
        break;
    }
}

static struct bars bars_of(const struct options *options, const struct samples *alone,
                           const struct samples *beside)
{
    struct bars bars = {.difference = NAN, .quiet_score = NAN};
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (!is_chosen(options, i))
            continue;
        bars__add(&bars, i, &alone[i]);
        struct conclusion all = conclude(i, &beside[i]);
        bars.failed |= *beside[i].missing && beside[i].failed;
        bars.beside += all.right;
        bars.beside_runs += all.runs;
    }
    return bars;
}

static double share_of(size_t part, size_t all)
{
    return (double)part / (double)all; /* NAN: 0 of 0 */
}

/* What was not measured (NAN) is not missed. */
static bool bars__met(const struct bars *bars)
{
    return !bars->failed && !(share_of(bars->right, bars->runs) < RIGHT_BAR) &&
           !(bars->difference > CAUSE_SHARE_BAR) && !(bars->quiet_score > CAUSE_QUIET_SCORE) &&
           !bars->ranked && !(share_of(bars->beside, bars->beside_runs) < RIGHT_BAR);
}

static void print_bar(const char *what, double value, const char *unit, bool met)
{
    printf("  %-62s", what);
    if (isnan(value))
        puts("not measured");
    else
        printf("%7.2f%s  %s\n", value, unit, met ? "met" : "MISSED");
}

static void print_bars(const struct bars *bars)
{
    double right = share_of(bars->right, bars->runs);
    double beside = share_of(bars->beside, bars->beside_runs);
    putchar('\n');
    print_bar("the injected cause is found: at least 95 % of runs", 100 * right, " %",
              right >= RIGHT_BAR);
    print_bar("mixed causes: shares off by at most 10 points", 100 * bars->difference, "",
              bars->difference <= CAUSE_SHARE_BAR);
    print_bar("nothing injected: no interference with a score above 0.05", bars->quiet_score, "",
              bars->quiet_score <= CAUSE_QUIET_SCORE);
    print_bar("work that varies is ranked as interference: never",
              bars->varying ? (double)bars->ranked : NAN, " runs", !bars->ranked);
    print_bar("beside a busy neighbour the cause is found: at least 95 %", 100 * beside, " %",
              beside >= RIGHT_BAR);
}

static struct json_object *new_row(size_t index)
{
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "name", json_object_new_string(programs[index].name));
    return row;
}

static struct json_object *json__run(size_t index, const struct run *run)
{
    struct json_object *row = new_row(index);
    const char *expected = cause__expected(&programs[index], &run->truth);
    bool right = cause__is_right(&programs[index], &run->truth, &run->found);
    json_object_object_add(row, "expected", json_object_new_string(expected));
    json_object_object_add(row, "found", json_object_new_string(cause_found__word(&run->found)));
    figure__add(row, "injected_share", run->truth.share[0]);
    figure__add(row, "found_share", run->found.share[0]);
    figure__add(row, "runnable_share", run->truth.runnable);
    figure__add(row, "score", run->found.score);
    json_object_object_add(row, "right", json_object_new_boolean(right));
    return row;
}

static struct json_object *json__of(const struct options *options, const struct samples *samples)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (!is_chosen(options, i))
            continue;
        for (size_t k = 0; k < samples[i].count; k++)
            json_object_array_add(list, json__run(i, &samples[i].runs[k]));
        if (!*samples[i].missing)
            continue;
        struct json_object *row = new_row(i);
        figure__missing(row, samples[i].failed, samples[i].missing);
        json_object_array_add(list, row);
    }
    return list;
}

static void print_json(const struct options *options, const struct samples *alone,
                       const struct samples *beside)
{
    struct json_object *all = json_object_new_object();
    json_object_object_add(all, "schema", json_object_new_string("heurt.bench-causes/1"));
    json_object_object_add(all, "alone", json__of(options, alone));
    json_object_object_add(all, "beside_a_neighbour", json__of(options, beside));
    puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
    json_object_put(all);
}

static void print_all(const struct options *options, const struct samples *alone,
                      const struct samples *beside)
{
    printf(
        "%zu runs of each program; shares are of the excess of its function, medians;\nrunnable: "
        "what the program itself measured; again: disturbed runs, made again\n\n",
        options->runs);
    print_table(options, alone);
    if (options->neighbours) {
        printf("\nbeside a neighbour that keeps %zu threads busy\n\n", options->neighbours);
        print_table(options, beside);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const char *program_name(size_t index)
{
    return index < PROGRAMS ? programs[index].name : NULL;
}

static int measure_all(const struct options *options, const struct scratch *scratch,
                       struct samples *alone, struct samples *beside, struct error *error)
{
    struct neighbour neighbour;
    run_all(options, scratch, true, alone);
    if (!options->neighbours)
        return 0;
    int code = neighbour__start(&neighbour, options, error);
    if (code != 0)
        return code;
    run_all(options, scratch, false, beside);
    neighbour__end(&neighbour);
    return 0;
}

int main(int argc, char **argv)
{
    static struct samples alone[PROGRAMS], beside[PROGRAMS];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct options options = {.heurt = BENCH_HEURT,
                              .programs = BENCH_CAUSES,
                              .runs = 5,
                              .neighbours = cpus > 0 ? (size_t)cpus : 1};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"neighbours", "N", .number = &options.neighbours, .least = 0, .most = 1024},
        {"only", "PROGRAM", .text = &options.only, .choice = program_name},
        {"json", .flag = &options.json},
        {"at-once", .flag = &options.at_once},
        {"on", "DIR", .text = &options.parent},
        {"command", "HEURT", .text = &options.heurt},
        {"programs", "DIR", .text = &options.programs},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "DIR: where the traces go (in memory when that is possible)\n"
                       "--neighbours: how many threads keep CPUs busy beside them; 0: none\n"
                       "--at-once: without waiting until other programs are quiet\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = measure_all(&options, &scratch, alone, beside, &error);
    if (code < 0) {
        fprintf(stderr, "bench-causes: %s\n", error.text);
        return 125;
    }
    directory__remove(scratch.directory);
    struct bars bars = bars_of(&options, alone, beside);
    if (options.json) {
        print_json(&options, alone, beside);
    } else {
        print_all(&options, alone, beside);
        print_bars(&bars);
    }
    return bars__met(&bars) ? 0 : 1;
}
