/* heurt.whatif/1 and its CSV: the contract is in docs/heurt-whatif.md. */
#include "base/memory.h"
#include "present/screen/json_members.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"
#include "present/whatif/whatif_screens.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>

/* ---- what a row is about --------------------------------------------------------------------- */

struct subject {
    struct place place; /* function NULL: no class */
    const char *lock;   /* "0x…", or NULL */
    const char *lock_name;
    char address[24], unknown[32];
    const struct profile_structure *structure; /* NULL: of no class by structure */
};

static void subject__of(const struct whatif_view *view, const struct whatif_answer *answer,
                        struct subject *subject)
{
    const struct vec *classes = &view->report->profile->classes;
    *subject = (struct subject){0};
    if (answer->rank && answer->rank <= classes->count) {
        const struct profile_class *class = VEC_AT(classes, struct profile_class, answer->rank - 1);
        subject->place = place__of_class(view->report, &class->what, subject->unknown);
        subject->structure = class->what.structure;
    }
    if (!answer->has_lock)
        return;
    snprintf(subject->address, sizeof subject->address, "0x%" PRIx64, answer->lock);
    subject->lock = subject->address;
    subject->lock_name = report__variable(view->report, answer->process, answer->lock);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static struct json_object *new_objects(const struct whatif_view *view,
                                       const struct prediction *prediction)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (object, &prediction->objects, struct whatif_object) {
        struct json_object *entry = json__entry(list);
        json__text(entry, "kind", class_kind__name(object->kind));
        json__address(entry, "object", object->address);
        json__text(entry, "object_name",
                   report__variable(view->report, object->process, object->address));
        JSON_NUMBERS(entry, {"waited_before_ns", object->waited_before_ns},
                     {"waited_after_ns", object->waited_after_ns});
    }
    return list;
}

static struct json_object *new_prediction(const struct whatif_view *view,
                                          const struct prediction *prediction)
{
    if (!prediction)
        return NULL;
    struct json_object *object = json_object_new_object();
    JSON_NUMBERS(object, {"wall_ns", prediction->wall_ns}, {"least_ns", prediction->least_ns},
                 {"most_ns", prediction->most_ns});
    json__add(object, "wall_gain", json__new_gain(prediction->gain));
    json__number(object, "threads", prediction->threads);
    json__add(object, "objects", new_objects(view, prediction));
    return object;
}

static struct json_object *new_row(const struct whatif_view *view,
                                   const struct whatif_answer *answer)
{
    struct subject subject;
    struct json_object *object = json_object_new_object();
    subject__of(view, answer, &subject);
    json__text(object, "asked", answer->asked);
    json__number(object, "rank", answer->rank ? answer->rank : UINT64_MAX);
    json__place(object, &subject.place);
    char *structure = subject.structure ? class_structure__text(subject.structure) : NULL;
    json__text(object, "structure", structure);
    free(structure);
    json__text(object, "object", subject.lock);
    json__text(object, "object_name", subject.lock_name);
    json__number(object, "lost_ns", answer->lost_ns);
    json__add(object, "prediction", new_prediction(view, answer->prediction));
    json__text(object, "refusal", answer->prediction ? NULL : answer->refusal);
    return object;
}

static void put_json(const struct whatif_view *view, const struct style *style, FILE *out)
{
    (void)style;
    struct json_object *root = json_object_new_object(), *rows = json_object_new_array();
    json__text(root, "schema", "heurt.whatif/1");
    json__command(root, view->report);
    JSON_NUMBERS(root, {"measured_ns", view->measured_ns}, {"replayed_ns", view->replayed_ns},
                 {"unrecorded_ns", view->unrecorded_ns});
    json__share(root, "replayed_share", view->replayed_share);
    json__number(root, "told_threads", view->told_threads);
    for (size_t i = 0; i < view->count; i++)
        json_object_array_add(rows, new_row(view, &view->rows[i]));
    json__add(root, "answers", rows);
    json__number(root, "hidden", view->hidden);
    json__put(root, out);
}

const struct whatif_presenter whatif_json = {put_json, put_json};

/* ---- CSV ------------------------------------------------------------------------------------- */

struct answer_cells {
    const char *asked;
    uint64_t rank;
    const char *function, *file;
    uint64_t line;
    uint64_t object;
    const char *object_name;
    uint64_t lost_ns, measured_ns, replayed_ns, unrecorded_ns, wall_ns, least_ns, most_ns;
    double wall_gain_low, wall_gain_high;
    uint32_t threads;
    const char *refusal;
};

static const struct column columns[] = {
    COLUMN(answer_cells, asked, "with", "", "the change, as an option of heurt whatif"),
    COLUMN(answer_cells, rank, NULL, "", "place in the report of the class that it is about"),
    COLUMN(answer_cells, function, "function", "", "where that class is"),
    COLUMN(answer_cells, file, NULL, "", "its source file"),
    COLUMN(answer_cells, line, NULL, "", "line in it"),
    COLUMN_AS(COLUMN_ADDRESS, answer_cells, object, NULL, "",
              "address of the lock that it is about"),
    COLUMN(answer_cells, object_name, "lock", "", "variable at that address"),
    COLUMN(answer_cells, lost_ns, "lost", "ns", "of all threads' time, by what is changed"),
    COLUMN(answer_cells, measured_ns, NULL, "ns", "wall time of the run"),
    COLUMN(answer_cells, replayed_ns, NULL, "ns", "wall time of its replay without a change"),
    COLUMN(answer_cells, unrecorded_ns, NULL, "ns", "wall time without what recording cost"),
    COLUMN(answer_cells, wall_ns, "wall time", "ns", "predicted, most likely"),
    COLUMN(answer_cells, least_ns, "at least", "ns", "predicted, at least"),
    COLUMN(answer_cells, most_ns, "at most", "ns", "predicted, at most"),
    COLUMN_AS(COLUMN_FACTOR, answer_cells, wall_gain_low, "gain from", "×",
              "how many times as fast, at least"),
    COLUMN_AS(COLUMN_FACTOR, answer_cells, wall_gain_high, "to", "×",
              "how many times as fast, at most"),
    COLUMN(answer_cells, threads, NULL, "", "threads of the changed run"),
    COLUMN(answer_cells, refusal, NULL, "", "why there is no prediction"),
};
static const struct table whatif_table =
    TABLE(answer_cells, "whatif", "a row a change and the wall time that it would bring", columns);

static void fill_prediction(struct answer_cells *row, const struct whatif_answer *answer)
{
    const struct prediction *prediction = answer->prediction;
    row->wall_ns = prediction ? prediction->wall_ns : UINT64_MAX;
    row->least_ns = prediction ? prediction->least_ns : UINT64_MAX;
    row->most_ns = prediction ? prediction->most_ns : UINT64_MAX;
    row->wall_gain_low = prediction ? prediction->gain[0] : 0;
    row->wall_gain_high = prediction ? prediction->gain[1] : 0;
    row->threads = prediction ? prediction->threads : UINT32_MAX;
    row->refusal = prediction ? NULL : answer->refusal;
}

static void add_answer(struct table_rows *rows, const struct whatif_view *view,
                       const struct whatif_answer *answer)
{
    struct subject subject;
    struct answer_cells *row = table_rows__add(rows);
    subject__of(view, answer, &subject);
    row->asked = answer->asked;
    row->rank = answer->rank ? answer->rank : UINT64_MAX;
    row->function = subject.place.function == subject.unknown
                        ? table_rows__keep(rows, memory__text(subject.unknown))
                        : subject.place.function;
    row->file = subject.place.file;
    row->line = subject.place.line ? subject.place.line : UINT64_MAX;
    row->object = answer->has_lock ? answer->lock : UINT64_MAX;
    row->object_name = subject.lock_name;
    row->lost_ns = answer->lost_ns;
    row->measured_ns = view->measured_ns;
    row->replayed_ns = view->replayed_ns;
    row->unrecorded_ns = view->unrecorded_ns;
    fill_prediction(row, answer);
}

struct table_rows whatif_rows(const struct whatif_view *view)
{
    struct table_rows rows = table_rows__of(&whatif_table);
    for (size_t i = 0; i < view->count; i++)
        add_answer(&rows, view, &view->rows[i]);
    return rows;
}

static struct table_rows rows_of_answers(const struct table_subject *subject)
{
    return whatif_rows(subject->whatif);
}

const struct table_source whatif_source = {&whatif_table, MADE_OF(&profile_analysis),
                                           rows_of_answers, NEEDS_WHATIF};

static void put_csv(const struct whatif_view *view, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(whatif_rows(view), out);
}

const struct whatif_presenter whatif_csv = {put_csv, put_csv};
