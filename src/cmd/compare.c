#include "cmd/compare.h"

#include "cmd/command.h"
#include "cmd/pager_print.h"
#include "cmd/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ITERATION "iteration"

/* ---- showing --------------------------------------------------------------------------------- */

struct compare_showing {
    const struct compare_request *request;
    struct difference_view view;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct compare_showing *showing = subject;
    showing->request->presenter->put(&showing->view, style, out);
}

/* What code means for the exit status; a sentence is said. about: what was compared, or NULL. */
static int refuse(int code, const char *about, const struct error *error)
{
    say("%s%s%s", about ? about : "", about ? ": " : "", error->text);
    return code == -ENOENT ? EXIT_USAGE : EXIT_HEURT;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* The first of that name, and how many there are: functions, or else hooked calls by their names or
 * their callers'. */
static size_t find_name(const struct report *report, const char *pattern, bool functions,
                        size_t *matching)
{
    size_t rank = 0, first = 0;
    *matching = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        rank++;
        if (class->what.is_aside || class_kind__is_code(class->what.at.kind) != functions ||
            !class__is_named(report, class, pattern))
            continue;
        first = first ? first : rank;
        ++*matching;
    }
    return first;
}

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* 0: it is none, or none of that many. */
static size_t rank_of(const char *text, size_t classes)
{
    uint64_t rank;
    return number__parse(text, 1, classes, &rank) ? rank : 0;
}

/* Those of threads that are aside are behind them. */
static size_t numbered_classes(const struct profile *profile)
{
    size_t count = profile->classes.count;
    while (count && VEC_AT(&profile->classes, struct profile_class, count - 1)->what.is_aside)
        count--;
    return count;
}

size_t class__find(const struct report *report, const char *text, size_t *matching)
{
    size_t classes = numbered_classes(report->profile), rank;
    *matching = 1;
    if (is_number(text)) {
        rank = rank_of(text, classes);
        if (!rank)
            say("there is no class %s: heurt report numbers %zu of them", text, classes);
        return rank;
    }
    rank = find_name(report, text, true, matching);
    if (!rank)
        rank = find_name(report, text, false, matching);
    if (!rank) {
        char *question = class_names__question(report, text);
        say("no class of this run is named '%s'%s heurt report lists them; a pattern may have * "
            "and ?",
            text, *question ? question : ":");
        free(question);
    }
    return rank;
}

static int compare_class(const struct compare_request *request, const struct report *report)
{
    struct error error;
    struct compare_showing showing = {request, {.report = report}};
    struct difference *difference;
    showing.view.rank = class__find(report, request->class, &showing.view.matching);
    if (!showing.view.rank)
        return EXIT_USAGE;
    const struct profile_class *class =
        VEC_AT(&report->profile->classes, struct profile_class, showing.view.rank - 1);
    int code = difference__of_class(report->trace, report->profile, class, &request->selection,
                                    &difference, &error);
    if (code < 0)
        return refuse(code, class->what.at.function, &error);
    showing.view.difference = difference;
    int status =
        show_either(request->presenter == &difference_text, present, &showing, request->width);
    difference__free(difference);
    return status;
}

static int compare_of_class(const struct compare_request *request, struct loaded *loaded)
{
    bool by_view = is_number(request->class) || request->is_view_asked_for;
    int status = loaded__profile(loaded, by_view ? request->view : CLASSES_BY_SITE);
    return status ? status : compare_class(request, &loaded->report);
}

/* ---- iterations ------------------------------------------------------------------------------ */

static bool is_of_iterations(const char *class)
{
    size_t bytes = strlen(ITERATION);
    return strncmp(class, ITERATION, bytes) == 0 &&
           (!class[bytes] || (class[bytes] == ':' && is_number(class + bytes + 1)));
}

/* What all threads of the phase took. */
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
static size_t find_phase(const struct compare_request *request, const struct iterations *iterations)
{
    const char *number = strchr(request->class, ':');
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

static int compare_phase(const struct compare_request *request, const struct report *report,
                         const struct iterations *iterations)
{
    struct error error;
    struct difference *difference;
    size_t number = find_phase(request, iterations);
    if (!number)
        return EXIT_USAGE;
    struct compare_showing showing = {
        request,
        {.report = report,
         .matching = 1,
         .phase = VEC_AT(&iterations->phases, struct iteration_phase, number - 1),
         .phase_number = number,
         .phases = iterations->phases.count}};
    int code = difference__of_iterations(report->trace, showing.view.phase, &request->selection,
                                         &difference, &error);
    if (code < 0)
        return refuse(code, "iterations", &error);
    showing.view.difference = difference;
    int status =
        show_either(request->presenter == &difference_text, present, &showing, request->width);
    difference__free(difference);
    return status;
}

static int compare_of_iterations(const struct compare_request *request, struct loaded *loaded)
{
    struct error error;
    run__ask(&loaded->run, &iterations_analysis, NULL);
    int code = run__analyse(&loaded->run, &error);
    return code < 0 ? refuse(code, NULL, &error)
                    : compare_phase(request, &loaded->report,
                                    run__result(&loaded->run, &iterations_analysis));
}

int compare__run(const struct compare_request *request, struct loaded *loaded)
{
    return is_of_iterations(request->class) ? compare_of_iterations(request, loaded)
                                            : compare_of_class(request, loaded);
}
