/* export_text.c: as heurt dump prints it. */
#include "present/export/exporters.h"

#include <inttypes.h>

static void event(struct export *export, const struct shown_event *event)
{
    shown_event__line(export->shown, event, export->out);
}

static void gap(struct export *export, const struct shown_thread *thread,
                const struct kept_gap *gap)
{
    uint64_t until = trace__since_start_ns(export->shown->trace, gap->to);
    shown_thread__begin_line(export->shown, thread, gap->from, export->out);
    fprintf(export->out, "gap   … %" PRIu64 " event%s until %" PRIu64 ".%09" PRIu64 "\n",
            gap->events, gap->events == 1 ? "" : "s", until / 1000000000, until % 1000000000);
}

const struct exporter exporter_text = {
    .name = "text", .summary = "a line an event, as heurt dump", .event = event, .gap = gap};
