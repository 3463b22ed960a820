/* heurt structure: the shape of a program, as an indented outline. */
#include "analysis/structure/structure.h"

#include "analysis/iterations/iterations.h"
#include "analysis/outliers/outliers.h"
#include "analysis/structure/outline.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "present/outliers/points.h"
#include "present/structure/structure_grammar.h"
#include "present/structure/structure_screens.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 0.005 /* of a group's time: rows that take less are folded */
#define DATA_ROWS_AT_MOST 20000
#define ROWS_AT_MOST 50   /* on a screen */
#define RULES_AT_MOST 40  /* likewise */
#define POINTS_AT_MOST 30 /* likewise */

struct options {
    const char *directory;
    const struct structure_presenter *presenter;
    const char *thread;
    unsigned depth;
    bool all;
    bool interesting;
    bool grammar;
};

/* ---- showing --------------------------------------------------------------------------------- */

struct showing {
    const struct structure_presenter *presenter;
    const struct structure_report *shown;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct showing *showing = subject;
    showing->presenter->outline(showing->shown, style, out);
}

/* A screen has what fits on it, data whatever is not too much to be read. */
static struct outline *make_outline(const struct options *options, const struct trace *trace,
                                    const struct structure *structure,
                                    struct outline_options *chosen)
{
    bool is_text = options->presenter == &structure_text;
    *chosen = (struct outline_options){.depth = options->depth,
                                       .least_share = is_text && !options->all ? LEAST_SHARE : 0};
    return options->all ? outline__new(trace, structure, chosen)
                        : outline__fitting(trace, structure, chosen,
                                           is_text ? ROWS_AT_MOST : DATA_ROWS_AT_MOST);
}

/* NULL where they are not shown. */
static struct iterations *find_iterations(const struct options *options, const struct trace *trace)
{
    struct iterations *iterations = NULL;
    struct error error;
    if (!options->thread && options->presenter != &structure_csv)
        iterations__compute(trace, &iterations, &error);
    return iterations;
}

static int show_structure(const struct options *options, const struct loaded *loaded,
                          const struct structure *structure)
{
    struct outline_options chosen;
    const struct report report = {.trace = loaded->trace,
                                  .symbols = loaded->symbols,
                                  .directory = options->directory,
                                  .trace_bytes = trace__bytes_on_disk(options->directory)};
    struct outline *outline = make_outline(options, loaded->trace, structure, &chosen);
    struct iterations *iterations = find_iterations(options, loaded->trace);
    struct sequences *sequences =
        options->presenter == &structure_csv ? NULL : sequences__find(loaded->trace, structure);
    const struct structure_report shown = {.report = &report,
                                           .structure = structure,
                                           .outline = outline,
                                           .options = &chosen,
                                           .thread = options->thread,
                                           .sequences = sequences,
                                           .iterations = iterations};
    int status = show(present, &(struct showing){options->presenter, &shown});
    iterations__free(iterations);
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

static const struct points_presenter *points_presenter(const struct options *options)
{
    return options->presenter == &structure_json  ? &points_json
           : options->presenter == &structure_csv ? &points_csv
                                                  : &points_text;
}

static int show_points(const struct options *options, const struct loaded *loaded)
{
    struct stand_out *found;
    struct error error;
    const struct report report = {.trace = loaded->trace,
                                  .symbols = loaded->symbols,
                                  .directory = options->directory,
                                  .trace_bytes = trace__bytes_on_disk(options->directory)};
    int code = stand_out__compute(loaded->trace, options->thread, STAND_OUT_LIMIT, &found, &error);
    if (code < 0) {
        say("%s", error.text);
        return code == -ENOENT ? EXIT_USAGE : EXIT_HEURT;
    }
    const struct points_report shown = {&report, found, options->thread,
                                        options->all ? SIZE_MAX : POINTS_AT_MOST};
    int status = show(present_points, &(struct showing_points){points_presenter(options), &shown});
    stand_out__free(found);
    return status;
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

static const struct grammar_presenter *grammar_presenter(const struct options *options)
{
    return options->presenter == &structure_json  ? &grammar_json
           : options->presenter == &structure_csv ? &grammar_csv
                                                  : &grammar_text;
}

static int show_grammar(const struct options *options, const struct loaded *loaded,
                        struct structure *structure)
{
    if (structure->threads.count != 1)
        return wrong_usage(&command_structure,
                           "--grammar is of one thread, and these are %zu: choose one with "
                           "--thread TID",
                           structure->threads.count);
    const struct report report = {
        .trace = loaded->trace, .symbols = loaded->symbols, .directory = options->directory};
    struct grammar *grammar = structure__grammar(structure, 0);
    const struct grammar_report shown = {
        .report = &report,
        .structure = structure,
        .grammar = grammar,
        .thread = VEC_AT(&structure->threads, struct structure_thread, 0)->thread,
        .rules_at_most = options->all ? SIZE_MAX : RULES_AT_MOST};
    int status =
        show(present_grammar, &(struct showing_grammar){grammar_presenter(options), &shown});
    grammar__free(grammar);
    return status;
}

/* ---- one or the other ------------------------------------------------------------------------ */

static int show_outline(const struct options *options, const struct loaded *loaded)
{
    struct structure *structure;
    struct error error;
    int code = structure__of_threads(loaded->trace, options->thread, &structure, &error);
    if (code < 0) {
        say("%s", error.text);
        return code == -ENOENT ? EXIT_USAGE : EXIT_HEURT;
    }
    int status = options->grammar ? show_grammar(options, loaded, structure)
                                  : show_structure(options, loaded, structure);
    structure__free(structure);
    return status;
}

static int structure_of(const struct options *options)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    status = options->interesting ? show_points(options, &loaded) : show_outline(options, &loaded);
    loaded__close(&loaded);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    OPTION_JSON = 256,
    OPTION_CSV,
    OPTION_THREAD,
    OPTION_DEPTH,
    OPTION_ALL,
    OPTION_INTERESTING,
    OPTION_GRAMMAR,
};

static const struct option_row option_rows[] = {
    {'i', "input", "DIR", "the trace (heurt.data)"},
    {OPTION_THREAD, "thread", "TID|NAME", "only what these threads do"},
    {OPTION_DEPTH, "depth", "N", "only so many levels"},
    {OPTION_ALL, "all", NULL, "also what takes little time"},
    {OPTION_GRAMMAR, "grammar", NULL, "every call of one thread, as rules"},
    {OPTION_INTERESTING, "interesting", NULL, "only what stands out of its like"},
    {OPTION_JSON, "json", NULL, "everything as JSON"},
    {OPTION_CSV, "csv", NULL, "everything as comma-separated values"},
    {0},
};

static int choose_presenter(struct options *options, const struct structure_presenter *presenter)
{
    if (options->presenter != &structure_text && options->presenter != presenter)
        return wrong_usage(&command_structure, "--json and --csv exclude each other");
    options->presenter = presenter;
    return 0;
}

static int take_thread(struct options *options)
{
    if (!*optarg)
        return wrong_usage(&command_structure,
                           "--thread needs a number or a name to look for, found ''");
    options->thread = optarg;
    return 0;
}

static int take_depth(struct options *options)
{
    char *end;
    errno = 0;
    unsigned long depth = strtoul(optarg, &end, 10);
    if (errno || *end || depth == 0 || depth > OUTLINE_DEPTH_MAX ||
        !strchr("0123456789", optarg[0]))
        return wrong_usage(&command_structure,
                           "--depth: expected how many levels to show, 1 to %u, found '%s'",
                           OUTLINE_DEPTH_MAX, optarg);
    options->depth = (unsigned)depth;
    return 0;
}

/* 0, or the exit status of wrong usage. */
static int take_option(int option, void *request)
{
    struct options *options = request;
    switch (option) {
    case 'i':
        options->directory = optarg;
        return 0;
    case OPTION_THREAD:
        return take_thread(options);
    case OPTION_DEPTH:
        return take_depth(options);
    case OPTION_ALL:
        options->all = true;
        return 0;
    case OPTION_GRAMMAR:
        options->grammar = true;
        return 0;
    case OPTION_INTERESTING:
        options->interesting = true;
        return 0;
    case OPTION_JSON:
        return choose_presenter(options, &structure_json);
    case OPTION_CSV:
        return choose_presenter(options, &structure_csv);
    default:
        return EXIT_USAGE;
    }
}

static int parse(int argc, char **argv, struct options *options)
{
    int status = options__read(&command_structure, option_rows, argc, argv, take_option, options);
    if (status == 0 && options->interesting + options->grammar + (options->depth > 0) > 1)
        return wrong_usage(&command_structure,
                           "--interesting, --grammar and --depth exclude each other");
    if (status == 0 && optind < argc)
        return wrong_usage(&command_structure,
                           "expected options only, found '%s'; another trace is chosen with -i DIR",
                           argv[optind]);
    return status;
}

static int run(int argc, char **argv)
{
    struct options options = {.directory = DEFAULT_TRACE, .presenter = &structure_text};
    int status = parse(argc, argv, &options);
    return status < 0 ? 0 : status ? status : structure_of(&options);
}

const struct command command_structure = {
    "structure",
    "[-i DIR] [--thread TID|NAME] [--depth N] [--all] [--grammar|--interesting] [--json|--csv]",
    "show the program's shape: its loops, what they consist of, and their times",
    run,
    NULL,
    option_rows};
