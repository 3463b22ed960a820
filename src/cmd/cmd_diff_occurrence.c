/* heurt diff-occurrence: one slow against one fast occurrence of a class. */
#include "base/memory.h"
#include "cmd/class_view.h"
#include "cmd/command.h"
#include "cmd/durations.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/rules_file.h"
#include "present/compare/difference_screens.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.2        /* as of heurt report: it numbers the classes */
#define ORDINAL_MAX 1000000u /* the so many-th slowest: they are kept on the way there */
#define ITERATION "iteration"

struct options {
    const char *directory;
    const char *class; /* number, pattern, "iteration" or "iteration:2" */
    const struct difference_presenter *presenter;
    struct difference_choice choice;
    enum class_view view; /* of a class's number; a name means all of the site unless asked for */
    bool asked_for_view;
};

/* ---- showing --------------------------------------------------------------------------------- */

struct showing {
    const struct options *options;
    struct difference_view view;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct showing *showing = subject;
    showing->options->presenter->put(&showing->view, style, out);
}

/* What code means for the exit status; a sentence is said. about: what was compared, or NULL. */
static int refuse(int code, const char *about, const struct error *error)
{
    say("%s%s%s", about ? about : "", about ? ": " : "", error->text);
    return code == -ENOENT ? EXIT_USAGE : EXIT_HEURT;
}

static struct report report_of(const struct options *options, const struct loaded *loaded)
{
    return (struct report){.trace = loaded->trace,
                           .symbols = loaded->symbols,
                           .directory = options->directory,
                           .trace_bytes = trace__bytes_on_disk(options->directory)};
}

/* ---- classes --------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* 0: it is none, or none of that many. */
static size_t rank_of(const char *text, size_t classes)
{
    errno = 0;
    unsigned long rank = strtoul(text, NULL, 10);
    return errno || rank > classes ? 0 : rank;
}

static bool is_function(const struct profile_class *class)
{
    return class->what.at.kind == CLASS_CALL || class->what.at.kind == CLASS_REGION ||
           class->what.at.kind == CLASS_ITERATION || class->what.at.kind == CLASS_LOOP;
}

/* The first of that name, and how many there are: functions, or else hooked calls by their names or
 * their callers'. */
static size_t find_name(const struct report *report, const char *pattern, bool functions,
                        size_t *matching)
{
    size_t rank = 0, first = 0;
    *matching = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        rank++;
        if (is_function(class) != functions || !class__is_named(report, class, pattern))
            continue;
        first = first ? first : rank;
        ++*matching;
    }
    return first;
}

/* 0 after a sentence. */
static size_t find_class(const struct options *options, const struct report *report,
                         size_t *matching)
{
    size_t classes = report->profile->classes.count, rank;
    *matching = 1;
    if (is_number(options->class)) {
        rank = rank_of(options->class, classes);
        if (!rank)
            say("there is no class %s: heurt report numbers %zu of them", options->class, classes);
        return rank;
    }
    rank = find_name(report, options->class, true, matching);
    if (!rank)
        rank = find_name(report, options->class, false, matching);
    if (!rank)
        say("no class of this run is named '%s': heurt report lists them; a pattern may have * and "
            "?",
            options->class);
    return rank;
}

static int compare_class(const struct options *options, const struct report *report)
{
    struct error error;
    struct showing showing = {options, {.report = report}};
    struct difference *difference;
    showing.view.rank = find_class(options, report, &showing.view.matching);
    if (!showing.view.rank)
        return EXIT_USAGE;
    const struct profile_class *class =
        VEC_AT(&report->profile->classes, struct profile_class, showing.view.rank - 1);
    int code = difference__of_class(report->trace, report->profile, class, &options->choice,
                                    &difference, &error);
    if (code < 0)
        return refuse(code, class->what.at.function, &error);
    showing.view.difference = difference;
    int status = show(present, &showing);
    difference__free(difference);
    return status;
}

static int compare_with_profile(const struct options *options, const struct loaded *loaded,
                                const struct vec *rules)
{
    struct profile *profile;
    struct error error;
    struct report report = report_of(options, loaded);
    enum class_view view =
        is_number(options->class) || options->asked_for_view ? options->view : CLASSES_BY_SITE;
    int code = profile__compute_by(view, loaded->trace, loaded->symbols, rules, THRESHOLD, &profile,
                                   &error);
    if (code < 0)
        return refuse(code, NULL, &error);
    report.profile = profile;
    int status = compare_class(options, &report);
    profile__free(profile);
    return status;
}

static int compare_of_class(const struct options *options, const struct loaded *loaded)
{
    struct rules rules;
    struct error error;
    int status;
    if (rules__load(options->directory, &rules, &error) < 0) {
        say("%s", error.text);
        status = EXIT_HEURT;
    } else {
        struct vec list = rules__list(&rules);
        status = compare_with_profile(options, loaded, &list);
        rules__free_list(&list);
    }
    rules__free(&rules);
    return status;
}

/* ---- iterations ------------------------------------------------------------------------------ */

static bool is_of_iterations(const char *class)
{
    size_t bytes = strlen(ITERATION);
    return strncmp(class, ITERATION, bytes) == 0 &&
           (!class[bytes] || (class[bytes] == ':' && is_number(class + bytes + 1)));
}

/* Of all its threads. */
static uint64_t time_of(const struct iterations *iterations, size_t phase)
{
    uint64_t sum = 0;
    const struct vec *threads =
        &VEC_AT(&iterations->phases, struct iteration_phase, phase)->threads;
    VEC_EACH (thread, threads, struct iteration_thread)
        sum += thread->sum_ns;
    return sum;
}

/* The phase (from 1) that takes most of the threads' time, or the one that is asked for; 0 after a
 * sentence. */
static size_t find_phase(const struct options *options, const struct iterations *iterations)
{
    const char *number = strchr(options->class, ':');
    size_t count = iterations->phases.count, phase = 0, most = 0;
    if (!count) {
        say("no thread of this run has iterations: heurt structure shows what it has");
        return 0;
    }
    if (number && (phase = rank_of(number + 1, count)) == 0)
        say("there is no phase %s: heurt structure numbers %zu", number + 1, count);
    for (size_t i = 1; !number && i < count; i++)
        if (time_of(iterations, i) > time_of(iterations, most))
            most = i;
    return number ? phase : most + 1;
}

static int compare_phase(const struct options *options, const struct report *report,
                         const struct iterations *iterations)
{
    struct error error;
    struct difference *difference;
    size_t number = find_phase(options, iterations);
    if (!number)
        return EXIT_USAGE;
    struct showing showing = {
        options,
        {.report = report,
         .matching = 1,
         .phase = VEC_AT(&iterations->phases, struct iteration_phase, number - 1),
         .phase_number = number,
         .phases = iterations->phases.count}};
    int code = difference__of_iterations(report->trace, showing.view.phase, &options->choice,
                                         &difference, &error);
    if (code < 0)
        return refuse(code, "iterations", &error);
    showing.view.difference = difference;
    int status = show(present, &showing);
    difference__free(difference);
    return status;
}

static int compare_of_iterations(const struct options *options, const struct loaded *loaded)
{
    struct iterations *iterations;
    struct error error;
    const struct report report = report_of(options, loaded);
    int code = iterations__compute(loaded->trace, &iterations, &error);
    if (code < 0)
        return refuse(code, NULL, &error);
    int status = compare_phase(options, &report, iterations);
    iterations__free(iterations);
    return status;
}

static int compare(const struct options *options)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    status = is_of_iterations(options->class) ? compare_of_iterations(options, &loaded)
                                              : compare_of_class(options, &loaded);
    loaded__close(&loaded);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    OPTION_SLOW = 256,
    OPTION_AT,
    OPTION_FAST,
    OPTION_MEDIAN,
    OPTION_CLASS,
    OPTION_JSON,
};

static const struct option_row option_rows[] = {
    {OPTION_OPERAND, "CLASS", NULL,
     "its number in heurt report, the name of a function (* and ? are any), or iteration;\n"
     "                              iteration:2 for the second phase"},
    {'i', "input", "DIR", "the trace (heurt.data)"},
    {OPTION_SLOW, "slow", "N", "the N-th slowest occurrence, not the slowest"},
    {OPTION_AT, "at", "TIME", "the one at that time since the start: 1.2s, 350ms"},
    {OPTION_FAST, "fast", "N", "the N-th fastest to compare with, not the fastest"},
    {OPTION_MEDIAN, "median", NULL, "one that took about as long as the median to compare with"},
    {OPTION_CLASS, "class", "site|structure",
     "what calls other things is another class (structure), or not"},
    {OPTION_JSON, "json", NULL, "everything as JSON"},
    {0},
};

static int take_ordinal(const char *option, uint64_t *ordinal)
{
    errno = 0;
    *ordinal = is_number(optarg) ? strtoull(optarg, NULL, 10) : 0;
    if (!errno && *ordinal && *ordinal <= ORDINAL_MAX)
        return 0;
    return wrong_usage(&command_diff_occurrence,
                       "--%s: expected the place among the %sest, 1 to %u, found '%s'", option,
                       option, ORDINAL_MAX, optarg);
}

static int take_time(struct difference_choice *choice)
{
    choice->slow = 0;
    if (duration__parse(optarg, &choice->at_ns))
        return 0;
    return wrong_usage(&command_diff_occurrence, "--at: expected " DURATION_FORM ", found '%s'",
                       optarg);
}

/* While the command line is read: what was given of the options that exclude each other. */
struct reading {
    struct options *options;
    bool given[OPTION_JSON - OPTION_SLOW];
};

/* 0, or the exit status of wrong usage. */
static int take_option(int option, void *request)
{
    struct reading *reading = request;
    struct options *options = reading->options;
    if (option >= OPTION_SLOW && option < OPTION_JSON)
        reading->given[option - OPTION_SLOW] = true;
    switch (option) {
    case 'i':
        options->directory = optarg;
        return 0;
    case OPTION_SLOW:
        return take_ordinal("slow", &options->choice.slow);
    case OPTION_AT:
        return take_time(&options->choice);
    case OPTION_FAST:
        return take_ordinal("fast", &options->choice.fast);
    case OPTION_MEDIAN:
        options->choice.fast = 0;
        return 0;
    case OPTION_CLASS:
        options->asked_for_view = true;
        return view__parse(&command_diff_occurrence, optarg, &options->view);
    case OPTION_JSON:
        options->presenter = &difference_json;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

static int take_class(int argc, char **argv, struct options *options)
{
    if (argc - optind != 1)
        return wrong_usage(&command_diff_occurrence,
                           optind == argc ? "expected a class: its number in heurt report, a "
                                            "function's name, or iteration"
                                          : "expected one class, found '%s' too",
                           argv[argc - 1]);
    options->class = argv[optind];
    if (!*options->class)
        return wrong_usage(&command_diff_occurrence, "expected a class, found ''");
    return 0;
}

static int check(const bool given[OPTION_JSON - OPTION_SLOW])
{
    if (given[0] && given[OPTION_AT - OPTION_SLOW])
        return wrong_usage(&command_diff_occurrence, "--slow and --at exclude each other");
    if (given[OPTION_FAST - OPTION_SLOW] && given[OPTION_MEDIAN - OPTION_SLOW])
        return wrong_usage(&command_diff_occurrence, "--fast and --median exclude each other");
    return 0;
}

static int parse(int argc, char **argv, struct options *options)
{
    struct reading reading = {options, {false}};
    int status =
        options__read(&command_diff_occurrence, option_rows, argc, argv, take_option, &reading);
    status = status ? status : check(reading.given);
    return status ? status : take_class(argc, argv, options);
}

static int run(int argc, char **argv)
{
    struct options options = {.directory = DEFAULT_TRACE,
                              .presenter = &difference_text,
                              .choice = {.slow = 1, .fast = 1},
                              .view = CLASSES_BY_STRUCTURE};
    int status = parse(argc, argv, &options);
    if (status == 0)
        status = compare(&options);
    return status < 0 ? 0 : status;
}

const struct command command_diff_occurrence = {
    "diff-occurrence",
    "[-i DIR] [--slow N|--at TIME] [--fast N|--median] [--class site|structure] [--json] CLASS",
    "show what makes one slow occurrence differ from a fast one",
    run,
    NULL,
    option_rows};
