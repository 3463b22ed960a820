/* What --fail-if may ask of a report: the run, its findings, its classes, and what threads did. */
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cmd/checking.h"
#include "present/report/findings_words.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A quantity's figures; a factor of 0: it has none. */
struct quantity {
    double ns, share, count, factor;
    bool has_time, has_share, has_count, has_factor;
    bool is_none; /* the run has nothing of that name: a figure of 0 would say more than is known */
};

static bool fits(const struct quantity *quantity, enum condition_unit unit)
{
    return unit == CONDITION_TIME     ? quantity->has_time
           : unit == CONDITION_SHARE  ? quantity->has_share
           : unit == CONDITION_FACTOR ? quantity->has_factor
                                      : quantity->has_count;
}

static double figure_in(const struct quantity *quantity, enum condition_unit unit)
{
    return unit == CONDITION_TIME     ? quantity->ns
           : unit == CONDITION_SHARE  ? quantity->share
           : unit == CONDITION_FACTOR ? quantity->factor
                                      : quantity->count;
}

char *measured__text(const struct fail_condition *condition, double figure)
{
    char buffer[16];
    if (condition->unit == CONDITION_TIME)
        return memory__text(duration__format((uint64_t)figure, buffer));
    if (condition->unit == CONDITION_SHARE)
        return memory__format("%.3g %%", figure * 100);
    if (condition->unit == CONDITION_FACTOR)
        return memory__format("%.3g×", figure);
    return memory__format(figure == round(figure) ? "%.0f" : "%.3g", figure);
}

const char *measured__of(const struct fail_condition *condition)
{
    return condition->unit == CONDITION_SHARE    ? " of the time of the threads that had work"
           : condition->unit == CONDITION_FACTOR ? " as fast without it"
                                                 : "";
}

static int take_figure(const struct fail_condition *condition, const char *name,
                       const struct quantity *quantity, struct asked_figure *measured,
                       struct error *error)
{
    if (condition->has_sign)
        return error__set(error, -EINVAL,
                          "a change (+ or -) is asked of heurt compare: of one run leave out the "
                          "sign");
    if (!fits(quantity, condition->unit))
        return error__set(error, -EINVAL, "'%.60s' is compared with %s%s%s%s", name,
                          quantity->has_time ? "a time, as 50ms" : "",
                          quantity->has_time && quantity->has_share ? ", or with " : "",
                          quantity->has_share   ? "a share, as 10 %"
                          : quantity->has_count ? "a number, as 0"
                                                : "",
                          quantity->has_factor ? "a factor, as 1.2x" : "");
    *measured = (struct asked_figure){memory__text(name), figure_in(quantity, condition->unit),
                                      !quantity->is_none};
    return 0;
}

static struct quantity time_and_share(const struct report *report, double ns)
{
    double all_ns = (double)report->findings->working_ns;
    return (struct quantity){
        .ns = ns, .share = all_ns > 0 ? ns / all_ns : 0, .has_time = true, .has_share = true};
}

/* ---- findings -------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *text)
{
    return text && fnmatch(pattern, text, 0) == 0;
}

static bool place_matches(const char *pattern, const struct place *place)
{
    char *source = place__source(place, false);
    char *bare = function__bare(place->function);
    bool is_one = matches(pattern, place->function) || matches(pattern, bare) ||
                  matches(pattern, source) ||
                  (place->file && matches(pattern, path__name(place->file)));
    free(source);
    free(bare);
    return is_one;
}

/* By its place, those of its classes, or its object. */
static bool finding_matches(const struct report *report, const struct finding *finding,
                            const char *pattern)
{
    char unknown[32];
    struct place place;
    char *object = finding__object(report, finding);
    bool is_one =
        matches(pattern, object) || matches(pattern, finding_category__name(finding->category)) ||
        (finding__place(report, finding, &place, unknown) && place_matches(pattern, &place));
    VEC_EACH (class, &finding->classes, uint32_t) {
        place = place__of_class(
            report, &VEC_AT(&report->profile->classes, struct profile_class, *class)->what,
            unknown);
        is_one = is_one || place_matches(pattern, &place);
    }
    free(object);
    return is_one;
}

static char *without_blanks_around(const char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t", text[length - 1]))
        length--;
    return memory__format("%.*s", (int)length, text);
}

/* Of all that match together. */
static struct quantity quantity_of_findings(const struct report *report, const char *pattern,
                                            const char *field)
{
    struct quantity sum = {.factor = 1};
    bool is_gain = field && strcmp(field, "gain") == 0;
    VEC_EACH (finding, &report->findings->rows, struct finding) {
        if (pattern ? !finding_matches(report, finding, pattern) : !finding->ranked)
            continue;
        sum.count++;
        sum.ns += (double)finding->lost_ns;
        double gain = (finding->wall_gain[0] + finding->wall_gain[1]) / 2;
        sum.factor = gain > sum.factor ? gain : sum.factor;
    }
    if (is_gain) {
        sum.has_factor = true;
        return sum;
    }
    struct quantity times = time_and_share(report, sum.ns);
    if (!field) {
        times.count = sum.count;
        times.has_count = true;
    }
    return times;
}

static int measure_findings(const struct report *report, const struct fail_condition *condition,
                            struct asked_figure *measured, struct error *error)
{
    const char *field = condition->field;
    if (field && strcmp(field, "lost") != 0 && strcmp(field, "gain") != 0)
        return error__set(error, -EINVAL, "a finding has .lost and .gain, and no '.%.60s'", field);
    if (strcmp(condition->quantity, "finding") == 0 && !condition->pattern)
        return error__set(
            error, -EINVAL,
            "which finding? finding(queue.c:30), finding(FUNCTION), finding(LOCK); all "
            "of them: findings");
    char *pattern = condition->pattern ? without_blanks_around(condition->pattern) : NULL;
    struct quantity quantity = quantity_of_findings(report, pattern, field);
    char *name =
        pattern ? memory__format("finding %s%s%s", pattern, field ? ", " : "", field ? field : "")
                : memory__format("findings%s%s", field ? ", " : "", field ? field : "");
    int code = take_figure(condition, name, &quantity, measured, error);
    free(name);
    free(pattern);
    return code;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Of all that match together; of scores the largest. */
static struct quantity quantity_of_classes(const struct report *report, const char *pattern,
                                           const char *field)
{
    struct quantity sum = {.is_none = true};
    char unknown[32];
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        const struct place place = place__of_class(report, &class->what, unknown);
        if (class->what.is_aside || !place_matches(pattern, &place))
            continue;
        sum.is_none = false;
        sum.ns += (double)class->excess_ns;
        if (strcmp(field, "score") == 0)
            sum.count = class->score > sum.count ? class->score : sum.count;
        else
            sum.count += (double)class->count;
    }
    struct quantity figures = time_and_share(report, sum.ns);
    figures.has_time = figures.has_share = strcmp(field, "lost") == 0;
    figures.has_count = !figures.has_time;
    figures.count = sum.count;
    figures.is_none = sum.is_none;
    return figures;
}

static int measure_classes(const struct report *report, const struct fail_condition *condition,
                           struct asked_figure *measured, struct error *error)
{
    const char *field = condition->field;
    bool has_field = field && (strcmp(field, "score") == 0 || strcmp(field, "lost") == 0 ||
                               strcmp(field, "count") == 0);
    if (!condition->pattern || !has_field)
        return error__set(error, -EINVAL,
                          "a class is asked for by class(NAME).score, .lost or .count, where NAME "
                          "is a function, a source line or a file");
    char *pattern = without_blanks_around(condition->pattern);
    struct quantity quantity = quantity_of_classes(report, pattern, field);
    char *name = memory__format("class %s, %s", pattern, field);
    int code = take_figure(condition, name, &quantity, measured, error);
    free(name);
    free(pattern);
    return code;
}

/* ---- what threads did ------------------------------------------------------------------------ */

#define NO_STATE (COMPONENTS + 1)
#define IDLE_STATE COMPONENTS

/* "cpu" and the words of the screens besides the keys of components. */
static const struct state_word {
    const char *word;
    unsigned state;
} state_words[] = {
    {"working", COMPONENT_RUNNING},
    {"wanted a CPU", COMPONENT_RUNNABLE},
    {"cpu", COMPONENT_RUNNABLE},
    {"page faults", COMPONENT_PAGE_FAULT},
    {"other waits", COMPONENT_OTHER_BLOCKED},
    {"recording", COMPONENT_OVERHEAD},
    {"idle", IDLE_STATE},
};
#define STATE_WORDS (sizeof state_words / sizeof *state_words)

static unsigned state_named(const char *name, struct nearest *nearest)
{
    for (size_t i = 0; i < STATE_WORDS; i++) {
        nearest__offer(nearest, state_words[i].word);
        if (strcmp(state_words[i].word, name) == 0)
            return state_words[i].state;
    }
    for (unsigned i = 0; i < COMPONENTS; i++) {
        const char *key = component__key((enum component)i);
        nearest__offer(nearest, key);
        if (strcmp(key, name) == 0)
            return i;
    }
    return NO_STATE;
}

static int measure_state(const struct report *report, const struct fail_condition *condition,
                         unsigned state, struct asked_figure *measured, struct error *error)
{
    double ns = 0;
    VEC_EACH (role, &report->findings->roles, struct role)
        if (role->had_work)
            ns += (double)(state == IDLE_STATE ? role->idle_ns : role->component_ns[state]);
    const struct quantity quantity = time_and_share(report, ns);
    return take_figure(condition, condition->quantity, &quantity, measured, error);
}

int report__measure(const struct report *report, const struct fail_condition *condition,
                    struct asked_figure *measured, struct error *error)
{
    const char *name = condition->quantity;
    struct nearest nearest = nearest__to(name);
    if (strcmp(name, "finding") == 0 || strcmp(name, "findings") == 0)
        return measure_findings(report, condition, measured, error);
    if (strcmp(name, "class") == 0)
        return measure_classes(report, condition, measured, error);
    if (condition->pattern || condition->field)
        return error__set(error, -EINVAL,
                          "only findings and classes have a place in brackets, and parts");
    const struct quantity wall = {.ns = (double)report->profile->wall_ns, .has_time = true};
    if (strcmp(name, "wall") == 0)
        return take_figure(condition, "wall time", &wall, measured, error);
    unsigned state = state_named(name, &nearest);
    if (state != NO_STATE)
        return measure_state(report, condition, state, measured, error);
    nearest__offer(&nearest, "wall");
    nearest__offer(&nearest, "findings");
    char *question = nearest__question(&nearest);
    int code =
        error__set(error, -EINVAL,
                   "a report has no '%.60s'%s; it has wall, findings, finding(PLACE).lost, "
                   "class(NAME).score, lock, barrier, cpu, idle and others (man heurt-report)",
                   name, question);
    free(question);
    return code;
}

int report__judge(const void *subject, const struct fail_condition *condition,
                  struct checked *checked, struct error *error)
{
    struct asked_figure measured;
    int code = report__measure(subject, condition, &measured, error);
    if (code < 0)
        return code;
    bool is_met = condition__is_met(condition, measured.figure);
    char *figure = measured__text(condition, measured.figure);
    figure = text__append(figure, "%s", measured__of(condition));
    if (!measured.is_known) {
        free(figure);
        figure = memory__text("the run has no class of that name");
    }
    checked__set(checked, condition,
                 !measured.is_known ? CHECK_UNDECIDED
                 : is_met           ? CHECK_FAILS
                                    : CHECK_HOLDS,
                 measured.name, figure);
    free(measured.name);
    return 0;
}
