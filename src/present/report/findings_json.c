#include "present/report/findings_words.h"
#include "present/screen/json_members.h"

#include <json-c/json.h>
#include <stdlib.h>

static struct json_object *new_place(const struct place *place)
{
    struct json_object *object = json_object_new_object();
    json__place(object, place);
    return object;
}

static struct json_object *new_object(const struct report *report, const struct finding *finding)
{
    char *name = finding__object(report, finding);
    if (!name)
        return NULL;
    struct json_object *object = json_object_new_object();
    json__text(object, "name", name);
    json__text(object, "kind", finding__object_kind(report, finding));
    json__add(object, "born", NULL);
    json__number(object, "count", finding->objects);
    free(name);
    return object;
}

static struct json_object *new_by(const struct report *report, const struct finding *finding)
{
    struct finding_by by;
    if (!finding__by(report, finding, &by))
        return NULL;
    char unknown[32];
    struct place place = place__of_site(report, by.process, by.site, unknown);
    struct json_object *object = new_place(&place);
    json__text(object, "doing", by.doing);
    return object;
}

static struct json_object *new_tries(const struct finding *finding)
{
    struct json_object *list = json_object_new_array();
    for (const char *const *text = finding__tries(finding); *text; text++)
        json_object_array_add(list, json_object_new_string(*text));
    return list;
}

static struct json_object *new_classes(const struct finding *finding)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (class, &finding->classes, uint32_t)
        json_object_array_add(list, json_object_new_int64((int64_t) * class + 1));
    return list;
}

static struct json_object *new_finding(const struct report *report, const struct finding *finding,
                                       size_t rank)
{
    char unknown[32], *sentence = finding__sentence(report, finding);
    struct place place;
    struct json_object *object = json_object_new_object();
    json__number(object, "rank", rank);
    json__boolean(object, "ranked", finding->ranked);
    json__text(object, "sentence", sentence);
    json__add(object, "try", new_tries(finding));
    json__text(object, "category", finding_category__name(finding->category));
    json__add(object, "place",
              finding__place(report, finding, &place, unknown) ? new_place(&place) : NULL);
    json__add(object, "object", new_object(report, finding));
    json__add(object, "by", new_by(report, finding));
    json__number(object, "lost_ns", finding->lost_ns);
    json__share(object, "share", finding->share);
    json__add(object, "wall_gain", json__new_gain(finding->wall_gain));
    json__text(object, "confidence", confidence__name(finding->confidence));
    json__add(object, "classes", new_classes(finding));
    free(sentence);
    return object;
}

struct json_object *json__new_findings(const struct report *report)
{
    struct json_object *list = json_object_new_array();
    size_t rank = 0;
    VEC_EACH (finding, &report->findings->rows, struct finding)
        json_object_array_add(list, new_finding(report, finding, ++rank));
    return list;
}
