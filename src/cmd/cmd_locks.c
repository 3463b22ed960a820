/* heurt locks: what threads did with locks, and how much of it was on the critical path. */
#include "analysis/critical_path/critical.h"
#include "analysis/ledger/profile.h"
#include "analysis/locks/locks.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/kept_print.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/values.h"
#include "present/locks/locks_screens.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#define EXIT_NOT_EXACT 1 /* --audit: the parts do not add up */
#define TO_UNSAID UINT64_MAX

enum locks_view { VIEW_SUMMARY, VIEW_ONE, VIEW_PATH, VIEW_DOT, VIEW_AUDIT };

struct locks_options {
    const char *directory;
    const struct locks_presenter *presenter;
    enum locks_view view;
    uint64_t rank;  /* of VIEW_ONE */
    uint64_t width; /* 0: not given */
    struct locks_filter filter;
};

/* ---- showing --------------------------------------------------------------------------------- */

/* What is to be shown of which report. */
struct locks_showing {
    const struct locks_options *options;
    const struct locks_report *report;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct locks_showing *showing = subject;
    const struct locks_presenter *presenter = showing->options->presenter;
    switch (showing->options->view) {
    case VIEW_SUMMARY:
    case VIEW_ONE:
        presenter->locks(showing->report, showing->options->rank, style, out);
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

static bool is_screen(const struct locks_options *options)
{
    return options->presenter == &locks_text && options->view != VIEW_DOT;
}

static int show_view(const struct locks_options *options, const struct locks_report *report,
                     const struct kept_print *print)
{
    size_t rows = report->result->rows.count;
    if (options->view == VIEW_ONE && options->rank > rows) {
        say("there is no lock %zu: heurt locks numbers %zu of them", options->rank, rows);
        return EXIT_USAGE;
    }
    int status = kept_print__make(print, report->report->trace, present,
                                  &(struct locks_showing){options, report});
    if (status == 0 && options->view == VIEW_AUDIT && !locks__add_up(report))
        return EXIT_NOT_EXACT;
    return status;
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* What holders did meanwhile is known of the whole run. */
static bool wants_profile(const struct locks_options *options)
{
    const struct locks_filter *filter = &options->filter;
    bool is_whole = !filter->site && !filter->thread && !filter->min_wait_ns && !filter->from_ns &&
                    !filter->to_ns;
    return options->view == VIEW_ONE && is_whole;
}

/* 0, or the exit status after a sentence. */
static int analyse(const struct locks_options *options, struct loaded *loaded)
{
    struct error error;
    run__ask(&loaded->run, &locks_analysis, &options->filter);
    if (options->view == VIEW_PATH)
        run__ask(&loaded->run, &path_analysis, NULL);
    if (wants_profile(options))
        loaded__ask_profile_by(loaded, CLASSES_BY_SITE, NULL, SCORE_THRESHOLD);
    int code = run__analyse(&loaded->run, &error);
    loaded->report.profile = run__result(&loaded->run, &profile_analysis);
    if (code == 0)
        return 0;
    int status = failed(&error);
    return code == -ENOENT || code == -EINVAL ? EXIT_USAGE : status;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* What is asked for by nothing else than the trace. */
static bool may_be_kept(const struct locks_options *options)
{
    const struct locks_filter *filter = &options->filter;
    return options->view != VIEW_AUDIT && !filter->lock && !filter->site && !filter->thread &&
           !filter->min_wait_ns && !filter->from_ns && !filter->to_ns;
}

static struct kept_print kept_print_of(const struct locks_options *options)
{
    const char *format = options->presenter == &locks_text   ? "text"
                         : options->presenter == &locks_json ? "json"
                                                             : "csv";
    char *what = NULL;
    if (may_be_kept(options))
        what = memory__format("locks %s %d %llu", format, (int)options->view,
                              (unsigned long long)options->rank);
    return kept_print__of(options->directory, what, is_screen(options), options->width);
}

static int make_locks(const struct locks_options *options, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    status = analyse(options, &loaded);
    if (status == 0) {
        struct locks_result *result = run__result(&loaded.run, &locks_analysis);
        if (options->view == VIEW_AUDIT)
            locks__mark(loaded.trace, result);
        const struct locks_report report = {&loaded.report, result, &options->filter,
                                            run__result(&loaded.run, &path_analysis)};
        status = show_view(options, &report, print);
    }
    loaded__close(&loaded);
    return status;
}

static int locks_of(const struct locks_options *options)
{
    struct kept_print print = kept_print_of(options);
    int status = 0;
    if (!kept_print__show(&print, &status))
        status = make_locks(options, &print);
    kept_print__free(&print);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

#define TIME_ROW(option, member, words)                                            \
    {                                                                              \
        .name = option, .value = "TIME", .help = words, .expected = DURATION_FORM, \
        VALUE(struct locks_options, filter.member, duration__parse)                \
    }

static const struct option_row option_rows[] = {
    INPUT_ROW(struct locks_options, directory),
    {.kind = OPTION_OPERAND, .name = "N", .help = "the lock of that number in depth"},
    {.name = "path",
     .help = "the critical path, piece by piece",
     .group = 'v',
     CHOICE(struct locks_options, view, VIEW_PATH)},
    {.name = "dot",
     .help = "who was waited for, by whom, as a graph for Graphviz",
     .group = 'v',
     CHOICE(struct locks_options, view, VIEW_DOT)},
    {.name = "audit",
     .help = "whether the parts add up to the whole; 1 when they do not",
     .group = 'v',
     CHOICE(struct locks_options, view, VIEW_AUDIT)},
    WIDTH_ROW(struct locks_options, width),
    FORMAT_ROW(struct locks_options, presenter, json, &locks_json),
    FORMAT_ROW(struct locks_options, presenter, csv, &locks_csv),
    {.name = "lock",
     .value = "ADDR|NAME",
     .help = "only this lock: its address, or a pattern of variables",
     TEXT(struct locks_options, filter.lock)},
    {.name = "site",
     .value = "FUNC",
     .help = "only what functions do whose names match",
     TEXT(struct locks_options, filter.site)},
    TIME_ROW("min-wait", min_wait_ns, "only what waited so long: 1ms, 20us, 0.5s"),
    {.name = "thread",
     .value = "TID|NAME",
     .help = "only what this thread did",
     TEXT(struct locks_options, filter.thread)},
    TIME_ROW("from", from_ns, "only what ended from then on, since the start"),
    TIME_ROW("to", to_ns, "only what ended until then, since the start"),
    {0},
};

static int take_rank(const struct command *self, int argc, char **argv,
                     struct locks_options *options)
{
    if (optind == argc)
        return 0;
    if (optind + 1 < argc)
        return wrong_usage(self, "expected at most one number of a lock, found '%s' too",
                           argv[optind + 1]);
    if (!number__parse(argv[optind], 1, UINT64_MAX, &options->rank))
        return wrong_usage(self,
                           "expected the number of a lock (as in the column #), found '%s'; by "
                           "name it is --lock, and another trace is chosen with -i DIR",
                           argv[optind]);
    if (options->view != VIEW_SUMMARY)
        return wrong_usage(self, "--path, --dot, --audit and a number exclude each other");
    options->view = VIEW_ONE;
    return 0;
}

/* What does not go together. TO_UNSAID becomes 0, which the filter knows. */
static int check(const struct command *self, struct locks_options *options)
{
    struct locks_filter *filter = &options->filter;
    if (filter->to_ns <= filter->from_ns)
        return wrong_usage(self, "--to must be later than %s", filter->from_ns ? "--from" : "0s");
    filter->to_ns = filter->to_ns == TO_UNSAID ? 0 : filter->to_ns;
    bool filters = filter->lock || filter->site || filter->thread || filter->min_wait_ns ||
                   filter->from_ns || filter->to_ns;
    if (options->view == VIEW_DOT && options->presenter != &locks_text)
        return wrong_usage(self, "--dot is a format of its own: without --json and --csv");
    if (options->view == VIEW_PATH && filters)
        return wrong_usage(self, "--path is the path of the whole run: --lock, --site, "
                                 "--min-wait, --thread, --from and --to do not go with it");
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct locks_options options = {
        .directory = DEFAULT_TRACE, .presenter = &locks_text, .filter.to_ns = TO_UNSAID};
    int status = options__read(self, argc, argv, &options);
    if (status == 0)
        status = take_rank(self, argc, argv, &options);
    if (status == 0)
        status = check(self, &options);
    return status ? status : locks_of(&options);
}

const struct command command_locks = {
    .name = "locks",
    .summary = "say what threads did with each lock, and how much of it was on the critical path",
    .rows = option_rows,
    .operands = "[N]",
    .run = run};
