/* heurt tables: any table of any analysis, in any format. */
#include "analysis/findings/wall_gains.h"
#include "analysis/iterations/iterations.h"
#include "analysis/outliers/outliers.h"
#include "analysis/sequences/sequences.h"
#include "analysis/structure/outline.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/whatif_session.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define OUTLINE_ROWS_AT_MOST 20000

/* A table that is asked for. */
struct wanted {
    const struct table_source *source;
    const char *columns; /* "score,function"; NULL: the format's */
};

struct options {
    const char *directory;
    const struct table_format *format;
    enum class_view view;
    const char *sort;
    struct vec conditions; /* const char * */
    struct vec wanted;     /* struct wanted */
    struct vec texts;      /* char *: what wanted refers to */
};

/* ---- results --------------------------------------------------------------------------------- */

/* All results that the wanted tables are made of; those that are not needed are NULL. */
struct results {
    struct loaded loaded;
    struct findings *findings;
    struct locks_filter filter;
    struct locks_result *locks;
    struct critical_path critical;
    struct structure *structure;
    struct outline_options outline_options;
    struct outline *outline;
    struct iterations *iterations;
    struct stand_out *found;
    struct whatif_session whatif;
    bool has_critical, has_whatif;
};

static int make_structure(struct results *results, struct error *error)
{
    int code = structure__compute(results->loaded.trace, &results->structure, error);
    if (code == 0)
        results->outline = outline__fitting(results->loaded.trace, results->structure,
                                            &results->outline_options, OUTLINE_ROWS_AT_MOST);
    return code;
}

static int make_whatif(struct results *results, struct error *error)
{
    int code = whatif_session__open(&results->whatif, &results->loaded.report, error);
    if (code < 0)
        return code;
    results->has_whatif = true;
    whatif_session__ask_about_all(&results->whatif, true);
    whatif_session__answer(&results->whatif);
    return 0;
}

/* Everything that is needed but the profile, in the order in which one stands on another. */
static int make_others(unsigned needs, struct results *results, struct error *error)
{
    const struct trace *trace = results->loaded.trace;
    const struct symbols *symbols = results->loaded.symbols;
    int code = 0;
    if (needs & NEEDS_FINDINGS)
        results->findings = findings__find(trace, symbols, results->loaded.profile);
    results->loaded.report.findings = results->findings;
    if (needs & NEEDS_GAINS)
        wall_gains__fill(trace, symbols, results->loaded.profile, results->findings, 0);
    if (needs & NEEDS_LOCKS)
        code = locks__compute(trace, symbols, &results->filter, &results->locks, error);
    if (code == 0 && needs & NEEDS_PATH) {
        critical_path__find(trace, &results->critical);
        results->has_critical = true;
    }
    if (code == 0 && needs & NEEDS_STRUCTURE)
        code = make_structure(results, error);
    if (code == 0 && needs & NEEDS_ITERATIONS)
        code = iterations__compute(trace, &results->iterations, error);
    if (code == 0 && needs & NEEDS_POINTS)
        code = stand_out__compute(trace, NULL, STAND_OUT_LIMIT, &results->found, error);
    if (code == 0 && needs & NEEDS_WHATIF)
        code = make_whatif(results, error);
    return code;
}

/* 0, or EXIT_HEURT after a sentence. */
static int make_results(const struct options *options, unsigned needs, struct results *results)
{
    struct error error;
    int status = needs & NEEDS_PROFILE ? loaded__profile(&results->loaded, options->view) : 0;
    return status ? status : make_others(needs, results, &error) < 0 ? failed(&error) : 0;
}

static void free_results(struct results *results)
{
    if (results->has_whatif)
        whatif_session__close(&results->whatif);
    if (results->has_critical)
        critical_path__free(&results->critical);
    stand_out__free(results->found);
    iterations__free(results->iterations);
    outline__free(results->outline);
    structure__free(results->structure);
    if (results->locks)
        locks__free(results->locks);
    findings__free(results->findings);
    loaded__close(&results->loaded);
}

/* ---- showing --------------------------------------------------------------------------------- */

struct showing {
    const struct table_format *format;
    struct vec views; /* struct table_view */
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct showing *showing = subject;
    showing->format->put(showing->views.items, showing->views.count, style, out);
}

/* What is asked for of the columns and rows. */
static int narrow(const struct options *options, const char *columns, struct table_view *view)
{
    struct error error;
    int code = 0;
    VEC_EACH (condition, &options->conditions, const char *)
        code = code ? code : table_view__where(view, *condition, &error);
    if (code == 0 && options->sort)
        code = table_view__sort(view, options->sort, &error);
    if (code == 0 && columns)
        code = table_view__choose(view, columns, &error);
    else if (code == 0 && !options->format->is_data)
        table_view__choose_titled(view);
    if (code == 0)
        return 0;
    say("%s", error.text);
    return EXIT_USAGE;
}

/* Takes the rows of each table, narrowed, and shows them. columns: of each; NULL: the format's. */
static int show_tables(const struct options *options, const struct table_rows *rows,
                       const char *const *columns, size_t count)
{
    struct showing showing = {options->format, VEC_OF(struct table_view)};
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        struct table_view view = table_view__of(&rows[i]);
        vec__push(&showing.views, &view);
        status = narrow(options, columns[i],
                        VEC_AT(&showing.views, struct table_view, showing.views.count - 1));
    }
    if (status == 0)
        status = show(present, &showing);
    VEC_EACH (view, &showing.views, struct table_view)
        table_view__free(view);
    vec__free(&showing.views);
    return status;
}

static int show_wanted(const struct options *options, const struct results *results)
{
    const struct locks_report locks = {&results->loaded.report, results->locks, &results->filter,
                                       results->has_critical ? &results->critical : NULL};
    const struct structure_report structure = {.report = &results->loaded.report,
                                               .structure = results->structure,
                                               .outline = results->outline,
                                               .options = &results->outline_options};
    const struct points_report points = {&results->loaded.report, results->found, NULL, SIZE_MAX};
    const struct whatif_view whatif =
        results->has_whatif ? whatif_session__view(&results->whatif) : (struct whatif_view){0};
    const struct table_subject subject = {&results->loaded.report, &locks,  &structure,
                                          results->iterations,     &points, &whatif};
    size_t count = options->wanted.count;
    struct table_rows *rows = memory__zeroed(count, sizeof *rows);
    const char **columns = memory__zeroed(count, sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const struct wanted *wanted = VEC_AT(&options->wanted, struct wanted, i);
        rows[i] = wanted->source->rows(&subject);
        columns[i] = wanted->columns;
    }
    int status = show_tables(options, rows, columns, count);
    for (size_t i = 0; i < count; i++)
        table_rows__free(&rows[i]);
    free(rows);
    free(columns);
    return status;
}

static int tables_of(const struct options *options)
{
    struct results results = {.locks = NULL};
    unsigned needs = 0;
    int status = loaded__open(options->directory, &results.loaded);
    if (status)
        return status;
    VEC_EACH (wanted, &options->wanted, struct wanted)
        needs |= wanted->source->needs;
    status = make_results(options, needs, &results);
    if (status == 0)
        status = show_wanted(options, &results);
    free_results(&results);
    return status;
}

/* ---- the list of all tables ------------------------------------------------------------------ */

static void present_list(const void *subject, const struct style *style, FILE *out)
{
    (void)subject;
    table_source__put_list(style, out);
}

/* On a screen by table; as data a table like others. */
static int list_tables(const struct options *options)
{
    if (options->format == &table_text && !options->sort && !options->conditions.count)
        return show(present_list, NULL);
    struct table_rows rows = table_source__columns();
    int status = show_tables(options, &rows, &(const char *){NULL}, 1);
    table_rows__free(&rows);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_format(const char *name, void *format)
{
    const struct table_format *found = table_format__named(name);
    if (found)
        *(const struct table_format **)format = found;
    return found;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct options, directory),
    {.kind = OPTION_OPERAND,
     .name = "NAME[:COLUMN,COLUMN…]",
     .help = "this table, with these columns; without one: which there are"},
    {.name = "format",
     .value = "text|csv|json|latex|markdown",
     .help = "how they are written",
     .expected = "text, csv, json, latex or markdown",
     VALUE(struct options, format, read_format)},
    {.name = "where",
     .value = "COMPARISON",
     .help = "only rows as score>0.1, wait_ns>=1ms, name~lock_*",
     TEXTS(struct options, conditions)},
    {.name = "sort",
     .value = "COLUMN",
     .help = "the largest first; -COLUMN: the smallest first",
     TEXT(struct options, sort)},
    CLASS_ROW(struct options, view),
    {0},
};

static int no_such_table(const char *name)
{
    struct nearest nearest = nearest__to(name);
    for (const struct table_source *const *source = table_sources; *source; source++)
        nearest__offer(&nearest, (*source)->table->name);
    char *hint = nearest__question(&nearest);
    say("there is no table '%s'%s heurt tables lists them", name, *hint ? hint : ";");
    free(hint);
    return EXIT_USAGE;
}

/* "NAME:COLUMN,COLUMN" */
static int take_table(const char *argument, struct options *options)
{
    char *name = memory__text(argument);
    vec__push(&options->texts, &name);
    char *colon = strchr(name, ':');
    if (colon)
        *colon = 0;
    struct wanted wanted = {table_source__named(name), colon ? colon + 1 : NULL};
    if (!wanted.source)
        return no_such_table(name);
    vec__push(&options->wanted, &wanted);
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct options options = {.directory = DEFAULT_TRACE,
                              .format = &table_text,
                              .view = CLASSES_BY_STRUCTURE,
                              .conditions = VEC_OF(const char *),
                              .wanted = VEC_OF(struct wanted),
                              .texts = VEC_OF(char *)};
    int status = options__read(self, argc, argv, &options);
    for (; status == 0 && optind < argc; optind++)
        status = take_table(argv[optind], &options);
    if (status == 0)
        status = options.wanted.count ? tables_of(&options) : list_tables(&options);
    VEC_EACH (text, &options.texts, char *)
        free(*text);
    vec__free(&options.texts);
    vec__free(&options.wanted);
    vec__free(&options.conditions);
    return status;
}

const struct command command_tables = {
    .name = "tables",
    .summary = "list and print the tables that all analyses make, in any format",
    .rows = option_rows,
    .operands = "[NAME[:COLUMN,COLUMN…]]…",
    .run = run};
