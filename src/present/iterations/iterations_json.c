/* "iterations" of heurt.structure/1: the contract is in docs/heurt-structure.md. */
#include "present/iterations/iterations_screens.h"
#include "present/screen/json_members.h"

#include <json-c/json.h>

static struct json_object *new_call(const struct report *report,
                                    const struct class_definition *what)
{
    char unknown[32];
    if (!what->at.function)
        return NULL;
    struct json_object *object = json_object_new_object();
    struct place place = place__of_class(report, what, unknown);
    json__text(object, "kind", class_kind__name(what->at.kind));
    json__text(object, "call", class__is_hooked(what) ? what->at.function : NULL);
    json__place(object, &place);
    return object;
}

static struct json_object *new_body(const struct report *report,
                                    const struct iteration_phase *phase)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (what, &phase->body, struct class_definition)
        json_object_array_add(list, new_call(report, what));
    return list;
}

static struct json_object *new_threads(const struct report *report,
                                       const struct iteration_phase *phase)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (thread, &phase->threads, struct iteration_thread) {
        struct json_object *entry = json__entry(list);
        json__add(entry, "tid", json__new_tid(report, thread->thread));
        JSON_NUMBERS(entry, {"turns", thread->iterations}, {"min_ns", thread->min_ns},
                     {"max_ns", thread->max_ns}, {"sum_ns", thread->sum_ns});
    }
    return list;
}

static struct json_object *new_more(const struct iteration_outlier *outlier)
{
    struct json_object *object = json_object_new_object();
    for (unsigned i = 0; i < COMPONENTS; i++)
        json__signed(object, component__key((enum component)i), outlier->component_more_ns[i]);
    return object;
}

static struct json_object *new_outliers(const struct report *report,
                                        const struct iteration_phase *phase)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (outlier, &phase->outliers, struct iteration_outlier) {
        struct json_object *entry = json__entry(list);
        json__number(entry, "turn", outlier->iteration.index);
        json__add(entry, "tid", json__new_tid(report, outlier->iteration.thread));
        JSON_NUMBERS(entry, {"start_ns", outlier->iteration.start_ns},
                     {"duration_ns", outlier->iteration.duration_ns},
                     {"usual_turn", outlier->usual_index});
        json__signed(entry, "more_ns", outlier->more_ns);
        json__add(entry, "components_ns", new_more(outlier));
        json__add(entry, "place", new_call(report, &outlier->place));
        json__signed(entry, "place_more_ns", outlier->place_more_ns);
        json__signed(entry, "place_more_calls", outlier->place_more_calls);
    }
    return list;
}

static struct json_object *new_strip(const struct iteration_phase *phase)
{
    struct json_object *list = json_object_new_array();
    for (unsigned i = 0; i < ITERATIONS_STRIP; i++)
        json_object_array_add(list, json_object_new_uint64(phase->strip[i].longest_ns));
    return list;
}

static void add_times(struct json_object *object, const struct iteration_phase *phase)
{
    JSON_NUMBERS(object, {"start_ns", phase->start_ns}, {"end_ns", phase->end_ns});
    json__share(object, "share", phase->share);
    JSON_NUMBERS(object, {"min_ns", phase->min_ns}, {"p50_ns", phase->median_ns},
                 {"p99_ns", phase->p99_ns}, {"max_ns", phase->max_ns}, {"sum_ns", phase->sum_ns},
                 {"excess_ns", phase->excess_ns});
    json__share(object, "score", phase->score);
    JSON_NUMBERS(object, {"imbalance_ns", phase->is_matched ? phase->imbalance_ns : UINT64_MAX},
                 {"threshold_ns", phase->threshold_ns}, {"outlier_count", phase->outlier_count});
}

static struct json_object *new_phase(const struct report *report,
                                     const struct iteration_phase *phase)
{
    struct json_object *object = json_object_new_object();
    json__boolean(object, "marked", phase->is_marked);
    json__boolean(object, "between_waits", phase->is_between_waits);
    json__boolean(object, "variants", phase->is_choice);
    json__boolean(object, "in_step", phase->is_matched);
    json__add(object, "body", new_body(report, phase));
    json__boolean(object, "body_is_cut", phase->body_is_cut);
    json__number(object, "turns", phase->iterations);
    add_times(object, phase);
    json__add(object, "threads", new_threads(report, phase));
    json__add(object, "strip_ns", new_strip(phase));
    json__add(object, "outliers", new_outliers(report, phase));
    return object;
}

struct json_object *iterations__json(const struct report *report,
                                     const struct iterations *iterations)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (phase, &iterations->phases, struct iteration_phase)
        json_object_array_add(list, new_phase(report, phase));
    return list;
}
