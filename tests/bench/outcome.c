#include "outcome.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int outcome__elapsed(const char *text, double *elapsed_ns, struct error *error)
{
    static const char key[] = "elapsed_ns=";
    const char *at = strstr(text, key);
    char *end = NULL;
    if (at)
        *elapsed_ns = strtod(at + sizeof key - 1, &end);
    if (!at || end == at + sizeof key - 1 || !(*elapsed_ns > 0))
        return error__set(error, -EPROTO, "the program printed no elapsed_ns, but: %s", text);
    return 0;
}

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;
    if (json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, name, &value);
    return value;
}

/* pread64 is pread. */
static bool named(struct json_object *value, const char *name)
{
    const char *text = value ? json_object_get_string(value) : NULL;
    size_t length = name ? strlen(name) : 0;
    if (!name)
        return true;
    return text && strncmp(text, name, length) == 0 &&
           (!text[length] || strcmp(text + length, "64") == 0);
}

static bool class__chosen(struct json_object *class, const struct class_choice *choice)
{
    return named(member(class, "kind"), choice->kind) &&
           named(member(class, "function"), choice->function) &&
           named(member(member(class, "caller"), "function"), choice->caller);
}

static int choose(struct json_object *classes, const struct class_choice *choice,
                  struct class_outcome *outcome, struct error *error)
{
    struct json_object *best = NULL;
    size_t count =
        json_object_is_type(classes, json_type_array) ? json_object_array_length(classes) : 0;
    for (size_t i = 0; i < count; i++) {
        struct json_object *class = json_object_array_get_idx(classes, i);
        if (class__chosen(class, choice) &&
            (!best || json_object_get_double(member(class, "score")) >
                          json_object_get_double(member(best, "score"))))
            best = class;
    }
    if (!best)
        return error__set(error, -ENOENT, "the report has %zu classes, but none is %s%s%s%s", count,
                          choice->kind ? choice->kind : "", choice->kind ? " " : "",
                          choice->function ? choice->function : "",
                          choice->caller ? " called where it should be" : "");
    outcome->score = json_object_get_double(member(best, "score"));
    outcome->min_ns = json_object_get_double(member(best, "min_ns"));
    outcome->count = json_object_get_double(member(best, "count"));
    return 0;
}

int outcome__class(const char *json, const struct class_choice *choice,
                   struct class_outcome *outcome, struct error *error)
{
    struct json_object *report = json_tokener_parse(json);
    if (!report)
        return error__set(error, -EPROTO, "the report is not JSON: %.200s", json);
    int code = choose(member(report, "classes"), choice, outcome, error);
    json_object_put(report);
    return code;
}
