/* export_text.c: a line an event: in words, or as the file has it. */
#include "present/export/exporters.h"
#include "present/screen/fields.h"

#include <inttypes.h>

static void event(struct export *export, const struct shown_event *event)
{
    shown_event__line(export->shown, event, export->out);
}

static void gap(struct export *export, const struct shown_thread *thread,
                const struct kept_gap *gap)
{
    uint64_t until = shown_trace__ns(export->shown, gap->to);
    shown_thread__begin_line(export->shown, thread, gap->from, export->out);
    fprintf(export->out, "gap   … %" PRIu64 " event%s until %" PRIu64 ".%09" PRIu64 "\n",
            gap->events, gap->events == 1 ? "" : "s", until / 1000000000, until % 1000000000);
}

static void mark(struct export *export, const struct trace_mark *mark)
{
    uint64_t ns = shown_trace__ns(export->shown, mark->tick);
    fprintf(export->out, "%" PRIu64 ".%09" PRIu64 " mark  ", ns / 1000000000, ns % 1000000000);
    text__print(export->out, mark->text);
    fputc('\n', export->out);
}

const struct exporter exporter_text = {.event = event, .gap = gap, .mark = mark};

static void raw_event(struct export *export, const struct shown_event *what)
{
    const struct event *event = what->event;
    fprintf(export->out, "%" PRIu64 " #%u %u", event->tick, what->thread->thread->serial,
            event->id);
    for (uint32_t i = 0; i < event->words; i++)
        fprintf(export->out, " 0x%" PRIx64, event->payload[i]);
    fputc('\n', export->out);
}

const struct exporter exporter_raw = {.event = raw_event};
