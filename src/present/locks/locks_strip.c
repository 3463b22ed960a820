/* Critical section pressure over time: the time that threads spend acquiring over the time that
 * they run (David and others, "Continuously Measuring Critical Section Pressure with the Free-Lunch
 * Profiler", OOPSLA 2014). A cell stands for one step, or for several together. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_MOST 5
#define LABEL_AT_MOST 28
#define TAIL_COLUMNS 24 /* "  max 1234 % at 12.4 ms" */
#define CELLS_WITHOUT_TERMINAL 72
#define CELLS_AT_LEAST 10
#define LEVELS 8
#define HARDLY_RAN 9.995 /* from there on a percentage says little */

struct strip {
    const struct locks_result *result;
    unsigned cells;
    unsigned label_columns;
    double scale; /* the height of a full cell */
};

/* The steps that a cell stands for: as many cells as steps at most. */
static uint64_t first_step(const struct strip *strip, unsigned cell)
{
    return strip->result->steps * cell / strip->cells;
}

static double cell_pressure(const struct strip *strip, const uint64_t *acquiring_ns, unsigned cell)
{
    uint64_t acquiring = 0, running = 0;
    for (uint64_t i = first_step(strip, cell); i < first_step(strip, cell + 1); i++) {
        acquiring += acquiring_ns[i];
        running += strip->result->running_ns[i];
    }
    return locks__pressure(acquiring, running);
}

static unsigned highest_cell(const struct strip *strip, const uint64_t *acquiring_ns)
{
    unsigned highest = 0;
    for (unsigned cell = 1; cell < strip->cells; cell++)
        if (cell_pressure(strip, acquiring_ns, cell) > cell_pressure(strip, acquiring_ns, highest))
            highest = cell;
    return highest;
}

/* The share of acquiring in acquiring and running together: a moment in which hardly anybody ran
 * does not flatten all others. */
static double height_of(double value)
{
    return isinf(value) ? 1 : value / (1 + value);
}

/* From 1; 0: no pressure. */
static unsigned level_of(const struct strip *strip, double value)
{
    if (value <= 0)
        return 0;
    double level = ceil(height_of(value) / strip->scale * LEVELS);
    return level >= LEVELS ? LEVELS : level < 1 ? 1 : (unsigned)level;
}

static char *cells_text(const struct strip *strip, const uint64_t *acquiring_ns,
                        const struct style *style)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    char *text = memory__zeroed(strip->cells + 1, 3), *to = text;
    for (unsigned cell = 0; cell < strip->cells; cell++) {
        unsigned level = level_of(strip, cell_pressure(strip, acquiring_ns, cell));
        to = stpcpy(to, style->unicode ? blocks[level] : signs[level]);
    }
    return text;
}

/* When it begins, since the run's start. */
static uint64_t step_ns(const struct locks_report *locks, uint64_t step)
{
    return locks->result->steps_from_ns + step * locks->result->step_ns;
}

static char *tail_text(const struct strip *strip, const struct locks_report *locks,
                       const uint64_t *acquiring_ns)
{
    char share[16], when[16];
    unsigned highest = highest_cell(strip, acquiring_ns);
    double value = cell_pressure(strip, acquiring_ns, highest);
    duration__format(step_ns(locks, first_step(strip, highest)), when);
    if (isinf(value))
        return memory__format("nobody ran at %s", when);
    if (value > HARDLY_RAN)
        return memory__format("few ran at %s", when);
    return memory__format("max %s at %s", share__format(value, share), when);
}

/* Takes over label. */
static void put_strip(const struct strip *strip, const struct locks_report *locks, char *label,
                      const uint64_t *acquiring_ns, const struct style *style, FILE *out)
{
    char *clean = text__for_screen(label);
    char *cells = cells_text(strip, acquiring_ns, style);
    char *tail = tail_text(strip, locks, acquiring_ns);
    int bytes = (int)text__bytes_of_columns(clean, strip->label_columns);
    unsigned width = text__width(clean);
    fprintf(out, "  %.*s%*s  ", bytes, clean,
            width < strip->label_columns ? (int)(strip->label_columns - width) : 0, "");
    ink__put(style, out, INK_WARNING, cells);
    fprintf(out, "  %s\n", tail);
    free(tail);
    free(cells);
    free(clean);
    free(label);
}

static void put_axis(const struct strip *strip, const struct locks_report *locks, FILE *out)
{
    char from[16], to[16];
    const struct locks_result *result = locks->result;
    duration__format(step_ns(locks, 0), from);
    duration__format(step_ns(locks, result->steps), to);
    unsigned used = text__width(from) + text__width(to);
    fprintf(out, "  %*s  %s%*s%s\n", (int)strip->label_columns, "", from,
            used + 1 < strip->cells ? (int)(strip->cells - used) : 1, "", to);
}

/* ---- which strips ---------------------------------------------------------------------------- */

static struct strip make_strip(const struct locks_report *locks, unsigned label_columns,
                               const struct style *style)
{
    unsigned others = 2 + label_columns + 2 + TAIL_COLUMNS;
    unsigned cells = !style->columns                            ? CELLS_WITHOUT_TERMINAL
                     : style->columns > others + CELLS_AT_LEAST ? style->columns - others
                                                                : CELLS_AT_LEAST;
    uint64_t steps = locks->result->steps;
    return (struct strip){locks->result, steps < cells ? (unsigned)steps : cells, label_columns, 1};
}

static void set_scale(struct strip *strip, const uint64_t *acquiring_ns)
{
    double highest = cell_pressure(strip, acquiring_ns, highest_cell(strip, acquiring_ns));
    strip->scale = highest > 0 ? height_of(highest) : 1;
}

static char *row_label(const struct locks_report *locks, const struct lock_row *row)
{
    size_t rank = 1 + (size_t)(row - VEC_AT(&locks->result->rows, struct lock_row, 0));
    char *name = object__short_name(locks->report, &row->object);
    char *label = memory__format("#%zu %s", rank, name);
    free(name);
    return label;
}

static void put_heading(const char *what, const struct style *style, FILE *out)
{
    char *text = memory__format("%s: time spent acquiring over time on a CPU", what);
    heading__put(style, out, text);
    free(text);
}

/* The first rows are the worst: they are ranked by time waited. */
static size_t shown_rows(const struct locks_report *locks)
{
    size_t shown = 0;
    VEC_EACH (row, &locks->result->rows, struct lock_row)
        shown += row->object.kind == CLASS_LOCK && row->acquiring_ns && shown < ROWS_AT_MOST;
    return shown;
}

static unsigned label_columns(const struct locks_report *locks)
{
    size_t left = shown_rows(locks);
    unsigned widest = text__width("all locks");
    VEC_EACH (row, &locks->result->rows, struct lock_row) {
        if (left == 0 || row->object.kind != CLASS_LOCK || !row->acquiring_ns)
            continue;
        char *label = row_label(locks, row), *clean = text__for_screen(label);
        unsigned width = text__width(clean);
        widest = width > widest ? width : widest;
        free(clean);
        free(label);
        left--;
    }
    return widest < LABEL_AT_MOST ? widest : LABEL_AT_MOST;
}

void strips__put(const struct locks_report *locks, const struct style *style, FILE *out)
{
    const struct locks_result *result = locks->result;
    size_t left = shown_rows(locks);
    if (result->steps == 0 || left == 0)
        return;
    struct strip strip = make_strip(locks, label_columns(locks), style);
    set_scale(&strip, result->acquiring_ns);
    put_heading("pressure", style, out);
    put_strip(&strip, locks, memory__text("all locks"), result->acquiring_ns, style, out);
    VEC_EACH (row, &result->rows, struct lock_row) {
        if (left == 0 || row->object.kind != CLASS_LOCK || !row->acquiring_ns)
            continue;
        put_strip(&strip, locks, row_label(locks, row), row->acquiring_ns, style, out);
        left--;
    }
    put_axis(&strip, locks, out);
}

void strip__put_row(const struct locks_report *locks, const struct lock_row *row,
                    const struct style *style, FILE *out)
{
    if (locks->result->steps == 0 || !row->acquiring_ns)
        return;
    struct strip strip = make_strip(locks, 0, style);
    set_scale(&strip, row->acquiring_ns);
    put_heading("pressure of this one", style, out);
    put_strip(&strip, locks, memory__text(""), row->acquiring_ns, style, out);
    put_axis(&strip, locks, out);
}
