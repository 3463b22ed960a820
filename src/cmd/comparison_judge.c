/* What --fail-if may ask of a comparison: the change of the wall time, or of rows. */
#include "base/memory.h"
#include "base/text.h"
#include "cmd/checking.h"
#include "present/table/table_source.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A change with its bounds, in the unit of the limit; NaN: too few runs. */
struct bounds {
    double middle, least, most;
};

static char *bounds_text(const struct bounds *bounds, const struct comparison_view *view,
                         bool is_share)
{
    char *middle =
        is_share ? part__format(bounds->middle) : figure__signed(view->value, bounds->middle);
    if (isnan(bounds->least)) {
        char *text = memory__format("%s, of too few runs", middle);
        free(middle);
        return text;
    }
    char *least =
        is_share ? part__format(bounds->least) : figure__signed(view->value, bounds->least);
    char *most = is_share ? part__format(bounds->most) : figure__signed(view->value, bounds->most);
    char *text = memory__format("%s (%s to %s)", middle, least, most);
    free(middle);
    free(least);
    free(most);
    return text;
}

/* It fails where even the bound that is nearer to the limit is beyond it, and holds where neither
 * is; a guess is neither. */
static enum check_outcome outcome_of(const struct fail_condition *condition,
                                     const struct bounds *bounds)
{
    if (isnan(bounds->least))
        return CHECK_UNDECIDED;
    bool least = condition__is_met(condition, bounds->least);
    bool most = condition__is_met(condition, bounds->most);
    return least && most ? CHECK_FAILS : !least && !most ? CHECK_HOLDS : CHECK_UNDECIDED;
}

static int check_unit(const struct comparison_view *view, const struct fail_condition *condition,
                      struct error *error)
{
    bool is_time = strcmp(view->value->unit, "ns") == 0;
    if (condition->field)
        return error__set(error, -EINVAL, "a comparison has no '.%.60s'", condition->field);
    if (condition->unit == CONDITION_SHARE)
        return 0;
    if (condition->unit == (is_time ? CONDITION_TIME : CONDITION_NUMBER))
        return 0;
    return error__set(error, -EINVAL, "the change is compared with a part, as +5 %%, or with a %s",
                      is_time ? "time, as +50ms" : "number");
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct meant {
    const char *word;    /* what a row is: "lock"; or NULL: */
    const char *pattern; /* of its name, or a part of it */
};

static bool part_matches(const char *key, const char *pattern)
{
    char *parts = memory__text(key), *rest = parts;
    bool is_one = false;
    for (char *part; !is_one && (part = strsep(&rest, "\n"));)
        is_one = fnmatch(pattern, part, 0) == 0;
    free(parts);
    return is_one;
}

/* "queue.c:30" at the end of "lock in take queue.c:30" */
static bool source_matches(const char *label, const char *pattern)
{
    const char *last = strrchr(label, ' ');
    return last && fnmatch(pattern, last + 1, 0) == 0;
}

static bool is_meant(const struct figures_row *row, const void *what)
{
    const struct meant *meant = what;
    size_t length = meant->word ? strlen(meant->word) : 0;
    if (meant->word)
        return strncmp(row->key, meant->word, length) == 0 &&
               (row->key[length] == '\n' || !row->key[length]);
    return fnmatch(meant->pattern, row->label, 0) == 0 || part_matches(row->key, meant->pattern) ||
           (row->was && fnmatch(meant->pattern, row->was, 0) == 0) ||
           source_matches(row->label, meant->pattern);
}

/* A row that was nothing has no part by which it changed: whatever it is now is infinitely more. */
static double part_of(double change, double before)
{
    return before > 0 ? change / before : change > 0 ? INFINITY : 0;
}

static void judge_rows(const struct comparison_view *view, const struct fail_condition *condition,
                       const struct meant *meant, struct checked *checked)
{
    struct comparison_row row =
        comparison__sum(view->before, view->after, &view->comparison->rule, is_meant, meant);
    bool is_share = condition->unit == CONDITION_SHARE;
    struct bounds bounds = {row.after - row.before, row.shift.low, row.shift.high};
    if (is_share)
        bounds = (struct bounds){part_of(bounds.middle, row.before),
                                 isnan(row.shift.low) ? NAN : part_of(row.shift.low, row.before),
                                 isnan(row.shift.high) ? NAN : part_of(row.shift.high, row.before)};
    char *name = meant->word ? memory__text(meant->word) : memory__format("row %s", meant->pattern);
    checked__set(checked, condition, outcome_of(condition, &bounds), name,
                 bounds_text(&bounds, view, is_share));
    free(name);
}

static bool is_any_meant(const struct comparison_view *view, const struct meant *meant)
{
    const struct vec *const sides[] = {view->before, view->after};
    for (size_t i = 0; i < 2; i++)
        VEC_EACH (run, sides[i], struct run_figures)
            VEC_EACH (row, &run->rows, struct figures_row)
                if (is_meant(row, meant))
                    return true;
    return false;
}

/* ---- the wall time --------------------------------------------------------------------------- */

static void judge_wall(const struct comparison_view *view, const struct fail_condition *condition,
                       struct checked *checked)
{
    const struct runs_comparison *comparison = view->comparison;
    const struct shift *whole = &comparison->whole.shift;
    const struct wall_change change = comparison__change(comparison);
    bool is_share = condition->unit == CONDITION_SHARE;
    struct bounds bounds = is_share ? (struct bounds){change.part, change.least, change.most}
                                    : (struct bounds){whole->middle, whole->low, whole->high};
    enum check_outcome outcome =
        comparison->is_of_others ? CHECK_UNDECIDED : outcome_of(condition, &bounds);
    char *figure = bounds_text(&bounds, view, is_share);
    if (comparison->is_of_others)
        figure = text__append(figure, ", by what other programs did");
    checked__set(checked, condition, outcome, "wall time", figure);
}

static char *trimmed(const char *text)
{
    text += strspn(text, " \t");
    char *copy = memory__text(text);
    size_t length = strlen(copy);
    while (length && strchr(" \t", copy[length - 1]))
        copy[--length] = 0;
    return copy;
}

static int judge_named(const struct comparison_view *view, const struct fail_condition *condition,
                       struct checked *checked, struct error *error)
{
    char *pattern = condition->pattern ? trimmed(condition->pattern) : NULL;
    const struct meant meant = {pattern ? NULL : condition->quantity, pattern};
    int code = 0;
    bool may_be = pattern || is_any_meant(view, &meant) ||
                  (strcmp(view->table, "wall") == 0 && wall_row__may_be(condition->quantity));
    if (!may_be)
        code = error__set(error, -EINVAL,
                          "no row of any run is '%.60s': wall, or what a row begins with (lock, "
                          "working …), or row(NAME), where NAME may have * and ?",
                          condition->quantity);
    else
        judge_rows(view, condition, &meant, checked);
    free(pattern);
    return code;
}

int comparison__judge(const void *subject, const struct fail_condition *condition,
                      struct checked *checked, struct error *error)
{
    const struct comparison_view *view = subject;
    bool is_wall = strcmp(condition->quantity, "wall") == 0;
    bool is_row = strcmp(condition->quantity, "row") == 0;
    if (condition->pattern ? !is_row : is_row)
        return error__set(error, -EINVAL, "a row is named so: row(queue->lock), row(queue.c:30)");
    int code = 0;
    if (is_wall && strcmp(view->value->unit, "ns") != 0 && condition->unit != CONDITION_SHARE)
        code =
            error__set(error, -EINVAL, "the wall time's change is compared with a part, as +5 %%");
    code = code ? code : check_unit(view, condition, error);
    if (code)
        return code;
    if (is_wall)
        judge_wall(view, condition, checked);
    else
        return judge_named(view, condition, checked, error);
    return 0;
}
