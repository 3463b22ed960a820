/* export_json.c: JSON lines, an object each. */
#include "present/export/exporters.h"
#include "present/screen/fields.h"
#include "present/screen/json_members.h"

#include <json-c/json.h>

static void put_line(const struct export *export, struct json_object *line)
{
    fprintf(export->out, "%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
    json_object_put(line);
}

static void add_ns(const struct export *export, struct json_object *line, const char *name,
                   uint64_t tick)
{
    json_object_object_add(
        line, name, json_object_new_uint64(trace__since_start_ns(export->shown->trace, tick)));
}

static void begin(struct export *export)
{
    struct json_object *line = json_object_new_object();
    const struct report report = {.trace = export->shown->trace};
    json_object_object_add(line, "schema", json_object_new_string("heurt.export/1"));
    json__command(line, &report);
    json_object_object_add(line, "wall_ns",
                           json_object_new_uint64(trace__wall_ns(export->shown->trace)));
    put_line(export, line);
}

/* ns, tid, serial, thread, what. */
static struct json_object *line_of(const struct export *export, const struct shown_thread *thread,
                                   const char *what, uint64_t tick)
{
    char name[17];
    struct json_object *line = json_object_new_object();
    add_ns(export, line, "ns", tick);
    json_object_object_add(line, "tid", json_object_new_int64(thread->thread->tid));
    json_object_object_add(line, "serial", json_object_new_int64(thread->thread->serial));
    json_object_object_add(line, "thread", text__json(thread__name(thread->thread, name)));
    json_object_object_add(line, "what", json_object_new_string(what));
    return line;
}

static void definitions(struct export *export)
{
    for (size_t i = 0; i < trace__threads(export->shown->trace)->count; i++) {
        const struct shown_thread *thread = &export->shown->threads[i];
        struct json_object *line = line_of(export, thread, "thread", thread->thread->start_tick);
        add_ns(export, line, "until_ns", thread->thread->end_tick);
        json_object_object_add(line, "pid", json_object_new_int64(thread->thread->pid));
        put_line(export, line);
    }
}

static void event(struct export *export, const struct shown_event *event)
{
    shown_event__put_json(export->shown, event, export->out);
}

static void gap(struct export *export, const struct shown_thread *thread,
                const struct kept_gap *gap)
{
    struct json_object *line = line_of(export, thread, "gap", gap->from);
    add_ns(export, line, "until_ns", gap->to);
    json_object_object_add(line, "events", json_object_new_uint64(gap->events));
    put_line(export, line);
}

const struct exporter exporter_json = {
    .begin = begin, .definitions = definitions, .event = event, .gap = gap};

static void begin_events(struct export *export)
{
    fputs("{\"schema\":\"heurt.dump/1\"}\n", export->out);
}

const struct exporter exporter_json_events = {.begin = begin_events, .event = event};
