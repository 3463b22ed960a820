/* heurt.points/1 and its CSV: the contract is in docs/heurt-structure.md. */
#include "base/memory.h"
#include "present/outliers/internal.h"
#include "present/screen/csv_line.h"
#include "present/screen/json_members.h"

#include <json-c/json.h>
#include <stdlib.h>

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
    json__number(object, "at_ns", at_ns(shown, point));
    json__number(object, "took_ns", points__ns(shown, point->took));
    json__known(object, "usual_ns", usual_ns(shown, point));
    json__number(object, "lost_ns", points__ns(shown, point->lost));
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
    json__number(root, "events", found->events);
    json__number(root, "kept_events", found->kept_events);
    json__number(root, "left_out", found->left_out);
    for (size_t i = 0; i < found->points.count; i++)
        json_object_array_add(list, new_point(shown, points__at(shown, i)));
    json__add(root, "points", list);
    json__warnings(root, shown->report);
    json__put(root, out);
}

const struct points_presenter points_json = {"json", put_json};

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_row(const struct points_report *shown, const struct point *point, FILE *out)
{
    struct csv_line line = {out, false};
    char *path = points__path_text(shown, point->path, 0, "");
    line__text(&line, reason_name(point->reason));
    line__number(&line, points__thread(shown, point)->tid);
    line__text(&line, points__thread(shown, point)->name);
    line__number(&line, at_ns(shown, point));
    line__number(&line, points__ns(shown, point->took));
    if (point->reason == POINT_RARE)
        line__text(&line, "");
    else
        line__number(&line, usual_ns(shown, point));
    line__number(&line, points__ns(shown, point->lost));
    line__text(&line, path);
    line__text(&line, function_of(shown, point->previous));
    line__text(&line, function_of(shown, point->next));
    for (unsigned i = 0; i < COMPONENTS; i++)
        line__number(&line, points__ns(shown, point->components[i]));
    fputc('\n', out);
    free(path);
}

static void put_csv(const struct points_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    fputs("reason,tid,thread,at_ns,took_ns,usual_ns,lost_ns,path,previous,next", out);
    for (unsigned i = 0; i < COMPONENTS; i++)
        fprintf(out, ",%s_ns", component__key(i));
    fputc('\n', out);
    for (size_t i = 0; i < shown->found->points.count; i++)
        put_row(shown, points__at(shown, i), out);
}

const struct points_presenter points_csv = {"csv", put_csv};
