/* Runs against runs, on a screen. */
#include "base/memory.h"
#include "present/compare/comparison_screens.h"
#include "present/screen/more.h"
#include "present/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 10    /* on a screen */
#define ROWS_FROM 0.005 /* of the whole: changes below are with the others */

/* Of the program's file the last part of its path. free() it. */
static char *without_directory(const char *command)
{
    size_t program = strcspn(command, " ");
    const char *slash = memrchr(command, '/', program);
    return memory__text(slash ? slash + 1 : command);
}

static void put_side(const struct style *style, FILE *out, const char *name, const struct vec *runs)
{
    const struct run_figures *first = runs->items;
    char *command = without_directory(first->command);
    char *text = runs->count == 1 ? memory__format("%s (%s)", command, first->directory)
                                  : memory__format("%s (%zu runs: %s …)", command, runs->count,
                                                   first->directory);
    paragraph__take(style, out, name, text);
    free(command);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* "-57 %", "new", "gone". */
static char *part_text(const struct comparison_row *row)
{
    if (row->is_new)
        return memory__text("new");
    if (row->is_gone)
        return memory__text("gone");
    return row->before > 0 ? part__format(row->after / row->before - 1) : memory__text("");
}

static void put_row(struct grid *grid, const struct comparison_view *view,
                    const struct comparison_row *row, bool is_doubted, enum ink ink)
{
    double change = row->after - row->before;
    grid__take(grid, memory__text(row->told ? row->told : row->label), ink);
    grid__cell(grid, figure__format(view->value, row->before), INK_PLAIN);
    grid__cell(grid, figure__format(view->value, row->after), INK_PLAIN);
    grid__cell(grid, figure__signed(view->value, change), ink);
    grid__cell(grid, part_text(row), INK_PLAIN);
    grid__cell(grid, memory__text(is_doubted ? "?" : ""), INK_DIM);
}

/* What the screen has no lines for; whole: what all rows add up to. */
static struct comparison_row rest_of(const struct runs_comparison *comparison, size_t shown)
{
    struct comparison_row rest = {.label = "all else"};
    for (size_t i = shown; i < comparison->rows.count; i++) {
        const struct comparison_row *row = VEC_AT(&comparison->rows, struct comparison_row, i);
        rest.before += row->before;
        rest.after += row->after;
    }
    return rest;
}

static size_t rows_shown(const struct runs_comparison *comparison)
{
    size_t count = 0;
    double whole = fmax(comparison->whole.before, comparison->whole.after);
    VEC_EACH (row, &comparison->rows, struct comparison_row) {
        bool is_small = comparison->adds_up && fabs(row->after - row->before) < ROWS_FROM * whole;
        if (count == ROWS_MOST || is_small)
            break;
        count++;
    }
    return count;
}

static void put_rows(const struct comparison_view *view, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"", WRAPPED},    {"before", RIGHT},
                                                 {"after", RIGHT}, {"change", RIGHT},
                                                 {"", RIGHT},      {"", LEFT}};
    const struct runs_comparison *comparison = view->comparison;
    bool is_few = comparison->factor.verdict == SHIFT_TOO_FEW;
    struct grid grid = grid__start(columns, 6, 2);
    size_t shown = rows_shown(comparison);
    for (size_t i = 0; i < shown; i++) {
        const struct comparison_row *row = VEC_AT(&comparison->rows, struct comparison_row, i);
        put_row(&grid, view, row, !is_few && !row->is_shown, INK_PLAIN);
    }
    if (comparison->adds_up && shown < comparison->rows.count) {
        const struct comparison_row rest = rest_of(comparison, shown);
        put_row(&grid, view, &rest, false, INK_PLAIN);
    }
    if (comparison->adds_up) {
        struct comparison_row lives = {.label = "lives of all threads",
                                       .before = comparison->whole.lives_before,
                                       .after = comparison->whole.lives_after};
        put_row(&grid, view, &comparison->whole, false, INK_BOLD);
        put_row(&grid, view, &lives, false, INK_DIM);
    }
    grid__end(&grid, style, out);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static void put_explanation(const struct runs_comparison *comparison, const struct style *style,
                            FILE *out)
{
    char *why = comparison__explanation(comparison);
    if (why)
        paragraph__take(style, out, "  ", memory__format("What makes it: %s.", why));
    free(why);
}

static void put_notes(const struct comparison_view *view, const struct style *style, FILE *out)
{
    struct vec notes = comparison__notes(view);
    if (notes.count)
        fputc('\n', out);
    VEC_EACH (text, &notes, char *)
        paragraph__put(style, out, INK_PLAIN, "  ", *text);
    texts__free(&notes);
}

static void put(const struct comparison_view *view, const struct style *style, FILE *out)
{
    put_side(style, out, "before  ", view->before);
    put_side(style, out, "after   ", view->after);
    fputc('\n', out);
    paragraph__take(style, out, "  ", comparison__sentence(view->comparison));
    put_explanation(view->comparison, style, out);
    fputc('\n', out);
    if (!view->comparison->adds_up && view->comparison->rows.count)
        paragraph__take(style, out, "  ",
                        memory__format("%s of the table %s: %s", view->value->key, view->table,
                                       view->value->help));
    if (view->comparison->rows.count)
        put_rows(view, style, out);
    compared_phases__put(view->phases, style, out);
    put_notes(view, style, out);
    checks__put_text(view->checks, style, out);
}

const struct comparison_presenter comparison_text = {put};
