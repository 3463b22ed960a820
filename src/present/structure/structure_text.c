/* heurt structure: the outline on a screen. */
#include "base/memory.h"
#include "base/text.h"
#include "present/iterations/iterations_screens.h"
#include "present/structure/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDE_FROM_COLUMNS 112 /* a narrower terminal shows fewer figures */
#define NARROW_FIGURES 46     /* columns that everything but the outline itself takes */
#define WIDE_FIGURES 84
#define WHAT_NARROWEST 24
#define WHAT_WIDEST 64 /* without a terminal */
#define ALARM_FROM 0.2 /* a score that would come first in heurt report */
#define SCORE_FROM 0.005
#define GROUPS_AT_MOST 8 /* of threads that are spelled out */
#define SENTENCES_AT_MOST 3
#define NAMED_AT_MOST 4   /* of what an iteration consists of */
#define NAMES_AT_MOST 2   /* of a group */
#define OF_ONE_FROM 0.8   /* of a loop's time is in the one thing that it consists of */
#define ITERATIONS_FROM 3 /* of a loop that is worth a sentence */

/* ---- what a row is about --------------------------------------------------------------------- */

static const struct outline_row *row_at(const struct structure_report *shown, uint32_t row)
{
    return VEC_AT(&shown->outline->rows, struct outline_row, row);
}

static const struct outline_group *group_at(const struct structure_report *shown, uint32_t group)
{
    return VEC_AT(&shown->outline->groups, struct outline_group, group);
}

static const struct class_definition *place_of(const struct structure_report *shown,
                                               const struct outline_row *row)
{
    return &VEC_AT(&shown->structure->places, struct structure_place, row->place)->what;
}

const char *ellipsis(const struct style *style)
{
    return style->unicode ? "…" : "...";
}

/* "×200", "×60–70", "×~64" where only the mean is known. free() it. */
static char *iterations_text(const struct outline_row *row, const struct style *style)
{
    char least[32], most[32];
    const char *times = style->unicode ? "×" : "x";
    if (row->iterations.min == UINT64_MAX)
        return memory__format("%s~%s", times,
                              count__format(row->count / (row->loops ? row->loops : 1), least));
    count__format(row->iterations.min, least);
    if (row->iterations.min == row->iterations.max)
        return memory__format("%s%s", times, least);
    return memory__format("%s%s%s%s", times, least, style->unicode ? "–" : "-",
                          count__format(row->iterations.max, most));
}

char *list_text(char *text, const char *more)
{
    return text__join(text, ", ", more);
}

static bool is_among(const char *name, char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The first names of what is folded, each once; the caller frees them. Returns how many. */
static size_t folded_names(const struct structure_report *shown, const struct outline_row *row,
                           char *names[NAMED_AT_MOST])
{
    size_t count = 0;
    for (uint32_t i = 0; i < row->folded_count && count < NAMED_AT_MOST; i++) {
        uint32_t place = *VEC_AT(&shown->outline->folded, uint32_t, row->first_folded + i);
        char *name = function__short(class__function(
            shown->report,
            &VEC_AT(&shown->structure->places, struct structure_place, place)->what));
        if (is_among(name, names, count))
            free(name);
        else
            names[count++] = name;
    }
    return count;
}

/* "… 5 more: pthread_mutex_lock, read". free() it. */
static char *rest_text(const struct structure_report *shown, const struct outline_row *row,
                       const struct style *style)
{
    char number[32], *names[NAMED_AT_MOST];
    size_t named = folded_names(shown, row, names);
    char *list = memory__text("");
    for (size_t i = 0; i < named; i++) {
        list = list_text(list, names[i]);
        free(names[i]);
    }
    char *text = memory__format("%s %s more%s%s", ellipsis(style),
                                count__format(row->count, number), *list ? ": " : "", list);
    free(list);
    return text;
}

/* free() it. */
static char *name_text(const struct structure_report *shown, const struct outline_row *row,
                       const struct style *style)
{
    if (row->kind == OUTLINE_REST)
        return rest_text(shown, row, style);
    if (row->kind == OUTLINE_UNRECORDED)
        return memory__text("(not recorded)");
    if (row->kind == OUTLINE_LOOP) {
        char *iterations = iterations_text(row, style),
             *text = memory__format("loop %s", iterations);
        free(iterations);
        return text;
    }
    return function__short(class__function(shown->report, place_of(shown, row)));
}

/* What is to be said behind the name. free() it. */
static char *remark_text(const struct structure_report *shown, const struct outline_row *row,
                         const struct style *style)
{
    size_t threads = group_at(shown, row->group)->threads.count;
    if (row->kind == OUTLINE_SCATTERED)
        return memory__text(" here and there");
    if (row->kind > OUTLINE_SCATTERED)
        return memory__text("");
    char *in = row->threads < threads
                   ? memory__format(" in %" PRIu32 " of %zu threads", row->threads, threads)
                   : memory__text("");
    char *shapes =
        row->shapes > 1 ? memory__format(" of %" PRIu32 " shapes", row->shapes) : memory__text("");
    char *kinds =
        row->kinds > 1 ? memory__format(" of %" PRIu32 " kinds", row->kinds) : memory__text("");
    char *text = memory__format("%s%s%s%s%s%s", kinds, shapes, in,
                                row->same_as == OUTLINE_NONE ? "" : ", as above",
                                row->is_cut ? " " : "", row->is_cut ? ellipsis(style) : "");
    free(in);
    free(shapes);
    free(kinds);
    return text;
}

/* Cut to columns. Takes over text. */
static char *cut_text(char *text, unsigned columns, const struct style *style)
{
    const char *mark = ellipsis(style);
    if (text__width(text) <= columns)
        return text;
    char *cut = memory__format(
        "%.*s%s", (int)text__bytes_of_columns(text, columns - text__width(mark)), text, mark);
    free(text);
    return cut;
}

static unsigned what_columns(const struct style *style, bool wide)
{
    unsigned figures = wide ? WIDE_FIGURES : NARROW_FIGURES;
    if (!style->columns)
        return WHAT_WIDEST;
    return style->columns > figures + WHAT_NARROWEST ? style->columns - figures : WHAT_NARROWEST;
}

/* ---- groups of threads ----------------------------------------------------------------------- */

static const struct trace_thread *thread_at(const struct structure_report *shown,
                                            const struct outline_group *group, size_t which)
{
    return trace__thread_at(shown->report->trace, *VEC_AT(&group->threads, uint32_t, which));
}

/* "worker", "worker-1, worker-2, …": the threads' names. free() it. */
static char *names_text(const struct structure_report *shown, const struct outline_group *group,
                        const struct style *style)
{
    const char *last = thread_at(shown, group, 0)->name;
    char *text = memory__text(last);
    for (size_t i = 1, names = 1; i < group->threads.count; i++) {
        const char *name = thread_at(shown, group, i)->name;
        if (strcmp(name, last) == 0)
            continue;
        if (names++ == NAMES_AT_MOST)
            return list_text(text, ellipsis(style));
        text = list_text(text, name);
        last = name;
    }
    return text;
}

/* "4 threads worker": without their numbers. free() it. */
static char *group_text(const struct structure_report *shown, const struct outline_group *group,
                        const struct style *style)
{
    const struct trace_thread *first = thread_at(shown, group, 0);
    size_t count = group->threads.count;
    char *names = names_text(shown, group, style);
    char *text = count > 1                  ? memory__format("%zu threads %s", count, names)
                 : first->tid == first->pid ? memory__format("main thread %s", names)
                                            : memory__format("thread %s", names);
    free(names);
    return text;
}

/* As many of the threads' numbers as there is room for: "4 threads worker  #12 #13 …". free() it.
 */
static char *group_title(const struct structure_report *shown, const struct outline_group *group,
                         const struct style *style, unsigned columns)
{
    char *text = group_text(shown, group, style);
    for (size_t i = 0; i < group->threads.count; i++) {
        char *number = memory__format(" #%" PRIu32, thread_at(shown, group, i)->tid);
        bool is_last = i + 1 == group->threads.count;
        bool fits = text__width(text) + text__width(number) + (is_last ? 0 : 4) <= columns;
        if (fits)
            text = text__join(text, "", number);
        else if (i > 0)
            text = text__join(text, " ", ellipsis(style));
        free(number);
        if (!fits)
            break;
    }
    return text;
}

/* ---- the sentences on top -------------------------------------------------------------------- */

/* Takes over text; adds what is folded as far as there is room. free() it. */
static char *list_folded(const struct structure_report *shown, const struct outline_row *row,
                         char *text, size_t *named, const struct style *style)
{
    char *names[NAMED_AT_MOST];
    size_t count = folded_names(shown, row, names);
    for (size_t i = 0; i < count; i++) {
        if (*named < NAMED_AT_MOST)
            text = list_text(text, names[i]);
        else if (*named == NAMED_AT_MOST)
            text = list_text(text, ellipsis(style));
        ++*named;
        free(names[i]);
    }
    return text;
}

/* What one iteration consists of: "read_block, pthread_barrier_wait …". free() it. */
static char *iteration_text(const struct structure_report *shown, uint32_t loop,
                            const struct style *style)
{
    const struct vec *rows = &shown->outline->rows;
    char *text = memory__text("");
    size_t named = 0;
    if (row_at(shown, loop)->same_as != OUTLINE_NONE)
        loop = row_at(shown, loop)->same_as;
    for (uint32_t i = loop + 1;
         i < rows->count && row_at(shown, i)->depth > row_at(shown, loop)->depth; i++) {
        const struct outline_row *row = row_at(shown, i);
        if (row->depth != row_at(shown, loop)->depth + 1 || row->kind == OUTLINE_UNRECORDED)
            continue;
        if (row->kind == OUTLINE_REST) {
            text = list_folded(shown, row, text, &named, style);
            continue;
        }
        if (named < NAMED_AT_MOST) {
            char *name = name_text(shown, row, style);
            text = list_text(text, name);
            free(name);
        } else if (named == NAMED_AT_MOST) {
            text = list_text(text, ellipsis(style));
        }
        named++;
    }
    return text;
}

static void put_outermost(const struct structure_report *shown, uint32_t number, uint32_t loop,
                          const struct style *style, FILE *out)
{
    char each[16], share[16];
    const struct outline_group *group = group_at(shown, number);
    const struct outline_row *row = row_at(shown, loop);
    bool one = group->threads.count == 1;
    char *iterations = iterations_text(row, style), *iteration = iteration_text(shown, loop, style);
    char *who = group_text(shown, group, style);
    char *lead = memory__format("  %s  ", iterations);
    size_t mark = strlen(ellipsis(style)), bytes = strlen(iteration);
    bool is_cut = bytes > mark && strcmp(iteration + bytes - mark, ellipsis(style)) == 0;
    char *text =
        memory__format("%s %s a loop%s: %s%s an iteration, %s of %s time%s%s%s", who,
                       one ? "runs" : "run", one ? "" : " each", row->is_estimated ? "~" : "",
                       duration__format(outline_row__mean_ns(row), each),
                       share__format(outline_row__share(shown->outline, row), share),
                       one ? "its" : "their", *iteration ? ": " : "", iteration, is_cut ? "" : ".");
    char *clean = text__for_screen(text);
    paragraph__put(style, out, INK_BOLD, lead, clean);
    free(clean);
    free(text);
    free(lead);
    free(who);
    free(iteration);
    free(iterations);
}

/* A loop that only waits for threads to end is no iteration of anything. */
static bool only_joins(const struct structure_report *shown, uint32_t loop)
{
    const struct vec *rows = &shown->outline->rows;
    const uint32_t depth = row_at(shown, loop)->depth;
    bool any = false;
    for (uint32_t i = loop + 1; i < rows->count && row_at(shown, i)->depth > depth; i++) {
        const struct outline_row *row = row_at(shown, i);
        if (row->kind != OUTLINE_OCCURRENCE)
            continue;
        if (place_of(shown, row)->at.kind != CLASS_JOIN)
            return false;
        any = true;
    }
    return any;
}

/* What is behind it all leaps to the eye. */
static void put_sentences(const struct structure_report *shown, const struct style *style,
                          FILE *out)
{
    unsigned put = 0;
    for (uint32_t i = 0; i < shown->outline->groups.count && put < SENTENCES_AT_MOST; i++) {
        uint32_t loop = outline__outermost(shown->outline, i);
        if (loop == OUTLINE_NONE || row_at(shown, loop)->iterations.max < ITERATIONS_FROM ||
            only_joins(shown, loop))
            continue;
        if (!put++)
            fputc('\n', out);
        put_outermost(shown, i, loop, style, out);
    }
}

/* ---- the outline ----------------------------------------------------------------------------- */

static const struct grid_column wide_columns[] = {
    {"what", LEFT}, {"count", RIGHT}, {"time", RIGHT},  {"each", RIGHT},    {"min", RIGHT},
    {"max", RIGHT}, {"share", RIGHT}, {"score", RIGHT}, {"where", WRAPPED},
};
static const struct grid_column narrow_columns[] = {
    {"what", LEFT},  {"count", RIGHT}, {"time", RIGHT},
    {"each", RIGHT}, {"share", RIGHT}, {"score", RIGHT},
};

struct structure_printer {
    const struct structure_report *shown;
    const struct style *style;
    struct grid grid;
    bool wide;
    unsigned indents[OUTLINE_DEPTH_MAX + 1]; /* by depth, of the rows that come */
    const struct outline_row *loop;          /* NULL, or it is told with the next row */
};

static void put_nothing(struct structure_printer *drawing, unsigned cells)
{
    while (cells--)
        grid__cell(&drawing->grid, memory__text(""), INK_PLAIN);
}

/* UINT64_MAX: not known. */
static void put_time(struct structure_printer *drawing, uint64_t ns, bool is_estimated)
{
    char time[16];
    if (ns == UINT64_MAX) {
        put_nothing(drawing, 1);
        return;
    }
    grid__cell(&drawing->grid,
               memory__format("%s%s", is_estimated ? "~" : "", duration__format(ns, time)),
               INK_PLAIN);
}

static void put_score(struct structure_printer *drawing, const struct outline_row *row)
{
    double score = outline_row__score(drawing->shown->outline, row);
    if (score < SCORE_FROM)
        put_nothing(drawing, 1);
    else
        grid__cell(&drawing->grid,
                   memory__format("%s%.2f", row->is_excess_estimated ? "~" : "", score),
                   score >= ALARM_FROM ? INK_ALARM : INK_PLAIN);
}

static void put_where(struct structure_printer *drawing, const struct outline_row *row)
{
    char unknown[32];
    if (row->kind != OUTLINE_OCCURRENCE && row->kind != OUTLINE_SCATTERED) {
        put_nothing(drawing, 1);
        return;
    }
    const struct class_definition *class = place_of(drawing->shown, row);
    struct place place = place__of_class(drawing->shown->report, class, unknown);
    grid__take(&drawing->grid,
               class__is_hooked(class) ? place__text(&place) : place__source(&place, false),
               INK_DIM);
}

static void put_count(struct structure_printer *drawing, const struct outline_row *row)
{
    char count[32];
    grid__cell(&drawing->grid,
               memory__format("%s%s", row->is_count_estimated ? "~" : "",
                              count__format(row->count, count)),
               INK_PLAIN);
}

/* Count, time, each: what rows without occurrences have not. */
static void put_figures(struct structure_printer *drawing, const struct outline_row *row)
{
    bool counted = row->kind <= OUTLINE_SCATTERED;
    if (counted)
        put_count(drawing, row);
    else
        put_nothing(drawing, 1);
    put_time(drawing, row->sum_ns, row->is_estimated);
    if (counted)
        put_time(drawing, outline_row__mean_ns(row), row->is_estimated);
    else
        put_nothing(drawing, 1);
    if (drawing->wide && counted) {
        put_time(drawing, row->min_ns, row->is_excess_estimated);
        put_time(drawing, row->max_ns, row->is_excess_estimated);
    } else if (drawing->wide) {
        put_nothing(drawing, 2);
    }
}

static void put_what(struct structure_printer *drawing, char *name, unsigned depth, enum ink ink)
{
    char *clean = text__for_screen(name);
    char *text = memory__format("%*s%s", (int)(2 * depth), "", clean);
    grid__cell(&drawing->grid,
               cut_text(text, what_columns(drawing->style, drawing->wide), drawing->style), ink);
    free(clean);
    free(name);
}

/* A loop of one thing, which takes most of its time, is shown in that one's row. */
static bool is_of_one(const struct structure_printer *drawing, uint32_t number, uint32_t end)
{
    const struct outline_row *loop = row_at(drawing->shown, number);
    if (loop->kind != OUTLINE_LOOP || number + 1 >= end)
        return false;
    const struct outline_row *body = row_at(drawing->shown, number + 1);
    if (body->depth <= loop->depth || body->kind != OUTLINE_OCCURRENCE ||
        (double)body->sum_ns < OF_ONE_FROM * (double)loop->sum_ns)
        return false;
    for (uint32_t i = number + 2; i < end; i++) {
        uint32_t depth = row_at(drawing->shown, i)->depth;
        if (depth <= loop->depth + 1)
            return depth <= loop->depth;
    }
    return true;
}

/* "step_sweep ×8, as above". free() it. */
static char *row_text(const struct structure_printer *drawing, const struct outline_row *row)
{
    char *name = name_text(drawing->shown, row, drawing->style);
    char *remark = remark_text(drawing->shown, row, drawing->style);
    char *iterations =
        drawing->loop ? iterations_text(drawing->loop, drawing->style) : memory__text("");
    char *text = memory__format("%s%s%s%s", name, *iterations ? " " : "", iterations, remark);
    free(iterations);
    free(remark);
    free(name);
    return text;
}

static void put_row(struct structure_printer *drawing, const struct outline_row *row,
                    bool is_outermost)
{
    unsigned indent = drawing->indents[row->depth];
    enum ink ink = is_outermost ? INK_BOLD : row->kind > OUTLINE_LOOP ? INK_DIM : INK_PLAIN;
    put_what(drawing, row_text(drawing, row), indent, ink);
    put_figures(drawing, row);
    grid__share(&drawing->grid, outline_row__share(drawing->shown->outline, row));
    put_score(drawing, row);
    if (drawing->wide)
        put_where(drawing, row);
    drawing->indents[row->depth + 1] = indent + 1;
    drawing->loop = NULL;
}

static void put_rows(struct structure_printer *drawing, uint32_t first, uint32_t end,
                     uint32_t outermost)
{
    drawing->indents[0] = 1;
    for (uint32_t i = first; i < end; i++) {
        const struct outline_row *row = row_at(drawing->shown, i);
        if (i == outermost || !is_of_one(drawing, i, end)) {
            put_row(drawing, row, i == outermost);
            continue;
        }
        drawing->loop = row;
        drawing->indents[row->depth + 1] = drawing->indents[row->depth];
    }
}

static void put_group(struct structure_printer *drawing, uint32_t number)
{
    const struct outline_group *group = group_at(drawing->shown, number);
    if (number)
        grid__note(&drawing->grid, memory__text(""));
    put_what(drawing,
             group_title(drawing->shown, group, drawing->style,
                         what_columns(drawing->style, drawing->wide)),
             0, INK_BOLD);
    put_nothing(drawing, 1);
    put_time(drawing, group->lifetime_ns, false);
    put_nothing(drawing, drawing->wide ? 6 : 3);
    put_rows(drawing, group->first_row, group->first_row + group->row_count,
             outline__outermost(drawing->shown->outline, number));
}

static void put_other_groups(struct structure_printer *drawing, uint32_t first)
{
    const struct vec *groups = &drawing->shown->outline->groups;
    uint64_t threads = 0, lifetime_ns = 0;
    char time[16];
    for (uint32_t i = first; i < groups->count; i++) {
        threads += group_at(drawing->shown, i)->threads.count;
        lifetime_ns += group_at(drawing->shown, i)->lifetime_ns;
    }
    if (!threads)
        return;
    grid__note(&drawing->grid, memory__text(""));
    grid__note(&drawing->grid,
               memory__format("and %" PRIu64 " more thread%s of %zu kind%s, %s together (--json "
                              "has them)",
                              threads, threads == 1 ? "" : "s", groups->count - first,
                              groups->count - first == 1 ? "" : "s",
                              duration__format(lifetime_ns, time)));
}

static void put_outline(const struct structure_report *shown, const struct style *style, FILE *out)
{
    bool wide = style->columns == 0 || style->columns >= WIDE_FROM_COLUMNS;
    struct structure_printer drawing = {.shown = shown,
                                        .style = style,
                                        .grid = wide ? grid__start(wide_columns, 9, 2)
                                                     : grid__start(narrow_columns, 6, 2),
                                        .wide = wide};
    uint32_t groups = (uint32_t)shown->outline->groups.count;
    uint32_t spelled =
        groups > GROUPS_AT_MOST && shown->options->least_share > 0 ? GROUPS_AT_MOST : groups;
    for (uint32_t i = 0; i < spelled; i++)
        put_group(&drawing, i);
    put_other_groups(&drawing, spelled);
    fputc('\n', out);
    grid__end(&drawing.grid, style, out);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static void put_header(const struct structure_report *shown, const struct style *style, FILE *out)
{
    char wall[16], number[32];
    const struct report *report = shown->report;
    size_t threads = shown->structure->threads.count;
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, report__title(report, style), INK_BOLD, 3);
    flow__take(&flow,
               memory__format("took %s", duration__format(trace__wall_ns(report->trace), wall)),
               INK_PLAIN, 3);
    flow__take(&flow, memory__format("%zu thread%s", threads, threads == 1 ? "" : "s"), INK_PLAIN,
               3);
    flow__take(&flow,
               memory__format("%s place%s in the code",
                              count__format(shown->structure->places.count, number),
                              shown->structure->places.count == 1 ? "" : "s"),
               INK_PLAIN, 3);
    flow__take(&flow, memory__text(report->directory), INK_PLAIN, 3);
    flow__end(&flow);
}

static void put_empty(const struct structure_report *shown, const struct style *style, FILE *out)
{
    fputc('\n', out);
    paragraph__put(style, out, INK_PLAIN, "  ",
                   trace__threads(shown->report->trace)->count == 0
                       ? "The trace is empty: no thread wrote any event, so that nothing is known "
                         "of the program's structure. heurt check -- CMD tells whether the program "
                         "can be recorded."
                       : "Nothing that the threads called was recorded: no function, lock, wait "
                         "or I/O. heurt record -f FUNC records functions.");
}

static bool any_estimated(const struct structure_report *shown)
{
    VEC_EACH (row, &shown->outline->rows, struct outline_row)
        if (row->is_estimated || row->is_excess_estimated)
            return true;
    return false;
}

static void put_notes(const struct structure_report *shown, const struct style *style, FILE *out)
{
    fputc('\n', out);
    if (any_estimated(shown))
        paragraph__put(style, out, INK_PLAIN, "  ~ ",
                       "an estimate: it occurs in several places, and only all of them together "
                       "were measured; it is divided as the places' times are.");
    if (shown->options->least_share > 0)
        paragraph__take(
            style, out, "  ",
            memory__format("What takes less than %.3g %% of its threads' time is folded; --all "
                           "shows it.",
                           100 * shown->options->least_share));
}

static void put_warnings(const struct structure_report *shown, const struct style *style, FILE *out)
{
    if (shown->outline->is_sampled)
        paragraph__put(style, out, INK_WARNING, "  warning: ",
                       "of what is called very often one call in many was recorded: loops and "
                       "counts are of these. heurt record --overhead none records all, and fewer "
                       "functions (-f) cost less.");
    text__warnings(shown->report, style, out);
}

static void put_next(const struct structure_report *shown, const struct style *style, FILE *out)
{
    struct flow flow = flow__start(style, out, 8);
    fputs("\n  next: ", out);
    flow.column = flow.indent;
    flow__hint(&flow, shown->report, "report", "");
    flow__hint(&flow, shown->report, "structure", "--interesting");
    if (shown->iterations && shown->iterations->phases.count)
        flow__hint(&flow, shown->report, "diff-occurrence", "iteration");
    flow__end(&flow);
}

static void put_screen(const struct structure_report *shown, const struct style *style, FILE *out)
{
    put_header(shown, style, out);
    if (shown->structure->places.count == 0) {
        put_empty(shown, style, out);
    } else {
        put_sentences(shown, style, out);
        put_outline(shown, style, out);
        put_notes(shown, style, out);
        if (shown->sequences)
            sequences__put(shown, style, out);
        if (shown->iterations)
            iterations__put(shown->report, shown->iterations, style, out);
    }
    put_warnings(shown, style, out);
    put_next(shown, style, out);
}

const struct structure_presenter structure_text = {"text", put_screen};
