/* heurt.points/1 and its CSV: the contract is in docs/heurt-structure.md. */
#include "present/outliers/internal.h"
#include "present/screen/json_members.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <json-c/json.h>

static const char *reason_name(enum point_reason reason)
{
    static const char *const names[] = {
        [POINT_LONG] = "long", [POINT_RARE] = "rare", [POINT_WHOLE] = "whole"};
    return names[reason];
}

static uint64_t at_ns(const struct points_report *shown, const struct point *point)
{
    return trace__since_start_ns(shown->report->trace, point->start);
}

/* UINT64_MAX: not known. */
static uint64_t usual_ns(const struct points_report *shown, const struct point *point)
{
    return point->reason == POINT_RARE ? UINT64_MAX : points__ns(shown, point->usual);
}

static const char *function_of(const struct points_report *shown, uint32_t place)
{
    const struct class_definition *class = points__place(shown, place);
    return class ? class->at.function : NULL;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* From the outermost on. */
static struct json_object *new_path(const struct points_report *shown, uint32_t path)
{
    unsigned depth = points__depth(shown, path);
    struct json_object *list = json_object_new_array_ext((int)depth);
    for (; path; path = points__path(shown, path)->outer) {
        const struct class_definition *place =
            points__place(shown, points__path(shown, path)->place);
        struct json_object *level = json_object_new_object();
        json__text(level, "class_kind", class_kind__name(place->at.kind));
        json__identity(level, shown->report, place);
        json_object_array_put_idx(list, --depth, level);
    }
    return list;
}

static struct json_object *new_components(const struct points_report *shown,
                                          const struct point *point)
{
    uint64_t ns[COMPONENTS];
    for (unsigned i = 0; i < COMPONENTS; i++)
        ns[i] = points__ns(shown, point->components[i]);
    return json__new_doing(ns);
}

static struct json_object *new_point(const struct points_report *shown, const struct point *point)
{
    struct json_object *object = json_object_new_object();
    json__text(object, "reason", reason_name(point->reason));
    json__add(object, "tid", json__new_tid(shown->report, point->thread));
    json__text(object, "thread", points__thread(shown, point)->name);
    JSON_NUMBERS(object, {"at_ns", at_ns(shown, point)},
                 {"took_ns", points__ns(shown, point->took)}, {"usual_ns", usual_ns(shown, point)},
                 {"lost_ns", points__ns(shown, point->lost)});
    json__add(object, "path", new_path(shown, point->path));
    json__text(object, "previous", function_of(shown, point->previous));
    json__text(object, "next", function_of(shown, point->next));
    json__add(object, "components_ns", new_components(shown, point));
    return object;
}

static void put_json(const struct points_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    const struct stand_out *found = shown->found;
    struct json_object *root = json_object_new_object(), *list = json_object_new_array();
    json__text(root, "schema", "heurt.points/1");
    json__command(root, shown->report);
    json__exit(root, shown->report);
    json__machine(root, shown->report);
    json__number(root, "wall_ns", trace__wall_ns(shown->report->trace));
    json__text(root, "thread", shown->thread);
    JSON_NUMBERS(root, {"events", found->events}, {"kept_events", found->kept_events},
                 {"left_out", found->left_out});
    for (size_t i = 0; i < found->points.count; i++)
        json_object_array_add(list, new_point(shown, points__at(shown, i)));
    json__add(root, "points", list);
    json__warnings(root, shown->report);
    json__put(root, out);
}

const struct points_presenter points_json = {"json", put_json};

/* ---- CSV ------------------------------------------------------------------------------------- */

struct point_cells {
    const char *reason;
    uint32_t tid;
    const char *thread;
    uint64_t at_ns, took_ns, usual_ns, lost_ns;
    const char *path, *previous, *next;
    uint64_t component_ns[COMPONENTS];
};

#define COMPONENT(component, key, help) \
    COLUMN_KEYED(key "_ns", point_cells, component_ns[component], NULL, "ns", "of it: " help)

static const struct column columns[] = {
    COLUMN(point_cells, reason, "why", "",
           "long: of many of its kind; rare: too few to compare; whole: an occurrence as a whole"),
    COLUMN(point_cells, tid, "thread", "", "number that the kernel gave the thread"),
    COLUMN(point_cells, thread, "name", "", "name of the thread"),
    COLUMN(point_cells, at_ns, "at", "ns", "since the start of the run"),
    COLUMN(point_cells, took_ns, "took", "ns", "how long it took"),
    COLUMN(point_cells, usual_ns, "usual", "ns", "median of its kind"),
    COLUMN(point_cells, lost_ns, "lost", "ns", "longer than usual"),
    COLUMN(point_cells, path, "in", "", "calls that it is in, the outermost first"),
    COLUMN(point_cells, previous, "behind", "", "the call before it"),
    COLUMN(point_cells, next, "before", "", "the call behind it"),
    COMPONENT_COLUMNS(COMPONENT),
    COMPONENT(COMPONENT_RUNNING, "running", "worked"),
};

static const struct table outliers_table = TABLE(
    point_cells, "outliers", "a row a stretch of time that took longer than its peers", columns);

static void add_point(struct table_rows *rows, const struct points_report *shown,
                      const struct point *point)
{
    struct point_cells *row = table_rows__add(rows);
    row->reason = reason_name(point->reason);
    row->tid = points__thread(shown, point)->tid;
    row->thread = points__thread(shown, point)->name;
    row->at_ns = at_ns(shown, point);
    row->took_ns = points__ns(shown, point->took);
    row->usual_ns = usual_ns(shown, point);
    row->lost_ns = points__ns(shown, point->lost);
    row->path = table_rows__keep(rows, points__path_text(shown, point->path, 0, ""));
    row->previous = function_of(shown, point->previous);
    row->next = function_of(shown, point->next);
    for (unsigned i = 0; i < COMPONENTS; i++)
        row->component_ns[i] = points__ns(shown, point->components[i]);
}

struct table_rows point_rows(const struct points_report *shown)
{
    struct table_rows rows = table_rows__of(&outliers_table);
    for (size_t i = 0; i < shown->found->points.count; i++)
        add_point(&rows, shown, points__at(shown, i));
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
