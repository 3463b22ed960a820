/* What changes would gain, for people. */
#include "present/whatif/whatif_screens.h"

#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPLAY_DOUBTFUL 0.1 /* off by so much, a replay says little */
#define OBJECTS_AT_MOST 5
#define NAMED_AT_MOST 4    /* of those that gain nothing */
#define NOTHING_BELOW 1.01 /* as gain__format */
#define NUMBER_COLUMNS 3
#define GAIN_COLUMNS 11
#define TIME_COLUMNS 8
#define WHY_INDENT 7
#define GROWS_FROM 0.01 /* of the predicted wall time: what waits grow by less reads as noise */
#define NOT_MODELLED                                                                           \
    "Not modelled: caches and memory, cores that share their units, and code that does other " \
    "work when its threads meet otherwise."

/* ---- the run and its replay ------------------------------------------------------------------ */

/* Replayed over measured, less 1. */
static double replay_error(const struct whatif_view *view)
{
    if (!view->measured_ns)
        return 0;
    return (double)view->replayed_ns / (double)view->measured_ns - 1;
}

static void put_run(const struct whatif_view *view, const struct style *style, FILE *out)
{
    char measured[16], replayed[16];
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, report__title(view->report, style), INK_BOLD, 3);
    flow__take(&flow, memory__format("took %s", duration__format(view->measured_ns, measured)),
               INK_PLAIN, 3);
    flow__end(&flow);
    double error = replay_error(view);
    paragraph__take(
        style, out, "  ",
        memory__format("Replayed without a change it takes %s, %.1f %% %s than measured.",
                       duration__format(view->replayed_ns, replayed), 100 * fabs(error),
                       error < 0 ? "less" : "more"));
    if (fabs(error) > REPLAY_DOUBTFUL)
        paragraph__put(style, out, INK_WARNING, "  warning: ",
                       "the replay is far from the run, so something decides its time that the "
                       "replay does not know; its predictions are to be doubted");
    if (view->replayed_share < 1)
        paragraph__take(style, out, "  ",
                        memory__format("The run is too long to be replayed: predictions are from "
                                       "%.2g %% of it, in windows drawn from all of it.",
                                       100 * view->replayed_share));
    if (view->told_threads)
        paragraph__take(
            style, out, "  ",
            memory__format("Predictions assume that %" PRIu32 " thread%s until told to end: %s "
                           "sooner where the others do.",
                           view->told_threads, view->told_threads == 1 ? " ran" : "s ran",
                           view->told_threads == 1 ? "it ends" : "they end"));
}

/* ---- objects --------------------------------------------------------------------------------- */

/* "lock queue_lock", "barrier 0x4a0080". free() it. */
static char *object_text(const struct report *report, uint32_t process, uint64_t address,
                         enum class_kind kind)
{
    const char *name = report__variable(report, process, address);
    return name ? memory__format("%s %s", class_kind__name(kind), name)
                : memory__format("%s 0x%" PRIx64, class_kind__name(kind), address);
}

static bool grows(const struct whatif_object *object, const struct prediction *prediction)
{
    if (object->waited_after_ns <= object->waited_before_ns)
        return false;
    double more = (double)(object->waited_after_ns - object->waited_before_ns);
    return more > GROWS_FROM * (double)prediction->wall_ns;
}

/* The object whose waits grow the most, NULL: none do. */
static const struct whatif_object *first_to_grow(const struct prediction *prediction)
{
    VEC_EACH (object, &prediction->objects, struct whatif_object)
        if (grows(object, prediction))
            return object;
    return NULL;
}

static void put_object(struct grid *grid, const struct report *report,
                       const struct whatif_object *object)
{
    grid__duration(grid, object->waited_before_ns);
    grid__duration(grid, object->waited_after_ns);
    grid__take(grid, object_text(report, object->process, object->address, object->kind), INK_BOLD);
}

static void put_limits(const struct whatif_view *view, const struct prediction *prediction,
                       const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"waited before", RIGHT}, {"then", RIGHT}, {"for", WRAPPED}};
    if (!first_to_grow(prediction)) {
        paragraph__put(
            style, out, INK_PLAIN, "  ",
            "Waits grow nowhere else: what is left is work, or is waited for as before.");
        return;
    }
    paragraph__put(style, out, INK_PLAIN, "  ", "What limits then (waits of all threads):");
    struct grid grid = grid__start(columns, 3, 4);
    size_t shown = 0;
    VEC_EACH (object, &prediction->objects, struct whatif_object)
        if (shown < OBJECTS_AT_MOST && grows(object, prediction)) {
            put_object(&grid, view->report, object);
            shown++;
        }
    grid__end(&grid, style, out);
}

/* ---- one question ---------------------------------------------------------------------------- */

static const struct profile_class *class_of(const struct whatif_view *view,
                                            const struct whatif_answer *answer)
{
    const struct vec *classes = &view->report->profile->classes;
    return answer->rank && answer->rank <= classes->count
               ? VEC_AT(classes, struct profile_class, answer->rank - 1)
               : NULL;
}

static void put_subject(const struct whatif_view *view, const struct whatif_answer *answer,
                        const struct style *style, FILE *out)
{
    char unknown[32], lost[16];
    const struct profile_class *class = class_of(view, answer);
    paragraph__take(style, out, "  asked     ", memory__text(answer->asked));
    if (class) {
        struct place place = place__of_class(view->report, &class->what, unknown);
        paragraph__take(style, out, "  where     ", place__text(&place));
        if (class->what.structure)
            paragraph__take(style, out, "  calls     ",
                            class_structure__text(class->what.structure));
        paragraph__take(style, out, "  why       ", class__why(view->report, class, style));
    } else if (answer->has_lock) {
        paragraph__take(style, out, "  where     ",
                        object_text(view->report, answer->process, answer->lock, CLASS_LOCK));
    }
    if (answer->lost_ns != UINT64_MAX)
        paragraph__take(
            style, out, "  lost      ",
            memory__format("%s of all threads' time", duration__format(answer->lost_ns, lost)));
}

static void put_prediction(const struct whatif_view *view, const struct prediction *prediction,
                           const struct style *style, FILE *out)
{
    char wall[16], least[16], most[16], measured[16], unrecorded[16], gain[GAIN_BYTES];
    paragraph__take(style, out, "  measured  ",
                    memory__format("%s of wall time, %s without what recording cost",
                                   duration__format(view->measured_ns, measured),
                                   duration__format(view->unrecorded_ns, unrecorded)));
    paragraph__take(style, out, "  predicted ",
                    memory__format("%s (%s to %s), %" PRIu32 " thread%s",
                                   duration__format(prediction->wall_ns, wall),
                                   duration__format(prediction->least_ns, least),
                                   duration__format(prediction->most_ns, most), prediction->threads,
                                   prediction->threads == 1 ? "" : "s"));
    paragraph__take(style, out, "  gain      ",
                    memory__text(gain__format(prediction->gain, style->unicode, gain)));
    fputc('\n', out);
    put_limits(view, prediction, style, out);
}

static void question(const struct whatif_view *view, const struct style *style, FILE *out)
{
    put_run(view, style, out);
    for (size_t i = 0; i < view->count; i++) {
        const struct whatif_answer *answer = &view->rows[i];
        fputc('\n', out);
        put_subject(view, answer, style, out);
        if (answer->prediction)
            put_prediction(view, answer->prediction, style, out);
        else
            paragraph__take(style, out, "  not told  ", memory__text(answer->refusal));
    }
    paragraph__put(style, out, INK_PLAIN, "  ", NOT_MODELLED);
}

/* ---- the table of all ------------------------------------------------------------------------ */

/* "" when it is not known. free() it. */
static char *gain_text(const struct whatif_answer *answer, const struct style *style)
{
    char gain[GAIN_BYTES];
    return memory__text(
        answer->prediction ? gain__format(answer->prediction->gain, style->unicode, gain) : "?");
}

static char *time_text(bool is_known, uint64_t ns)
{
    char duration[16];
    return memory__text(is_known ? duration__format(ns, duration) : "?");
}

/* Takes over all. */
static char *row_text(char *number, char *gain, char *wall, char *lost)
{
    number = text__padded(number, NUMBER_COLUMNS, true);
    gain = text__padded(gain, GAIN_COLUMNS, false);
    wall = text__padded(wall, TIME_COLUMNS, true);
    lost = text__padded(lost, TIME_COLUMNS, true);
    char *text = memory__format("%s  %s %s  %s  ", number, gain, wall, lost);
    free(number);
    free(gain);
    free(wall);
    free(lost);
    return text;
}

static char *figures_text(const struct whatif_answer *answer, const struct style *style)
{
    const struct prediction *prediction = answer->prediction;
    return row_text(answer->rank ? memory__format("%zu", answer->rank) : memory__text(""),
                    gain_text(answer, style),
                    time_text(prediction, prediction ? prediction->wall_ns : 0),
                    time_text(answer->lost_ns != UINT64_MAX, answer->lost_ns));
}

static char *where_text(const struct whatif_view *view, const struct whatif_answer *answer)
{
    char unknown[32];
    const struct profile_class *class = class_of(view, answer);
    if (!class)
        return answer->has_lock
                   ? object_text(view->report, answer->process, answer->lock, CLASS_LOCK)
                   : memory__text(answer->asked);
    struct place place = place__of_class(view->report, &class->what, unknown);
    char *name = class__name(view->report, class, &place), *source = place__source(&place, false);
    char *text = memory__format("%s%s%s", name, *source ? " " : "", source);
    free(name);
    free(source);
    return text;
}

/* What was lost there, and what is waited for more then; "": nothing is to be said. free() it. */
static char *why_text(const struct whatif_view *view, const struct whatif_answer *answer,
                      const struct style *style)
{
    char more[16];
    const struct profile_class *class = class_of(view, answer);
    char *text = class ? class__why(view->report, class, style)
                       : memory__text(answer->has_lock ? "all waits for it" : "");
    if (!answer->prediction)
        return text__join(text, "; ", answer->refusal);
    const struct whatif_object *object = first_to_grow(answer->prediction);
    if (!object)
        return text;
    char *name = object_text(view->report, object->process, object->address, object->kind);
    char *then = memory__format(
        "then %s more is waited for: %s",
        duration__format(object->waited_after_ns - object->waited_before_ns, more), name);
    text = text__join(text, "; ", then);
    free(then);
    free(name);
    return text;
}

static void put_row(const struct whatif_view *view, const struct whatif_answer *answer,
                    const struct style *style, FILE *out)
{
    char *lead = figures_text(answer, style), *why = why_text(view, answer, style);
    char *where = where_text(view, answer), *clean = text__for_screen(where);
    struct flow flow = flow__start(style, out, WHY_INDENT);
    fputs(lead, out);
    flow.column = text__width(lead) - 1;
    flow__words(&flow, clean, INK_BOLD);
    flow__end(&flow);
    if (*why)
        paragraph__take(style, out, "       ", memory__text(why));
    free(clean);
    free(where);
    free(why);
    free(lead);
}

static bool gains_nothing(const struct whatif_answer *answer)
{
    return answer->prediction && answer->prediction->gain[1] < NOTHING_BELOW;
}

/* An earlier one of the table, or of those without gain, is called the same: one place with many
 * objects. NULL: none is. */
static const struct whatif_answer *namesake(const struct whatif_view *view,
                                            const struct whatif_answer *answer)
{
    const struct whatif_answer *found = NULL;
    char *where = where_text(view, answer);
    for (const struct whatif_answer *other = view->rows; other < answer && !found; other++) {
        char *name = gains_nothing(other) == gains_nothing(answer) ? where_text(view, other) : NULL;
        found = name && strcmp(name, where) == 0 ? other : NULL;
        free(name);
    }
    free(where);
    return found;
}

/* Of those that are called like it, and it; *count: how many. */
static uint64_t lost_of_namesakes(const struct whatif_view *view,
                                  const struct whatif_answer *answer, size_t *count)
{
    uint64_t lost_ns = answer->lost_ns;
    *count = 1;
    for (size_t i = 0; i < view->count; i++)
        if (namesake(view, &view->rows[i]) == answer) {
            lost_ns += view->rows[i].lost_ns;
            ++*count;
        }
    return lost_ns;
}

/* Those without which the run would take as long, in a line: the costliest are named. */
static void put_without_gain(const struct whatif_view *view, const struct style *style, FILE *out)
{
    size_t named = 0, more = 0, alike;
    char *list = memory__text(""), lost[16];
    for (size_t i = 0; i < view->count; i++) {
        const struct whatif_answer *answer = &view->rows[i];
        if (!gains_nothing(answer) || namesake(view, answer))
            continue;
        uint64_t lost_ns = lost_of_namesakes(view, answer, &alike);
        if (named++ >= NAMED_AT_MOST) {
            more += alike;
            continue;
        }
        char *where = where_text(view, answer);
        list = text__append(list, "%s%s (%s)", *list ? ", " : "", where,
                            duration__format(lost_ns, lost));
        free(where);
    }
    if (more)
        list = text__append(list, " and %zu more", more);
    if (named)
        paragraph__take(style, out, "  ",
                        memory__format("Nothing is gained without what these lose: %s.", list));
    free(list);
}

static void put_titles(const struct style *style, FILE *out)
{
    char *text = row_text(memory__text("#"), memory__text("gain"), memory__text("wall"),
                          memory__text("lost"));
    ink__put(style, out, INK_DIM, text);
    ink__put(style, out, INK_DIM, "without");
    fputc('\n', out);
    free(text);
}

/* Rows; of one place with many objects the first. */
static void put_rows(const struct whatif_view *view, const struct style *style, FILE *out)
{
    size_t shown = 0, alike = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct whatif_answer *answer = &view->rows[i];
        if (gains_nothing(answer))
            continue;
        if (namesake(view, answer)) {
            alike++;
            continue;
        }
        if (!shown++)
            put_titles(style, out);
        put_row(view, answer, style, out);
    }
    if (!shown)
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "The run would take as long without any one of the losses.");
    if (alike)
        paragraph__take(
            style, out, "       ",
            memory__format("and %zu more of the same places, with other objects (--json "
                           "has them)",
                           alike));
}

/* A first screen leaves that out of what a lock costs. */
static void put_others(const struct whatif_view *view, const struct style *style, FILE *out)
{
    const struct report *report = view->report;
    const char *cpus = trace__meta(report->trace, "cpus");
    double others = profile__cpus_of_others(report->profile, report->trace);
    if (others > 0 && cpus && *cpus)
        paragraph__take(style, out, "  ",
                        memory__format("Other programs used %.1f of the %s CPUs. What is lost here "
                                       "has the time in which who need not wait any more had no "
                                       "CPU, which heurt report tells apart.",
                                       others, cpus));
}

static void table(const struct whatif_view *view, const struct style *style, FILE *out)
{
    put_run(view, style, out);
    put_others(view, style, out);
    fputc('\n', out);
    if (!view->count) {
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "Nothing that was recorded lost any time, so there is nothing to remove. "
                       "--speed, --shrink and --threads ask for other changes.");
        return;
    }
    put_rows(view, style, out);
    fputc('\n', out);
    put_without_gain(view, style, out);
    if (view->hidden) {
        char *text = memory__format("%zu more lost less: --all predicts them, too.", view->hidden);
        paragraph__put(style, out, INK_PLAIN, "  ", text);
        free(text);
    }
    paragraph__put(style, out, INK_PLAIN, "  ", NOT_MODELLED);
}

const struct whatif_presenter whatif_text = {question, table};
