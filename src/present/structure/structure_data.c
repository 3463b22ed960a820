/* heurt.structure/1 and its CSV: the contract is in docs/heurt-structure.md. */
#include "present/iterations/iterations_screens.h"
#include "present/screen/json_members.h"
#include "present/structure/internal.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <json-c/json.h>

const char *outline_kind__name(enum outline_kind kind)
{
    static const char *const names[] = {
        [OUTLINE_OCCURRENCE] = "occurrence",
        [OUTLINE_LOOP] = "loop",
        [OUTLINE_SCATTERED] = "scattered",
        [OUTLINE_UNRECORDED] = "unrecorded",
        [OUTLINE_REST] = "rest",
    };
    return names[kind];
}

const struct class_definition *outline_row__place(const struct structure_report *shown,
                                                  const struct outline_row *row)
{
    if (row->kind != OUTLINE_OCCURRENCE && row->kind != OUTLINE_SCATTERED)
        return NULL;
    return &VEC_AT(&shown->structure->places, struct structure_place, row->place)->what;
}

/* Whether it is of occurrences or iterations, not of time that is left. */
static bool is_counted(const struct outline_row *row)
{
    return row->kind <= OUTLINE_SCATTERED;
}

static uint64_t known_if(bool is_known, uint64_t value)
{
    return is_known ? value : UINT64_MAX;
}

static uint64_t same_as(const struct outline_row *row)
{
    return known_if(row->same_as != OUTLINE_NONE, row->same_as);
}

static const struct trace_thread *thread_at(const struct structure_report *shown, uint32_t thread)
{
    return VEC_AT(trace__threads(shown->report->trace), struct trace_thread, thread);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static struct json_object *new_iterations(const struct outline_row *row)
{
    if (row->kind != OUTLINE_LOOP)
        return NULL;
    struct json_object *iterations = json_object_new_object();
    JSON_NUMBERS(iterations, {"min", row->iterations.min}, {"max", row->iterations.max},
                 {"sum", row->iterations.sum});
    return iterations;
}

static void add_times(struct json_object *object, const struct structure_report *shown,
                      const struct outline_row *row)
{
    bool counted = is_counted(row);
    JSON_NUMBERS(
        object, {"sum_ns", row->sum_ns}, {"mean_ns", known_if(counted, outline_row__mean_ns(row))},
        {"min_ns", known_if(counted, row->min_ns)}, {"max_ns", known_if(counted, row->max_ns)});
    json__share(object, "share", outline_row__share(shown->outline, row));
    json__number(object, "excess_ns", known_if(counted, row->excess_ns));
    if (counted)
        json__share(object, "score", outline_row__score(shown->outline, row));
    else
        json__add(object, "score", NULL);
}

static void add_place(struct json_object *object, const struct structure_report *shown,
                      const struct class_definition *place)
{
    if (place) {
        json__identity(object, shown->report, place);
        return;
    }
    json__place(object, &(struct place){0});
    json__add(object, "caller", NULL);
}

static struct json_object *new_row(const struct structure_report *shown, uint32_t number)
{
    const struct outline_row *row = VEC_AT(&shown->outline->rows, struct outline_row, number);
    const struct class_definition *place = outline_row__place(shown, row);
    struct json_object *object = json_object_new_object();
    json__number(object, "row", number);
    json__text(object, "kind", outline_kind__name(row->kind));
    json__text(object, "class_kind", place ? class_kind__name(place->at.kind) : NULL);
    add_place(object, shown, place);
    JSON_NUMBERS(object, {"count", known_if(row->kind != OUTLINE_UNRECORDED, row->count)},
                 {"loops", known_if(row->kind == OUTLINE_LOOP, row->loops)});
    json__add(object, "turns", new_iterations(row));
    json__number(object, "kinds", known_if(row->kinds > 0, row->kinds));
    add_times(object, shown, row);
    JSON_NUMBERS(object, {"threads", known_if(is_counted(row), row->threads)},
                 {"shapes", known_if(is_counted(row), row->shapes)}, {"same_as", same_as(row)});
    json__boolean(object, "cut", row->is_cut);
    json__boolean(object, "count_estimated", row->is_count_estimated);
    json__boolean(object, "estimated", row->is_estimated);
    json__boolean(object, "excess_estimated", row->is_excess_estimated);
    return object;
}

/* The rows of that depth from *at on, with those below them; *at: the first row that is none. */
static struct json_object *new_body(const struct structure_report *shown, uint32_t *at,
                                    uint32_t end, uint32_t depth)
{
    struct json_object *body = json_object_new_array();
    while (*at < end && VEC_AT(&shown->outline->rows, struct outline_row, *at)->depth >= depth) {
        struct json_object *row = new_row(shown, (*at)++);
        json__add(row, "body", new_body(shown, at, end, depth + 1));
        json_object_array_add(body, row);
    }
    return body;
}

static struct json_object *new_group(const struct structure_report *shown, uint32_t number)
{
    const struct outline_group *group =
        VEC_AT(&shown->outline->groups, struct outline_group, number);
    struct json_object *object = json_object_new_object(), *threads = json_object_new_array();
    uint32_t at = group->first_row, outermost = structure_rows__outermost(shown->outline, number);
    VEC_EACH (thread, &group->threads, uint32_t) {
        struct json_object *entry = json__entry(threads);
        json__number(entry, "tid", thread_at(shown, *thread)->tid);
        json__text(entry, "name", thread_at(shown, *thread)->name);
    }
    json__add(object, "threads", threads);
    JSON_NUMBERS(object, {"lifetime_ns", group->lifetime_ns},
                 {"outermost_loop", known_if(outermost != OUTLINE_NONE, outermost)});
    json__add(object, "body", new_body(shown, &at, group->first_row + group->row_count, 0));
    return object;
}

static void put_json(const struct structure_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    const struct report *report = shown->report;
    struct json_object *root = json_object_new_object(), *groups = json_object_new_array();
    json__text(root, "schema", "heurt.structure/1");
    json__command(root, report);
    json__exit(root, report);
    json__machine(root, report);
    JSON_NUMBERS(root, {"wall_ns", trace__wall_ns(report->trace)},
                 {"threads", shown->structure->threads.count},
                 {"places", shown->structure->places.count});
    json__text(root, "thread", shown->thread);
    json__number(root, "depth", known_if(shown->options->depth > 0, shown->options->depth));
    json__boolean(root, "sampled", shown->outline->is_sampled);
    json__share(root, "least_share", shown->options->least_share);
    for (uint32_t i = 0; i < shown->outline->groups.count; i++)
        json_object_array_add(groups, new_group(shown, i));
    json__add(root, "groups", groups);
    json__number(
        root, "sequence_count",
        known_if(shown->sequences != NULL, shown->sequences ? shown->sequences->rows.count : 0));
    json__add(root, "sequences", shown->sequences ? sequences__json(shown) : NULL);
    json__add(root, "iterations",
              shown->iterations ? iterations__json(report, shown->iterations) : NULL);
    json__warnings(root, report);
    json__put(root, out);
}

const struct structure_presenter structure_json = {"json", put_json};

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_csv(const struct structure_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(outline_rows(shown), out);
}

const struct structure_presenter structure_csv = {"csv", put_csv};
