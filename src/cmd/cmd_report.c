/* heurt report: from a trace to a screen, or to JSON or CSV. */
#include "cmd/report.h"

#include "analysis/callsite/rules_file.h"
#include "analysis/openmp/openmp.h"
#include "analysis/timeline/long_functions.h"
#include "analysis/timeline/requests.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/checking.h"
#include "cmd/command.h"
#include "cmd/compare.h"
#include "cmd/kept_print.h"
#include "cmd/kept_screens.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/report_page.h"
#include "cmd/values.h"
#include "present/requests/requests_screens.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THRESHOLD_UNSAID (-1.0)
#define EXIT_NOT_EXACT 1 /* --audit: the parts do not add up to the whole */

enum report_view { VIEW_SUMMARY, VIEW_CLASSES, VIEW_COVERAGE, VIEW_AUDIT, VIEW_SLOWEST };

struct report_options {
    const char *directory;
    const struct presenter *presenter;
    enum report_view view;
    bool no_rules, compare, median;
    enum class_view classes;
    double threshold;
    uint64_t width;             /* 0: not given */
    uint64_t slow, fast, at_ns; /* of --compare; 0, 0, UINT64_MAX: not given */
    const char *class;          /* a number or a name; NULL: the first screen */
    const char *html;           /* a file; NULL: no page */
    struct part_asked part;
    struct vec threads, keys, ignores, forgets, conditions; /* const char * */
    const char *junit;                                      /* a file; NULL: none */
    struct checking *checking;                              /* of the conditions */
};

/* ---- showing --------------------------------------------------------------------------------- */

/* What is to be shown of which report. */
struct showing {
    const struct report_options *options;
    const struct report *report;
    size_t rank; /* of the one class, from 1; 0: the first screen */
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct showing *showing = subject;
    const struct presenter *presenter = showing->options->presenter;
    if (showing->options->view == VIEW_AUDIT)
        presenter->audit(showing->report, style, out);
    else if (showing->options->view == VIEW_COVERAGE)
        presenter->coverage(showing->report, style, out);
    else
        presenter->classes(showing->report, showing->rank, style, out);
}

/* A threshold, or what makes a class, is asked of classes; JSON has both. */
static bool shows_findings(const struct report_options *options)
{
    bool is_number = options->class && strspn(options->class, "0123456789");
    if (options->presenter != &presenter_text)
        return options->presenter != &presenter_csv && !options->class;
    return options->view == VIEW_SUMMARY && options->threshold == THRESHOLD_UNSAID &&
           (!options->class || (is_number && options->classes == CLASSES_UNSAID));
}

/* The number of a ranked finding that is asked for; 0: it is no such number, or one of a class. */
static size_t finding_number(const struct report_options *options, const struct findings *findings)
{
    char *end;
    unsigned long number = options->class ? strtoul(options->class, &end, 10) : 0;
    bool is_one = number && !*end && number <= findings->rows.count;
    return is_one && VEC_AT(&findings->rows, struct finding, number - 1)->ranked ? number : 0;
}

static int show_report(const struct report_options *options, struct loaded *loaded, size_t rank)
{
    profile__leave_out_asides(loaded->profile, loaded->trace);
    return show_either(options->presenter == &presenter_text, present,
                       &(struct showing){options, &loaded->report, rank}, options->width);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

#define KEPT_CLASSES 5
#define KEPT_JSON_THREADS 256 /* of more the document takes longer than all screens */

/* What is asked for by nothing else than the trace: findings, classes, all as JSON. */
static bool may_be_kept(const struct report_options *options)
{
    const struct part_asked *part = &options->part;
    bool is_part = part->from_ns || part->to_ns || part->last_ns || options->threads.count;
    bool has_rules = options->no_rules || options->keys.count || options->ignores.count ||
                     options->forgets.count;
    bool is_named = options->class && strchr(options->class, '\n');
    return options->view != VIEW_COVERAGE && options->view != VIEW_AUDIT &&
           options->threshold == THRESHOLD_UNSAID && options->classes == CLASSES_UNSAID &&
           !options->html && !options->conditions.count && !is_part && !has_rules && !is_named;
}

/* As it is asked for; "": none. */
static const char *class_of(const struct report_options *options)
{
    return options->class ? options->class : "";
}

static char *words_of_screen(const struct report_options *options, enum report_view view,
                             const char *class)
{
    return memory__format("%s %d %s", options->presenter->name, (int)view, class);
}

static char *name_of_screen(const struct report_options *options, enum report_view view,
                            const char *class, const struct style *style)
{
    char *what = words_of_screen(options, view, class);
    char *name = kept_screens__name(what, options->presenter == &presenter_text, style);
    free(what);
    return name;
}

/* False: it is not kept. */
static bool show_kept(const struct report_options *options, int *status)
{
    bool is_screen = options->presenter == &presenter_text;
    char *what =
        may_be_kept(options) ? words_of_screen(options, options->view, class_of(options)) : NULL;
    struct kept_print print = kept_print__of(options->directory, what, is_screen, options->width);
    bool is_kept = kept_print__show(&print, status);
    kept_print__free(&print);
    return is_kept;
}

/* A screen of a report, unless it is there. */
struct screen_to_keep {
    const struct report_options *options;
    const struct report *report;
    enum report_view view;
    const char *class;
    size_t rank;
};

static void keep_screen(struct vec *screens, const struct screen_to_keep *what,
                        const struct style *style)
{
    char *text = NULL, *name = name_of_screen(what->options, what->view, what->class, style);
    size_t bytes;
    FILE *out = kept_screens__find(screens, name) ? NULL : open_memstream(&text, &bytes);
    if (!out) {
        free(name);
        return;
    }
    present(&(struct showing){what->options, what->report, what->rank}, style, out);
    fclose(out);
    kept_screens__add(screens, name, text);
}

/* The first classes, of which the gain is known; also by a number that no finding has. */
static void keep_classes(struct vec *screens, const struct report_options *options,
                         const struct report *report, const struct style *style)
{
    const struct vec *classes = &report->profile->classes, *rows = &report->findings->rows;
    struct report without = *report;
    char class[24];
    without.findings = NULL;
    for (size_t rank = 1; rank <= classes->count && rank <= KEPT_CLASSES; rank++) {
        struct screen_to_keep what = {options, &without, VIEW_CLASSES, class, rank};
        if (VEC_AT(classes, struct profile_class, rank - 1)->score < report->profile->threshold)
            continue;
        snprintf(class, sizeof class, "%zu", rank);
        keep_screen(screens, &what, style);
        what.view = VIEW_SUMMARY;
        if (rank > rows->count || !VEC_AT(rows, struct finding, rank - 1)->ranked)
            keep_screen(screens, &what, style);
    }
}

/* The findings, each of them, the table of classes, and the first of these. */
static void keep_all(struct vec *screens, const struct report_options *options,
                     const struct report *report, const struct style *style)
{
    struct report without = *report;
    const struct vec *rows = &report->findings->rows;
    char class[24];
    without.findings = NULL;
    keep_screen(screens, &(struct screen_to_keep){options, &without, VIEW_CLASSES, "", 0}, style);
    keep_classes(screens, options, report, style);
    for (size_t rank = 1; rank <= rows->count; rank++) {
        snprintf(class, sizeof class, "%zu", rank);
        if (VEC_AT(rows, struct finding, rank - 1)->ranked)
            keep_screen(screens,
                        &(struct screen_to_keep){options, report, VIEW_SUMMARY, class, rank},
                        style);
    }
    keep_screen(screens, &(struct screen_to_keep){options, report, VIEW_SUMMARY, "", 0}, style);
}

/* Once it is known what a run comes to, all that may be asked for next costs little: also on a
 * terminal of another width that is usual. */
static void keep_screens(const struct report_options *options, const struct report *report)
{
    static const unsigned widths[] = KEPT_WIDTHS;
    struct report_options as_text = *options, as_json = *options;
    if (!may_be_kept(options) || !report->findings || !trace__session(report->trace)->finished)
        return;
    as_text.presenter = &presenter_text;
    as_json.presenter = &presenter_json;
    struct style style = style__of(true, options->width);
    const unsigned columns = style.columns;
    struct vec screens = kept_screens__read(options->directory);
    if (trace__threads(report->trace)->count <= KEPT_JSON_THREADS)
        keep_screen(&screens, &(struct screen_to_keep){&as_json, report, VIEW_SUMMARY, "", 0},
                    &style);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        style.columns = widths[i];
        keep_all(&screens, &as_text, report, &style);
    }
    style.columns = columns;
    keep_all(&screens, &as_text, report, &style);
    kept_screens__write(options->directory, &screens);
    kept_screens__free(&screens);
}

/* The one that was just shown. */
static void keep_shown(const struct report_options *options, const struct report *report,
                       size_t rank)
{
    if (!may_be_kept(options) || !trace__session(report->trace)->finished)
        return;
    const struct style style = style__of(options->presenter == &presenter_text, options->width);
    struct vec screens = kept_screens__read(options->directory);
    keep_screen(&screens,
                &(struct screen_to_keep){options, report, options->view, class_of(options), rank},
                &style);
    kept_screens__write(options->directory, &screens);
    kept_screens__free(&screens);
}

/* ---- findings and classes -------------------------------------------------------------------- */

/* A class, or the table of them. */
static int show_classes(const struct report_options *options, struct loaded *loaded)
{
    size_t rank = 0, matching;
    if (options->class && !(rank = class__find(&loaded->report, options->class, &matching)))
        return EXIT_USAGE;
    loaded__predict(loaded, NULL, rank);
    int status = show_report(options, loaded, rank);
    if (status == 0)
        keep_shown(options, &loaded->report, rank);
    return status;
}

/* The screen, and what became of what was asked with --fail-if. */
static int show_judged(const struct report_options *options, struct loaded *loaded, size_t rank)
{
    struct checking *checking = options->checking;
    int status = 0;
    if (checking && (status = checking__judge(checking, report__judge, &loaded->report)) == 0)
        loaded->report.checks = &checking->checks;
    if (status == 0)
        status = show_report(options, loaded, rank);
    keep_screens(options, &loaded->report);
    if (status == 0 && checking)
        status =
            checking__write_junit(checking, "heurt report", options->directory, options->junit);
    return status || !checking ? status : checking__status(checking);
}

/* The first screen, or a finding; a class that has the number of none. */
static int show_findings(const struct report_options *options, struct loaded *loaded)
{
    run__ask(&loaded->run, &findings_analysis, NULL);
    loaded__analyse(loaded);
    struct findings *findings = run__result(&loaded->run, &findings_analysis);
    loaded__predict(loaded, findings, 0);
    size_t rank = finding_number(options, findings);
    if (rank || !options->class)
        return show_judged(options, loaded, rank);
    loaded->report.findings = NULL;
    return show_classes(options, loaded);
}

/* Says it when no class is of the function (a glob, of which the first bytes count): the rule may
 * be meant for other runs. */
static void check_rule(const struct report *report, const char *option, const char *function,
                       size_t bytes)
{
    char *pattern = memory__format("%.*s", (int)bytes, function);
    bool is_met = false;
    VEC_EACH (class, &report->profile->classes, struct profile_class)
        is_met = is_met || class__is_named(report, class, pattern);
    char *question = class_names__question(report, pattern);
    if (!is_met)
        say("%s: no class of this run is named '%s'%s", option, pattern, question);
    free(question);
    free(pattern);
}

static size_t bytes_of_function(const char *ignored)
{
    const char *in = strstr(ignored, " in ");
    return in ? (size_t)(in - ignored) : strlen(ignored);
}

static void check_rules(const struct report_options *options, const struct report *report)
{
    VEC_EACH (key, &options->keys, const char *)
        check_rule(report, "--key", *key, strcspn(*key, "="));
    VEC_EACH (function, &options->ignores, const char *)
        check_rule(report, "--ignore", *function, bytes_of_function(*function));
}

static void put_slowest(const void *subject, const struct style *style, FILE *out)
{
    requests__put_screen(subject, style, out);
}

static void put_slowest_json(const void *subject, const struct style *style, FILE *out)
{
    requests__put_json(subject, style, out);
}

/* The slowest requests of a program that serves. */
static int show_slowest(const struct report_options *options, struct loaded *loaded)
{
    struct requests *requests = run__result(&loaded->run, &requests_analysis);
    struct requests_report shown = {&loaded->report, requests};
    bool is_screen = options->presenter == &presenter_text;
    if (requests)
        requests__blame(loaded->trace, requests);
    char *what = may_be_kept(options) ? words_of_screen(options, options->view, "") : NULL;
    struct kept_print print = kept_print__of(options->directory, what, is_screen, options->width);
    int status =
        kept_print__make(&print, loaded->trace, is_screen ? put_slowest : put_slowest_json, &shown);
    kept_print__free(&print);
    return status;
}

/* What is seldom called is told beside them. */
static bool tells_classes(const struct report_options *options)
{
    return options->presenter == &presenter_json ||
           (options->presenter == &presenter_text && !options->html && !shows_findings(options) &&
            options->view != VIEW_SLOWEST);
}

static int report_on_loaded(const struct report_options *options, const struct vec *rules,
                            struct loaded *loaded)
{
    enum class_view view = class_view__or(options->classes, CLASSES_BY_STRUCTURE);
    if (options->html || options->view == VIEW_SLOWEST || shows_findings(options)) {
        run__ask(&loaded->run, &findings_analysis, NULL);
        run__ask(&loaded->run, &openmp_analysis, NULL);
        run__ask(&loaded->run, &requests_analysis, NULL);
    }
    if (tells_classes(options))
        run__ask(&loaded->run, &long_functions_analysis, NULL);
    loaded__ask_profile_by(loaded, view, rules,
                           options->threshold == THRESHOLD_UNSAID ? SCORE_THRESHOLD
                                                                  : options->threshold);
    int status = loaded__analyse(loaded);
    if (status)
        return status;
    check_rules(options, &loaded->report);
    if (options->classes != CLASSES_UNSAID && loaded->profile->view != view)
        say("the run was recorded with --aggregate, which keeps no order of events: its classes "
            "are by site");
    if (options->html)
        return report_page__write(loaded, options->directory, options->html);
    if (options->view == VIEW_SLOWEST)
        return show_slowest(options, loaded);
    if (options->view == VIEW_SUMMARY || options->view == VIEW_CLASSES)
        return (shows_findings(options) ? show_findings : show_classes)(options, loaded);
    status = show_report(options, loaded, 0);
    if (status == 0 && options->view == VIEW_AUDIT && !profile__adds_up(loaded->report.profile))
        status = EXIT_NOT_EXACT;
    return status;
}

static int report_on(const struct report_options *options, const struct vec *rules)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    status = loaded__cut(&loaded, &options->part);
    if (status == 0)
        status = loaded__choose_threads(&loaded, &options->threads);
    if (status == 0)
        status = report_on_loaded(options, rules, &loaded);
    loaded__close(&loaded);
    return status;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void forget(struct rules *rules, const char *function)
{
    struct vec list = rules__list(rules);
    struct nearest nearest = nearest__to(function);
    struct vec subjects = VEC_OF(char *);
    VEC_EACH (rule, &list, const struct profile_rule) {
        char *subject = rule__subject(rule);
        vec__push(&subjects, &subject);
        nearest__offer(&nearest, subject);
    }
    char *question = nearest__question(&nearest);
    if (rules__forget(rules, function) == 0)
        say("%s has no rule for '%s'%s", rules->path, function, question);
    free(question);
    VEC_EACH (subject, &subjects, char *)
        free(*subject);
    vec__free(&subjects);
    rules__free_list(&list);
}

static int change_rules(const struct command *self, const struct report_options *options,
                        struct rules *rules)
{
    struct error error;
    VEC_EACH (function, &options->forgets, const char *)
        forget(rules, *function);
    VEC_EACH (key, &options->keys, const char *)
        if (rules__add_key(rules, *key, &error) < 0)
            return wrong_usage(self, "--key: %s", error.text);
    VEC_EACH (function, &options->ignores, const char *)
        if (rules__add_ignore(rules, *function, &error) < 0)
            return wrong_usage(self, "--ignore: %s", error.text);
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

static int report_with_rules(const struct command *self, const struct report_options *options)
{
    struct rules rules;
    struct error error;
    int status = 0;
    if (show_kept(options, &status))
        return status;
    if (options->no_rules) {
        rules = (struct rules){memory__text(HEURT_RULES_FILE), VEC_OF(char *), false};
    } else if (rules__load(options->directory, &rules, &error) < 0) {
        status = failed(&error);
    }
    if (status == 0)
        status = change_rules(self, options, &rules);
    if (status == 0) {
        struct vec list = rules__list(&rules);
        status = report_on(options, &list);
        rules__free_list(&list);
    }
    if ((status <= EXIT_CHECK_UNDECIDED && status != EXIT_USAGE) && !options->no_rules)
        keep_rules(&rules);
    rules__free(&rules);
    return status;
}

static struct report_options default_options(void)
{
    return (struct report_options){.directory = DEFAULT_TRACE,
                                   .presenter = &presenter_text,
                                   .classes = CLASSES_UNSAID,
                                   .threshold = THRESHOLD_UNSAID,
                                   .at_ns = UINT64_MAX,
                                   .threads = VEC_OF(const char *),
                                   .keys = VEC_OF(const char *),
                                   .ignores = VEC_OF(const char *),
                                   .forgets = VEC_OF(const char *),
                                   .conditions = VEC_OF(const char *)};
}

struct kept_print report__kept_summary(const char *directory)
{
    const struct report_options options = {.presenter = &presenter_text};
    return kept_print__of(directory, words_of_screen(&options, VIEW_SUMMARY, ""), true, 0);
}

int report__show_summary(const char *directory, FILE *file)
{
    struct report_options options = default_options();
    int screen = file ? fileno(file) : isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO;
    options.directory = directory;
    fflush(stdout);
    if (dup2(screen, STDOUT_FILENO) < 0) {
        say("cannot write the report: %s", strerror(errno));
        return EXIT_HEURT;
    }
    return report_with_rules(&command_report, &options);
}

/* ---- --compare ------------------------------------------------------------------------------- */

/* What is asked of the first screen does not go with a comparison. */
static int check_comparison(const struct command *self, const struct report_options *options)
{
    if (!options->class)
        return wrong_usage(self, "--compare: expected a class: its number in heurt report, a "
                                 "function's name, or iteration");
    if (options->view != VIEW_SUMMARY || options->presenter == &presenter_csv)
        return wrong_usage(self, "--coverage, --audit and --csv do not go with --compare");
    return 0;
}

static int compare(const struct command *self, const struct report_options *options)
{
    const struct compare_request request = {
        .class = options->class,
        .presenter = options->presenter == &presenter_json ? &difference_json : &difference_text,
        .selection = {.slow = options->at_ns != UINT64_MAX ? 0
                              : options->slow              ? options->slow
                                                           : 1,
                      .at_ns = options->at_ns,
                      .fast = options->median ? 0
                              : options->fast ? options->fast
                                              : 1},
        .view = class_view__or(options->classes, CLASSES_BY_STRUCTURE),
        .width = options->width,
        .is_view_asked_for = options->classes != CLASSES_UNSAID};
    struct loaded loaded;
    int status = check_comparison(self, options);
    if (status == 0)
        status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    status = loaded__cut(&loaded, &options->part);
    if (status == 0)
        status = compare__run(&request, &loaded);
    loaded__close(&loaded);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

#define PART_ROW(option, member, excludes, words)                                     \
    {                                                                                 \
        .name = option, .value = "TIME", .help = words, .expected = DURATION_FORM,    \
        .group = excludes, VALUE(struct report_options, part.member, duration__parse) \
    }

static const struct option_row option_rows[] = {
    INPUT_ROW(struct report_options, directory),
    {.kind = OPTION_OPERAND,
     .name = "N|NAME",
     .help = "that finding in depth; the class of that function"},
    {.name = "compare",
     .help = "with N, NAME or iteration: a slow occurrence against a fast one",
     FLAG(struct report_options, compare)},
    {.name = "slow",
     .value = "N",
     .help = "--compare: the N-th slowest occurrence, not the slowest",
     .expected = "a place among the slowest",
     .group = 's',
     NUMBER(struct report_options, slow, 1, COMPARE_ORDINAL_MOST)},
    {.name = "at",
     .value = "TIME",
     .help = "--compare: the one at that time since the start: 1.2s",
     .expected = DURATION_FORM,
     .group = 's',
     VALUE(struct report_options, at_ns, duration__parse)},
    {.name = "fast",
     .value = "N",
     .help = "--compare: with the N-th fastest, not the fastest",
     .expected = "a place among the fastest",
     .group = 'm',
     NUMBER(struct report_options, fast, 1, COMPARE_ORDINAL_MOST)},
    {.name = "median",
     .help = "--compare: with one that took about the median",
     .group = 'm',
     FLAG(struct report_options, median)},
    FORMAT_ROW(struct report_options, presenter, json, &presenter_json),
    FORMAT_ROW(struct report_options, presenter, csv, &presenter_csv),
    {.name = "markdown",
     .help = "the first screen for a pull request, with what --fail-if found",
     .group = 'f',
     CONSTANT(struct report_options, presenter, &presenter_markdown)},
    {.name = "html",
     .value = "FILE",
     .help = "everything as a page for a browser, in one file",
     .group = 'f',
     TEXT(struct report_options, html)},
    PART_ROW("from", from_ns, 'p', "only that part of the run: from that time since the start"),
    PART_ROW("last", last_ns, 'p', "or from so long before the end of it"),
    PART_ROW("to", to_ns, 0, "until that time since the start"),
    {.name = "thread",
     .value = "NAME|NUMBER",
     .help = "only what these threads lost; may be repeated",
     TEXTS(struct report_options, threads)},
    {.name = "fail-if",
     .value = "CONDITION",
     .help = "end with 3 if it is so: 'lock > 10 %', 'finding(queue.c:30).lost >\n50ms'",
     TEXTS(struct report_options, conditions)},
    {.name = "junit",
     .value = "FILE",
     .help = "the conditions as JUnit XML",
     TEXT(struct report_options, junit)},
    {.name = "classes",
     .help = "the table of classes, by score, not what they come to",
     .group = 'v',
     CHOICE(struct report_options, view, VIEW_CLASSES)},
    {.name = "slowest",
     .help = "of a program that serves: its slowest requests",
     .group = 'v',
     CHOICE(struct report_options, view, VIEW_SLOWEST)},
    {.name = "coverage",
     .help = "which functions were instrumented, and why others not",
     .group = 'v',
     CHOICE(struct report_options, view, VIEW_COVERAGE)},
    {.name = "audit",
     .help = "whether the parts add up to the whole; 1 when they do not",
     .group = 'v',
     CHOICE(struct report_options, view, VIEW_AUDIT)},
    {.name = "threshold",
     .value = "X",
     .help = "show classes with a score of at least X (0.2; 0: all)",
     .expected = "a number from 0 to 1 (0.2 is usual)",
     VALUE(struct report_options, threshold, share__parse)},
    WIDTH_ROW(struct report_options, width),
    {.name = "key",
     .value = "FUNC=ARG[,ARG]",
     .help = "compare only calls with equal arguments; remembered in the trace",
     TEXTS(struct report_options, keys)},
    {.name = "ignore",
     .value = "FUNC",
     .help = "leave these classes out, or ('FUNC in CALLER') those that CALLER\n"
             "calls; remembered in the trace",
     TEXTS(struct report_options, ignores)},
    {.name = "forget",
     .value = "FUNC",
     .help = "drop what is remembered of FUNC",
     TEXTS(struct report_options, forgets)},
    {.name = "no-rules",
     .help = "neither use nor change what is remembered",
     FLAG(struct report_options, no_rules)},
    CLASS_ROW(struct report_options, classes),
    {0},
};

static int take_class(const struct command *self, int argc, char **argv,
                      struct report_options *options)
{
    if (optind == argc)
        return 0;
    if (optind + 1 < argc || !*argv[optind])
        return wrong_usage(self, "expected at most one class, found '%s'%s", argv[argc - 1],
                           optind + 1 < argc ? " too" : "");
    if (options->view == VIEW_COVERAGE)
        return wrong_usage(self, "--coverage and a class exclude each other");
    if (options->view == VIEW_AUDIT)
        return wrong_usage(self, "--audit and a class exclude each other");
    if (options->view == VIEW_SLOWEST)
        return wrong_usage(self, "--slowest and a class exclude each other");
    options->class = argv[optind];
    return 0;
}

/* What else is shown is of all threads. */
static bool may_be_of_threads(const struct report_options *options)
{
    return !options->html && !options->compare && options->view != VIEW_COVERAGE &&
           options->view != VIEW_SLOWEST && options->view != VIEW_AUDIT;
}

static int parse(const struct command *self, int argc, char **argv, struct report_options *options)
{
    int status = options__read(self, argc, argv, options);
    if (status == 0 && !options->compare &&
        (options->slow || options->fast || options->median || options->at_ns != UINT64_MAX))
        status = wrong_usage(self, "--slow, --at, --fast and --median go with --compare");
    if (status == 0 && options->part.to_ns && options->part.to_ns <= options->part.from_ns)
        status = wrong_usage(self, "--to must be later than --from");
    if (status == 0 && options->threads.count && !may_be_of_threads(options))
        status = wrong_usage(self, "--thread goes with the findings and with classes, not with "
                                   "--html, --compare, --coverage or --audit");
    if (status == 0)
        status = take_class(self, argc, argv, options);
    if (status == 0 && options->view == VIEW_SLOWEST && options->presenter == &presenter_csv)
        status = wrong_usage(self, "--slowest is a screen or --json: it has no --csv");
    if (status == 0 && options->presenter == &presenter_markdown &&
        (options->class || options->compare || options->view != VIEW_SUMMARY))
        status = wrong_usage(self, "--markdown is the first screen: no class, --compare, "
                                   "--classes, --coverage or --audit goes with it");
    if (status == 0 && options->conditions.count && (options->class || !shows_findings(options)))
        status = wrong_usage(self, "--fail-if goes with the first screen, or with --json");
    if (status == 0 && options->junit && !options->conditions.count)
        status = wrong_usage(self, "--junit tells of conditions: give some with --fail-if");
    if (status == 0 && options->html &&
        (options->class || options->compare || options->view != VIEW_SUMMARY))
        status = wrong_usage(self, "--html is the whole report: no class, --compare, --classes, "
                                   "--coverage or --audit goes with it");
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct report_options options = default_options();
    struct checking checking = {VEC_OF(struct fail_condition), VEC_OF(struct checked)};
    options.checking = &checking;
    int status = parse(self, argc, argv, &options);
    if (status == 0)
        status = checking__parse(&options.conditions, &checking);
    if (status == 0)
        status = (options.compare ? compare : report_with_rules)(self, &options);
    vec__free(&options.threads);
    vec__free(&options.keys);
    vec__free(&options.ignores);
    vec__free(&options.forgets);
    vec__free(&options.conditions);
    checking__free(&checking);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "say where a recorded program loses time, how much, and why",
    .rows = option_rows,
    .operands = "[N|NAME|iteration]",
    .run = run};
