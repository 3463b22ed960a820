/* heurt.whatif/1 and its CSV: the contract is in docs/heurt-whatif.md. */
#include "base/memory.h"
#include "present/screen/csv_line.h"
#include "present/screen/json_members.h"
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
        struct json_object *entry = json_object_new_object();
        json__text(entry, "kind", class_kind__name(object->kind));
        json__address(entry, "object", object->address);
        json__text(entry, "object_name",
                   report__variable(view->report, object->process, object->address));
        json__number(entry, "waited_before_ns", object->waited_before_ns);
        json__number(entry, "waited_after_ns", object->waited_after_ns);
        json_object_array_add(list, entry);
    }
    return list;
}

static struct json_object *new_prediction(const struct whatif_view *view,
                                          const struct prediction *prediction)
{
    if (!prediction)
        return NULL;
    struct json_object *object = json_object_new_object();
    json__number(object, "wall_ns", prediction->wall_ns);
    json__number(object, "least_ns", prediction->least_ns);
    json__number(object, "most_ns", prediction->most_ns);
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
    json__known(object, "rank", answer->rank ? answer->rank : UINT64_MAX);
    json__place(object, &subject.place);
    char *structure = subject.structure ? class_structure__text(subject.structure) : NULL;
    json__text(object, "structure", structure);
    free(structure);
    json__text(object, "object", subject.lock);
    json__text(object, "object_name", subject.lock_name);
    json__known(object, "lost_ns", answer->lost_ns);
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
    json__number(root, "measured_ns", view->measured_ns);
    json__number(root, "replayed_ns", view->replayed_ns);
    json__number(root, "unrecorded_ns", view->unrecorded_ns);
    for (size_t i = 0; i < view->count; i++)
        json_object_array_add(rows, new_row(view, &view->rows[i]));
    json__add(root, "answers", rows);
    json__number(root, "hidden", view->hidden);
    json__put(root, out);
}

const struct whatif_presenter whatif_json = {put_json, put_json};

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_predicted(struct csv_line *line, const struct prediction *prediction)
{
    if (!prediction) {
        for (int i = 0; i < 6; i++)
            line__text(line, "");
        return;
    }
    line__number(line, prediction->wall_ns);
    line__number(line, prediction->least_ns);
    line__number(line, prediction->most_ns);
    line__gain(line, prediction->gain);
    line__number(line, prediction->threads);
}

/* UINT64_MAX is an empty field. */
static void put_known(struct csv_line *line, uint64_t value)
{
    if (value == UINT64_MAX)
        line__text(line, "");
    else
        line__number(line, value);
}

static void put_row(const struct whatif_view *view, const struct whatif_answer *answer, FILE *out)
{
    struct subject subject;
    struct csv_line line = {out, false};
    subject__of(view, answer, &subject);
    line__text(&line, answer->asked);
    put_known(&line, answer->rank ? answer->rank : UINT64_MAX);
    line__text(&line, subject.place.function);
    line__text(&line, subject.place.file);
    line__source_line(&line, subject.place.line);
    line__text(&line, subject.lock);
    line__text(&line, subject.lock_name);
    put_known(&line, answer->lost_ns);
    line__number(&line, view->measured_ns);
    line__number(&line, view->replayed_ns);
    line__number(&line, view->unrecorded_ns);
    put_predicted(&line, answer->prediction);
    line__text(&line, answer->prediction ? "" : answer->refusal);
    fputc('\n', out);
}

static void put_csv(const struct whatif_view *view, const struct style *style, FILE *out)
{
    (void)style;
    fputs("asked,rank,function,file,line,object,object_name,lost_ns,measured_ns,replayed_ns,"
          "unrecorded_ns,"
          "wall_ns,least_ns,most_ns,wall_gain_low,wall_gain_high,threads,refusal\n",
          out);
    for (size_t i = 0; i < view->count; i++)
        put_row(view, &view->rows[i], out);
}

const struct whatif_presenter whatif_csv = {put_csv, put_csv};
