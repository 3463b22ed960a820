/* heurt.points/1 and its CSV: the contract is in docs/heurt-structure.md. */
#include "present/outliers/internal.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

static const char *reason_name(enum point_reason reason)
{
    static const char *const names[] = {
        [POINT_LONG] = "long", [POINT_RARE] = "rare", [POINT_WHOLE] = "whole"};
    return names[reason];
}

static const char *function_of(const struct points_report *shown, uint32_t place)
{
    const struct class_definition *class = points__place(shown, place);
    return class ? class->at.function : NULL;
}

struct point_cells {
    const struct points_report *shown;
    uint32_t tid;
    const char *thread;
    const char *path, *previous, *next;
    struct point of; /* its figures as they are */
};

/* From the outermost on. */
static struct table_rows level_rows(const void *row)
{
    const struct point_cells *point = row;
    struct table_rows rows = table_rows__of(&identity_table);
    unsigned depth = points__depth(point->shown, point->of.path), level = depth;
    for (unsigned i = 0; i < depth; i++)
        table_rows__add(&rows);
    for (uint32_t path = point->of.path; path; path = points__path(point->shown, path)->outer)
        *VEC_AT(&rows.rows, struct identity_cells, --level) = identity_cells__of(
            &rows, point->shown->report,
            points__place(point->shown, points__path(point->shown, path)->place));
    return rows;
}

#define POINT(member, title, unit, help) \
    COLUMN_KEYED(#member, point_cells, of.member, title, unit, help)
#define COMPONENT(component, key, help) \
    FLAT(key "_ns", point_cells, of.component_ns[component], NULL, "ns", "of it: " help)

static const struct column columns[] = {
    COLUMN_NAMED(
        "reason", point_cells, of.reason, reason_name, "why",
        "long: of many of its kind; rare: too few to compare; whole: an occurrence as a whole"),
    COLUMN(point_cells, tid, "thread", "", "number that the kernel gave the thread"),
    COLUMN(point_cells, thread, "name", "", "name of the thread"),
    COLUMN_KEYED("at_ns", point_cells, of.start_ns, "at", "ns", "since the start of the run"),
    POINT(took_ns, "took", "ns", "how long it took"),
    POINT(usual_ns, "usual", "ns", "median of its kind"),
    POINT(lost_ns, "lost", "ns", "longer than usual"),
    FLAT("path", point_cells, path, "in", "", "calls that it is in, the outermost first"),
    FIELD_LIST("path", level_rows),
    COLUMN(point_cells, previous, "behind", "", "the call before it"),
    COLUMN(point_cells, next, "before", "", "the call behind it"),
    COMPONENT_COLUMNS(COMPONENT),
    COMPONENT(COMPONENT_RUNNING, "running", "worked"),
    FIELD_COMPONENTS("components_ns", point_cells, of.component_ns),
};

static const struct table outliers_table = TABLE(
    point_cells, "outliers", "a row a stretch of time that took longer than its peers", columns);

struct table_rows point_rows(const struct points_report *shown)
{
    struct table_rows rows = table_rows__of(&outliers_table);
    VEC_EACH (point, &shown->found->points, struct point)
        TABLE_ROW(&rows, point_cells, .shown = shown, .tid = points__thread(shown, point)->tid,
                  .thread = points__thread(shown, point)->name,
                  .path = table_rows__keep(&rows, points__path_text(shown, point->path, 0, "")),
                  .previous = function_of(shown, point->previous),
                  .next = function_of(shown, point->next), .of = *point);
    return rows;
}

static struct table_rows rows_of_points(const struct table_subject *subject)
{
    return point_rows(subject->points);
}

const struct table_source outliers_source = {&outliers_table, MADE_OF(&outliers_analysis),
                                             rows_of_points};

static void put_csv(const struct points_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(point_rows(shown), out);
}

const struct points_presenter points_csv = {"csv", put_csv};

/* ---- the document ---------------------------------------------------------------------------- */

struct points_document {
    struct run_cells run;
    const struct points_report *shown;
    const char *thread;
    struct stand_out of;
};

static struct table_rows rows_of_document(const void *root)
{
    return point_rows(((const struct points_document *)root)->shown);
}

static const struct table document_table =
    OBJECT(points_document, FIELD_SCHEMA("heurt.points/1"), FIELD_COMMAND,
           FIELDS_OF_EXIT(points_document, run), FIELD_MACHINE,
           FIELD("wall_ns", points_document, run.wall_ns), FIELD("thread", points_document, thread),
           FIELDS_OF(points_document, of, events, kept_events, left_out),
           FIELD_LIST("points", rows_of_document), FIELD_WARNINGS);

static void put_json(const struct points_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    document__put(&document_table,
                  &(struct points_document){run_cells__of(shown->report), shown, shown->thread,
                                            *shown->found},
                  out);
}

const struct points_presenter points_json = {"json", put_json};
