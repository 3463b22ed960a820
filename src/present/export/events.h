/* events.h: the single events of a trace, as lines of text and as JSON. */
#ifndef HEURT_PRESENT_EXPORT_EVENTS_H
#define HEURT_PRESENT_EXPORT_EVENTS_H

#include "base/table.h"
#include "format/reader.h"
#include "format/symbols.h"

#include <stdio.h>

/* A thread while a walk goes through its events. */
struct shown_thread {
    const struct trace_thread *thread;
    const struct trace_process *process;
    /* Private to the room: */
    struct vec open; /* the spans that it is in */
    char *json;      /* what stands in each of its objects */
};

struct shown_trace {
    const struct trace *trace;
    const struct symbols *symbols; /* NULL: none */
    struct shown_thread *threads;  /* as trace__threads */
    struct fields_texts *texts;    /* private to the room */
};

/* What an event is called, and what stands in parentheses behind it (or ""). */
struct event_title {
    const char *name, *detail;
};

/* Valid until the next event. */
struct shown_event {
    const struct shown_thread *thread;
    const struct event *event;
    struct event_title title;
    size_t depth; /* spans around it */
};

/* free: shown_trace__free. */
struct shown_trace shown_trace__new(const struct trace *trace, const struct symbols *symbols);
void shown_trace__free(struct shown_trace *shown);

/* The next event of a thread (index into trace__threads); none may be left out. */
struct shown_event shown_trace__next(struct shown_trace *shown, size_t thread,
                                     const struct event *event);

/* "enter", "leave" or "point". */
const char *event__what(uint32_t id);
/* An event's own time and payload are in ticks, which become ns here and nowhere else in present:
 * since the start of the run, and a duration. */
uint64_t shown_trace__duration_ns(const struct shown_trace *shown, uint64_t ticks);
uint64_t shown_trace__ns(const struct shown_trace *shown, uint64_t tick);

/* What a line of any format begins with; the name is cut to what fits. */
struct line_cells {
    uint64_t ns; /* since the start of the run */
    uint32_t tid, serial;
    char name[17];
    const char *thread; /* the name */
    const char *what;   /* "enter", "thread" … */
};
/* Points into itself: not to be copied. */
void line_cells__fill(struct line_cells *cells, const struct shown_trace *shown,
                      const struct shown_thread *thread, const char *what, uint64_t tick);
#define FIELDS_OF_LINE(row, member)                                               \
    FIELD("ns", row, member.ns), FIELD("tid", row, member.tid),                   \
        FIELD("serial", row, member.serial), FIELD("thread", row, member.thread), \
        FIELD("what", row, member.what)

/* Time and thread, as each line begins. */
void shown_thread__begin_line(const struct shown_trace *shown, const struct shown_thread *thread,
                              uint64_t tick, FILE *out);
/* Time, thread, what, and the fields by name; ends the line. */
void shown_event__line(const struct shown_trace *shown, const struct shown_event *what, FILE *out);
/* The fields alone: " name=value name=value unit", or as a JSON object. Valid until the next ones.
 */
const char *shown_event__fields(const struct shown_trace *shown, const struct shown_event *what,
                                bool json);
/* The event as a JSON object on a line. */
void shown_event__put_json(const struct shown_trace *shown, const struct shown_event *what,
                           FILE *out);

#endif
