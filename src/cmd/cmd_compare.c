/* heurt compare: runs against runs. */
#include "analysis/timeline/wall_ledger.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cmd/checking.h"
#include "cmd/command.h"
#include "cmd/compared_runs.h"
#include "cmd/compared_series.h"
#include "cmd/compared_side.h"
#include "cmd/comparison_page.h"
#include "cmd/html_file.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "present/compare/comparison_screens.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct compare_options {
    const struct comparison_presenter *presenter;
    const char *table; /* "locks:wait_ns" */
    const char *junit; /* a file; NULL: none */
    const char *output;
    const char *html, *flame; /* files; NULL: none */
    const char *base, *rows;  /* of several results; NULL: two sides */
    bool latex;
    enum class_view view;
    uint64_t width;
    struct vec conditions; /* const char * */
};

/* What is compared. */
struct compare_job {
    const struct compare_options *options;
    struct compared_table table;
    struct vec directories;   /* char *: owned */
    struct vec before, after; /* struct run_figures */
    struct checking checking;
};

/* ---- showing --------------------------------------------------------------------------------- */

struct comparison_showing {
    const struct comparison_presenter *presenter;
    const struct comparison_view *view;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct comparison_showing *showing = subject;
    showing->presenter->put(showing->view, style, out);
}

static void put_file(const void *subject, FILE *out)
{
    const struct style plain = {.columns = SCREEN_COLUMNS, .unicode = true};
    present(subject, &plain, out);
}

/* Without --html, the screen: also where there is a flame graph. */
static int write_files(const struct compare_job *job, const struct compared_runs *runs,
                       const struct comparison_view *view)
{
    const struct compare_options *options = job->options;
    if (!options->html && !options->flame)
        return 0;
    return comparison_page__write(runs, view, options->html, options->flame);
}

static int show_comparison(const struct compare_job *job, const struct comparison_view *view)
{
    const struct compare_options *options = job->options;
    const struct comparison_showing showing = {options->presenter, view};
    const char *first = VEC_AT(&job->before, struct run_figures, 0)->directory;
    int status = options->html     ? 0
                 : options->output ? html_file__write(first, options->output, put_file, &showing)
                                   : show_either(options->presenter == &comparison_text, present,
                                                 &showing, options->width);
    int other = checking__write_junit(&job->checking, "heurt compare", first, options->junit);
    return status ? status : other;
}

/* Functions that only one side has are on both. */
static bool has_unmatched(const struct runs_comparison *comparison)
{
    bool is_any_new = false, is_any_gone = false;
    VEC_EACH (row, &comparison->rows, struct comparison_row) {
        is_any_new = is_any_new || row->is_new;
        is_any_gone = is_any_gone || row->is_gone;
    }
    return is_any_new && is_any_gone;
}

static bool has(const struct vec *side, const char *name)
{
    VEC_EACH (run, side, struct run_figures)
        if (run_figures__has(run, name))
            return true;
    return false;
}

/* Of one run of each side no more is known: another one may have what these have not. */
static void drop_doubtful(const struct compare_job *job, struct vec *renames)
{
    size_t kept = 0;
    VEC_EACH (renamed, renames, struct renamed)
        if (!has(&job->before, renamed->after) && !has(&job->after, renamed->before))
            *VEC_AT(renames, struct renamed, kept++) = *renamed;
    renames->count = kept;
}

static void rename_rows(struct compare_job *job, const struct vec *renames)
{
    VEC_EACH (run, &job->before, struct run_figures)
        run_figures__rename(run, renames, true);
    VEC_EACH (run, &job->after, struct run_figures)
        run_figures__rename(run, renames, false);
}

/* Looks closer at one run of each side. */
static int look_closer(struct compare_job *job, struct runs_comparison *comparison,
                       struct compared_runs *runs)
{
    const struct compared_wishes wishes = {.renames = has_unmatched(comparison),
                                           .page = job->options->html};
    int status = compared_runs__open(comparison, &wishes, runs);
    drop_doubtful(job, &runs->renames);
    if (status == 0 && runs->renames.count) {
        rename_rows(job, &runs->renames);
        comparison__free(comparison);
        *comparison = comparison__of(&job->before, &job->after, job->table.lives, &SHIFT_RULE);
    }
    return status;
}

static int compare_sides(struct compare_job *job)
{
    struct runs_comparison comparison =
        comparison__of(&job->before, &job->after, job->table.lives, &SHIFT_RULE);
    struct compared_runs runs = {.has_before = false};
    const struct comparison_view view = {&comparison,
                                         &job->before,
                                         &job->after,
                                         job->table.source->table->name,
                                         job->table.value,
                                         &job->checking.checks,
                                         job->table.lives ? &runs.phases : NULL};
    int status = job->table.lives ? look_closer(job, &comparison, &runs) : 0;
    if (status == 0)
        status = checking__judge(&job->checking, comparison__judge, &view);
    if (status == 0)
        status = write_files(job, &runs, &view);
    if (status == 0)
        status = show_comparison(job, &view);
    if (status == 0)
        status = checking__status(&job->checking);
    comparison__free(&comparison);
    compared_runs__close(&runs);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_number(const struct column *column)
{
    return column->type == COLUMN_COUNT || column->type == COLUMN_SMALL ||
           column->type == COLUMN_SIGNED || column->type == COLUMN_REAL ||
           column->type == COLUMN_FACTOR;
}

static int choose_column(struct compare_job *job, const char *key)
{
    const struct table *table = job->table.source->table;
    job->table.value = key ? table__column(table, key) : table__first_time(table);
    if (job->table.value && is_number(job->table.value))
        return 0;
    if (key)
        say("the table %s has no figures '%s'; heurt tables lists its columns", table->name, key);
    else
        say("which column of the table %s? --table %s:COLUMN; heurt tables lists them", table->name,
            table->name);
    return EXIT_USAGE;
}

static int choose_table(struct compare_job *job, const char *asked)
{
    char *name = memory__text(asked ? asked : "wall");
    char *colon = strchr(name, ':');
    if (colon)
        *colon = 0;
    job->table.source = table_source__named(name);
    int status = EXIT_USAGE;
    if (job->table.source)
        status = choose_column(job, colon ? colon + 1 : NULL);
    else
        say("there is no table '%s'; heurt tables lists them", name);
    free(name);
    if (status == 0 && job->table.source == &wall_source &&
        strcmp(job->table.value->key, "wall_ns") == 0)
        job->table.lives = table__column(job->table.source->table, "lives_ns");
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static const struct option_row option_rows[] = {
    {.kind = OPTION_OPERAND,
     .name = "BEFORE AFTER",
     .help = "two traces, or two sets that record --repeat made; of several\n"
             "traces on a side -- stands between the sides"},
    {.name = "table",
     .value = "NAME[:COLUMN]",
     .help = "compare this table of heurt tables; without it: what the wall time\n"
             "went to",
     TEXT(struct compare_options, table)},
    {.name = "fail-if",
     .value = "CONDITION",
     .help = "end with 3 if it is so, with 4 if that is not decided: 'wall > +5 %'",
     TEXTS(struct compare_options, conditions)},
    {.name = "junit",
     .value = "FILE",
     .help = "the conditions as JUnit XML",
     TEXT(struct compare_options, junit)},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .help = "into this file; it is there as a whole or not at all",
     TEXT(struct compare_options, output)},
    CLASS_ROW(struct compare_options, view),
    {.name = "base",
     .value = "RUNS",
     .help = "a table of any number of results, and what each is more than RUNS:\n"
             "traces, sets, or directories of heurt scale",
     TEXT(struct compare_options, base)},
    {.name = "rows",
     .value = "FILE",
     .help = "with --base, these rows: a line each, PATTERN = NAME",
     TEXT(struct compare_options, rows)},
    WIDTH_ROW(struct compare_options, width),
    FORMAT_ROW(struct compare_options, presenter, json, &comparison_json),
    FORMAT_ROW(struct compare_options, presenter, csv, &comparison_csv),
    {.name = "markdown",
     .help = "for a pull request",
     .group = 'f',
     CONSTANT(struct compare_options, presenter, &comparison_markdown)},
    {.name = "latex",
     .help = "with --base, for a paper",
     .group = 'f',
     FLAG(struct compare_options, latex)},
    {.name = "html",
     .value = "FILE",
     .help = "as a page for a browser, in one file",
     .group = 'f',
     TEXT(struct compare_options, html)},
    {.name = "flame",
     .value = "FILE",
     .help = "besides, a differential flame graph (SVG)",
     TEXT(struct compare_options, flame)},
    {0},
};

/* getopt forgets where -- stood among the operands. */
static char between_sides[] = "";

static void mark_separator(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            argv[i] = between_sides;
            return;
        }
}

static int load_sides(const struct command *self, struct compare_job *job, int count,
                      char *const *operands)
{
    int separator = -1, status = 0;
    for (int i = 0; i < count; i++)
        if (operands[i] == between_sides)
            separator = i;
    if (separator == 0) /* heurt compare -- A B: the usual end of options */
        return load_sides(self, job, count - 1, operands + 1);
    if (separator < 0 && count != 2)
        return wrong_usage(self, "expected two traces, or -- between those of both sides");
    if (separator == count - 1)
        return wrong_usage(self, "no trace stands behind --");
    int before_end = separator < 0 ? 1 : separator;
    for (int i = 0; status == 0 && i < before_end; i++)
        status = compared_side__add_set(&job->before, &job->table, operands[i], &job->directories);
    for (int i = separator < 0 ? 1 : separator + 1; status == 0 && i < count; i++)
        status = compared_side__add_set(&job->after, &job->table, operands[i], &job->directories);
    return status;
}

static void free_job(struct compare_job *job)
{
    compared_side__free(&job->before);
    compared_side__free(&job->after);
    texts__free(&job->directories);
    checking__free(&job->checking);
}

/* They are of what the wall time went to. */
static int check_files(const struct command *self, const struct compare_options *options)
{
    if (options->html && options->output)
        return wrong_usage(self, "--html names its file: -o is of the other formats");
    if ((options->html || options->flame) && options->table)
        return wrong_usage(self, "--html and --flame are of the wall time: no --table goes with "
                                 "them");
    if (!options->base && (options->rows || options->latex))
        return wrong_usage(self, "--rows and --latex are of the table of several results: --base");
    if (options->base && (options->html || options->flame || options->conditions.count))
        return wrong_usage(self, "--base makes a table: --html, --flame and --fail-if are of two "
                                 "sides");
    return 0;
}

static const struct table_format *series_format(const struct compare_options *options)
{
    return options->latex                               ? &table_latex
           : options->presenter == &comparison_json     ? &table_json
           : options->presenter == &comparison_csv      ? &table_csv
           : options->presenter == &comparison_markdown ? &table_markdown
                                                        : &table_text;
}

/* The base, and then the others. */
static int show_series(const struct compare_job *job, int count, char **operands)
{
    const struct compare_options *options = job->options;
    const struct series_request request = {&job->table, series_format(options), options->rows,
                                           options->output, options->width};
    const char **all = memory__zeroed((size_t)count + 1, sizeof *all);
    int used = 0;
    all[used++] = options->base;
    for (int i = 0; i < count; i++)
        if (operands[i] != between_sides)
            all[used++] = operands[i];
    int status = compared_series__show(&request, used, (char *const *)all);
    free(all);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct compare_options options = {.presenter = &comparison_text,
                                      .view = CLASSES_BY_STRUCTURE,
                                      .conditions = VEC_OF(const char *)};
    struct compare_job job = {.options = &options,
                              .directories = VEC_OF(char *),
                              .before = VEC_OF(struct run_figures),
                              .after = VEC_OF(struct run_figures)};
    mark_separator(argc, argv);
    int status = options__read(self, argc, argv, &options);
    if (status == 0 && options.junit && !options.conditions.count)
        status = wrong_usage(self, "--junit tells of conditions: give some with --fail-if");
    if (status == 0)
        status = check_files(self, &options);
    if (status == 0)
        status = checking__parse(&options.conditions, &job.checking);
    if (status == 0)
        status = choose_table(&job, options.table);
    job.table.view = options.view;
    if (status == 0 && options.base) {
        status = show_series(&job, argc - optind, argv + optind);
        free_job(&job);
        vec__free(&options.conditions);
        return status;
    }
    if (status == 0)
        status = load_sides(self, &job, argc - optind, argv + optind);
    if (status == 0)
        status = compare_sides(&job);
    free_job(&job);
    vec__free(&options.conditions);
    return status;
}

const struct command command_compare = {
    .name = "compare",
    .summary = "compare runs with runs: faster or slower, and what makes the difference",
    .rows = option_rows,
    .operands = "BEFORE… [--] AFTER…",
    .run = run};
