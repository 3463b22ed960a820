/* heurt.difference/1: the contract is in docs/heurt-diff-occurrence.md. */
#include "present/compare/difference_screens.h"
#include "present/iterations/iterations_screens.h"
#include "present/screen/json_members.h"

#include <json-c/json.h>

static void add_call(struct json_object *object, const struct report *report,
                     const struct class_definition *what)
{
    char unknown[32];
    struct place place = place__of_class(report, what, unknown);
    json__text(object, "kind", class_kind__name(what->at.kind));
    json__text(object, "call", class__is_hooked(what) ? what->at.function : NULL);
    json__place(object, &place);
    json__address(object, "object", what->has_object ? what->object : UINT64_MAX);
    json__text(object, "object_name", class__object_name(report, what));
}

static struct json_object *new_subject(const struct difference_view *view)
{
    struct json_object *object = json_object_new_object();
    if (!view->phase) {
        json__number(object, "rank", view->rank);
        add_call(object, view->report, &view->difference->what);
        return object;
    }
    char *name = phase__text(view->report, view->phase);
    json__text(object, "kind", "iteration");
    json__number(object, "phase", view->phase_number);
    json__text(object, "name", name);
    free(name);
    return object;
}

static struct json_object *new_arguments(const struct difference_side_info *info)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < info->argument_count; i++)
        json_object_array_add(list, json_object_new_uint64(info->arguments[i]));
    return list;
}

static struct json_object *new_side(const struct difference_view *view, enum difference_side side)
{
    const struct difference_side_info *info = &view->difference->sides[side];
    struct json_object *object = json_object_new_object();
    JSON_NUMBERS(object, {"duration_ns", info->duration_ns}, {"start_ns", info->start_ns});
    json__add(object, "tid", json__new_tid(view->report, info->thread));
    JSON_NUMBERS(object, {"turn", info->index},
                 {"cpu", info->cpu == UINT16_MAX ? UINT64_MAX : info->cpu});
    json__boolean(object, "sampled", info->is_sampled);
    json__add(object, "arguments", view->difference->definition ? new_arguments(info) : NULL);
    json__add(object, "components_ns", json__new_doing(info->component_ns));
    return object;
}

static struct json_object *new_components(const int64_t slow[COMPONENTS],
                                          const int64_t fast[COMPONENTS])
{
    struct json_object *object = json_object_new_object();
    for (unsigned i = 0; i < COMPONENTS; i++)
        json__signed(object, component__key((enum component)i), slow[i] - fast[i]);
    return object;
}

static struct json_object *new_whole_components(const struct difference *difference)
{
    int64_t sides[SIDES][COMPONENTS];
    for (int side = 0; side < SIDES; side++)
        for (unsigned i = 0; i < COMPONENTS; i++)
            sides[side][i] = (int64_t)difference->sides[side].component_ns[i];
    return new_components(sides[SIDE_SLOW], sides[SIDE_FAST]);
}

static void add_both(struct json_object *object, const char *name, int64_t slow, int64_t fast)
{
    struct json_object *both = json_object_new_object();
    json__signed(both, "slow", slow);
    json__signed(both, "fast", fast);
    json__add(object, name, both);
}

static struct json_object *new_row(const struct difference_view *view,
                                   const struct difference_row *row)
{
    struct json_object *object = json_object_new_object();
    bool is_whole = row->parent == DIFFERENCE_NONE;
    json__number(object, "parent", is_whole ? UINT64_MAX : row->parent);
    if (!is_whole || !view->phase)
        add_call(object, view->report, &row->what);
    add_both(object, "calls", (int64_t)row->count[SIDE_SLOW], (int64_t)row->count[SIDE_FAST]);
    add_both(object, "time_ns", (int64_t)row->time_ns[SIDE_SLOW], (int64_t)row->time_ns[SIDE_FAST]);
    add_both(object, "own_ns", row->own_ns[SIDE_SLOW], row->own_ns[SIDE_FAST]);
    json__signed(object, "own_difference_ns", row->own_ns[SIDE_SLOW] - row->own_ns[SIDE_FAST]);
    json__add(object, "components_ns",
              new_components(row->component_ns[SIDE_SLOW], row->component_ns[SIDE_FAST]));
    return object;
}

static struct json_object *new_rows(const struct difference_view *view)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (row, &view->difference->rows, struct difference_row)
        json_object_array_add(list, new_row(view, row));
    return list;
}

static struct json_object *new_by(const struct report *report, const struct difference_wait *wait)
{
    char unknown[32];
    if (!wait->by_site)
        return NULL;
    struct json_object *object = json_object_new_object();
    struct place place = place__of_site(report, wait->process, wait->by_site, unknown);
    json__place(object, &place);
    return object;
}

static struct json_object *new_waits(const struct difference_view *view)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (wait, &view->difference->waits, struct difference_wait) {
        struct json_object *entry = json__entry(list);
        json__text(entry, "kind", class_kind__name(wait->kind));
        json__address(entry, "object", wait->object);
        json__text(entry, "object_name",
                   report__variable(view->report, wait->process, wait->object));
        JSON_NUMBERS(entry, {"waits", wait->waits}, {"wait_ns", wait->wait_ns});
        json__add(entry, "by_tid", json__new_tid(view->report, wait->by));
        json__add(entry, "by", new_by(view->report, wait));
    }
    return list;
}

static void put(const struct difference_view *view, const struct style *style, FILE *out)
{
    const struct difference *difference = view->difference;
    struct json_object *root = json_object_new_object();
    (void)style;
    json__text(root, "schema", "heurt.difference/1");
    json__command(root, view->report);
    json__add(root, "of", new_subject(view));
    JSON_NUMBERS(root, {"matching_classes", view->matching}, {"count", difference->count},
                 {"min_ns", difference->min_ns}, {"median_ns", difference->median_ns},
                 {"max_ns", difference->max_ns});
    json__add(root, "slow", new_side(view, SIDE_SLOW));
    json__add(root, "fast", new_side(view, SIDE_FAST));
    json__signed(root, "difference_ns",
                 (int64_t)difference->sides[SIDE_SLOW].duration_ns -
                     (int64_t)difference->sides[SIDE_FAST].duration_ns);
    json__add(root, "components_ns", new_whole_components(difference));
    json__add(root, "rows", new_rows(view));
    json__add(root, "waits", new_waits(view));
    json__put(root, out);
}

const struct difference_presenter difference_json = {put};
