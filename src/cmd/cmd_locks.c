/* heurt locks: what threads did with locks, and how much of it was on the critical path. */
#include "analysis/critical_path/critical.h"
#include "analysis/ledger/profile.h"
#include "analysis/locks/locks.h"
#include "cmd/command.h"
#include "cmd/durations.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "present/locks/locks_screens.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.2    /* of the profile: nothing that is shown here depends on it */
#define EXIT_NOT_EXACT 1 /* --audit: the parts do not add up */

enum view { VIEW_SUMMARY, VIEW_ONE, VIEW_PATH, VIEW_DOT, VIEW_AUDIT };

struct options {
    const char *directory;
    const struct locks_presenter *presenter;
    enum view view;
    size_t rank; /* of VIEW_ONE */
    struct locks_filter filter;
    bool has_to; /* --to was given */
};

/* ---- showing --------------------------------------------------------------------------------- */

/* What is to be shown of which report. */
struct showing {
    const struct options *options;
    const struct locks_report *report;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct showing *showing = subject;
    const struct locks_presenter *presenter = showing->options->presenter;
    switch (showing->options->view) {
    case VIEW_SUMMARY:
        presenter->summary(showing->report, style, out);
        return;
    case VIEW_ONE:
        presenter->one_lock(showing->report, showing->options->rank, style, out);
        return;
    case VIEW_PATH:
        presenter->path(showing->report, style, out);
        return;
    case VIEW_DOT:
        locks__dot(showing->report, style, out);
        return;
    case VIEW_AUDIT:
        presenter->audit(showing->report, style, out);
        return;
    }
}

static int show_view(const struct options *options, const struct locks_report *report)
{
    size_t rows = report->result->rows.count;
    if (options->view == VIEW_ONE && options->rank > rows) {
        say("there is no lock %zu: heurt locks numbers %zu of them", options->rank, rows);
        return EXIT_USAGE;
    }
    int status = show(present, &(struct showing){options, report});
    if (status == 0 && options->view == VIEW_AUDIT && !locks__add_up(report))
        return EXIT_NOT_EXACT;
    return status;
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* What holders did meanwhile is known of the whole run. */
static bool wants_profile(const struct options *options)
{
    const struct locks_filter *filter = &options->filter;
    bool is_whole = !filter->site && !filter->thread && !filter->min_wait_ns && !filter->from_ns &&
                    !filter->to_ns;
    return options->view == VIEW_ONE && is_whole;
}

/* NULL when there is none: the rest is shown without it. */
static struct profile *make_profile(const struct options *options, const struct loaded *loaded)
{
    struct profile *profile;
    struct error error;
    const struct vec no_rules = VEC_OF(struct profile_rule);
    if (!wants_profile(options))
        return NULL;
    if (profile__compute_by(CLASSES_BY_SITE, loaded->trace, loaded->symbols, &no_rules, THRESHOLD,
                            &profile, &error) < 0) {
        say("%s; what holders did meanwhile is left out", error.text);
        return NULL;
    }
    return profile;
}

static int show_result(const struct options *options, const struct loaded *loaded,
                       const struct locks_result *result)
{
    struct critical_path critical = {0};
    struct profile *profile = make_profile(options, loaded);
    const struct report report = {.trace = loaded->trace,
                                  .symbols = loaded->symbols,
                                  .profile = profile,
                                  .directory = options->directory,
                                  .trace_bytes = trace__bytes_on_disk(options->directory)};
    struct locks_report locks = {&report, result, &options->filter, NULL};
    if (options->view == VIEW_PATH) {
        critical_path__find(loaded->trace, &critical);
        locks.critical = &critical;
    }
    int status = show_view(options, &locks);
    if (locks.critical)
        critical_path__free(&critical);
    profile__free(profile);
    return status;
}

static int locks_of(const struct options *options)
{
    struct loaded loaded;
    struct locks_result *result;
    struct error error;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    int code = locks__compute(loaded.trace, loaded.symbols, &options->filter, &result, &error);
    if (code < 0) {
        say("%s", error.text);
        status = code == -ENOENT || code == -EINVAL ? EXIT_USAGE : EXIT_HEURT;
    } else {
        if (options->view == VIEW_AUDIT)
            locks__mark(loaded.trace, result);
        status = show_result(options, &loaded, result);
        locks__free(result);
    }
    loaded__close(&loaded);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    OPTION_JSON = 256,
    OPTION_CSV,
    OPTION_PATH,
    OPTION_DOT,
    OPTION_AUDIT,
    OPTION_LOCK,
    OPTION_SITE,
    OPTION_MIN_WAIT,
    OPTION_THREAD,
    OPTION_FROM,
    OPTION_TO,
};

static const struct option_row option_rows[] = {
    {'i', "input", "DIR", "the trace (heurt.data)"},
    {OPTION_OPERAND, "N", NULL, "the lock of that number in depth"},
    {OPTION_PATH, "path", NULL, "the critical path, piece by piece"},
    {OPTION_DOT, "dot", NULL, "who was waited for, by whom, as a graph for Graphviz"},
    {OPTION_AUDIT, "audit", NULL, "whether the parts add up to the whole; 1 when they do not"},
    {OPTION_JSON, "json", NULL, "everything as JSON"},
    {OPTION_CSV, "csv", NULL, "everything as comma-separated values"},
    {OPTION_LOCK, "lock", "ADDR|NAME", "only this lock: its address, or a pattern of variables"},
    {OPTION_SITE, "site", "FUNC", "only what functions do whose names match"},
    {OPTION_MIN_WAIT, "min-wait", "TIME", "only what waited so long: 1ms, 20us, 0.5s"},
    {OPTION_THREAD, "thread", "TID|NAME", "only what this thread did"},
    {OPTION_FROM, "from", "TIME", "only what ended from then on, since the start"},
    {OPTION_TO, "to", "TIME", "only what ended until then, since the start"},
    {0},
};

static int choose_presenter(struct options *options, const struct locks_presenter *presenter)
{
    if (options->presenter != &locks_text && options->presenter != presenter)
        return wrong_usage(&command_locks, "--json and --csv exclude each other");
    options->presenter = presenter;
    return 0;
}

static int choose_view(struct options *options, enum view view)
{
    if (options->view != VIEW_SUMMARY && options->view != view)
        return wrong_usage(&command_locks,
                           "--path, --dot, --audit and the number of a lock exclude each other");
    options->view = view;
    return 0;
}

static int take_text(const char *option, const char **text)
{
    if (!*optarg)
        return wrong_usage(&command_locks, "--%s needs something to look for, found ''", option);
    *text = optarg;
    return 0;
}

static int take_time(const char *option, uint64_t *ns)
{
    if (duration__parse(optarg, ns))
        return 0;
    return wrong_usage(&command_locks, "--%s: expected " DURATION_FORM ", found '%s'", option,
                       optarg);
}

/* Options that say what counts. */
static int take_filter(int option, struct locks_filter *filter)
{
    switch (option) {
    case OPTION_LOCK:
        return take_text("lock", &filter->lock);
    case OPTION_SITE:
        return take_text("site", &filter->site);
    case OPTION_THREAD:
        return take_text("thread", &filter->thread);
    case OPTION_MIN_WAIT:
        return take_time("min-wait", &filter->min_wait_ns);
    case OPTION_FROM:
        return take_time("from", &filter->from_ns);
    case OPTION_TO:
        return take_time("to", &filter->to_ns);
    default:
        return EXIT_USAGE;
    }
}

/* 0, or the exit status of wrong usage. */
static int take_option(int option, void *request)
{
    struct options *options = request;
    options->has_to |= option == OPTION_TO;
    switch (option) {
    case 'i':
        options->directory = optarg;
        return 0;
    case OPTION_JSON:
        return choose_presenter(options, &locks_json);
    case OPTION_CSV:
        return choose_presenter(options, &locks_csv);
    case OPTION_PATH:
        return choose_view(options, VIEW_PATH);
    case OPTION_DOT:
        return choose_view(options, VIEW_DOT);
    case OPTION_AUDIT:
        return choose_view(options, VIEW_AUDIT);
    default:
        return take_filter(option, &options->filter);
    }
}

static int take_rank(int argc, char **argv, struct options *options)
{
    char *end;
    if (optind == argc)
        return 0;
    if (optind + 1 < argc)
        return wrong_usage(&command_locks, "expected at most one number of a lock, found '%s' too",
                           argv[optind + 1]);
    errno = 0;
    unsigned long rank = strtoul(argv[optind], &end, 10);
    if (errno || *end || rank == 0 || !strchr("0123456789", argv[optind][0]))
        return wrong_usage(&command_locks,
                           "expected the number of a lock (as in the column #), found '%s'; by "
                           "name it is --lock, and another trace is chosen with -i DIR",
                           argv[optind]);
    options->rank = rank;
    return choose_view(options, VIEW_ONE);
}

/* What does not go together. */
static int check(const struct options *options)
{
    const struct locks_filter *filter = &options->filter;
    bool filters = filter->lock || filter->site || filter->thread || filter->min_wait_ns ||
                   filter->from_ns || filter->to_ns;
    if (options->has_to && filter->to_ns <= filter->from_ns)
        return wrong_usage(&command_locks, "--to must be later than %s",
                           filter->from_ns ? "--from" : "0s");
    if (options->view == VIEW_DOT && options->presenter != &locks_text)
        return wrong_usage(&command_locks, "--dot is a format of its own: without --json and "
                                           "--csv");
    if (options->view == VIEW_PATH && filters)
        return wrong_usage(&command_locks, "--path is the path of the whole run: --lock, --site, "
                                           "--min-wait, --thread, --from and --to do not go with "
                                           "it");
    return 0;
}

static int parse(int argc, char **argv, struct options *options)
{
    int status = options__read(&command_locks, option_rows, argc, argv, take_option, options);
    if (status == 0)
        status = take_rank(argc, argv, options);
    return status ? status : check(options);
}

static int run(int argc, char **argv)
{
    struct options options = {.directory = DEFAULT_TRACE, .presenter = &locks_text};
    int status = parse(argc, argv, &options);
    return status < 0 ? 0 : status ? status : locks_of(&options);
}

const struct command command_locks = {
    "locks",
    "[-i DIR] [--lock ADDR|NAME] [--site FUNC] [--min-wait TIME] [--thread TID|NAME] [--from TIME] "
    "[--to TIME] [--json|--csv] [--path|--dot|--audit|N]",
    "say what threads did with each lock, and how much of it was on the critical path",
    run,
    NULL,
    option_rows};
