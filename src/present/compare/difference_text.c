/* One slow against one fast occurrence, for people. */
#include "base/memory.h"
#include "present/compare/difference_screens.h"
#include "present/iterations/iterations_screens.h"
#include "present/locks/locks_shared.h"
#include "present/screen/more.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_MOST 12
#define WAITS_AT_MOST 6
#define BAR_CELLS 16

/* ---- which two ------------------------------------------------------------------------------- */

static char *title_text(const struct difference_view *view)
{
    if (!view->phase) {
        const struct class_definition *class = &view->difference->what;
        char *name = call__text(view->report, class);
        char *calls = class->structure ? class_structure__text(class->structure) : memory__text("");
        char *title = memory__format("class %zu: %s%s%s", view->rank, name,
                                     *calls ? ", that calls " : "", calls);
        free(calls);
        free(name);
        return title;
    }
    char *name = phase__text(view->report, view->phase);
    char *title = view->phases > 1 ? memory__format("iterations, phase %zu of %zu: %s",
                                                    view->phase_number, view->phases, name)
                                   : memory__format("iterations: %s", name);
    free(name);
    return title;
}

static void put_title(const struct difference_view *view, const struct style *style, FILE *out)
{
    char count[32], min[16], median[16], max[16];
    const struct difference *difference = view->difference;
    char *title = title_text(view), *clean = text__for_screen(title);
    ink__put(style, out, INK_BOLD, clean);
    fputc('\n', out);
    paragraph__take(style, out, "  ",
                    memory__format("%s %s: fastest %s, median %s, slowest %s",
                                   count__format(difference->count, count),
                                   view->phase ? "iterations" : "occurrences",
                                   duration__format(difference->min_ns, min),
                                   duration__format(difference->median_ns, median),
                                   duration__format(difference->max_ns, max)));
    if (view->matching > 1)
        paragraph__take(style, out, "  ",
                        memory__format("%zu classes have that name; this is the first in heurt "
                                       "report, which numbers them",
                                       view->matching));
    free(clean);
    free(title);
}

static char *argument_name(const struct trace_function *function, size_t place)
{
    const char *name = function ? function->argument_names : "";
    for (size_t i = 0; i < place && *name; i++) {
        name += strcspn(name, ",");
        name += *name == ',';
    }
    size_t bytes = strcspn(name, ",");
    return bytes ? memory__format("%.*s", (int)bytes, name) : memory__format("arg%zu", place + 1);
}

/* "n=12 bytes=4096": those of patched functions. free() it. */
static char *arguments_text(const struct difference *difference,
                            const struct difference_side_info *info)
{
    char *text = memory__text("");
    for (size_t i = 0; difference->definition && i < info->argument_count; i++) {
        char *name = argument_name(difference->definition, i);
        char *longer = memory__format("%s, %s=%" PRIu64, text, name, info->arguments[i]);
        free(name);
        free(text);
        text = longer;
    }
    return text;
}

static void put_side(const struct difference_view *view, enum difference_side side,
                     const struct style *style, FILE *out)
{
    char duration[16], when[16];
    const struct difference_side_info *info = &view->difference->sides[side];
    char *thread = thread__text(view->report, info->thread);
    char *iteration = info->index == UINT64_MAX
                          ? memory__text("")
                          : memory__format(", iteration %" PRIu64, info->index);
    char *cpu = info->cpu == UINT16_MAX ? memory__text("") : memory__format(", CPU %u", info->cpu);
    char *arguments = arguments_text(view->difference, info);
    paragraph__take(
        style, out, side == SIDE_SLOW ? "  slow  " : "  fast  ",
        memory__format("%s at %s%s, %s%s%s", duration__format(info->duration_ns, duration),
                       duration__format(info->start_ns, when), iteration, thread, cpu, arguments));
    free(arguments);
    free(cpu);
    free(iteration);
    free(thread);
}

/* ", 14.4 times as long"; "" when that is not known. free() it. */
static char *times_text(uint64_t slow_ns, uint64_t fast_ns)
{
    char number[32];
    if (!fast_ns)
        return memory__text("");
    if (slow_ns / fast_ns >= 1000)
        return memory__format(", %s times as long", count__format(slow_ns / fast_ns, number));
    return memory__format(", %.3g times as long", (double)slow_ns / (double)fast_ns);
}

static void put_two(const struct difference_view *view, const struct style *style, FILE *out)
{
    char more[MORE_BYTES];
    const struct difference *difference = view->difference;
    const struct difference_side_info *slow = &difference->sides[SIDE_SLOW];
    const struct difference_side_info *fast = &difference->sides[SIDE_FAST];
    char *times = times_text(slow->duration_ns, fast->duration_ns);
    put_side(view, SIDE_SLOW, style, out);
    put_side(view, SIDE_FAST, style, out);
    paragraph__take(
        style, out, "  more  ",
        memory__format("%s%s", more__format(difference__more_ns(difference), more), times));
    free(times);
    if (slow->is_sampled || fast->is_sampled)
        paragraph__put(style, out, INK_WARNING, "  note  ",
                       "functions in it were sampled: calls that were left out are part of what "
                       "called them");
}

/* ---- what each is made of -------------------------------------------------------------------- */

static void table__more(struct grid *grid, int64_t ns, enum ink ink)
{
    char more[MORE_BYTES];
    grid__cell(grid, memory__text(more__format(ns, more)), ink);
}

/* A duration that may be a few ticks less than nothing. */
static void table__signed(struct grid *grid, int64_t ns)
{
    char duration[16];
    duration__format(ns < 0 ? (uint64_t)-ns : (uint64_t)ns, duration);
    grid__cell(grid, memory__format("%s%s", ns < 0 ? "-" : "", duration), INK_PLAIN);
}

static void table__bar(struct grid *grid, int64_t more, int64_t all, const struct style *style)
{
    bool is_part = more > 0 && all > 0;
    double share = is_part ? (double)more / (double)all : 0;
    grid__cell(grid,
               is_part ? bar__format(style, share > 1 ? 1 : share, BAR_CELLS) : memory__text(""),
               INK_WARNING);
}

static void put_component(struct grid *grid, const struct difference *difference, unsigned which,
                          const struct style *style)
{
    uint64_t slow = difference->sides[SIDE_SLOW].component_ns[which];
    uint64_t fast = difference->sides[SIDE_FAST].component_ns[which];
    grid__cell(grid, memory__text(component__words((enum component)which)), INK_PLAIN);
    grid__duration(grid, slow);
    grid__duration(grid, fast);
    table__more(grid, (int64_t)(slow - fast), INK_BOLD);
    table__bar(grid, (int64_t)(slow - fast), difference__more_ns(difference), style);
}

static void put_sum(struct grid *grid, const struct difference *difference)
{
    grid__cell(grid, memory__text("in all"), INK_DIM);
    grid__duration(grid, difference->sides[SIDE_SLOW].duration_ns);
    grid__duration(grid, difference->sides[SIDE_FAST].duration_ns);
    table__more(grid, difference__more_ns(difference), INK_PLAIN);
    grid__cell(grid, memory__text(""), INK_PLAIN);
}

static void put_components(const struct difference *difference, const struct style *style,
                           FILE *out)
{
    static const struct grid_column columns[] = {
        {"component", LEFT}, {"slow", RIGHT}, {"fast", RIGHT}, {"difference", RIGHT}, {"", LEFT}};
    struct grid grid = grid__start(columns, 5, 2);
    fputc('\n', out);
    for (unsigned i = 0; i < COMPONENTS; i++)
        if (difference->sides[SIDE_SLOW].component_ns[i] ||
            difference->sides[SIDE_FAST].component_ns[i])
            put_component(&grid, difference, i, style);
    put_sum(&grid, difference);
    grid__end(&grid, style, out);
}

/* ---- what is in them ------------------------------------------------------------------------- */

static const struct difference_row *row_at(const struct difference *difference, size_t row)
{
    return VEC_AT(&difference->rows, struct difference_row, row);
}

static uint64_t size_of(const struct difference_row *row)
{
    int64_t more = difference_row__more_ns(row);
    return more < 0 ? (uint64_t)-more : (uint64_t)more;
}

static int by_contribution(const void *left, const void *right)
{
    const struct difference_row *const *a = left, *const *b = right;
    uint64_t first = size_of(*a), second = size_of(*b);
    return ORDER(second, first) ?: ORDER(*a, *b);
}

static bool is_whole(const struct difference_row *row)
{
    return row->parent == DIFFERENCE_NONE;
}

static char *row_text(const struct difference_view *view, const struct difference_row *row)
{
    if (!is_whole(row))
        return call__text(view->report, &row->what);
    return memory__text(view->phase ? "between calls" : "itself");
}

/* The calls that it is in, but for the whole; "" when it is just in that. */
static char *enclosing_text(const struct difference_view *view, const struct difference_row *row)
{
    char unknown[32];
    if (is_whole(row) || row->parent == 0)
        return memory__text("");
    const struct difference_row *parent = row_at(view->difference, row->parent);
    struct place place = place__of_class(view->report, &parent->what, unknown);
    return function__short(class__is_hooked(&parent->what) ? parent->what.at.function
                                                           : place.function);
}

static char *calls_text(const struct difference_row *row)
{
    char slow[32], fast[32];
    if (is_whole(row))
        return memory__text("");
    if (row->count[SIDE_SLOW] == row->count[SIDE_FAST])
        return memory__text(count__format(row->count[SIDE_SLOW], slow));
    return memory__format("%s, not %s", count__format(row->count[SIDE_SLOW], slow),
                          count__format(row->count[SIDE_FAST], fast));
}

static char *why_text(const struct difference_row *row)
{
    int64_t more[COMPONENTS];
    difference_row__more_components(row, more);
    return more__components(more);
}

static void put_row(struct grid *grid, const struct difference_view *view,
                    const struct difference_row *row)
{
    table__more(grid, difference_row__more_ns(row), INK_BOLD);
    table__signed(grid, row->own_ns[SIDE_SLOW]);
    table__signed(grid, row->own_ns[SIDE_FAST]);
    grid__take(grid, calls_text(row), INK_PLAIN);
    grid__take(grid, row_text(view, row), INK_BOLD);
    grid__take(grid, enclosing_text(view, row), INK_DIM);
    grid__take(grid, why_text(row), INK_PLAIN);
}

/* All that have no line of their own. */
static void put_others(struct grid *grid, const struct difference_row *const *rows, size_t first,
                       size_t count)
{
    int64_t own[SIDES] = {0};
    for (size_t i = first; i < count; i++)
        for (int side = 0; side < SIDES; side++)
            own[side] += rows[i]->own_ns[side];
    if (first == count)
        return;
    table__more(grid, own[SIDE_SLOW] - own[SIDE_FAST], INK_PLAIN);
    table__signed(grid, own[SIDE_SLOW]);
    table__signed(grid, own[SIDE_FAST]);
    grid__cell(grid, memory__text(""), INK_PLAIN);
    grid__cell(grid, memory__format("%zu others", count - first), INK_DIM);
    grid__cell(grid, memory__text(""), INK_PLAIN);
    grid__cell(grid, memory__text(""), INK_PLAIN);
}

static void put_rows_sum(struct grid *grid, const struct difference *difference)
{
    table__more(grid, difference__more_ns(difference), INK_PLAIN);
    grid__duration(grid, difference->sides[SIDE_SLOW].duration_ns);
    grid__duration(grid, difference->sides[SIDE_FAST].duration_ns);
    grid__cell(grid, memory__text(""), INK_PLAIN);
    grid__cell(grid, memory__text("in all"), INK_DIM);
    grid__cell(grid, memory__text(""), INK_PLAIN);
    grid__cell(grid, memory__text(""), INK_PLAIN);
}

static void put_rows(const struct difference_view *view, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"difference", RIGHT},    {"slow", RIGHT},     {"fast", RIGHT},    {"calls", RIGHT},
        {"own time of", WRAPPED}, {"within", WRAPPED}, {"mostly", WRAPPED}};
    const struct vec *all = &view->difference->rows;
    const struct difference_row **rows = memory__zeroed(all->count, sizeof *rows);
    for (size_t i = 0; i < all->count; i++)
        rows[i] = row_at(view->difference, i);
    qsort(rows, all->count, sizeof *rows, by_contribution);
    size_t shown = 0;
    struct grid grid = grid__start(columns, 7, 2);
    for (; shown < all->count && shown < ROWS_AT_MOST && difference_row__more_ns(rows[shown]);
         shown++)
        put_row(&grid, view, rows[shown]);
    put_others(&grid, rows, shown, all->count);
    put_rows_sum(&grid, view->difference);
    fputc('\n', out);
    grid__end(&grid, style, out);
    free(rows);
}

/* ---- whom it waited for ---------------------------------------------------------------------- */

static void put_wait(struct grid *grid, const struct report *report,
                     const struct difference_wait *wait)
{
    const char *name = report__variable(report, wait->process, wait->object);
    char *who = wait->by == UINT32_MAX ? memory__text("not known") : thread__text(report, wait->by);
    grid__duration(grid, wait->wait_ns);
    grid__count(grid, wait->waits);
    grid__take(grid,
               name ? memory__format("%s %s", class_kind__name(wait->kind), name)
                    : memory__format("%s 0x%" PRIx64, class_kind__name(wait->kind), wait->object),
               INK_BOLD);
    grid__take(grid, who, INK_PLAIN);
    grid__take(grid,
               wait->by_site ? site__text(report, wait->process, wait->by_site) : memory__text(""),
               INK_PLAIN);
}

static void put_waits(const struct difference_view *view, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"waited", RIGHT},
                                                 {"times", RIGHT},
                                                 {"for", WRAPPED},
                                                 {"ended by", WRAPPED},
                                                 {"in", WRAPPED}};
    const struct vec *waits = &view->difference->waits;
    if (!waits->count)
        return;
    struct grid grid = grid__start(columns, 5, 2);
    for (size_t i = 0; i < waits->count && i < WAITS_AT_MOST; i++)
        put_wait(&grid, view->report, VEC_AT(waits, struct difference_wait, i));
    fputs("\n  The slow one waited:\n", out);
    grid__end(&grid, style, out);
}

static void put(const struct difference_view *view, const struct style *style, FILE *out)
{
    put_title(view, style, out);
    put_two(view, style, out);
    put_components(view->difference, style, out);
    put_rows(view, style, out);
    put_waits(view, style, out);
}

const struct difference_presenter difference_text = {put};
