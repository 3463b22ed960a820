/* exporters.h: the events of a trace for other tools: one exporter a format.
 *
 * An exporter is a table of methods; the options of heurt export name it. They are called
 * in this order, event and gap as often as there are any, threads merged by time:
 *
 *     begin   definitions   (event | gap | mark)…   end
 *
 * Methods may be NULL. What cannot be written is seen on out by the caller, who stops then; end is
 * called in any case, and frees what own holds. */
#ifndef HEURT_PRESENT_EXPORT_EXPORTERS_H
#define HEURT_PRESENT_EXPORT_EXPORTERS_H

#include "analysis/events/event_filter.h"
#include "present/export/events.h"

struct export
{
    const struct shown_trace *shown;
    FILE *out;
    void *own; /* the exporter's */
};

struct exporter {
    void (*begin)(struct export *export);
    void (*definitions)(struct export *export); /* what must be known before the first event */
    void (*event)(struct export *export, const struct shown_event *event);
    /* Events of one thread were left out, from one to the other tick. What is told of other threads
     * before it may be later than its beginning. */
    void (*gap)(struct export *export, const struct shown_thread *thread,
                const struct kept_gap *gap);
    void (*mark)(struct export *export, const struct trace_mark *mark); /* somebody said so */
    void (*end)(struct export *export);
};

/* A line an event; likewise, as the numbers of the file: tick, serial, id and payload words. */
extern const struct exporter exporter_text, exporter_raw;
/* A JSON object a line: with definitions and gaps; the events alone, as heurt dump has them. */
extern const struct exporter exporter_json, exporter_json_events;
extern const struct exporter exporter_csv;

#endif
