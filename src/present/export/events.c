#include "present/export/events.h"

#include "base/memory.h"
#include "base/sanitize.h"
#include "present/export/event_fields.h"
#include "present/table/document.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* A span that a thread is in. */
struct exported_span {
    uint32_t id;
    bool has_payload;
    uint64_t first; /* word of its payload */
};

/* ---- where an event stands ------------------------------------------------------------------- */

/* Between its time and what it is. */
static char *json_of(const struct trace_thread *thread)
{
    char name[17], *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        out_of_memory(sizeof name);
    fprintf(out, ",\"tid\":%" PRIu32 ",\"serial\":%" PRIu32 ",\"thread\":", thread->tid,
            thread->serial);
    snprintf(name, sizeof name, "%.16s", thread->name);
    text__put_json(out, name);
    text__put(out, ",\"what\":\"");
    fclose(out);
    return text;
}

struct shown_trace shown_trace__new(const struct trace *trace, const struct symbols *symbols)
{
    const struct vec *threads = trace__threads(trace);
    struct shown_trace shown = {
        trace, symbols, memory__zeroed(threads->count, sizeof *shown.threads), fields_texts__new()};
    for (size_t i = 0; i < threads->count; i++) {
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, i);
        shown.threads[i].thread = thread;
        shown.threads[i].process = trace__process_at(trace, thread->process);
        shown.threads[i].open = VEC_OF(struct exported_span);
        shown.threads[i].json = json_of(thread);
    }
    return shown;
}

void shown_trace__free(struct shown_trace *shown)
{
    for (size_t i = 0; i < trace__threads(shown->trace)->count; i++) {
        vec__free(&shown->threads[i].open);
        free(shown->threads[i].json);
    }
    free(shown->threads);
    fields_texts__free(shown->texts);
}

/* Takes the span that a leave ends, and what was left open in it, off the thread's stack. Returns
 * what it was, or no payload when its enter was never seen. */
static struct exported_span leave_span(struct shown_thread *thread, uint32_t id)
{
    for (size_t i = thread->open.count; i-- > 0;) {
        const struct exported_span *span = VEC_AT(&thread->open, struct exported_span, i);
        if (span->id != (id & ~1u))
            continue;
        thread->open.count = i;
        return *span;
    }
    return (struct exported_span){.id = id};
}

static void leave_innermost_function(struct shown_thread *thread)
{
    for (size_t i = thread->open.count; i-- > 0;)
        if (VEC_AT(&thread->open, struct exported_span, i)->id >= HEURT_EVENT_FUNCTIONS) {
            thread->open.count = i;
            return;
        }
}

struct shown_event shown_trace__next(struct shown_trace *shown, size_t index,
                                     const struct event *event)
{
    struct shown_thread *thread = &shown->threads[index];
    struct exported_span span = {event->id, event->words > 0, event->words ? *event->payload : 0};
    if (event->id == HEURT_EVENT_UNWOUND)
        leave_innermost_function(thread);
    if (event->id % 2)
        span = leave_span(thread, event->id);
    struct shown_event what = {
        .thread = thread,
        .event = event,
        .title = event__title(thread, event->id, span.has_payload ? &span.first : NULL),
        .depth = thread->open.count,
    };
    if (event->id % 2 == 0 && event__is_span(event->id))
        vec__push(&thread->open, &span);
    return what;
}

/* ---- one event ------------------------------------------------------------------------------- */

const char *event__what(uint32_t id)
{
    return id % 2 ? "leave" : event__is_span(id) ? "enter" : "point";
}

uint64_t shown_trace__ns(const struct shown_trace *shown, uint64_t tick)
{
    return trace__since_start_ns(shown->trace, tick);
}

uint64_t shown_trace__duration_ns(const struct shown_trace *shown, uint64_t ticks)
{
    return trace__ns(shown->trace, ticks);
}

void line_cells__fill(struct line_cells *cells, const struct shown_trace *shown,
                      const struct shown_thread *thread, const char *what, uint64_t tick)
{
    cells->ns = shown_trace__ns(shown, tick);
    cells->tid = thread->thread->tid;
    cells->serial = thread->thread->serial;
    size_t length = strnlen(thread->thread->name, sizeof cells->name - 1);
    memcpy(cells->name, thread->thread->name, length);
    cells->name[length] = '\0';
    cells->thread = cells->name;
    cells->what = what;
}

void shown_thread__begin_line(const struct shown_trace *shown, const struct shown_thread *thread,
                              uint64_t tick, FILE *out)
{
    struct line_cells line;
    line_cells__fill(&line, shown, thread, "", tick);
    text__blunt(line.name, "");
    fprintf(out, "%" PRIu64 ".%09" PRIu64 " %7u %-15s ", line.ns / 1000000000, line.ns % 1000000000,
            line.tid, line.name);
}

void shown_event__line(const struct shown_trace *shown, const struct shown_event *what, FILE *out)
{
    shown_thread__begin_line(shown, what->thread, what->event->tick, out);
    fprintf(out, "%s %*s", event__what(what->event->id), (int)(what->depth * 2), "");
    text__print(out, what->title.name);
    if (*what->title.detail)
        fprintf(out, " (%s)", what->title.detail);
    text__put(out, shown_event__fields(shown, what, false));
    fputc('\n', out);
}

void shown_event__put_json(const struct shown_trace *shown, const struct shown_event *what,
                           FILE *out)
{
    text__put(out, "{\"ns\":");
    text__put_number(out, shown_trace__ns(shown, what->event->tick));
    text__put(out, what->thread->json);
    text__put(out, event__what(what->event->id));
    text__put(out, "\",\"depth\":");
    text__put_number(out, what->depth);
    text__put(out, ",\"name\":");
    text__put_json(out, what->title.name);
    text__put(out, ",\"detail\":");
    if (*what->title.detail)
        text__put_json(out, what->title.detail);
    else
        text__put(out, "null");
    text__put(out, ",\"fields\":");
    text__put(out, event__has_fields(what->thread, what->event)
                       ? shown_event__fields(shown, what, true)
                       : "{}");
    text__put(out, "}\n");
}
