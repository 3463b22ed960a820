/* What a comparison comes to, in sentences. */
#include "base/memory.h"
#include "present/compare/comparison_screens.h"
#include "present/screen/more.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINED_MOST 4    /* rows in the sentence */
#define EXPLAINED_FROM 0.05 /* of the largest change */
#define RENAMES_MOST 5

char *part__format(double part)
{
    double percent = part * 100;
    return memory__format(fabs(percent) < 9.95 ? "%+.1f %%" : "%+.0f %%", percent);
}

/* Without its sign. */
static char *part_of(double part)
{
    char *text = part__format(fabs(part));
    memmove(text, text + 1, strlen(text));
    return text;
}

char *figure__format(const struct column *column, double figure)
{
    char buffer[32];
    if (strcmp(column->unit, "ns") == 0)
        return memory__text(duration__format((uint64_t)fmax(figure, 0), buffer));
    if (strcmp(column->unit, "share") == 0)
        return memory__text(share__format(figure, buffer));
    if (column->type == COLUMN_REAL || column->type == COLUMN_FACTOR)
        return memory__format("%.3g%s", figure, column->unit);
    return memory__text(count__format((uint64_t)fmax(figure, 0), buffer));
}

char *figure__signed(const struct column *column, double figure)
{
    char *text = figure__format(column, fabs(figure));
    char *with_sign =
        figure == 0 ? memory__text(text) : memory__format("%c%s", figure < 0 ? '-' : '+', text);
    free(text);
    return with_sign;
}

const char *comparison__verdict(const struct runs_comparison *comparison)
{
    switch (comparison->factor.verdict) {
    case SHIFT_LESS:
        return "faster";
    case SHIFT_MORE:
        return "slower";
    case SHIFT_NOT_SHOWN:
        return "no difference shown";
    default:
        return "too few runs";
    }
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static char *times_of(const struct runs_comparison *comparison)
{
    char before[16], after[16];
    return memory__format("%s → %s", duration__format((uint64_t)comparison->whole.before, before),
                          duration__format((uint64_t)comparison->whole.after, after));
}

/* "25 % less (23 to 27 %)" */
static char *how_much(const struct wall_change *change)
{
    bool is_less = change->part < 0;
    char *part = part_of(change->part);
    char *least = part_of(is_less ? change->most : change->least);
    char *most = part_of(is_less ? change->least : change->most);
    least[strcspn(least, " ")] = 0;
    char *text = memory__format("%s %s (%s to %s)", part, is_less ? "less" : "more", least, most);
    free(part);
    free(least);
    free(most);
    return text;
}

static char *range_of(const struct wall_change *change)
{
    char *least = part__format(change->least), *most = part__format(change->most);
    char *text = memory__format("%s to %s", least, most);
    free(least);
    free(most);
    return text;
}

static char *too_few(const struct runs_comparison *comparison, const char *times)
{
    double before = comparison->whole.before;
    char *part =
        before > 0 ? part__format(comparison->whole.after / before - 1) : memory__text("?");
    char *text = memory__format("Too few runs to tell a difference from chance: %s (%s), with %zu "
                                "and %zu; it takes %zu of each.",
                                times, part, comparison->before_count, comparison->after_count,
                                comparison->rule.least);
    free(part);
    return text;
}

char *comparison__sentence(const struct runs_comparison *comparison)
{
    const struct wall_change change = comparison__change(comparison);
    enum shift_verdict verdict = comparison->factor.verdict;
    char *times = times_of(comparison), *text, *how = NULL;
    if (verdict == SHIFT_TOO_FEW) {
        text = too_few(comparison, times);
    } else if (comparison->is_of_others) {
        text = memory__format("No difference shown: %s, but other programs used %.1f and %.1f CPUs "
                              "meanwhile, and nothing is left of it without that.",
                              times, comparison->others_before, comparison->others_after);
    } else if (verdict == SHIFT_NOT_SHOWN) {
        how = range_of(&change);
        text = memory__format("No difference shown: %s; if there is one, it is %s.", times, how);
    } else {
        how = how_much(&change);
        text =
            memory__format("%s: %s, %s.", verdict == SHIFT_LESS ? "Faster" : "Slower", times, how);
    }
    free(how);
    free(times);
    return text;
}

/* ---- what makes the difference --------------------------------------------------------------- */

static char *append_change(char *text, const char *label, double change)
{
    char buffer[MORE_BYTES];
    char *one = memory__format("%s %s", label, more__format((int64_t)change, buffer));
    text = text__join(text, ", ", one);
    free(one);
    return text;
}

char *comparison__explanation(const struct runs_comparison *comparison)
{
    const struct comparison_row *rows = comparison->rows.items;
    double rest = comparison->whole.after - comparison->whole.before;
    double largest = comparison->rows.count ? fabs(rows[0].after - rows[0].before) : 0;
    bool is_told = comparison->factor.verdict != SHIFT_NOT_SHOWN;
    char *text = memory__text("");
    if (!comparison->adds_up || !is_told || largest == 0) {
        free(text);
        return NULL;
    }
    size_t i = 0;
    for (; i < comparison->rows.count && i < EXPLAINED_MOST; i++) {
        double change = rows[i].after - rows[i].before;
        if (fabs(change) < EXPLAINED_FROM * largest)
            break;
        text = append_change(text, rows[i].told ? rows[i].told : rows[i].label, change);
        rest -= change;
    }
    if (i < comparison->rows.count)
        text = append_change(text, "all else", rest);
    return text;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void note(struct vec *notes, char *text)
{
    vec__push(notes, &text);
}

/* Rows of which it is not shown that they changed stand on the screen. */
static bool has_doubts(const struct runs_comparison *comparison)
{
    VEC_EACH (row, &comparison->rows, struct comparison_row)
        if (!row->is_shown)
            return comparison->factor.verdict != SHIFT_TOO_FEW;
    return false;
}

static bool is_named(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at && (!at[strlen(name)] || at[strlen(name)] == ',');
}

/* "f → g, h → k": each once; what stands behind the last line of a key is the function. free() it.
 */
static char *renames_text(const struct runs_comparison *comparison)
{
    char *text = memory__text("");
    unsigned count = 0;
    VEC_EACH (row, &comparison->rows, struct comparison_row) {
        if (!row->was)
            continue;
        const char *line = strrchr(row->key, '\n');
        char *one = memory__format("%s → %s", row->was, line ? line + 1 : row->key);
        if (!is_named(text, one) && count++ < RENAMES_MOST)
            text = text__join(text, ", ", one);
        free(one);
    }
    return text;
}

#define HEURT "heurt"

/* Of "Chrome JSON: no locks, …" what stands before the colon. */
static int name_length(const char *recorder)
{
    return (int)strcspn(recorder ? recorder : HEURT, ":");
}

/* What one tool does not tell looks as if it had gone. */
static void note_recorders(const struct comparison_view *view, struct vec *notes)
{
    const char *before = VEC_AT(view->before, struct run_figures, 0)->imported;
    const char *after = VEC_AT(view->after, struct run_figures, 0)->imported;
    if (strcmp(before ? before : "", after ? after : "") != 0)
        note(notes,
             memory__format("Before was recorded by %.*s, after by %.*s: what one of them does "
                            "not tell is no difference.",
                            name_length(before), before ? before : HEURT, name_length(after),
                            after ? after : HEURT));
}

/* Of the first run of each side. */
static void note_machines(const struct comparison_view *view, struct vec *notes)
{
    const char *before = VEC_AT(view->before, struct run_figures, 0)->machine;
    const char *after = VEC_AT(view->after, struct run_figures, 0)->machine;
    if (before && after && strcmp(before, after) != 0)
        note(notes, memory__format("Before ran on %s, after on %s: what differs may be the "
                                   "machine's, not the program's.",
                                   before, after));
}

struct vec comparison__notes(const struct comparison_view *view)
{
    const struct runs_comparison *comparison = view->comparison;
    struct vec notes = VEC_OF(char *);
    bool is_few = comparison->factor.verdict == SHIFT_TOO_FEW;
    if (has_doubts(comparison))
        note(&notes, memory__text("?: as much may be chance."));
    if (!is_few && comparison->are_pairs)
        note(&notes, memory__text("The runs were made in turns, and compared so, too."));
    if (!is_few && !comparison->are_pairs)
        note(&notes, memory__text("The runs were not made in turns: a machine that became slower "
                                  "meanwhile looks like a slower program."));
    char *renames = renames_text(comparison);
    if (*renames)
        note(&notes,
             memory__format("Perhaps renamed, by who calls them and whom they call: %s.", renames));
    free(renames);
    struct vec of_phases = compared_phases__notes(view->phases);
    VEC_EACH (text, &of_phases, char *)
        note(&notes, *text);
    vec__free(&of_phases);
    note_recorders(view, &notes);
    note_machines(view, &notes);
    if (comparison->common == 0 && comparison->rows.count)
        note(&notes, memory__text("No row is on both sides: are these runs of one program?"));
    return notes;
}
