/* heurt tables: any table of any analysis, in any format. */
#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/table_results.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* A table that is asked for. */
struct wanted {
    const struct table_source *source;
    const char *columns; /* "score,function"; NULL: the format's */
};

struct tables_options {
    const char *directory;
    const struct table_format *format;
    enum class_view view;
    const char *sort;
    struct vec conditions; /* const char * */
    struct vec wanted;     /* struct wanted */
    struct vec texts;      /* char *: what wanted refers to */
};

/* ---- showing --------------------------------------------------------------------------------- */

struct tables_showing {
    const struct table_format *format;
    struct vec views; /* struct table_view */
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct tables_showing *showing = subject;
    showing->format->put(showing->views.items, showing->views.count, style, out);
}

/* What is asked for of the columns and rows. */
static int narrow(const struct tables_options *options, const char *columns,
                  struct table_view *view)
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
static int show_tables(const struct tables_options *options, const struct table_rows *rows,
                       const char *const *columns, size_t count)
{
    struct tables_showing showing = {options->format, VEC_OF(struct table_view)};
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

static int show_wanted(const struct tables_options *options, struct table_results *results)
{
    size_t count = options->wanted.count;
    struct table_rows *rows = memory__zeroed(count, sizeof *rows);
    const char **columns = memory__zeroed(count, sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const struct wanted *wanted = VEC_AT(&options->wanted, struct wanted, i);
        rows[i] = table_results__rows(results, wanted->source);
        columns[i] = wanted->columns;
    }
    int status = show_tables(options, rows, columns, count);
    for (size_t i = 0; i < count; i++)
        table_rows__free(&rows[i]);
    free(rows);
    free(columns);
    return status;
}

static int tables_of(const struct tables_options *options)
{
    struct table_results results;
    size_t count = options->wanted.count;
    const struct table_source **sources = memory__zeroed(count + 1, sizeof *sources);
    for (size_t i = 0; i < count; i++)
        sources[i] = VEC_AT(&options->wanted, struct wanted, i)->source;
    int status = table_results__make(options->directory, sources, options->view, &results);
    if (status == 0) {
        status = show_wanted(options, &results);
        table_results__free(&results);
    }
    free(sources);
    return status;
}

/* ---- the list of all tables ------------------------------------------------------------------ */

static void present_list(const void *subject, const struct style *style, FILE *out)
{
    (void)subject;
    table_source__put_list(style, out);
}

/* On a screen by table; as data a table like others. */
static int list_tables(const struct tables_options *options)
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
    INPUT_ROW(struct tables_options, directory),
    {.kind = OPTION_OPERAND,
     .name = "NAME[:COLUMN,COLUMN…]",
     .help = "this table, with these columns; without one: which there are"},
    {.name = "format",
     .value = "text|csv|json|latex|markdown",
     .help = "how they are written",
     .expected = "text, csv, json, latex or markdown",
     VALUE(struct tables_options, format, read_format)},
    {.name = "where",
     .value = "COMPARISON",
     .help = "only rows as score>0.1, wait_ns>=1ms, name~lock_*",
     TEXTS(struct tables_options, conditions)},
    {.name = "sort",
     .value = "COLUMN",
     .help = "the largest first; -COLUMN: the smallest first",
     TEXT(struct tables_options, sort)},
    CLASS_ROW(struct tables_options, view),
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
static int take_table(const char *argument, struct tables_options *options)
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
    struct tables_options options = {.directory = DEFAULT_TRACE,
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
