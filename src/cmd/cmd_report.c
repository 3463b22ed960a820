/* heurt report: from a trace to a screen, or to JSON or CSV. */
#include "cmd/report.h"

#include "analysis/findings/findings.h"
#include "analysis/ledger/profile.h"
#include "base/memory.h"
#include "cmd/class_view.h"
#include "cmd/command.h"
#include "cmd/load.h"
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
};

static const struct option long_options[] = {
    {"input", required_argument, NULL, 'i'},
    {"json", no_argument, NULL, OPTION_JSON},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"coverage", no_argument, NULL, OPTION_COVERAGE},
    {"audit", no_argument, NULL, OPTION_AUDIT},
    {"threshold", required_argument, NULL, OPTION_THRESHOLD},
    {"key", required_argument, NULL, OPTION_KEY},
    {"ignore", required_argument, NULL, OPTION_IGNORE},
    {"forget", required_argument, NULL, OPTION_FORGET},
    {"no-rules", no_argument, NULL, OPTION_NO_RULES},
    {"class", required_argument, NULL, OPTION_CLASS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
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
static int take_option(int option, struct options *options)
{
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
    int status = 0;
    optind = 0;
    opterr = 0;
    for (int option;
         status == 0 && (option = getopt_long(argc, argv, "i:h", long_options, NULL)) != -1;)
        status = option == '?' ? wrong_usage(&command_report,
                                             "'%s' is no option of report, or it lacks its value",
                                             argv[optind - 1])
                               : take_option(option, options);
    if (status == 0 && options->coverage && options->audit)
        status = wrong_usage(&command_report, "--coverage and --audit exclude each other");
    return status ? status : take_rank(argc, argv, options);
}

static int run(int argc, char **argv)
{
    struct options options = {.directory = DEFAULT_TRACE,
                              .presenter = &presenter_text,
                              .threshold = THRESHOLD,
                              .view = CLASSES_BY_STRUCTURE,
                              .keys = VEC_OF(const char *),
                              .ignores = VEC_OF(const char *),
                              .forgets = VEC_OF(const char *)};
    if (wants_help(argc, argv))
        return show_help(&command_report);
    int status = parse(argc, argv, &options);
    if (status == 0)
        status = report_with_rules(&options);
    vec__free(&options.keys);
    vec__free(&options.ignores);
    vec__free(&options.forgets);
    return status;
}

static const char options_help[] =
    "  -i, --input DIR             the trace (heurt.data)\n"
    "  N                           the class of that rank in depth\n"
    "  --json, --csv               everything as data\n"
    "  --coverage                  which functions were instrumented, and why others not\n"
    "  --audit                     whether the parts add up to the whole; 1 when they do not\n"
    "  --threshold X               show classes with a score of at least X (0.2; 0: all)\n"
    "  --key FUNC=ARG,…            compare only calls with equal arguments; remembered\n"
    "  --ignore FUNC               leave these classes out; remembered\n"
    "  --forget FUNC               drop what is remembered of FUNC\n"
    "  --no-rules                  neither use nor change what is remembered\n" VIEW_HELP;

const struct command command_report = {"report",
                                       "[-i DIR] [--json|--csv] [--coverage|--audit] [--threshold "
                                       "X] [--key FUNC=ARG[,ARG]] [--ignore FUNC] "
                                       "[--forget FUNC] [--no-rules] [--class site|structure] [N]",
                                       "say where a recorded program loses time, how much, and why",
                                       run, options_help};
