/* export_csv.c: a row an event. */
#include "present/export/event_fields.h"
#include "present/export/exporters.h"
#include "present/screen/csv_line.h"

static void begin(struct export *export)
{
    fputs("ns,tid,serial,thread,what,depth,name,detail,fields,until_ns,events\n", export->out);
}

/* Up to what; the line goes on. */
static struct csv_line begin_line(const struct export *export, const struct shown_thread *thread,
                                  const char *what, uint64_t tick)
{
    struct line_cells cells;
    struct csv_line line = {export->out, false};
    line_cells__fill(&cells, export->shown, thread, what, tick);
    line__number(&line, cells.ns);
    line__number(&line, cells.tid);
    line__number(&line, cells.serial);
    line__text(&line, cells.name);
    line__text(&line, what);
    return line;
}

static const char *fields_of(const struct export *export, const struct shown_event *event)
{
    const char *text = shown_event__fields(export->shown, event, false);
    return text + (*text == ' ');
}

static void event(struct export *export, const struct shown_event *event)
{
    struct csv_line line =
        begin_line(export, event->thread, event__what(event->event->id), event->event->tick);
    line__number(&line, event->depth);
    line__text(&line, event->title.name);
    line__text(&line, event->title.detail);
    line__text(&line,
               event__has_fields(event->thread, event->event) ? fields_of(export, event) : "");
    fputs(",,\n", export->out);
}

static void gap(struct export *export, const struct shown_thread *thread,
                const struct kept_gap *gap)
{
    struct csv_line line = begin_line(export, thread, "gap", gap->from);
    fputs(",,,,", export->out);
    line__number(&line, shown_trace__ns(export->shown, gap->to));
    line__number(&line, gap->events);
    fputc('\n', export->out);
}

const struct exporter exporter_csv = {.begin = begin, .event = event, .gap = gap};
