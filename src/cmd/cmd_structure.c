/* heurt structure: the shape of a program, as an indented outline. */
#include "analysis/structure/structure.h"

#include "analysis/iterations/iterations.h"
#include "analysis/outliers/outliers.h"
#include "analysis/structure/outline.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/kept_print.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "present/outliers/points.h"
#include "present/structure/structure_grammar.h"
#include "present/structure/structure_screens.h"

#include <errno.h>

#define LEAST_SHARE 0.005 /* of a group's time: rows that take less are folded */
#define DATA_ROWS_AT_MOST 20000
#define ROWS_AT_MOST 50   /* on a screen */
#define RULES_AT_MOST 40  /* likewise */
#define POINTS_AT_MOST 30 /* likewise */

struct structure_request {
    const char *directory;
    const struct structure_presenter *presenter;
    const char *thread;
    uint64_t depth; /* 0: all levels */
    uint64_t width; /* 0: not given */
    bool all, interesting, grammar;
};

/* ---- showing --------------------------------------------------------------------------------- */

struct structure_showing {
    const struct structure_presenter *presenter;
    const struct structure_report *shown;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct structure_showing *showing = subject;
    showing->presenter->outline(showing->shown, style, out);
}

/* A screen has what fits on it, data whatever is not too much to be read. */
static struct outline *make_outline(const struct structure_request *options,
                                    const struct trace *trace, const struct structure *structure,
                                    struct outline_options *chosen)
{
    bool is_text = options->presenter == &structure_text;
    *chosen = (struct outline_options){.depth = (unsigned)options->depth,
                                       .least_share = is_text && !options->all ? LEAST_SHARE : 0};
    return options->all ? outline__new(trace, structure, chosen)
                        : outline__fitting(trace, structure, chosen,
                                           is_text ? ROWS_AT_MOST : DATA_ROWS_AT_MOST);
}

static int show_structure(const struct structure_request *options, const struct loaded *loaded,
                          const struct structure *structure, const struct kept_print *print)
{
    struct outline_options chosen;
    struct outline *outline = make_outline(options, loaded->trace, structure, &chosen);
    struct sequences *sequences =
        options->presenter == &structure_csv ? NULL : sequences__find(loaded->trace, structure);
    const struct structure_report shown = {.report = &loaded->report,
                                           .structure = structure,
                                           .outline = outline,
                                           .options = &chosen,
                                           .thread = options->thread,
                                           .sequences = sequences,
                                           .iterations =
                                               run__result(&loaded->run, &iterations_analysis)};
    int status = kept_print__make(print, loaded->trace, present,
                                  &(struct structure_showing){options->presenter, &shown});
    sequences__free(sequences);
    outline__free(outline);
    return status;
}

/* ---- what stands out ------------------------------------------------------------------------- */

struct showing_points {
    const struct points_presenter *presenter;
    const struct points_report *shown;
};

static void present_points(const void *subject, const struct style *style, FILE *out)
{
    const struct showing_points *showing = subject;
    showing->presenter->points(showing->shown, style, out);
}

static const struct points_presenter *points_presenter(const struct structure_request *options)
{
    return options->presenter == &structure_json  ? &points_json
           : options->presenter == &structure_csv ? &points_csv
                                                  : &points_text;
}

static int show_points(const struct structure_request *options, const struct loaded *loaded,
                       const struct kept_print *print)
{
    const struct points_report shown = {&loaded->report,
                                        run__result(&loaded->run, &outliers_analysis),
                                        options->thread, options->all ? SIZE_MAX : POINTS_AT_MOST};
    return kept_print__make(print, loaded->trace, present_points,
                            &(struct showing_points){points_presenter(options), &shown});
}

/* ---- the grammar of a thread ----------------------------------------------------------------- */

struct showing_grammar {
    const struct grammar_presenter *presenter;
    const struct grammar_report *shown;
};

static void present_grammar(const void *subject, const struct style *style, FILE *out)
{
    const struct showing_grammar *showing = subject;
    showing->presenter->put(showing->shown, style, out);
}

static const struct grammar_presenter *grammar_presenter(const struct structure_request *options)
{
    return options->presenter == &structure_json  ? &grammar_json
           : options->presenter == &structure_csv ? &grammar_csv
                                                  : &grammar_text;
}

static int show_grammar(const struct structure_request *options, const struct loaded *loaded,
                        struct structure *structure, const struct kept_print *print)
{
    if (structure->threads.count != 1)
        return wrong_usage(&command_structure,
                           "--grammar is of one thread, and these are %zu: choose one with "
                           "--thread TID",
                           structure->threads.count);
    struct grammar *grammar = structure__grammar(structure, 0);
    const struct grammar_report shown = {
        .report = &loaded->report,
        .structure = structure,
        .grammar = grammar,
        .thread = VEC_AT(&structure->threads, struct structure_thread, 0)->thread,
        .rules_at_most = options->all ? SIZE_MAX : RULES_AT_MOST};
    int status = kept_print__make(print, loaded->trace, present_grammar,
                                  &(struct showing_grammar){grammar_presenter(options), &shown});
    grammar__free(grammar);
    return status;
}

/* ---- one or the other ------------------------------------------------------------------------ */

static int show_result(const struct structure_request *options, struct loaded *loaded,
                       const struct kept_print *print)
{
    struct structure *structure = run__result(&loaded->run, &structure_analysis);
    return options->interesting ? show_points(options, loaded, print)
           : options->grammar   ? show_grammar(options, loaded, structure, print)
                                : show_structure(options, loaded, structure, print);
}

/* Iterations are those of all threads. */
static void ask(const struct structure_request *options, const struct stand_out_options *points,
                struct run *run)
{
    if (options->interesting)
        run__ask(run, &outliers_analysis, points);
    else
        run__ask(run, &structure_analysis, options->thread);
    if (!options->interesting && !options->grammar && !options->thread &&
        options->presenter != &structure_csv)
        run__ask(run, &iterations_analysis, NULL);
}

static int make_structure(const struct structure_request *options, const struct kept_print *print)
{
    const struct stand_out_options points = {options->thread, STAND_OUT_LIMIT};
    struct loaded loaded;
    struct error error;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    ask(options, &points, &loaded.run);
    int code = run__analyse(&loaded.run, &error);
    if (code < 0)
        status = failed(&error);
    status = code == -ENOENT ? EXIT_USAGE : status ? status : show_result(options, &loaded, print);
    loaded__close(&loaded);
    return status;
}

static char *name_of(const struct structure_request *options)
{
    const char *format = options->presenter == &structure_text   ? "text"
                         : options->presenter == &structure_json ? "json"
                                                                 : "csv";
    return memory__format("structure %s%s%s%s %llu %s", format, options->all ? " all" : "",
                          options->interesting ? " interesting" : "",
                          options->grammar ? " grammar" : "", (unsigned long long)options->depth,
                          options->thread ? options->thread : "");
}

static int structure_of(const struct structure_request *options)
{
    struct kept_print print = kept_print__of(options->directory, name_of(options),
                                             options->presenter == &structure_text, options->width);
    int status = 0;
    if (!kept_print__show(&print, &status))
        status = make_structure(options, &print);
    kept_print__free(&print);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static const struct option_row option_rows[] = {
    INPUT_ROW(struct structure_request, directory),
    {.name = "thread",
     .value = "TID|NAME",
     .help = "only what these threads do",
     TEXT(struct structure_request, thread)},
    {.name = "depth",
     .value = "N",
     .help = "only so many levels",
     .expected = "how many levels to show,",
     .group = 'v',
     NUMBER(struct structure_request, depth, 1, OUTLINE_DEPTH_MAX)},
    {.name = "grammar",
     .help = "every call of one thread, as rules",
     .group = 'v',
     FLAG(struct structure_request, grammar)},
    {.name = "interesting",
     .help = "only outliers",
     .group = 'v',
     FLAG(struct structure_request, interesting)},
    {.name = "all", .help = "also what takes little time", FLAG(struct structure_request, all)},
    WIDTH_ROW(struct structure_request, width),
    FORMAT_ROW(struct structure_request, presenter, json, &structure_json),
    FORMAT_ROW(struct structure_request, presenter, csv, &structure_csv),
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct structure_request options = {.directory = DEFAULT_TRACE, .presenter = &structure_text};
    int status = options__read(self, argc, argv, &options);
    if (status == 0)
        status = options__end(self, argc, argv);
    return status ? status : structure_of(&options);
}

const struct command command_structure = {
    .name = "structure",
    .summary = "show the program's shape: its loops, what they consist of, and their times",
    .rows = option_rows,
    .operands = "",
    .run = run};
