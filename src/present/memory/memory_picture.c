#include "present/memory/memory_picture.h"

#include "base/memory.h"
#include "present/memory/memory_parts.h"
#include "present/screen/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define ROW 20.0   /* of text */
#define LEFT 110.0 /* of what is drawn: before it stand names */
#define RIGHT_ROOM 90.0
#define LETTER 7.3 /* the width of one, about */
#define LINES_MOST 8u
#define LINE_THREADS_MOST 16u
#define PAGE_THREADS_MOST 100u
#define DOT_COLUMNS 200u
#define DOT_ROWS 80u
#define OBJECTS_MOST 30u /* rows of what a thread is at */
#define COLOURS 8u

/* As people with any sight tell them apart (Okabe and Ito), of a middle brightness. */
static const char *const colours[COLOURS] = {"#2a86c7", "#e69f00", "#009e73", "#cc79a7",
                                             "#d55e00", "#56b4e9", "#9a7bd0", "#8c8c8c"};

/* ---- frames ---------------------------------------------------------------------------------- */

static void begin(double height, bool is_alone, FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"100%%\" "
            "font-family=\"ui-monospace, monospace\" font-size=\"12\">\n",
            WIDTH, height);
    if (is_alone)
        fputs("<style>svg { background: #fff; color: #222 } @media (prefers-color-scheme: dark) { "
              "svg { background: #16181b; color: #ddd } }</style>\n",
              out);
}

static void put_box(FILE *out, double x, double y, double wide, double high)
{
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"currentColor\" stroke-opacity=\"0.3\"/>\n",
            x, y, wide, high);
}

static char *object_line(const struct memory_report *shown)
{
    if (!shown->rank)
        return memory__text("All objects");
    const struct memory_object *object =
        VEC_AT(&shown->use->objects, struct memory_object, shown->rank - 1);
    char *title = memory_object__title(shown->report, object),
         *verdict = memory_object__verdict(shown, object), time[16];
    char *text = memory__format("%s: %s%s%s", title, duration__format(object->ns, time),
                                *verdict ? "; " : "", verdict);
    free(title);
    free(verdict);
    return text;
}

static void put_line(FILE *out, double y, char *text)
{
    svg__take_line(out, 4, y, false, (unsigned)(WIDTH / LETTER) - 2, text);
}

static void put_times(const struct memory_times *times, double x, double y, double wide, FILE *out)
{
    char from[16], to[16];
    duration__format(times->from_ns, from);
    duration__format(times->from_ns + times->count * times->slice_ns, to);
    svg__take_line(out, x, y, false, 0, memory__text(from));
    svg__take_line(out, x + wide, y, true, 0, memory__text(to));
}

/* ---- cache lines ----------------------------------------------------------------------------- */

#define BYTE_WIDE 10.0
#define BYTES_WIDE (MEMORY_LINE_BYTES * BYTE_WIDE)
#define STRIP_LEFT (LEFT + BYTES_WIDE + 30)
#define STRIP_WIDE (WIDTH - STRIP_LEFT - RIGHT_ROOM)

static size_t threads_drawn(const struct memory_line *line)
{
    return line->threads.count < LINE_THREADS_MOST ? line->threads.count : LINE_THREADS_MOST;
}

/* Title, ruler, threads, bytes that several use, times, sides. */
static double line_height(const struct memory_line *line)
{
    return ROW * (2.0 + (double)threads_drawn(line) * 2 + 1.5);
}

static void put_bytes(const struct line_thread *thread, double y, const char *colour, FILE *out)
{
    for (size_t b = 0; b < MEMORY_LINE_BYTES; b++) {
        bool writes = line_thread__writes(thread, b), reads = line_thread__reads(thread, b);
        if (!writes && !reads)
            continue;
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s/>\n",
                LEFT + (double)b * BYTE_WIDE, y + (writes ? 0 : ROW / 3), BYTE_WIDE - 1,
                writes ? ROW - 4 : ROW / 3, colour, writes ? "" : " fill-opacity=\"0.6\"");
    }
}

static void put_strip(const struct line_thread *thread, const struct memory_times *times,
                      uint64_t most, double y, const char *colour, FILE *out)
{
    double wide = STRIP_WIDE / times->count;
    for (uint32_t i = 0; i < times->count; i++) {
        double high = (ROW - 4) * (double)thread->slice_ns[i] / (double)(most ? most : 1);
        if (thread->slice_ns[i])
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                    STRIP_LEFT + i * wide, y + ROW - 4 - high, wide - 0.5, high, colour);
    }
}

static uint64_t fullest_of(const struct memory_line *line, uint32_t slices)
{
    uint64_t most = 0;
    VEC_EACH (thread, &line->threads, const struct line_thread)
        for (uint32_t i = 0; i < slices; i++)
            most = thread->slice_ns[i] > most ? thread->slice_ns[i] : most;
    return most;
}

static void put_ruler(double y, FILE *out)
{
    for (unsigned b = 0; b < MEMORY_LINE_BYTES; b += 8)
        svg__take_line(out, LEFT + b * BYTE_WIDE, y, false, 0, memory__format("%u", b));
}

static void put_grid(double y, double high, FILE *out)
{
    for (unsigned b = 0; b < MEMORY_LINE_BYTES; b += 8)
        put_box(out, LEFT + b * BYTE_WIDE - 0.5, y - 1, 8 * BYTE_WIDE, high);
}

static void put_met(const struct memory_line *line, double y, double high, FILE *out)
{
    for (unsigned b = 0; b < MEMORY_LINE_BYTES; b++)
        if (line->met >> b & 1)
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
                    "stroke=\"#d33\" stroke-width=\"1.5\"/>\n",
                    LEFT + b * BYTE_WIDE - 0.5, y - 1, BYTE_WIDE, high);
}

static char *line_title(const struct memory_report *shown, const struct memory_line *line)
{
    char time[16];
    char *lying = line->objects > 1
                      ? memory__format("; %" PRIu32 " objects lie on it", line->objects)
                      : memory__text("");
    char *object = shown->rank ? memory__text("")
                               : memory_object__title(shown->report,
                                                      VEC_AT(&shown->use->objects,
                                                             struct memory_object, line->object));
    char *text =
        memory__format("line 0x%" PRIx64 "%s%s, %s%s", line->address, *object ? " of " : "", object,
                       duration__format(line->ns, time), lying);
    free(lying);
    free(object);
    return text;
}

static void put_line_threads(const struct memory_report *shown, const struct memory_lines *lines,
                             const struct memory_line *line, double y, FILE *out)
{
    const struct memory_object *object =
        VEC_AT(&shown->use->objects, struct memory_object, line->object);
    uint64_t most = fullest_of(line, lines->times.count);
    size_t count = threads_drawn(line);
    for (size_t i = 0; i < count; i++) {
        const struct line_thread *thread = VEC_AT(&line->threads, struct line_thread, i);
        const char *colour = colours[thread->thread % COLOURS];
        double top = y + (double)i * ROW, below = y + ROW * ((double)count + 1.5 + (double)i);
        char time[16], *side = line__side(shown->report, line->process, &object->accesses,
                                          line->address, thread->thread);
        svg__take_line(out, LEFT - 8, top + ROW - 7, true, 14,
                       access_thread__text(shown->report, thread->thread));
        put_bytes(thread, top, colour, out);
        put_strip(thread, &lines->times, most, top, colour, out);
        svg__take_line(out, WIDTH - 4, top + ROW - 7, true, 0,
                       memory__text(duration__format(thread->ns, time)));
        if (side)
            svg__take_line(out, LEFT, below, false, (unsigned)((WIDTH - LEFT) / LETTER) - 2, side);
    }
}

static void put_cache_line(const struct memory_report *shown, const struct memory_lines *lines,
                           const struct memory_line *line, double y, FILE *out)
{
    double high = (double)threads_drawn(line) * ROW;
    put_line(out, y + ROW - 6, line_title(shown, line));
    put_ruler(y + 2 * ROW - 6, out);
    put_grid(y + 2 * ROW, high, out);
    put_line_threads(shown, lines, line, y + 2 * ROW, out);
    put_met(line, y + 2 * ROW, high, out);
    put_times(&lines->times, STRIP_LEFT, y + 2 * ROW + high + 10, STRIP_WIDE, out);
}

static void put_lines(const struct memory_report *shown, bool is_alone, FILE *out)
{
    struct memory_lines lines = memory_lines__of(shown->use, memory_report__choice(shown));
    double height = 3 * ROW, y = 2.5 * ROW;
    if (lines.lines.count > LINES_MOST)
        for (size_t i = LINES_MOST; i < lines.lines.count; i++)
            vec__free(&VEC_AT(&lines.lines, struct memory_line, i)->threads);
    lines.lines.count = lines.lines.count < LINES_MOST ? lines.lines.count : LINES_MOST;
    VEC_EACH (line, &lines.lines, const struct memory_line)
        height += line_height(line);
    begin(height, is_alone, out);
    put_line(out, ROW - 5, object_line(shown));
    put_line(out, 2 * ROW - 5,
             memory__text("Bytes of a cache line: full height: writes (and may read); low: reads; "
                          "framed red: one thread writes what another one uses. Right: when each "
                          "was at the line."));
    VEC_EACH (line, &lines.lines, const struct memory_line) {
        put_cache_line(shown, &lines, line, y, out);
        y += line_height(line);
    }
    fputs("</svg>\n", out);
    memory_lines__free(&lines);
}

/* ---- threads by pages ------------------------------------------------------------------------ */

/* One path a level: many cells take little room so. */
static void put_cells(const struct memory_pages *pages, size_t rows, double y, double wide,
                      double high, FILE *out)
{
    for (unsigned level = 1; level <= MEMORY_PAGE_LEVELS; level++) {
        fprintf(out, "<path fill=\"#e06c00\" fill-opacity=\"%.2f\" d=\"",
                level / (double)MEMORY_PAGE_LEVELS);
        for (size_t i = 0; i < rows; i++) {
            const struct page_thread *thread = VEC_AT(&pages->threads, struct page_thread, i);
            for (uint32_t c = 0; c < pages->columns; c++)
                if (thread->column_ns[c] &&
                    memory_pages__level(pages, thread->column_ns[c]) == level)
                    fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", LEFT + c * wide,
                            y + (double)i * high, fmax(wide - 0.3, 0.3), high - 1,
                            fmax(wide - 0.3, 0.3));
        }
        fputs("\"/>\n", out);
    }
}

static void put_levels(const struct memory_pages *pages, double y, FILE *out)
{
    for (unsigned level = 1; level <= MEMORY_PAGE_LEVELS; level++) {
        char most[16];
        double x = LEFT + (level - 1) * 150;
        duration__format(memory_pages__level_ns(pages, level), most);
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"12\" fill=\"#e06c00\" "
                "fill-opacity=\"%.2f\"/>\n",
                x, y - 10, level / (double)MEMORY_PAGE_LEVELS);
        svg__take_line(out, x + 22, y, false, 0, memory__format("up to %s", most));
    }
}

static void put_page_axis(const struct memory_pages *pages, double y, double wide, FILE *out)
{
    char count[32], each[32];
    svg__take_line(out, LEFT, y, false, 0, memory__format("0x%" PRIx64, pages->first));
    svg__take_line(out, LEFT + wide, y, true, 0,
                   memory__format("%s page%s of 4 KiB%s, %s a cell",
                                  count__format(pages->pages, count), pages->pages == 1 ? "" : "s",
                                  pages->is_whole ? "" : " at which threads were seen",
                                  count__format(pages->column_each, each)));
}

static void put_pages(const struct memory_report *shown, bool is_alone, FILE *out)
{
    enum { COLUMNS = 256 };
    struct memory_pages pages = memory_pages__of(shown->use, memory_report__choice(shown), COLUMNS);
    size_t rows = pages.threads.count < PAGE_THREADS_MOST ? pages.threads.count : PAGE_THREADS_MOST;
    double high = rows > 40 ? 10 : 18, top = 2 * ROW, all = (double)rows * high;
    double wide = WIDTH - LEFT - RIGHT_ROOM,
           each = fmin(wide / (pages.columns + !pages.columns), 40);
    begin(top + all + 3.5 * ROW, is_alone, out);
    put_line(out, ROW - 5, object_line(shown));
    put_box(out, LEFT, top, each * pages.columns, all);
    for (size_t i = 0; i < rows; i++) {
        const struct page_thread *thread = VEC_AT(&pages.threads, struct page_thread, i);
        char time[16];
        double y = top + (double)i * high + high - 4;
        svg__take_line(out, LEFT - 8, y, true, 14,
                       access_thread__text(shown->report, thread->thread));
        svg__take_line(out, WIDTH - 4, y, true, 0,
                       memory__text(duration__format(thread->ns, time)));
    }
    if (rows) {
        put_cells(&pages, rows, top, each, high, out);
        put_page_axis(&pages, top + all + ROW - 4, wide, out);
        put_levels(&pages, top + all + 2 * ROW, out);
    }
    if (rows < pages.threads.count)
        put_line(out, top + all + 3 * ROW,
                 memory__format("%zu more threads are not drawn.", pages.threads.count - rows));
    fputs("</svg>\n", out);
    memory_pages__free(&pages);
}

/* ---- dots ------------------------------------------------------------------------------------ */

/* Where dots lie. */
struct dot_field {
    double x, y, wide, high; /* of a cell */
    double step;             /* from one row to the next */
};

/* Of the colour and the kind: writes are whole cells, reads a part of one. */
static void put_dots_of(const struct memory_dots *dots, const struct dot_field *field,
                        unsigned colour, bool by_thread, bool writes, FILE *out)
{
    bool any = false;
    double wide = field->wide * (writes ? 0.95 : 0.6), high = field->high * (writes ? 0.95 : 0.5);
    VEC_EACH (dot, &dots->dots, const struct memory_dot) {
        bool is_written = dot->written_ns * 2 >= dot->ns;
        if (is_written != writes || (by_thread ? dot->thread % COLOURS : !is_written) != colour)
            continue;
        if (!any)
            fprintf(out, "<path fill=\"%s\" d=\"", colours[colour]);
        any = true;
        fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", field->x + dot->x * field->wide,
                field->y + dot->y * field->step, wide, high, wide);
    }
    if (any)
        fputs("\"/>\n", out);
}

static void put_dots(const struct memory_dots *dots, const struct dot_field *field, bool by_thread,
                     FILE *out)
{
    for (unsigned colour = 0; colour < COLOURS; colour++)
        for (int writes = 0; writes < 2; writes++)
            put_dots_of(dots, field, colour, by_thread, writes, out);
}

static void put_thread_colours(const struct memory_report *shown,
                               const struct memory_object *object, double y, FILE *out)
{
    double x = LEFT;
    for (size_t i = 0; i < object->threads.count && i < COLOURS; i++) {
        uint32_t thread = VEC_AT(&object->threads, struct memory_thread, i)->thread;
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
                y - 10, colours[thread % COLOURS]);
        svg__take_line(out, x + 18, y, false, 14, access_thread__text(shown->report, thread));
        x += 125;
    }
}

static void put_offsets(const struct memory_dots *dots, double top, double bottom, FILE *out)
{
    char count[32];
    if (dots->is_whole) {
        svg__take_line(out, LEFT - 8, top + 10, true, 0, memory__text("byte 0"));
        svg__take_line(out, LEFT - 8, bottom, true, 0,
                       memory__text(count__format(dots->high - dots->low - 1, count)));
    } else {
        svg__take_line(out, LEFT - 8, top + 10, true, 0, memory__text("page 1"));
        svg__take_line(out, LEFT - 8, bottom, true, 0,
                       memory__text(count__format(dots->pages, count)));
    }
}

static void put_object_flow(const struct memory_report *shown, bool is_alone, FILE *out)
{
    const struct memory_object *object =
        VEC_AT(&shown->use->objects, struct memory_object, shown->rank - 1);
    struct memory_dots dots =
        memory_dots__of(shown->use, memory_report__choice(shown), DOT_COLUMNS, DOT_ROWS);
    double wide = WIDTH - LEFT - 8, top = 2.5 * ROW, high = 500;
    const struct dot_field field = {LEFT, top, wide / DOT_COLUMNS, high / DOT_ROWS,
                                    high / DOT_ROWS};
    begin(top + high + 3 * ROW, is_alone, out);
    put_line(out, ROW - 5, object_line(shown));
    put_line(out, 2 * ROW - 5,
             memory__format("Where in it threads were seen, in time%s. Large: writing; small: "
                            "reading; a place has the colour of the thread of most of it.",
                            dots.is_whole ? "" : ", page by page at which they were"));
    put_box(out, LEFT, top, wide, high);
    put_dots(&dots, &field, true, out);
    put_offsets(&dots, top, top + high, out);
    put_times(&dots.times, LEFT, top + high + ROW - 4, wide, out);
    put_thread_colours(shown, object, top + high + 2 * ROW, out);
    fputs("</svg>\n", out);
    memory_dots__free(&dots);
}

static void put_thread_flow(const struct memory_report *shown, bool is_alone, FILE *out)
{
    size_t objects = shown->use->objects.count;
    uint32_t rows = objects < OBJECTS_MOST ? (uint32_t)objects : OBJECTS_MOST;
    double wide = WIDTH - LEFT - 8, top = 2.5 * ROW, high = 2.2 * ROW * rows;
    struct memory_dots dots =
        memory_dots__by_object(shown->use, memory_report__choice(shown), DOT_COLUMNS, rows);
    const struct dot_field field = {LEFT, top + ROW, wide / DOT_COLUMNS, ROW, 2.2 * ROW};
    begin(top + high + 2 * ROW, is_alone, out);
    char *who = access_thread__text(shown->report, (uint32_t)shown->thread - 1);
    put_line(out, ROW - 5, memory__format("Objects that %s was seen at, in time", who));
    free(who);
    put_line(out, 2 * ROW - 5, memory__text("Blue: writing; yellow and low: reading."));
    for (uint32_t i = 0; i < rows; i++) {
        svg__take_line(out, LEFT - 8, top + ROW * (2.2 * i + 1.8), true, 0,
                       memory__format("object %" PRIu32, i + 1));
        svg__take_line(out, LEFT, top + ROW * (2.2 * i + 0.8), false, (unsigned)(wide / LETTER) - 2,
                       memory_object__title(shown->report,
                                            VEC_AT(&shown->use->objects, struct memory_object, i)));
    }
    put_dots(&dots, &field, false, out);
    put_times(&dots.times, LEFT, top + high + ROW, wide, out);
    fputs("</svg>\n", out);
    memory_dots__free(&dots);
}

static void put_flow(const struct memory_report *shown, bool is_alone, FILE *out)
{
    (shown->thread ? put_thread_flow : put_object_flow)(shown, is_alone, out);
}

/* ---- all of them ----------------------------------------------------------------------------- */

void memory_picture__put(const struct memory_report *shown, bool is_alone, FILE *out)
{
    static void (*const views[])(const struct memory_report *, bool, FILE *) = {
        [MEMORY_LINES] = put_lines, [MEMORY_PAGES] = put_pages, [MEMORY_FLOW] = put_flow};
    views[shown->view](shown, is_alone, out);
}
