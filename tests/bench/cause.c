#include "cause.h"

#include "recording.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shares that are closer than this are equal: either may be called the larger one. */
#define TIE 0.1
#define RUNNABLE "runnable"

/* ---- what is read ---------------------------------------------------------------------------- */

int cause_truth__read(const struct cause_program *program, const char *text,
                      struct cause_truth *truth, struct error *error)
{
    double excess_ns = text__number(text, "excess_ns");
    *truth = (struct cause_truth){.runnable = text__number(text, "runnable_ns") / excess_ns,
                                  .excess_ns = excess_ns,
                                  .lifetime_ns = text__number(text, "lifetime_ns")};
    double check = truth->runnable + truth->lifetime_ns;
    for (size_t i = 0; i < CAUSE_PARTS && program->parts[i]; i++) {
        char key[64];
        snprintf(key, sizeof key, "injected_%s_ns", program->parts[i]);
        truth->share[i] = text__number(text, key) / excess_ns;
        check += truth->share[i];
    }
    if (!isfinite(check))
        return error__set(error, -EPROTO, "%s did not print what it injected", program->name);
    return 0;
}

static const char *text_of(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;
    json_object_object_get_ex(object, name, &value);
    return value ? json_object_get_string(value) : "null";
}

static double number_of(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(object, name, &value) ? json_object_get_double(value) : NAN;
}

/* NULL: there is none. */
static struct json_object *class_of_work(struct json_object *report)
{
    struct json_object *classes = NULL;
    json_object_object_get_ex(report, "classes", &classes);
    size_t count = classes ? json_object_array_length(classes) : 0;
    for (size_t i = 0; i < count; i++) {
        struct json_object *class = json_object_array_get_idx(classes, i);
        if (strcmp(text_of(class, "kind"), "call") == 0 &&
            strcmp(text_of(class, "function"), "work") == 0)
            return class;
    }
    return NULL;
}

static void found__fill(const struct cause_program *program, struct json_object *class,
                        struct cause_found *found)
{
    struct json_object *why = NULL;
    double excess_ns = number_of(class, "excess_ns");
    json_object_object_get_ex(class, "why_ns", &why);
    *found = (struct cause_found){.score = number_of(class, "score"),
                                  .runnable = number_of(why, RUNNABLE) / excess_ns};
    snprintf(found->verdict, sizeof found->verdict, "%s", text_of(class, "verdict"));
    snprintf(found->cause, sizeof found->cause, "%s", text_of(class, "cause"));
    for (size_t i = 0; i < CAUSE_PARTS && program->parts[i]; i++) {
        bool faults = strcmp(program->parts[i], "page_fault") == 0;
        found->share[i] =
            (number_of(why, program->parts[i]) + (faults ? number_of(why, "overhead") : 0)) /
            excess_ns;
    }
}

int cause_found__read(const struct cause_program *program, const char *json,
                      struct cause_found *found, struct error *error)
{
    struct json_object *report = json_tokener_parse(json);
    struct json_object *class = report ? class_of_work(report) : NULL;
    if (class)
        found__fill(program, class, found);
    json_object_put(report);
    if (!class)
        return error__set(error, -EPROTO, "the report of %s has no calls of work", program->name);
    return 0;
}

/* ---- what is right --------------------------------------------------------------------------- */

static bool is_interference(const struct cause_found *found)
{
    return strcmp(found->verdict, "interference") == 0;
}

const char *cause_found__word(const struct cause_found *found)
{
    if (found->score <= CAUSE_QUIET_SCORE)
        return "nothing";
    return is_interference(found)                    ? found->cause
           : strcmp(found->verdict, "workload") == 0 ? "workload"
                                                     : "unclear";
}

/* The larger injected part. */
static size_t largest(const struct cause_truth *truth)
{
    return truth->share[1] > truth->share[0];
}

static bool is_tie(double left, double right)
{
    return fabs(left - right) < TIE;
}

/* The larger one, or one that is as good as. */
static bool is_largest(const struct cause_program *program, const struct cause_truth *truth,
                       const char *cause)
{
    bool tie = program->parts[1] && is_tie(truth->share[0], truth->share[1]);
    for (size_t i = 0; i < CAUSE_PARTS && program->parts[i]; i++)
        if (strcmp(cause, program->parts[i]) == 0)
            return tie || i == largest(truth);
    return false;
}

/* How much of the excess speaks for what the kind tells. */
static double own_share(const struct cause_program *program, const struct cause_truth *truth)
{
    return program->kind == CAUSE_QUIET ? 1 - truth->runnable : truth->share[largest(truth)];
}

static bool waits_for_a_cpu(const struct cause_program *program)
{
    return program->parts[0] && strcmp(program->parts[0], RUNNABLE) == 0;
}

const char *cause__expected(const struct cause_program *program, const struct cause_truth *truth)
{
    if (truth->runnable > own_share(program, truth) &&
        truth->runnable * truth->excess_ns > CAUSE_QUIET_SCORE * truth->lifetime_ns)
        return RUNNABLE;
    switch (program->kind) {
    case CAUSE_ARGUMENT:
        return "workload";
    case CAUSE_DATA:
        return "unclear";
    case CAUSE_QUIET:
        return "nothing";
    default:
        return program->parts[largest(truth)];
    }
}

bool cause__is_disturbed(const struct cause_program *program, const struct cause_truth *truth)
{
    double runnable = waits_for_a_cpu(program) ? 0 : truth->runnable;
    if (program->kind == CAUSE_QUIET)
        return runnable * truth->excess_ns > CAUSE_QUIET_SCORE / 2 * truth->lifetime_ns;
    /* Little was lost at all: the threads were hardly ever on two CPUs. */
    if (truth->excess_ns < 2 * CAUSE_QUIET_SCORE * truth->lifetime_ns)
        return true;
    double injected = truth->share[0] + truth->share[1];
    return injected < runnable + TIE || injected < 0.5;
}

double cause__difference(const struct cause_program *program, const struct cause_truth *truth,
                         const struct cause_found *found)
{
    double most = 0;
    for (size_t i = 0; i < CAUSE_PARTS && program->parts[i]; i++)
        most = fmax(most, fabs(truth->share[i] - found->share[i]));
    return most;
}

/* The answer that the kind asks for, whatever else happened. */
static bool fits_kind(const struct cause_program *program, const struct cause_truth *truth,
                      const struct cause_found *found)
{
    switch (program->kind) {
    case CAUSE_ARGUMENT:
        return strcmp(found->verdict, "workload") == 0;
    case CAUSE_DATA:
        return !is_interference(found);
    case CAUSE_QUIET:
        return !is_interference(found) || found->score <= CAUSE_QUIET_SCORE;
    case CAUSE_MIXED:
        if (cause__difference(program, truth, found) > CAUSE_SHARE_BAR)
            return false;
        /* fall through */
    default:
        return is_interference(found) && is_largest(program, truth, found->cause);
    }
}

bool cause__is_right(const struct cause_program *program, const struct cause_truth *truth,
                     const struct cause_found *found)
{
    bool runnable = is_interference(found) && strcmp(found->cause, RUNNABLE) == 0;
    bool expected = strcmp(cause__expected(program, truth), RUNNABLE) == 0;
    bool tie = is_tie(truth->runnable, own_share(program, truth));
    return (runnable && (expected || tie)) ||
           ((!expected || tie) && fits_kind(program, truth, found));
}
