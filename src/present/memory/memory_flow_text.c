/* Memory in time, and threads by pages, on a screen. */
#include "analysis/callsite/program_frame.h"
#include "base/map.h"
#include "base/memory.h"
#include "present/memory/memory_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICES_ON_SCREEN 24u
#define SLICES_OF_ALL 200u
#define STRIPS_MOST 12u
#define PAGE_ROWS_MOST 40u
#define CELLS_WITHOUT_TERMINAL 64u
#define CELLS_LEAST 16u
#define NAMED_MOST 3u /* threads of a slice */

/* ---- pieces ---------------------------------------------------------------------------------- */

void memory__put_more(size_t more, const char *what, const struct style *style, FILE *out)
{
    char count[32];
    paragraph__take(
        style, out, "  ",
        memory__format("And %s more %s: --all shows them.", count__format(more, count), what));
}

unsigned thread_labels__width(const struct report *report, const uint32_t *threads, size_t count)
{
    unsigned widest = 0;
    for (size_t i = 0; i < count; i++) {
        char *label = access_thread__text(report, threads[i]);
        unsigned width = text__width(label);
        widest = width > widest ? width : widest;
        free(label);
    }
    return widest;
}

void thread_label__put(const struct report *report, uint32_t thread, unsigned width, FILE *out)
{
    char *label = text__padded(access_thread__text(report, thread), width, false);
    fprintf(out, "  %s  ", label);
    free(label);
}

char *memory_strip__format(const struct style *style, const uint64_t *ns, uint32_t count,
                           unsigned cells, uint64_t most)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    char *text = memory__zeroed(cells + 1, 3), *to = text;
    double full = (double)most * count / cells;
    for (unsigned cell = 0; cell < cells; cell++) {
        uint64_t sum = 0;
        for (uint64_t i = (uint64_t)count * cell / cells; i < (uint64_t)count * (cell + 1) / cells;
             i++)
            sum += ns[i];
        unsigned level = full > 0 ? (unsigned)ceil((double)sum / full * 8) : 0;
        level = level > 8 ? 8 : level;
        to = stpcpy(to, style->unicode ? blocks[level] : signs[level]);
    }
    while (to > text && to[-1] == ' ')
        *--to = 0;
    return text;
}

void memory_strip__put_axis(const struct memory_times *times, unsigned indent, unsigned cells,
                            FILE *out)
{
    char from[16], to[16];
    duration__format(times->from_ns, from);
    duration__format(times->from_ns + times->count * times->slice_ns, to);
    unsigned used = text__width(from) + text__width(to);
    fprintf(out, "%*s%s%*s%s\n", (int)indent, "", from, used + 1 < cells ? (int)(cells - used) : 1,
            "", to);
}

static char *object_text(const struct memory_report *shown, uint32_t object)
{
    char *title = memory_object__title(shown->report,
                                       VEC_AT(&shown->use->objects, struct memory_object, object));
    char *text = memory__format("%" PRIu32 ": %s", object + 1, title);
    free(title);
    return text;
}

static unsigned room_beside(const struct style *style, unsigned others)
{
    if (!style->columns)
        return CELLS_WITHOUT_TERMINAL;
    return style->columns > others + CELLS_LEAST ? style->columns - others : CELLS_LEAST;
}

/* ---- threads by pages ------------------------------------------------------------------------ */

static const char *const shades[][MEMORY_PAGE_LEVELS + 1] = {{" ", ".", ":", "+", "#"},
                                                             {" ", "░", "▒", "▓", "█"}};

static void put_page_row(const struct memory_report *shown, const struct memory_pages *pages,
                         const struct page_thread *thread, unsigned label,
                         const struct style *style, FILE *out)
{
    char time[16], *text = memory__zeroed(pages->columns + 1, 3), *to = text;
    for (uint32_t i = 0; i < pages->columns; i++)
        to = stpcpy(to, shades[style->unicode][memory_pages__level(pages, thread->column_ns[i])]);
    thread_label__put(shown->report, thread->thread, label, out);
    fputs("|", out);
    ink__put(style, out, INK_WARNING, text);
    fprintf(out, "|  %s\n", duration__format(thread->ns, time));
    free(text);
}

static void put_shades(const struct memory_pages *pages, const struct style *style, FILE *out)
{
    char *text = memory__text(""), most[16];
    for (unsigned level = 1; level <= MEMORY_PAGE_LEVELS; level++) {
        duration__format(memory_pages__level_ns(pages, level), most);
        text = text__append(text, "%s%s up to %s", *text ? ", " : "", shades[style->unicode][level],
                            most);
    }
    paragraph__take(style, out, "  ", text);
}

static void put_page_words(const struct memory_pages *pages, const struct style *style, FILE *out)
{
    char count[32], each[32];
    paragraph__take(style, out, "  ",
                    memory__format("Time of threads by page: %s page%s of 4 KiB%s, %s a mark%s.",
                                   count__format(pages->pages, count), pages->pages == 1 ? "" : "s",
                                   pages->is_whole ? "" : " at which threads were seen, by address",
                                   count__format(pages->column_each, each),
                                   pages->is_whole ? "" : "; what lies between them is left out"));
}

void memory_pages__put(const struct memory_report *shown, const struct style *style, FILE *out)
{
    struct vec threads = VEC_OF(uint32_t);
    struct memory_choice choice = memory_report__choice(shown);
    VEC_EACH (at, &shown->use->at_memory, const struct memory_sample)
        if (memory_choice__has(&choice, at))
            vec__push(&threads, &at->thread);
    unsigned label = thread_labels__width(shown->report, threads.items, threads.count);
    struct memory_pages pages =
        memory_pages__of(shown->use, choice, room_beside(style, label + 16));
    size_t number = 0, most = shown->all ? SIZE_MAX : PAGE_ROWS_MOST;
    if (shown->rank)
        memory_object__put_head(shown, style, out);
    put_page_words(&pages, style, out);
    fputc('\n', out);
    VEC_EACH (thread, &pages.threads, const struct page_thread)
        if (number++ < most)
            put_page_row(shown, &pages, thread, label, style, out);
    if (number > most)
        memory__put_more(number - most, "threads", style, out);
    if (number)
        put_shades(&pages, style, out);
    vec__free(&threads);
    memory_pages__free(&pages);
}

/* ---- in time --------------------------------------------------------------------------------- */

/* What is shown of a slice: its rows (struct flow_row), side by side. */
struct flow_slice {
    const struct flow_row *rows;
    size_t count;
};

static char *when_text(const struct flow_row *row)
{
    char from[16];
    return memory__text(duration__format(row->from_ns, from));
}

/* "thread 1 55 %, thread 2 45 %". */
static char *threads_text(const struct memory_report *shown, const struct flow_slice *slice,
                          uint64_t all_ns)
{
    char *text = memory__text(""), share[16];
    for (size_t i = 0; i < slice->count && i < NAMED_MOST; i++) {
        char *who = access_thread__text(shown->report, slice->rows[i].thread);
        char *one = memory__format(
            "%s %s", who,
            share__format((double)slice->rows[i].ns / (double)(all_ns ? all_ns : 1), share));
        text = text__join(text, ", ", one);
        free(one);
        free(who);
    }
    if (slice->count > NAMED_MOST) {
        char *more = memory__format("%zu more", slice->count - NAMED_MOST);
        text = text__join(text, ", ", more);
        free(more);
    }
    return text;
}

/* "2: counters, made at …, and 3 more". */
static char *objects_text(const struct memory_report *shown, const struct flow_slice *slice)
{
    char *first = object_text(shown, slice->rows->object);
    if (slice->count < 2)
        return first;
    char *text = memory__format("%s, and %zu more", first, slice->count - 1);
    free(first);
    return text;
}

struct callers_text {
    const struct callers_form *form;
    const char *before; /* the name inside */
    char *text;
    size_t count;
};

static void add_caller(struct callers_text *self, const char *name)
{
    if (strcmp(name, self->before) == 0)
        return; /* itself, or it calls itself */
    self->before = name;
    if (self->count++ >= self->form->most)
        return;
    char *shown = self->form->is_short ? function__short(name) : memory__text(name);
    self->text = text__join(self->text, self->form->between, shown);
    free(shown);
}

char *flow_callers__text(const struct memory_report *shown, const struct memory_flow *flow,
                         const struct flow_row *row, const struct callers_form *form)
{
    char unknown[32];
    const struct report *report = shown->report;
    const struct trace_thread *thread = trace__thread_at(report->trace, row->thread);
    uint32_t serial = trace__serial_of(report->trace, row->thread);
    struct callers_text callers = {
        .form = form,
        .before = place__of_site(report, serial, row->instruction, unknown).function,
        .text = memory__text("")};
    for (uint32_t at = row->call; at != MEMORY_NO_CALL;) {
        const struct memory_call *call = VEC_AT(&flow->calls, struct memory_call, at);
        add_caller(&callers, call->function->name);
        at = call->around;
    }
    const struct symbol *start =
        thread->start_routine
            ? program_frame__inlined(symbols__get(report->symbols, serial, thread->start_routine))
            : NULL;
    if (start)
        add_caller(&callers, start->function);
    return callers.count > form->most
               ? text__append(callers.text, " and %zu more", callers.count - form->most)
               : callers.text;
}

#define CALLERS_MOST 3u /* on a screen */

/* "add hist.c:31 within work, main". */
static char *function_text(const struct memory_report *shown, const struct memory_flow *flow,
                           const struct flow_row *row)
{
    char unknown[32];
    uint32_t serial = trace__serial_of(shown->report->trace, row->thread);
    struct place place = place__of_site(shown->report, serial, row->instruction, unknown);
    char *name = function__short(place.function), *source = place__source(&place, false);
    char *callers =
        flow_callers__text(shown, flow, row, &(struct callers_form){", ", CALLERS_MOST, true});
    char *text = memory__format("%s%s%s%s%s", name, *source ? " " : "", source,
                                *callers ? " within " : "", callers);
    free(name);
    free(source);
    free(callers);
    return text;
}

static void put_slice(const struct memory_report *shown, const struct memory_flow *flow,
                      const struct flow_slice *slice, struct grid *grid)
{
    uint64_t ns = 0, written_ns = 0, remote_ns = 0, timed = 0, cycles = 0;
    for (size_t i = 0; i < slice->count; i++) {
        ns += slice->rows[i].ns;
        written_ns += slice->rows[i].written_ns;
        remote_ns += slice->rows[i].remote_ns;
        timed += slice->rows[i].timed;
        cycles += slice->rows[i].cycles;
    }
    grid__take(grid, when_text(slice->rows), INK_PLAIN);
    grid__duration(grid, ns);
    grid__share(grid, (double)written_ns / (double)(ns ? ns : 1));
    if (shown->use->told_by) {
        grid__share(grid, (double)remote_ns / (double)(ns ? ns : 1));
        grid__cell(grid, timed ? memory__format("%" PRIu64, cycles / timed) : memory__text(""),
                   INK_PLAIN);
    }
    grid__take(grid, !shown->thread ? threads_text(shown, slice, ns) : objects_text(shown, slice),
               INK_PLAIN);
    grid__take(grid, function_text(shown, flow, slice->rows), INK_PLAIN);
}

static void put_slices(const struct memory_report *shown, const struct style *style, FILE *out)
{
    struct grid_column columns[7] = {{"from", RIGHT}, {"time", RIGHT}, {"writing", RIGHT}};
    unsigned count = 3;
    if (shown->use->told_by) {
        columns[count++] = (struct grid_column){"remote", RIGHT};
        columns[count++] = (struct grid_column){"cycles", RIGHT};
    }
    columns[count++] = (struct grid_column){!shown->thread ? "threads" : "most of it at", WRAPPED};
    columns[count++] = (struct grid_column){"most of it in", WRAPPED};
    struct grid grid = grid__start(columns, count, 2);
    struct memory_flow flow = memory_flow__of(shown->report->trace, shown->report->symbols,
                                              shown->use, memory_report__choice(shown),
                                              shown->all ? SLICES_OF_ALL : SLICES_ON_SCREEN);
    memory_flow__join(shown->report->trace, shown->report->symbols, &flow);
    for (size_t i = 0; i < flow.rows.count;) {
        struct flow_slice slice = {VEC_AT(&flow.rows, struct flow_row, i), 0};
        while (i < flow.rows.count &&
               VEC_AT(&flow.rows, struct flow_row, i)->from_ns == slice.rows->from_ns) {
            slice.count++;
            i++;
        }
        put_slice(shown, &flow, &slice, &grid);
    }
    memory_flow__free(&flow);
    grid__end(&grid, style, out);
}

static void put_first_sharing(const struct memory_report *shown, const struct style *style,
                              FILE *out)
{
    char when[16], before[16], share[16], from[16], count[32];
    const struct memory_object *object =
        VEC_AT(&shown->use->objects, struct memory_object, shown->rank - 1);
    const struct first_sharing *first = &object->first;
    char *who = access_thread__text(shown->report, first->thread);
    duration__format(first->since_ns, from);
    if (first->second == UINT32_MAX) {
        paragraph__take(style, out, "  ",
                        memory__format("Only %s was seen there, from %s on.", who, from));
    } else {
        char *second = access_thread__text(shown->report, first->second);
        paragraph__take(
            style, out, "  ",
            memory__format("Before it was shared: %s alone, %s in %s sample%s (%s of all time "
                           "there), from %s on. First shared at %s, with %s.",
                           who, duration__format(first->before_ns, before),
                           count__format(first->before_samples, count),
                           first->before_samples == 1 ? "" : "s",
                           share__format((double)first->before_ns / (double)object->ns, share),
                           from, duration__format(first->shared_ns, when), second));
        free(second);
    }
    free(who);
}

/* ---- strips ---------------------------------------------------------------------------------- */

/* Of an object the threads, of a thread the objects: places, those of most time first. */
static struct vec strip_rows(const struct memory_report *shown)
{
    struct vec rows = VEC_OF(uint32_t);
    if (!shown->thread) {
        const struct memory_object *object =
            VEC_AT(&shown->use->objects, struct memory_object, shown->rank - 1);
        VEC_EACH (thread, &object->threads, const struct memory_thread)
            vec__push(&rows, &thread->thread);
        return rows;
    }
    struct map known = {0};
    VEC_EACH (at, &shown->use->at_memory, const struct memory_sample) {
        size_t before = known.count;
        if (at->thread == shown->thread - 1)
            map__put(&known, &at->object, sizeof at->object, 1);
        if (known.count > before)
            vec__push(&rows, &at->object);
    }
    map__free(&known);
    vec__sort(&rows, order__u32);
    return rows;
}

static char *strip_label(const struct memory_report *shown, uint32_t row)
{
    return !shown->thread ? access_thread__text(shown->report, row)
                          : memory__format("object %" PRIu32, row + 1);
}

static uint64_t *strip_of(const struct memory_report *shown, uint32_t row,
                          const struct memory_times *times, uint64_t *most)
{
    struct memory_choice choice = memory_report__choice(shown);
    *(!shown->thread ? &choice.thread : &choice.object) = row;
    uint64_t *ns = memory_strip__of(shown->use, choice, times);
    for (uint32_t i = 0; i < times->count; i++)
        *most = ns[i] > *most ? ns[i] : *most;
    return ns;
}

/* Rows beyond the most are left out, and told of. */
static void put_strips(const struct memory_report *shown, const struct style *style, FILE *out)
{
    struct memory_times times =
        memory_times__of(shown->use, memory_report__choice(shown), MEMORY_SLICES);
    struct vec rows = strip_rows(shown);
    size_t count = shown->all || rows.count < STRIPS_MOST ? rows.count : STRIPS_MOST;
    uint64_t **strips = memory__zeroed(count + 1, sizeof *strips), most = 0;
    unsigned label = 0;
    for (size_t i = 0; i < count; i++) {
        char *text = strip_label(shown, *VEC_AT(&rows, uint32_t, i));
        label = text__width(text) > label ? text__width(text) : label;
        strips[i] = strip_of(shown, *VEC_AT(&rows, uint32_t, i), &times, &most);
        free(text);
    }
    unsigned room = room_beside(style, label + 4);
    unsigned cells = room < MEMORY_SLICES ? room : MEMORY_SLICES;
    for (size_t i = 0; i < count; i++) {
        char *text = text__padded(strip_label(shown, *VEC_AT(&rows, uint32_t, i)), label, false);
        char *strip = memory_strip__format(style, strips[i], times.count, cells, most);
        fprintf(out, "  %s  ", text);
        ink__put(style, out, INK_WARNING, strip);
        fputc('\n', out);
        free(text);
        free(strip);
        free(strips[i]);
    }
    free(strips);
    memory_strip__put_axis(&times, label + 4, cells, out);
    if (rows.count > count)
        memory__put_more(rows.count - count, !shown->thread ? "threads" : "objects", style, out);
    vec__free(&rows);
}

static void put_thread_head(const struct memory_report *shown, const struct style *style, FILE *out)
{
    uint64_t ns = 0;
    char time[16];
    const struct trace_thread *thread = trace__thread_at(shown->report->trace, shown->thread - 1);
    VEC_EACH (at, &shown->use->at_memory, const struct memory_sample)
        ns += at->thread == shown->thread - 1 ? at->sample->weight_ns : 0;
    char *who = access_thread__text(shown->report, (uint32_t)shown->thread - 1);
    *who = 'T';
    paragraph__take(style, out, "  ",
                    memory__format("%s (%s, number %" PRIu32 "): %s at memory.", who, thread->name,
                                   thread->tid, duration__format(ns, time)));
    free(who);
}

void memory_flow__put(const struct memory_report *shown, const struct style *style, FILE *out)
{
    if (!shown->thread) {
        memory_object__put_head(shown, style, out);
        put_first_sharing(shown, style, out);
    } else {
        put_thread_head(shown, style, out);
    }
    fputc('\n', out);
    if (memory_times__of(shown->use, memory_report__choice(shown), 1).slice_ns == 1)
        return; /* nothing was seen */
    put_strips(shown, style, out);
    fputc('\n', out);
    put_slices(shown, style, out);
}
