/* How much a program suffers from contention, on a screen. */
#include "base/memory.h"
#include "base/text.h"
#include "present/induce/induce_screens.h"
#include "present/shared.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 16
#define LEVELS_MOST 6
#define SHARE_FROM 0.01     /* of the wall time */
#define SHORTFALL_FROM 0.05 /* of the most: taken less than asked */

/* ---- words ----------------------------------------------------------------------------------- */

static char *interval_text(const struct law_interval *more)
{
    return isnan(more->low) ? memory__text("")
                            : memory__format("%+.1f … %+.1f %%", 10 * more->low, 10 * more->high);
}

/* What was called is enough of a function. */
static const char *shown_label(const char *label)
{
    static const char code[] = "call in ";
    return strncmp(label, code, sizeof code - 1) == 0 ? label + sizeof code - 1 : label;
}

/* Of those that show something the one that suffers most; NULL: none does. */
static const struct sensitivity_row *worst_of(const struct induce_view *view)
{
    const struct sensitivity_row *worst = NULL;
    VEC_EACH (row, &view->told->rows, struct sensitivity_row)
        if (row->label && row->share >= SHARE_FROM && row->more.low > 0 &&
            (!worst || row->more.value > worst->more.value))
            worst = row;
    return worst;
}

char *induce__sentence(const struct induce_view *view)
{
    const struct sensitivity_row *whole = VEC_AT(&view->told->rows, struct sensitivity_row, 0),
                                 *worst = worst_of(view);
    char *text = NULL;
    if (isnan(whole->more.value))
        return memory__text("Too few runs at too few levels: what contention costs is not known.");
    char *interval = interval_text(&whole->more);
    if (sensitivity_row__is_shown(whole))
        text = memory__format("Each 10 %% %s makes the program %.1f %% %s (%s).", view->taken_of,
                              10 * fabs(whole->more.value),
                              whole->more.value > 0 ? "slower" : "faster", interval);
    else
        text =
            memory__format("Whether the program suffers from each 10 %% %s is not shown%s%s%s.",
                           view->taken_of, *interval ? " (" : "", interval, *interval ? ")" : "");
    free(interval);
    if (worst)
        text = text__append(text, " Most of all %s: %+.1f %%.", shown_label(worst->label),
                            10 * worst->more.value);
    return text;
}

struct vec induce__notes(const struct induce_view *view)
{
    struct vec notes = VEC_OF(char *);
    bool is_all = view->limit && view->loss.low > 0;
    if (view->limit) {
        char *text = memory__format("%c%s.", toupper((unsigned char)*view->limit), view->limit + 1);
        vec__push(&notes, &text);
    }
    VEC_EACH (level, &view->told->levels, struct sensitivity_level)
        if (level->asked - level->taken > SHORTFALL_FROM) {
            bool is_most = is_all && level->asked > view->loss.value;
            char *text =
                memory__format("Asked for %.0f %%, it had %.0f %%: %s. The line is of "
                               "what was had.",
                               100 * level->asked, 100 * level->taken,
                               is_most ? "more cannot be taken" : "others did not leave more");
            vec__push(&notes, &text);
        }
    char *text =
        memory__format("Times are of one call on the average, of the program of a %s; %" PRIu64
                       " round%s. Of 20 intervals one misses by chance.",
                       view->is_of_lock ? "recorded run" : "run alone", view->rounds,
                       view->rounds == 1 ? "" : "s");
    vec__push(&notes, &text);
    if (view->is_cut) {
        text = memory__text("It was interrupted: these are the runs until then.");
        vec__push(&notes, &text);
    }
    return notes;
}

/* ---- the screen ------------------------------------------------------------------------------ */

static void put_head(const struct induce_view *view, const struct style *style, FILE *out)
{
    struct flow flow = flow__start(style, out, 2);
    const char *slash = memrchr(view->command, '/', strcspn(view->command, " "));
    flow__take(&flow, memory__text(slash ? slash + 1 : view->command), INK_BOLD, 3);
    flow__take(&flow,
               memory__format("%s %s%s%s", view->resource,
                              view->is_of_lock ? "held longer:" : "taken", view->where ? " " : "",
                              view->where ? view->where : ""),
               INK_PLAIN, 3);
    flow__take(&flow, memory__format("100 %% is %s", view->most), INK_PLAIN, 3);
    flow__end(&flow);
}

static void put_row(struct grid *grid, const struct sensitivity_row *row, size_t levels)
{
    grid__take(grid, memory__text(row->label ? shown_label(row->label) : "the whole program"),
               row->label ? INK_PLAIN : INK_BOLD);
    double first = *VEC_AT(&row->at, double, 0);
    grid__duration(grid, isnan(first) ? UINT64_MAX : (uint64_t)first);
    for (size_t i = 1; i < levels; i++) {
        double at = *VEC_AT(&row->at, double, i);
        grid__cell(grid, isnan(at / first) ? memory__text("") : memory__format("%.2f×", at / first),
                   INK_PLAIN);
    }
    bool is_shown = sensitivity_row__is_shown(row);
    grid__cell(grid,
               isnan(row->more.value) ? memory__text("")
               : is_shown             ? memory__format("%+.1f %%", 10 * row->more.value)
                                      : memory__text("not shown"),
               INK_PLAIN);
    grid__cell(grid, interval_text(&row->more), INK_PLAIN);
}

static char *level_title(const struct induce_view *view, size_t i)
{
    const struct sensitivity_level *level =
        VEC_AT(&view->told->levels, struct sensitivity_level, i);
    return memory__format("at %.3g %%", 100 * level->asked);
}

static void put_rows(const struct induce_view *view, const struct style *style, FILE *out)
{
    size_t all = view->told->levels.count, levels = all < LEVELS_MOST ? all : LEVELS_MOST,
           shown = 0;
    struct grid_column columns[LEVELS_MOST + 4] = {{"", WRAPPED}};
    char *titles[LEVELS_MOST];
    for (size_t i = 0; i < levels; i++) {
        titles[i] = level_title(view, i);
        columns[i + 1] = (struct grid_column){titles[i], RIGHT};
    }
    columns[levels + 1] = (struct grid_column){"per 10 %", RIGHT};
    columns[levels + 2] = (struct grid_column){"95 in 100", RIGHT};
    struct grid grid = grid__start(columns, levels + 3, 2);
    VEC_EACH (row, &view->told->rows, struct sensitivity_row)
        if (!row->label || (row->share >= SHARE_FROM && ++shown <= ROWS_MOST))
            put_row(&grid, row, levels);
    if (shown > ROWS_MOST)
        grid__note(&grid, memory__format("and %zu more: --table sensitivity", shown - ROWS_MOST));
    grid__end(&grid, style, out);
    for (size_t i = 0; i < levels; i++)
        free(titles[i]);
}

static void put_levels(const struct induce_view *view, const struct style *style, FILE *out)
{
    char *text = NULL;
    VEC_EACH (level, &view->told->levels, struct sensitivity_level) {
        char *piece =
            memory__format("%.3g %%: %.1f %% (%.3g %s)", 100 * level->asked, 100 * level->taken,
                           level->requests * view->unit_of_requests, view->unit);
        text = text__join(text, " · ", piece);
        free(piece);
    }
    paragraph__take(style, out, "  asked and taken: ", text);
}

void induce__put_text(const struct induce_view *view, const struct style *style, FILE *out)
{
    put_head(view, style, out);
    fputc('\n', out);
    paragraph__take(style, out, "  ", induce__sentence(view));
    fputc('\n', out);
    put_rows(view, style, out);
    fputc('\n', out);
    put_levels(view, style, out);
    struct vec notes = induce__notes(view);
    VEC_EACH (text, &notes, char *)
        paragraph__take(style, out, "  ", memory__text(*text));
    texts__free(&notes);
}
