#include "present/table/parts.h"

#include "base/memory.h"
#include "format/machine_nodes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- places ---------------------------------------------------------------------------------- */

static const struct column place_columns[] = {
    FIELDS(place_cells, function, module, file, line),
};
static const struct column site_columns[] = {
    FIELD_AS(COLUMN_ADDRESS, "address", place_cells, address),
    FIELDS(place_cells, function, module, file, line),
};
const struct table place_table = TABLE(place_cells, "", "", place_columns);
const struct table site_table = TABLE(place_cells, "", "", site_columns);

struct place_cells place_cells__of(struct table_rows *rows, const struct place *place,
                                   const char *unknown)
{
    const char *function = place->function == unknown
                               ? table_rows__keep(rows, memory__text(unknown))
                               : place->function;
    return (struct place_cells){function, place->module, place->file,
                                place->line ? place->line : UINT64_MAX, UINT64_MAX};
}

struct place_cells place_cells__of_site(struct table_rows *rows, const struct report *report,
                                        uint32_t process, uint64_t site)
{
    char unknown[32];
    if (!site)
        return PLACE_NOWHERE;
    struct place place = place__of_site(report, process, site, unknown);
    struct place_cells cells = place_cells__of(rows, &place, unknown);
    cells.address = site;
    return cells;
}

struct place_cells place_cells__of_class(struct table_rows *rows, const struct report *report,
                                         const struct class_definition *class)
{
    char unknown[32];
    struct place place = place__of_class(report, class, unknown);
    return place_cells__of(rows, &place, unknown);
}

const struct table identity_table =
    OBJECT(identity_cells, FIELD("class_kind", identity_cells, kind),
           FIELD("function", identity_cells, function),
           FIELDS_OF(identity_cells, place, module, file, line),
           FIELD_OBJECT("caller", identity_cells, caller, place_table));

struct identity_cells identity_cells__of(struct table_rows *rows, const struct report *report,
                                         const struct class_definition *class)
{
    if (!class)
        return (struct identity_cells){NULL, NULL, PLACE_NOWHERE, PLACE_NOWHERE};
    struct place_cells place = place_cells__of_class(rows, report, class);
    bool is_hooked = class__is_hooked(class) && class->at.site;
    return (struct identity_cells){class_kind__name(class->at.kind), class->at.function, place,
                                   is_hooked ? place : PLACE_NOWHERE};
}

const struct table call_table =
    OBJECT(call_cells, FIELDS(call_cells, kind, call), FIELDS_OF_PLACE(call_cells, place));

struct call_cells call_cells__of(struct table_rows *rows, const struct report *report,
                                 const struct class_definition *class)
{
    return (struct call_cells){class_kind__name(class->at.kind),
                               class__is_hooked(class) ? class->at.function : NULL,
                               place_cells__of_class(rows, report, class)};
}

uint32_t report__tid(const struct report *report, uint32_t thread)
{
    const struct vec *threads = trace__threads(report->trace);
    return thread < threads->count ? VEC_AT(threads, struct trace_thread, thread)->tid : UINT32_MAX;
}

/* ---- components ------------------------------------------------------------------------------ */

struct component_cells {
    uint64_t ns[COMPONENTS];
};
struct signed_component_cells {
    int64_t ns[COMPONENTS];
};

#define UNSIGNED(component, key, help) FIELD(key, component_cells, ns[component])
#define SIGNED(component, key, help) FIELD(key, signed_component_cells, ns[component])

static const struct column component_columns[] = {COMPONENT_COLUMNS(UNSIGNED),
                                                  UNSIGNED(COMPONENT_RUNNING, "running", "worked")};
static const struct column signed_component_columns[] = {
    COMPONENT_COLUMNS(SIGNED), SIGNED(COMPONENT_RUNNING, "running", "worked")};
const struct table components_table = TABLE(component_cells, "", "", component_columns);
const struct table signed_components_table =
    TABLE(signed_component_cells, "", "", signed_component_columns);

/* ---- stacks ---------------------------------------------------------------------------------- */

struct frame_cells {
    struct place_cells place;
    bool inlined;
};

static const struct table frames_table =
    OBJECT(frame_cells, FIELDS_OF_PLACE(frame_cells, place), FIELD("inlined", frame_cells, inlined),
           FIELD_AS(COLUMN_ADDRESS, "address", frame_cells, place.address));

static struct table_rows frame_rows(const void *row)
{
    const struct stack_cells *cells = row;
    struct table_rows rows = table_rows__of(&frames_table);
    struct vec frames = stack__frames(cells->report, &cells->stack, &rows.texts);
    VEC_EACH (frame, &frames, struct frame) {
        struct frame_cells *line = table_rows__add(&rows);
        *line = (struct frame_cells){place_cells__of(&rows, &frame->place, NULL), frame->inlined};
        line->place.address = frame->address;
    }
    vec__free(&frames);
    return rows;
}

const struct table wait_stack_table =
    OBJECT(stack_cells, FIELD("share", stack_cells, stack.share), FIELD_LIST("frames", frame_rows),
           FIELD("of_this_wait", stack_cells, of_this_wait));
const struct table stack_table =
    OBJECT(stack_cells, FIELD("share", stack_cells, stack.share), FIELD_LIST("frames", frame_rows));

/* ---- the run --------------------------------------------------------------------------------- */

struct run_cells run_cells__of(const struct report *report)
{
    const struct heurt_session *session = trace__session(report->trace);
    int status = session->wait_status;
    struct run_cells run = {report, trace__wall_ns(report->trace), UINT32_MAX, UINT32_MAX, NULL};
    if (session->finished && WIFEXITED(status))
        run.exit_status = (uint32_t)WEXITSTATUS(status);
    if (session->finished && WIFSIGNALED(status)) {
        run.signal = (uint32_t)WTERMSIG(status);
        run.exit_status = 128 + run.signal;
    }
    return run;
}

struct table_rows command_rows(const void *root)
{
    const struct run_cells *run = root;
    struct table_rows rows = table_rows__of(&texts_table);
    const char *meta = trace__meta(run->report->trace, "command");
    char *copy = memory__text(meta ? meta : ""), *rest = *copy ? copy : NULL;
    for (char *argument; (argument = strsep(&rest, "\n"));)
        text_rows__take(&rows, memory__text(argument));
    free(copy);
    return rows;
}

struct table_rows warning_rows(const void *root)
{
    const struct run_cells *run = root;
    struct table_rows rows = table_rows__of(&texts_table);
    struct vec warnings = report__warnings(run->report);
    VEC_EACH (warning, &warnings, char *)
        text_rows__take(&rows, *warning);
    vec__free(&warnings);
    if (run->warnings)
        VEC_EACH (warning, run->warnings, char *)
            text_rows__take(&rows, memory__text(*warning));
    return rows;
}

struct machine_cells {
    const char *host, *kernel, *processor;
    uint64_t cpus, nodes;
};

static const struct table machine_table =
    OBJECT(machine_cells, FIELDS(machine_cells, host, kernel, processor, cpus, nodes));

struct table_rows machine_row(const void *root)
{
    const struct trace *trace = ((const struct run_cells *)root)->report->trace;
    struct table_rows rows = table_rows__of(&machine_table);
    const char *cpus = trace__meta(trace, "cpus");
    struct machine_nodes nodes = machine_nodes__of(trace);
    TABLE_ROW(&rows, machine_cells, trace__meta(trace, "host"), trace__meta(trace, "kernel"),
              trace__meta(trace, "processor"), cpus ? strtoull(cpus, NULL, 10) : UINT64_MAX,
              nodes.count ? nodes.count : UINT64_MAX);
    machine_nodes__free(&nodes);
    return rows;
}
