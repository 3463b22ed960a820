#include "recording.h"

#include "child.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *default_parent(void)
{
    const char *memory = "/dev/shm", *other = getenv("TMPDIR");
    if (access(memory, W_OK) == 0)
        return memory;
    return other ? other : "/tmp";
}

int scratch__make(struct scratch *scratch, const char *parent, struct error *error)
{
    snprintf(scratch->directory, sizeof scratch->directory, "%s/heurt-bench-XXXXXX",
             parent ? parent : default_parent());
    if (!mkdtemp(scratch->directory))
        return error__set(error, -errno, "cannot make %s: %s", scratch->directory, strerror(errno));
    snprintf(scratch->trace, sizeof scratch->trace, "%s/trace", scratch->directory);
    snprintf(scratch->log, sizeof scratch->log, "%s/log", scratch->directory);
    return 0;
}

/* group: the object in which it is, NULL: none. */
static double member(struct json_object *object, const char *group, const char *name)
{
    struct json_object *value = NULL;
    if ((group && !json_object_object_get_ex(object, group, &object)) ||
        !json_object_object_get_ex(object, name, &value))
        return NAN;
    return json_object_get_double(value);
}

static void find_duration(struct json_object *report, struct recording *recording)
{
    struct json_object *classes;
    double most = 0;
    recording->p50_ns = recording->mean_ns = NAN;
    if (!json_object_object_get_ex(report, "classes", &classes))
        return;
    for (size_t i = 0; i < json_object_array_length(classes); i++) {
        struct json_object *class = json_object_array_get_idx(classes, i), *kind;
        double count = member(class, NULL, "count");
        if (!json_object_object_get_ex(class, "kind", &kind) ||
            strcmp(json_object_get_string(kind), "call") != 0 || count <= most)
            continue;
        most = count;
        recording->p50_ns = member(class, NULL, "p50_ns");
        recording->mean_ns = member(class, NULL, "sum_ns") / count;
    }
}

int recording__weigh(const char *heurt, const char *trace, const char *log,
                     struct recording *recording, struct error *error)
{
    struct words words = {0};
    char *text, path[4096];
    struct stat info;
    words__add(&words, (const char *const[]){heurt, "report", "--json", "-i", trace, NULL});
    int code = child__run(&words, log, &text, error);
    if (code != 0)
        return code;
    struct json_object *report = json_tokener_parse(text);
    recording->events = member(report, "overhead", "events");
    recording->lost = member(report, "coverage", "events_lost");
    recording->wall_ns = member(report, NULL, "wall_ns");
    find_duration(report, recording);
    json_object_put(report);
    free(text);
    snprintf(path, sizeof path, "%s/events", trace);
    if (stat(path, &info) != 0)
        return error__set(error, -errno, "cannot look at %s: %s", path, strerror(errno));
    recording->bytes = (double)info.st_size;
    if (isnan(recording->events) || isnan(recording->lost))
        return error__set(error, -EPROTO, "the report of %s does not count its events", trace);
    return 0;
}

double text__number(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == '=')
            return strtod(line + length + 1, NULL);
    }
    return NAN;
}
