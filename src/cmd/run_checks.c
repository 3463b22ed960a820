#include "cmd/run_checks.h"

#include "analysis/compare/sequential.h"
#include "analysis/compare/shift.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool fail_condition__is_of_one_run(const struct fail_condition *condition)
{
    bool is_row = strcmp(condition->quantity, "row") == 0;
    bool is_wall = strcmp(condition->quantity, "wall") == 0 && !condition->pattern;
    return !condition->has_sign && !is_row && !(is_wall && condition->unit == CONDITION_SHARE);
}

struct run_checks run_checks__start(const struct vec *conditions)
{
    struct run_checks checks = {conditions, VEC_OF(struct vec), 0};
    VEC_EACH (condition, conditions, struct fail_condition) {
        vec__push(&checks.figures, &VEC_OF(double));
        checks.asked += fail_condition__is_of_one_run(condition);
    }
    return checks;
}

void run_checks__free(struct run_checks *checks)
{
    VEC_EACH (figures, &checks->figures, struct vec)
        vec__free(figures);
    vec__free(&checks->figures);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int measure(struct run_checks *checks, const struct report *report)
{
    VEC_EACH (condition, checks->conditions, struct fail_condition) {
        struct asked_figure measured;
        struct error error;
        if (!fail_condition__is_of_one_run(condition))
            continue;
        if (report__measure(report, condition, &measured, &error) < 0) {
            say("--fail-if '%.200s': %s", condition->text, error.text);
            return EXIT_USAGE;
        }
        size_t place = (size_t)(condition - VEC_AT(checks->conditions, struct fail_condition, 0));
        vec__push(VEC_AT(&checks->figures, struct vec, place),
                  &(double){measured.is_known ? measured.figure : NAN});
        free(measured.name);
    }
    return 0;
}

/* As heurt report shows them, by which limits are chosen. */
int run_checks__add(struct run_checks *checks, const char *directory)
{
    struct loaded loaded;
    if (!checks->asked)
        return 0;
    int status = loaded__open(directory, &loaded);
    if (status)
        return status;
    status = loaded__ask_profile(&loaded, CLASSES_BY_STRUCTURE);
    run__ask(&loaded.run, &findings_analysis, NULL);
    status = status ? status : loaded__analyse(&loaded);
    if (status == 0) {
        loaded__predict(&loaded, run__result(&loaded.run, &findings_analysis), 0);
        status = measure(checks, &loaded.report);
    }
    loaded__close(&loaded);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct run_tally {
    size_t known, met;
    double least, middle, most;
};

static struct run_tally tally_of(const struct fail_condition *condition, const struct vec *figures)
{
    struct run_tally tally = {0, 0, INFINITY, NAN, -INFINITY};
    struct vec known = VEC_OF(double);
    VEC_EACH (figure, figures, double)
        if (!isnan(*figure)) {
            vec__push(&known, figure);
            tally.met += condition__is_met(condition, *figure);
            tally.least = fmin(tally.least, *figure);
            tally.most = fmax(tally.most, *figure);
        }
    tally.known = known.count;
    if (known.count)
        tally.middle = shift__median(VEC_AT(&known, double, 0), known.count);
    vec__free(&known);
    return tally;
}

/* "0.31 (0.28 to 0.35), so in 8 of 8 runs". */
static char *tally_text(const struct fail_condition *condition, const struct run_tally *tally)
{
    char *middle = measured__text(condition, tally->middle),
         *least = measured__text(condition, tally->least),
         *most = measured__text(condition, tally->most);
    char *text = memory__format("%s (%s to %s)%s, so in %zu of %zu run%s", middle, least, most,
                                measured__of(condition), tally->met, tally->known,
                                tally->known == 1 ? "" : "s");
    free(middle);
    free(least);
    free(most);
    return text;
}

static char *name_of(const struct fail_condition *condition)
{
    size_t length = strcspn(condition->text, "<>");
    if (condition->pattern)
        length = (size_t)(strstr(condition->text, condition->pattern) - condition->text) +
                 strlen(condition->pattern);
    length += strcspn(condition->text + length, "<>");
    while (length && strchr(" \t", condition->text[length - 1]))
        length--;
    return memory__format("%.*s", (int)length, condition->text);
}

void run_checks__judge(const struct run_checks *checks, const struct fail_condition *condition,
                       double risk, struct checked *checked)
{
    size_t place = (size_t)(condition - VEC_AT(checks->conditions, struct fail_condition, 0));
    const struct vec *figures = VEC_AT(&checks->figures, struct vec, place);
    struct run_tally tally = tally_of(condition, figures);
    enum check_outcome outcome = CHECK_UNDECIDED;
    if (sequential__sign_chance(tally.known, tally.met) <= risk)
        outcome = CHECK_FAILS;
    else if (sequential__sign_chance(tally.known, tally.known - tally.met) <= risk)
        outcome = CHECK_HOLDS;
    char *figure = tally.known ? tally_text(condition, &tally)
                               : memory__text("no run has anything of that name");
    if (tally.known && tally.known < figures->count) {
        char *more = memory__format("%s; %zu have nothing of that name", figure,
                                    figures->count - tally.known);
        free(figure);
        figure = more;
    }
    char *name = name_of(condition);
    checked__set(checked, condition, outcome, name, figure);
    free(name);
}
