/* export_json.c: JSON lines, an object each. */
#include "present/export/exporters.h"
#include "present/table/parts.h"

#include <json-c/json.h>

static void put_line(const struct export *export, struct json_object *line)
{
    json__put_harmless(json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN), export->out);
    fputc('\n', export->out);
    json_object_put(line);
}

static const struct table begin_table = OBJECT(run_cells, FIELD_SCHEMA("heurt.export/1"),
                                               FIELD_COMMAND, FIELD("wall_ns", run_cells, wall_ns));

static void begin(struct export *export)
{
    const struct report report = {.trace = export->shown->trace};
    const struct run_cells run = run_cells__of(&report);
    put_line(export, document__new(&begin_table, &run));
}

/* A thread, or events of it that were left out. */
struct stretch_cells {
    struct line_cells line;
    uint64_t until_ns;
    uint32_t pid;
    uint64_t events;
};

static const struct column thread_columns[] = {FIELDS_OF_LINE(stretch_cells, line),
                                               FIELDS(stretch_cells, until_ns, pid)};
static const struct column gap_columns[] = {FIELDS_OF_LINE(stretch_cells, line),
                                            FIELDS(stretch_cells, until_ns, events)};
static const struct table thread_table = TABLE(stretch_cells, "", "", thread_columns);
static const struct table gap_table = TABLE(stretch_cells, "", "", gap_columns);

static void definitions(struct export *export)
{
    for (size_t i = 0; i < trace__threads(export->shown->trace)->count; i++) {
        const struct shown_thread *shown = &export->shown->threads[i];
        struct stretch_cells cells = {.until_ns =
                                          shown_trace__ns(export->shown, shown->thread->end_tick),
                                      .pid = shown->thread->pid};
        line_cells__fill(&cells.line, export->shown, shown, "thread", shown->thread->start_tick);
        put_line(export, document__new(&thread_table, &cells));
    }
}

static void event(struct export *export, const struct shown_event *event)
{
    shown_event__put_json(export->shown, event, export->out);
}

static void gap(struct export *export, const struct shown_thread *thread,
                const struct kept_gap *gap)
{
    struct stretch_cells cells = {.until_ns = shown_trace__ns(export->shown, gap->to),
                                  .events = gap->events};
    line_cells__fill(&cells.line, export->shown, thread, "gap", gap->from);
    put_line(export, document__new(&gap_table, &cells));
}

/* What somebody said. */
struct mark_cells {
    uint64_t ns;
    const char *what, *text;
};

static const struct column mark_columns[] = {FIELDS(mark_cells, ns, what, text)};
static const struct table mark_table = TABLE(mark_cells, "", "", mark_columns);

static void mark(struct export *export, const struct trace_mark *mark)
{
    const struct mark_cells cells = {shown_trace__ns(export->shown, mark->tick), "mark",
                                     mark->text};
    put_line(export, document__new(&mark_table, &cells));
}

const struct exporter exporter_json = {
    .begin = begin, .definitions = definitions, .event = event, .gap = gap, .mark = mark};

static void begin_events(struct export *export)
{
    fputs("{\"schema\":\"heurt.dump/1\"}\n", export->out);
}

const struct exporter exporter_json_events = {.begin = begin_events, .event = event, .mark = mark};
