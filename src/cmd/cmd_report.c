/* heurt report: from a trace to a screen, or to JSON or CSV. */
#include "cmd/report.h"

#include "analysis/findings/findings.h"
#include "analysis/ledger/profile.h"
#include "base/memory.h"
#include "cmd/class_view.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/predictions.h"
#include "cmd/rules_file.h"
#include "present/present.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.2
#define EXIT_NOT_EXACT 1 /* --audit: the parts do not add up to the whole */

struct options {
    const char *directory;
    const struct presenter *presenter;
    bool coverage, audit, no_rules;
    enum class_view view;
    bool asked_for_view;
    double threshold;
    size_t rank;                       /* 0: the first screen */
    struct vec keys, ignores, forgets; /* const char * */
};

/* ---- showing --------------------------------------------------------------------------------- */

/* What is to be shown of which report. */
struct showing {
    const struct options *options;
    const struct report *report;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct showing *showing = subject;
    const struct options *options = showing->options;
    const struct presenter *presenter = options->presenter;
    if (options->audit)
        presenter->audit(showing->report, style, out);
    else if (options->coverage)
        presenter->coverage(showing->report, style, out);
    else if (options->rank)
        presenter->one_class(showing->report, options->rank, style, out);
    else
        presenter->summary(showing->report, style, out);
}

static int report_on_loaded(const struct options *options, const struct vec *rules,
                            const struct loaded *loaded)
{
    struct report report = {
        .trace = loaded->trace,
        .symbols = loaded->symbols,
        .directory = options->directory,
        .trace_bytes = trace__bytes_on_disk(options->directory),
    };
    struct profile *profile;
    struct error error;
    int status;
    if (profile__compute_by(options->view, loaded->trace, loaded->symbols, rules,
                            options->threshold, &profile, &error) < 0) {
        say("%s", error.text);
        return EXIT_HEURT;
    }
    report.profile = profile;
    struct findings *findings = NULL;
    if (!options->audit && !options->coverage && options->rank == 0)
        findings = findings__find(loaded->trace, loaded->symbols, profile);
    report.findings = findings;
    if (options->asked_for_view && profile->view != options->view)
        say("the run was recorded with --aggregate, which keeps no order of events: its classes "
            "are by site");
    if (!options->audit && !options->coverage && options->rank <= profile->classes.count)
        predictions__fill_gains(loaded->trace, loaded->symbols, profile, findings, options->rank);
    if (options->rank > profile->classes.count) {
        say("there is no class %zu: this report has %zu", options->rank, profile->classes.count);
        status = EXIT_USAGE;
    } else {
        status = show(present, &(struct showing){options, &report});
    }
    if (status == 0 && options->audit && !report__adds_up(&report))
        status = EXIT_NOT_EXACT;
    findings__free(findings);
    profile__free(profile);
    return status;
}

static int report_on(const struct options *options, const struct vec *rules)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    status = report_on_loaded(options, rules, &loaded);
    loaded__close(&loaded);
    return status;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static int change_rules(const struct options *options, struct rules *rules)
{
    struct error error;
    VEC_EACH (function, &options->forgets, const char *)
        if (rules__forget(rules, *function) == 0)
            say("%s has no rule for '%s'", rules->path, *function);
    VEC_EACH (key, &options->keys, const char *)
        if (rules__add_key(rules, *key, &error) < 0)
            return wrong_usage(&command_report, "--key: %s", error.text);
    VEC_EACH (function, &options->ignores, const char *)
        if (rules__add_ignore(rules, *function, &error) < 0)
            return wrong_usage(&command_report, "--ignore: %s", error.text);
    return 0;
}

static void keep_rules(struct rules *rules)
{
    struct error error;
    if (!rules->changed)
        return;
    if (rules__save(rules, &error) < 0)
        say("%s; the change holds for this report only", error.text);
    else
        say("kept in %s for the reports to come", rules->path);
}

static int report_with_rules(const struct options *options)
{
    struct rules rules;
    struct error error;
    int status = 0;
    if (options->no_rules) {
        rules = (struct rules){memory__text(RULES_FILE), VEC_OF(char *), false};
    } else if (rules__load(options->directory, &rules, &error) < 0) {
        say("%s", error.text);
        status = EXIT_HEURT;
    }
    if (status == 0)
        status = change_rules(options, &rules);
    if (status == 0) {
        struct vec list = rules__list(&rules);
        status = report_on(options, &list);
        rules__free_list(&list);
    }
    if ((status == 0 || status == EXIT_NOT_EXACT) && !options->no_rules)
        keep_rules(&rules);
    rules__free(&rules);
    return status;
}

int report__show_summary(const char *directory)
{
    const struct options options = {.directory = directory,
                                    .presenter = &presenter_text,
                                    .threshold = THRESHOLD,
                                    .view = CLASSES_BY_STRUCTURE};
    return report_with_rules(&options);
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    OPTION_JSON = 256,
    OPTION_CSV,
    OPTION_COVERAGE,
    OPTION_AUDIT,
    OPTION_THRESHOLD,
    OPTION_KEY,
    OPTION_IGNORE,
    OPTION_FORGET,
    OPTION_NO_RULES,
    OPTION_CLASS,
    OPTION_COMPARE,
    OPTION_OF_COMPARE,
};

static const struct option_row option_rows[] = {
    {'i', "input", "DIR", "the trace (heurt.data)"},
    {OPTION_OPERAND, "N", NULL, "the class of that rank in depth"},
    {OPTION_COMPARE, "compare", NULL,
     "with N, a function's name or iteration: a slow occurrence against a fast one"},
    {OPTION_OF_COMPARE, "slow", "N", "--compare: the N-th slowest occurrence, not the slowest"},
    {OPTION_OF_COMPARE, "at", "TIME", "--compare: the one at that time since the start: 1.2s"},
    {OPTION_OF_COMPARE, "fast", "N", "--compare: with the N-th fastest, not the fastest"},
    {OPTION_OF_COMPARE, "median", NULL, "--compare: with one that took about the median"},
    {OPTION_JSON, "json", NULL, "everything as JSON"},
    {OPTION_CSV, "csv", NULL, "everything as comma-separated values"},
    {OPTION_COVERAGE, "coverage", NULL, "which functions were instrumented, and why others not"},
    {OPTION_AUDIT, "audit", NULL, "whether the parts add up to the whole; 1 when they do not"},
    {OPTION_THRESHOLD, "threshold", "X", "show classes with a score of at least X (0.2; 0: all)"},
    {OPTION_KEY, "key", "FUNC=ARG,…", "compare only calls with equal arguments; remembered"},
    {OPTION_IGNORE, "ignore", "FUNC", "leave these classes out; remembered"},
    {OPTION_FORGET, "forget", "FUNC", "drop what is remembered of FUNC"},
    {OPTION_NO_RULES, "no-rules", NULL, "neither use nor change what is remembered"},
    {OPTION_CLASS, "class", "site|structure",
     "what calls other things is another class (structure), or not"},
    {0},
};

static int parse_threshold(const char *text, struct options *options)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < 0 || value > 1)
        return wrong_usage(&command_report,
                           "--threshold: expected a number from 0 to 1 (0.2 is usual), found '%s'",
                           text);
    options->threshold = value;
    return 0;
}

static int choose_presenter(struct options *options, const struct presenter *presenter)
{
    if (options->presenter != &presenter_text && options->presenter != presenter)
        return wrong_usage(&command_report, "--json and --csv exclude each other");
    options->presenter = presenter;
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
    case OPTION_JSON:
        return choose_presenter(options, &presenter_json);
    case OPTION_CSV:
        return choose_presenter(options, &presenter_csv);
    case OPTION_COVERAGE:
        options->coverage = true;
        return 0;
    case OPTION_AUDIT:
        options->audit = true;
        return 0;
    case OPTION_THRESHOLD:
        return parse_threshold(optarg, options);
    case OPTION_KEY:
        vec__push(&options->keys, &optarg);
        return 0;
    case OPTION_IGNORE:
        vec__push(&options->ignores, &optarg);
        return 0;
    case OPTION_FORGET:
        vec__push(&options->forgets, &optarg);
        return 0;
    case OPTION_NO_RULES:
        options->no_rules = true;
        return 0;
    case OPTION_CLASS:
        options->asked_for_view = true;
        return view__parse(&command_report, optarg, &options->view);
    case OPTION_OF_COMPARE:
        return wrong_usage(&command_report, "--slow, --at, --fast and --median go with --compare");
    default:
        return EXIT_USAGE;
    }
}

static int take_rank(int argc, char **argv, struct options *options)
{
    char *end;
    if (optind == argc)
        return 0;
    if (optind + 1 < argc)
        return wrong_usage(&command_report, "expected at most one class number, found '%s' too",
                           argv[optind + 1]);
    errno = 0;
    unsigned long rank = strtoul(argv[optind], &end, 10);
    if (errno || *end || rank == 0 || !strchr("0123456789", argv[optind][0]))
        return wrong_usage(&command_report,
                           "expected the number of a class (as in the column #), found '%s'; "
                           "another trace is chosen with -i DIR",
                           argv[optind]);
    if (options->coverage)
        return wrong_usage(&command_report, "--coverage and a class number exclude each other");
    if (options->audit)
        return wrong_usage(&command_report, "--audit and a class number exclude each other");
    options->rank = rank;
    return 0;
}

static int parse(int argc, char **argv, struct options *options)
{
    int status = options__read(&command_report, option_rows, argc, argv, take_option, options);
    if (status == 0 && options->coverage && options->audit)
        status = wrong_usage(&command_report, "--coverage and --audit exclude each other");
    return status ? status : take_rank(argc, argv, options);
}

/* heurt report N --compare … is heurt diff-occurrence N …. True: *status is that of it. */
static bool compares(int argc, char **argv, int *status)
{
    char **others = memory__zeroed((size_t)argc + 1, sizeof *others);
    int count = 0;
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--compare") != 0)
            others[count++] = argv[i];
    bool is_asked = count < argc && !wants_help(argc, argv);
    if (is_asked)
        *status = command_diff_occurrence.run(count, others);
    free(others);
    return is_asked;
}

static int run(int argc, char **argv)
{
    int compared;
    if (compares(argc, argv, &compared))
        return compared;
    struct options options = {.directory = DEFAULT_TRACE,
                              .presenter = &presenter_text,
                              .threshold = THRESHOLD,
                              .view = CLASSES_BY_STRUCTURE,
                              .keys = VEC_OF(const char *),
                              .ignores = VEC_OF(const char *),
                              .forgets = VEC_OF(const char *)};
    int status = parse(argc, argv, &options);
    if (status == 0)
        status = report_with_rules(&options);
    vec__free(&options.keys);
    vec__free(&options.ignores);
    vec__free(&options.forgets);
    return status < 0 ? 0 : status;
}

const struct command command_report = {"report",
                                       "[-i DIR] [--json|--csv] [--coverage|--audit] [--threshold "
                                       "X] [--key FUNC=ARG[,ARG]] [--ignore FUNC] "
                                       "[--forget FUNC] [--no-rules] [--class site|structure] "
                                       "[N [--compare [--slow N|--at TIME] "
                                       "[--fast N|--median]]]",
                                       "say where a recorded program loses time, how much, and why",
                                       run,
                                       NULL,
                                       option_rows};
