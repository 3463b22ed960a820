/* heurt.requests/1: the contract is in docs/heurt-report.md. */
#include "present/requests/requests_screens.h"
#include "present/table/parts.h"

/* ---- one request ----------------------------------------------------------------------------- */

struct request_wait_cells {
    uint64_t wait_ns, object;
    const char *object_name;
    struct identity_cells what;
    const char *thread;
    uint32_t tid;
    struct place_cells by;
};

static const struct table by_table =
    OBJECT(request_wait_cells, FIELDS(request_wait_cells, tid, thread),
           FIELD_OBJECT("place", request_wait_cells, by, site_table));

struct request_cells {
    const struct report *report;
    const struct served_request *of;
    uint32_t tid;
    const char *thread;
    struct served_request figures;
};

static struct table_rows by_row(const void *row)
{
    const struct request_wait_cells *wait = row;
    return table_rows__if(wait->tid != UINT32_MAX, &by_table, wait);
}

static const struct table wait_table =
    OBJECT(request_wait_cells, FIELD("wait_ns", request_wait_cells, wait_ns),
           FIELD_OBJECT("of", request_wait_cells, what, identity_table),
           FIELD_AS(COLUMN_ADDRESS, "object", request_wait_cells, object),
           FIELD("object_name", request_wait_cells, object_name), FIELD_ONE("ended_by", by_row));

static const struct class_definition *class_of(const struct report *report,
                                               const struct served_wait *wait)
{
    size_t rank = report__rank_of(report, wait->class);
    return rank ? &VEC_AT(&report->profile->classes, struct profile_class, rank - 1)->what : NULL;
}

/* Of whoever ended it, where that is known. */
static void fill_by(struct table_rows *rows, const struct report *report,
                    const struct served_wait *wait, struct request_wait_cells *cells)
{
    if (wait->by == UINT32_MAX)
        return;
    const struct trace_thread *by = trace__thread_at(report->trace, wait->by);
    uint32_t process = trace__process_at(report->trace, by->process)->serial;
    cells->tid = by->tid;
    cells->thread = by->name;
    cells->by = place_cells__of_site(rows, report, process, wait->by_site);
}

static struct table_rows wait_row(const void *row)
{
    const struct request_cells *request = row;
    const struct report *report = request->report;
    const struct served_wait *wait = &request->of->wait;
    struct table_rows rows = table_rows__of(&wait_table);
    if (!wait->wait_ns)
        return rows;
    struct request_wait_cells cells = {
        .wait_ns = wait->wait_ns,
        .object = wait->object ? wait->object : UINT64_MAX,
        .object_name = wait->object ? report__variable(report, wait->process, wait->object) : NULL,
        .what = identity_cells__of(&rows, report, class_of(report, wait)),
        .tid = UINT32_MAX,
        .by = PLACE_NOWHERE};
    fill_by(&rows, report, wait, &cells);
    *(struct request_wait_cells *)table_rows__add(&rows) = cells;
    return rows;
}

static const struct table request_table =
    OBJECT(request_cells, FIELDS(request_cells, tid, thread),
           FIELD("at_ns", request_cells, figures.start_ns),
           FIELD("duration_ns", request_cells, figures.duration_ns),
           FIELD_COMPONENTS("components_ns", request_cells, figures.component_ns),
           FIELD_ONE("longest_wait", wait_row));

/* ---- the document ---------------------------------------------------------------------------- */

struct requests_document {
    struct run_cells run;
    const struct requests *requests;
    struct requests figures;
};

static struct table_rows slowest_rows(const void *root)
{
    const struct requests_document *document = root;
    const struct report *report = document->run.report;
    struct table_rows rows = table_rows__of(&request_table);
    if (document->requests)
        VEC_EACH (request, &document->requests->slowest, const struct served_request) {
            const struct trace_thread *thread = trace__thread_at(report->trace, request->thread);
            TABLE_ROW(&rows, request_cells, .report = report, .of = request, .tid = thread->tid,
                      .thread = thread->name, .figures = *request);
        }
    return rows;
}

static const struct table document_table =
    OBJECT(requests_document, FIELD_SCHEMA("heurt.requests/1"), FIELD_COMMAND,
           FIELDS_OF_EXIT(requests_document, run), FIELD_MACHINE,
           FIELD("wall_ns", requests_document, run.wall_ns),
           FIELDS_OF(requests_document, figures, count, median_ns, p99_ns, longest_ns),
           FIELD_LIST("slowest", slowest_rows), FIELD_WARNINGS);

void requests__put_json(const struct requests_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    document__put(
        &document_table,
        &(struct requests_document){run_cells__of(shown->report), shown->requests,
                                    shown->requests ? *shown->requests : (struct requests){0}},
        out);
}
