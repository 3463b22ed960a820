/* Cache lines on a screen, byte by byte: which threads read and write which bytes, and when. */
#include "base/memory.h"
#include "present/memory/memory_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MOST 6u     /* on a screen */
#define THREADS_MOST 8u   /* of each */
#define GROUP_BYTES 8u    /* stand together */
#define WIDE_COLUMNS 100u /* room for a mark a byte */
#define NARROW_COLUMNS 64u

/* How a line is drawn. */
struct line_grid {
    unsigned bytes_each; /* that a mark stands for */
    bool is_grouped;     /* a blank between groups of bytes */
    unsigned cells;      /* columns that a line takes */
    unsigned label;      /* columns of what threads are called */
};

static struct line_grid grid_for(const struct style *style, unsigned label)
{
    bool is_wide = !style->columns || style->columns >= WIDE_COLUMNS;
    struct line_grid grid = {.bytes_each = is_wide ? 1 : 2,
                             .is_grouped = is_wide || style->columns >= NARROW_COLUMNS,
                             .label = label};
    grid.cells = MEMORY_LINE_BYTES / grid.bytes_each;
    grid.cells += grid.is_grouped ? MEMORY_LINE_BYTES / GROUP_BYTES - 1 : 0;
    return grid;
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* Of the bytes from that on which a mark stands for. */
static char mark_of(const struct line_thread *thread, size_t byte, unsigned bytes)
{
    char mark = '.';
    for (size_t b = byte; b < byte + bytes; b++)
        if (line_thread__writes(thread, b))
            return 'w';
        else if (line_thread__reads(thread, b))
            mark = 'r';
    return mark;
}

static char met_mark(const struct memory_line *line, size_t byte, unsigned bytes)
{
    uint64_t of = (bytes == 1 ? 1ull : 3ull) << byte;
    return line->met & of ? '^' : ' ';
}

/* thread NULL: of what several use. free() it. */
static char *marks_of(const struct memory_line *line, const struct line_thread *thread,
                      const struct line_grid *grid)
{
    char *text = memory__zeroed(grid->cells + 1, 1), *to = text;
    for (size_t b = 0; b < MEMORY_LINE_BYTES; b += grid->bytes_each) {
        if (grid->is_grouped && b && b % GROUP_BYTES == 0)
            *to++ = ' ';
        *to++ = thread ? mark_of(thread, b, grid->bytes_each) : met_mark(line, b, grid->bytes_each);
    }
    return text;
}

/* "0        8        16 …" above the marks. */
static void put_ruler(const struct line_grid *grid, const struct style *style, FILE *out)
{
    char *text = memory__format("  %*s  ", (int)grid->label, "");
    unsigned each = GROUP_BYTES / grid->bytes_each + grid->is_grouped;
    unsigned step = each < 5 ? 2 : 1; /* room for a number and a blank */
    for (unsigned group = 0; group < MEMORY_LINE_BYTES / GROUP_BYTES; group += step)
        text = text__append(text, "%-*u", (int)(each * step), group * GROUP_BYTES);
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        text[--length] = 0;
    ink__put(style, out, INK_DIM, text);
    fputc('\n', out);
    free(text);
}

static void put_marks(const struct memory_report *shown, const struct memory_line *line,
                      const struct line_thread *thread, const struct line_grid *grid,
                      const struct style *style, FILE *out)
{
    char *marks = marks_of(line, thread, grid), time[16];
    thread_label__put(shown->report, thread->thread, grid->label, out);
    ink__put(style, out, INK_PLAIN, marks);
    fprintf(out, "  %s\n", duration__format(thread->ns, time));
    free(marks);
}

static void put_met(const struct memory_line *line, const struct line_grid *grid,
                    const struct style *style, FILE *out)
{
    if (!line->met)
        return;
    char *marks = marks_of(line, NULL, grid);
    size_t length = strlen(marks);
    while (length && marks[length - 1] == ' ')
        marks[--length] = 0;
    fprintf(out, "  %*s  ", (int)grid->label, "");
    ink__put(style, out, INK_WARNING, marks);
    fputc('\n', out);
    free(marks);
}

/* ---- in time --------------------------------------------------------------------------------- */

static uint64_t fullest_slice(const struct memory_line *line, uint32_t slices)
{
    uint64_t most = 0;
    VEC_EACH (thread, &line->threads, const struct line_thread)
        for (uint32_t i = 0; i < slices; i++)
            most = thread->slice_ns[i] > most ? thread->slice_ns[i] : most;
    return most;
}

static void put_in_time(const struct memory_report *shown, const struct memory_lines *lines,
                        const struct memory_line *line, const struct line_grid *grid, size_t most,
                        const struct style *style, FILE *out)
{
    unsigned cells = grid->cells < MEMORY_SLICES ? grid->cells : MEMORY_SLICES;
    uint64_t full = fullest_slice(line, lines->times.count);
    for (size_t i = 0; i < line->threads.count && i < most; i++) {
        const struct line_thread *thread = VEC_AT(&line->threads, struct line_thread, i);
        char *strip =
            memory_strip__format(style, thread->slice_ns, lines->times.count, cells, full);
        thread_label__put(shown->report, thread->thread, grid->label, out);
        ink__put(style, out, INK_WARNING, strip);
        fputc('\n', out);
        free(strip);
    }
    memory_strip__put_axis(&lines->times, grid->label + 4, cells, out);
}

/* ---- a line ---------------------------------------------------------------------------------- */

static const char *kind_of(const struct memory_line *line)
{
    bool is_written = false;
    VEC_EACH (thread, &line->threads, const struct line_thread)
        for (size_t b = 0; b < MEMORY_LINE_BYTES; b++)
            is_written |= thread->written_ns[b] > 0;
    if (line->threads.count < 2)
        return "used by one thread";
    if (!is_written)
        return "only read";
    return line->met ? "bytes marked ^ are written by one thread and used by another one"
                     : "no thread uses a byte that another one writes";
}

static char *title_of(const struct memory_report *shown, const struct memory_line *line)
{
    uint64_t start = line->allocated & ~(uint64_t)(MEMORY_LINE_BYTES - 1);
    char *name = line->allocated && line->objects < 2
                     ? memory__format("line %" PRIu64, (line->address - start) / MEMORY_LINE_BYTES)
                     : memory__format("line 0x%" PRIx64, line->address);
    if (shown->rank)
        return name;
    char *object = memory_object__title(
        shown->report, VEC_AT(&shown->use->objects, struct memory_object, line->object));
    char *text = memory__format("%s of object %" PRIu32 " (%s)", name, line->object + 1, object);
    free(name);
    free(object);
    return text;
}

static void put_title(const struct memory_report *shown, const struct memory_line *line,
                      const struct style *style, FILE *out)
{
    char *title = title_of(shown, line), time[16];
    char *lying = line->objects > 1
                      ? memory__format("; %" PRIu32 " objects lie on it", line->objects)
                      : memory__text("");
    fputc('\n', out);
    paragraph__take(style, out, "  ",
                    memory__format("%s, %s: %s%s.", title, duration__format(line->ns, time),
                                   kind_of(line), lying));
    free(title);
    free(lying);
}

static void put_sides(const struct memory_report *shown, const struct memory_line *line,
                      size_t most, const struct style *style, FILE *out)
{
    const struct memory_object *object =
        VEC_AT(&shown->use->objects, struct memory_object, line->object);
    for (size_t i = 0; i < line->threads.count && i < most; i++) {
        uint32_t thread = VEC_AT(&line->threads, struct line_thread, i)->thread;
        char *side =
            line__side(shown->report, line->process, &object->accesses, line->address, thread);
        if (side)
            paragraph__take(style, out, "    ", side);
    }
}

static unsigned label_width(const struct memory_report *shown, const struct memory_lines *lines)
{
    struct vec threads = VEC_OF(uint32_t);
    VEC_EACH (line, &lines->lines, const struct memory_line)
        VEC_EACH (thread, &line->threads, const struct line_thread)
            vec__push(&threads, &thread->thread);
    unsigned width = thread_labels__width(shown->report, threads.items, threads.count);
    vec__free(&threads);
    return width;
}

static void put_line(const struct memory_report *shown, const struct memory_lines *lines,
                     const struct memory_line *line, const struct style *style, FILE *out)
{
    struct line_grid grid = grid_for(style, label_width(shown, lines));
    size_t most = shown->all ? SIZE_MAX : THREADS_MOST, number = 0;
    put_title(shown, line, style, out);
    put_ruler(&grid, style, out);
    VEC_EACH (thread, &line->threads, const struct line_thread)
        if (number++ < most)
            put_marks(shown, line, thread, &grid, style, out);
    put_met(line, &grid, style, out);
    if (number > most)
        memory__put_more(number - most, "threads", style, out);
    if (line->threads.count > 1)
        put_in_time(shown, lines, line, &grid, most, style, out);
    put_sides(shown, line, most, style, out);
}

void memory_lines__put(const struct memory_report *shown, const struct style *style, FILE *out)
{
    struct memory_lines lines = memory_lines__of(shown->use, memory_report__choice(shown));
    size_t most = shown->all ? SIZE_MAX : LINES_MOST;
    if (shown->rank)
        memory_object__put_head(shown, style, out);
    if (!lines.lines.count)
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "No cache line was seen that several threads use and one writes.");
    else
        paragraph__put(style, out, INK_DIM, "  ",
                       "r: reads, w: writes (and may read), .: was not seen there; below, when "
                       "each was at the line.");
    for (size_t i = 0; i < lines.lines.count && i < most; i++)
        put_line(shown, &lines, VEC_AT(&lines.lines, struct memory_line, i), style, out);
    size_t put = lines.lines.count < most ? lines.lines.count : most;
    if (lines.all > put)
        memory__put_more(lines.all - put, "lines", style, out);
    memory_lines__free(&lines);
}
