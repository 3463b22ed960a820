/* heurt.whatif/1 and its CSV: the contract is in docs/heurt-whatif.md. */
#include "present/table/table_format.h"
#include "present/table/table_source.h"
#include "present/whatif/whatif_screens.h"

/* ---- a prediction ---------------------------------------------------------------------------- */

struct object_cells {
    struct whatif_object of; /* its figures as they are */
    const char *name;
};

static const struct table objects_table =
    OBJECT(object_cells, FIELD_NAMED("kind", object_cells, of.kind, class_kind__name),
           FIELD_AS(COLUMN_ADDRESS, "object", object_cells, of.address),
           FIELD("object_name", object_cells, name),
           FIELDS_OF(object_cells, of, waited_before_ns, waited_after_ns));

struct answer_cells {
    const struct whatif_view *view;
    const char *asked;
    uint64_t rank;
    struct place_cells place; /* nowhere: it is of no class */
    const char *structure;    /* NULL: of no class by structure */
    uint64_t object;
    const char *object_name;
    uint64_t lost_ns;
    uint64_t measured_ns, replayed_ns, unrecorded_ns;
    const struct prediction *of;  /* NULL: there is none */
    struct prediction prediction; /* its figures as they are; not known where there is none */
    const char *refusal;
};

static struct table_rows object_rows(const void *row)
{
    const struct answer_cells *answer = row;
    struct table_rows rows = table_rows__of(&objects_table);
    VEC_EACH (object, &answer->prediction.objects, struct whatif_object)
        TABLE_ROW(&rows, object_cells, *object,
                  report__variable(answer->view->report, object->process, object->address));
    return rows;
}

static const struct table prediction_table =
    OBJECT(answer_cells, FIELDS_OF(answer_cells, prediction, wall_ns, least_ns, most_ns),
           FIELD_AS(COLUMN_RANGE, "wall_gain", answer_cells, prediction.gain),
           FIELD("threads", answer_cells, prediction.threads), FIELD_LIST("objects", object_rows));

static struct table_rows prediction_row(const void *row)
{
    return table_rows__if(((const struct answer_cells *)row)->of, &prediction_table, row);
}

/* ---- answers --------------------------------------------------------------------------------- */

#define PREDICTED(key, type, member, title, unit, help) \
    FLAT_AS(type, key, answer_cells, prediction.member, title, unit, help)

static const struct column columns[] = {
    COLUMN(answer_cells, asked, "with", "", "the change, as an option of heurt whatif"),
    COLUMN(answer_cells, rank, NULL, "", "place in the report of the class that it is about"),
    COLUMN_KEYED("function", answer_cells, place.function, "function", "", "where that class is"),
    FIELD("module", answer_cells, place.module),
    COLUMN_KEYED("file", answer_cells, place.file, NULL, "", "its source file"),
    COLUMN_KEYED("line", answer_cells, place.line, NULL, "", "line in it"),
    FIELD("structure", answer_cells, structure),
    COLUMN_AS(COLUMN_ADDRESS, answer_cells, object, NULL, "",
              "address of the lock that it is about"),
    COLUMN(answer_cells, object_name, "lock", "", "variable at that address"),
    COLUMN(answer_cells, lost_ns, "lost", "ns", "of all threads' time, by what is changed"),
    FLAT("measured_ns", answer_cells, measured_ns, NULL, "ns", "wall time of the run"),
    FLAT("replayed_ns", answer_cells, replayed_ns, NULL, "ns",
         "wall time of its replay without a change"),
    FLAT("unrecorded_ns", answer_cells, unrecorded_ns, NULL, "ns",
         "wall time without what recording cost"),
    FIELD_ONE("prediction", prediction_row),
    PREDICTED("wall_ns", COLUMN_COUNT, wall_ns, "wall time", "ns", "predicted, most likely"),
    PREDICTED("least_ns", COLUMN_COUNT, least_ns, "at least", "ns", "predicted, at least"),
    PREDICTED("most_ns", COLUMN_COUNT, most_ns, "at most", "ns", "predicted, at most"),
    PREDICTED("wall_gain_low", COLUMN_FACTOR, gain[0], "gain from", "×",
              "how many times as fast, at least"),
    PREDICTED("wall_gain_high", COLUMN_FACTOR, gain[1], "to", "×",
              "how many times as fast, at most"),
    PREDICTED("threads", COLUMN_SMALL, threads, NULL, "", "threads of the changed run"),
    COLUMN(answer_cells, refusal, NULL, "", "why there is no prediction"),
};
static const struct table whatif_table =
    TABLE(answer_cells, "whatif", "a row a change and the wall time that it would bring", columns);

static void add_answer(struct table_rows *rows, const struct whatif_view *view,
                       const struct whatif_answer *answer)
{
    static const struct prediction unknown = {.wall_ns = UINT64_MAX,
                                              .least_ns = UINT64_MAX,
                                              .most_ns = UINT64_MAX,
                                              .threads = UINT32_MAX};
    const struct vec *classes = &view->report->profile->classes;
    struct answer_cells *row = table_rows__add(rows);
    *row = (struct answer_cells){
        .view = view,
        .asked = answer->asked,
        .rank = answer->rank ? answer->rank : UINT64_MAX,
        .place = PLACE_NOWHERE,
        .object = answer->has_lock ? answer->lock : UINT64_MAX,
        .object_name =
            answer->has_lock ? report__variable(view->report, answer->process, answer->lock) : NULL,
        .lost_ns = answer->lost_ns,
        .measured_ns = view->measured_ns,
        .replayed_ns = view->replayed_ns,
        .unrecorded_ns = view->unrecorded_ns,
        .of = answer->prediction,
        .prediction = answer->prediction ? *answer->prediction : unknown,
        .refusal = answer->prediction ? NULL : answer->refusal,
    };
    if (!answer->rank || answer->rank > classes->count)
        return;
    const struct class_definition *what =
        &VEC_AT(classes, struct profile_class, answer->rank - 1)->what;
    row->place = place_cells__of_class(rows, view->report, what);
    if (what->structure)
        row->structure = table_rows__keep(rows, class_structure__text(what->structure));
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

/* ---- the document ---------------------------------------------------------------------------- */

struct whatif_document {
    struct run_cells run;
    struct whatif_view view;
    uint64_t hidden;
};

static struct table_rows rows_of_document(const void *root)
{
    return whatif_rows(&((const struct whatif_document *)root)->view);
}

static const struct table document_table =
    OBJECT(whatif_document, FIELD_SCHEMA("heurt.whatif/1"), FIELD_COMMAND,
           FIELDS_OF(whatif_document, view, measured_ns, replayed_ns, unrecorded_ns, replayed_share,
                     told_threads),
           FIELD_LIST("answers", rows_of_document), FIELD("hidden", whatif_document, hidden));

struct json_object *whatif_document__new(const struct whatif_view *view)
{
    return document__new(&document_table, &(struct whatif_document){run_cells__of(view->report),
                                                                    *view, view->hidden});
}

static void put_json(const struct whatif_view *view, const struct style *style, FILE *out)
{
    (void)style;
    json__put(whatif_document__new(view), out);
}

const struct whatif_presenter whatif_json = {put_json, put_json};
