#include "present/screen/json_members.h"

#include "base/memory.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void json__add(struct json_object *object, const char *name, struct json_object *value)
{
    json_object_object_add(object, name, value);
}

struct json_object *json__object(struct json_object *parent, const char *name)
{
    struct json_object *object = json_object_new_object();
    json__add(parent, name, object);
    return object;
}

struct json_object *json__list(struct json_object *parent, const char *name)
{
    struct json_object *list = json_object_new_array();
    json__add(parent, name, list);
    return list;
}

struct json_object *json__entry(struct json_object *list)
{
    struct json_object *entry = json_object_new_object();
    json_object_array_add(list, entry);
    return entry;
}

void json__number(struct json_object *object, const char *name, uint64_t value)
{
    json__add(object, name, value == UINT64_MAX ? NULL : json_object_new_uint64(value));
}

void json__numbers(struct json_object *object, const struct json_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json__number(object, numbers[i].name, numbers[i].value);
}

void json__signed(struct json_object *object, const char *name, int64_t value)
{
    json__add(object, name, json_object_new_int64(value));
}

void json__share(struct json_object *object, const char *name, double value)
{
    char digits[32];
    if (!isfinite(value)) {
        json__add(object, name, NULL);
        return;
    }
    snprintf(digits, sizeof digits, "%.6f", value);
    json__add(object, name, json_object_new_double_s(value, digits));
}

void json__boolean(struct json_object *object, const char *name, bool value)
{
    json__add(object, name, json_object_new_boolean(value));
}

struct json_object *json__new_text(const char *text)
{
    if (!text)
        return NULL;
    char *clean = text__utf8(text);
    struct json_object *string = json_object_new_string(clean);
    free(clean);
    return string;
}

void json__text(struct json_object *object, const char *name, const char *text)
{
    json__add(object, name, json__new_text(text));
}

void json__address(struct json_object *object, const char *name, uint64_t address)
{
    char digits[24];
    snprintf(digits, sizeof digits, "0x%" PRIx64, address);
    json__text(object, name, address == UINT64_MAX ? NULL : digits);
}

void json__place(struct json_object *object, const struct place *place)
{
    json__text(object, "function", place->function);
    json__text(object, "module", place->module);
    json__text(object, "file", place->file);
    json__add(object, "line", place->line ? json_object_new_int64(place->line) : NULL);
}

struct json_object *json__new_stack(const struct report *report, const struct profile_stack *stack)
{
    struct vec texts, frames = stack__frames(report, stack, &texts);
    struct json_object *object = json_object_new_object();
    json__share(object, "share", stack->share);
    struct json_object *list = json__list(object, "frames");
    VEC_EACH (frame, &frames, struct frame) {
        struct json_object *entry = json__entry(list);
        json__place(entry, &frame->place);
        json__boolean(entry, "inlined", frame->inlined);
        json__address(entry, "address", frame->address);
    }
    vec__free(&frames);
    texts__free(&texts);
    return object;
}

struct json_object *json__new_gain(const double gain[2])
{
    struct json_object *range = json_object_new_array();
    for (int i = 0; i < 2; i++) {
        char digits[32];
        snprintf(digits, sizeof digits, "%.4f", gain[i]);
        json_object_array_add(range, json_object_new_double_s(gain[i], digits));
    }
    return range;
}

void json__identity(struct json_object *object, const struct report *report,
                    const struct class_definition *class)
{
    char unknown[32];
    struct place place = place__of_class(report, class, unknown);
    bool hooked = class__is_hooked(class) && class->at.site;
    struct place itself = place, caller = hooked ? place : (struct place){0};
    itself.function = class->at.function;
    json__place(object, &itself);
    json__place(json__object(object, "caller"), &caller);
}

struct json_object *json__new_tid(const struct report *report, uint32_t thread)
{
    const struct vec *threads = trace__threads(report->trace);
    return thread < threads->count
               ? json_object_new_int64(VEC_AT(threads, struct trace_thread, thread)->tid)
               : NULL;
}

struct json_object *json__new_doing(const uint64_t doing_ns[COMPONENTS])
{
    struct json_object *doing = json_object_new_object();
    for (int c = 0; c < COMPONENTS; c++)
        json__number(doing, component__key((enum component)c), doing_ns[c]);
    return doing;
}

void json__command(struct json_object *root, const struct report *report)
{
    struct json_object *command = json__list(root, "command");
    const char *meta = trace__meta(report->trace, "command");
    char *copy = memory__text(meta ? meta : ""), *rest = *copy ? copy : NULL;
    for (char *argument; (argument = strsep(&rest, "\n"));)
        json_object_array_add(command, json__new_text(argument));
    free(copy);
}

void json__exit(struct json_object *root, const struct report *report)
{
    const struct heurt_session *session = trace__session(report->trace);
    int status = session->wait_status;
    bool exited = session->finished && WIFEXITED(status);
    bool killed = session->finished && WIFSIGNALED(status);
    json__add(root, "exit_status",
              exited   ? json_object_new_int(WEXITSTATUS(status))
              : killed ? json_object_new_int(128 + WTERMSIG(status))
                       : NULL);
    json__add(root, "signal", killed ? json_object_new_int(WTERMSIG(status)) : NULL);
}

void json__machine(struct json_object *root, const struct report *report)
{
    struct json_object *machine = json__object(root, "machine");
    json__text(machine, "host", trace__meta(report->trace, "host"));
    json__text(machine, "kernel", trace__meta(report->trace, "kernel"));
    json__text(machine, "processor", trace__meta(report->trace, "processor"));
    const char *cpus = trace__meta(report->trace, "cpus");
    json__add(machine, "cpus", cpus ? json_object_new_int(atoi(cpus)) : NULL);
}

void json__warnings(struct json_object *root, const struct report *report)
{
    struct json_object *list = json__list(root, "warnings");
    struct vec warnings = report__warnings(report);
    VEC_EACH (warning, &warnings, char *)
        json_object_array_add(list, json__new_text(*warning));
    texts__free(&warnings);
}

void json__put(struct json_object *root, FILE *out)
{
    fputs(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                   JSON_C_TO_STRING_NOSLASHESCAPE),
          out);
    fputc('\n', out);
    json_object_put(root);
}
