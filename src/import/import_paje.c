/* Paje traces (Pajé trace file format, version 1.2.5): text, with its events defined in its head.
 *
 * Containers whose state changes are told become threads, of the process that the container around
 * them stands for. PushState and PopState are calls; SetState is a call that lasts until the next
 * one. Links, variables and points are passed over. Times are in s. */
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "import/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 32u

enum paje_field {
    PAJE_TIME,
    PAJE_NAME,
    PAJE_ALIAS,
    PAJE_CONTAINER,
    PAJE_VALUE,
    PAJE_TYPE,
    PAJE_KEYS
};
enum paje_kind {
    PAJE_OTHER,
    PAJE_CREATE,
    PAJE_SET,
    PAJE_PUSH,
    PAJE_POP,
    PAJE_ENTITY,
    PAJE_DEFINITION
};

/* %EventDef NAME ID, and the fields that follow. */
struct paje_event {
    enum paje_kind kind;
    size_t count;
    enum paje_field fields[FIELDS_MAX]; /* PAJE_KEYS: of no interest */
};

struct paje_container {
    uint32_t thread; /* the import's number; UINT32_MAX: none yet */
    uint32_t pid;
    char *name;
    bool has_state; /* by SetState */
};

struct paje_reading {
    struct import *import;
    struct map events;        /* id -> place in kinds */
    struct vec kinds;         /* struct paje_event */
    struct map containers;    /* alias or name -> place in containers_of */
    struct vec containers_of; /* struct paje_container */
    struct map values;        /* alias -> place in names */
    struct vec names;         /* char * */
    size_t defined;           /* place in kinds + 1 of the event that is being defined; 0: none */
    int64_t last_ns;
};

static enum paje_kind kind_named(const char *name)
{
    static const struct {
        const char *name;
        enum paje_kind kind;
    } kinds[] = {{"PajeCreateContainer", PAJE_CREATE},
                 {"PajeSetState", PAJE_SET},
                 {"PajePushState", PAJE_PUSH},
                 {"PajePopState", PAJE_POP},
                 {"PajeDefineEntityValue", PAJE_ENTITY},
                 {"PajeDefineContainerType", PAJE_DEFINITION},
                 {"PajeDefineStateType", PAJE_DEFINITION}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return PAJE_OTHER;
}

static enum paje_field field_named(const char *name)
{
    static const char *const names[] = {"Time", "Name", "Alias", "Container", "Value", "Type"};
    for (unsigned i = 0; i < PAJE_KEYS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return PAJE_KEYS;
}

/* The next word of a line, in quotes or not; NULL: there is none. It is cut out of the line. */
static char *next_word(char **line)
{
    char *at = *line + strspn(*line, " \t\r\n");
    if (!*at)
        return NULL;
    bool is_quoted = *at == '"';
    at += is_quoted;
    char *end = at + strcspn(at, is_quoted ? "\"" : " \t\r\n");
    *line = *end ? end + 1 : end;
    *end = 0;
    return at;
}

/* ---- the head -------------------------------------------------------------------------------- */

static void define(struct paje_reading *reading, char *line)
{
    char *word = next_word(&line);
    if (!word)
        return;
    if (strcmp(word, "EventDef") == 0) {
        char *name = next_word(&line), *id = next_word(&line);
        if (!name || !id || reading->kinds.count > 10000)
            return;
        const struct paje_event event = {.kind = kind_named(name)};
        map__put(&reading->events, id, strlen(id), reading->kinds.count);
        vec__push(&reading->kinds, &event);
        reading->defined = reading->kinds.count;
    } else if (strcmp(word, "EndEventDef") == 0)
        reading->defined = 0;
    else if (reading->defined) {
        struct paje_event *event = VEC_AT(&reading->kinds, struct paje_event, reading->defined - 1);
        if (event->count < FIELDS_MAX)
            event->fields[event->count++] = field_named(word);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct paje_container *container_of(struct paje_reading *reading, const char *key)
{
    uint64_t place = key ? map__get(&reading->containers, key, strlen(key)) : MAP_ABSENT;
    return place == MAP_ABSENT ? NULL
                               : VEC_AT(&reading->containers_of, struct paje_container, place);
}

static void create(struct paje_reading *reading, char *const *words)
{
    const char *alias = words[PAJE_ALIAS], *name = words[PAJE_NAME];
    const char *key = alias ? alias : name;
    const struct paje_container *around = container_of(reading, words[PAJE_CONTAINER]);
    if (!key || container_of(reading, key) || reading->containers_of.count >= IMPORT_THREADS_MAX)
        return;
    uint32_t number = (uint32_t)reading->containers_of.count;
    const struct paje_container container = {
        UINT32_MAX,
        around ? (uint32_t)(around - (struct paje_container *)reading->containers_of.items) + 1 : 1,
        memory__text(name ? name : key), false};
    vec__push(&reading->containers_of, &container);
    map__put(&reading->containers, key, strlen(key), number);
    if (name)
        map__put(&reading->containers, name, strlen(name), number);
}

/* The thread that a container is; UINT32_MAX: it is none. */
static uint32_t thread_of(struct paje_reading *reading, struct paje_container *container)
{
    uint32_t number =
        (uint32_t)(container - (struct paje_container *)reading->containers_of.items) + 1;
    if (container->thread == UINT32_MAX)
        container->thread =
            import__thread(reading->import, container->pid, number, container->name);
    return container->thread;
}

static const char *value_of(const struct paje_reading *reading, const char *alias)
{
    uint64_t place = alias ? map__get(&reading->values, alias, strlen(alias)) : MAP_ABSENT;
    return place == MAP_ABSENT ? alias : *VEC_AT(&reading->names, char *, place);
}

static bool time_of(char *const *words, int64_t *ns)
{
    char *end;
    long double s = words[PAJE_TIME] ? strtold(words[PAJE_TIME], &end) : 0;
    if (!words[PAJE_TIME] || end == words[PAJE_TIME] || !(s > -9e9L && s < 9e9L))
        return false;
    *ns = llroundl(s * 1e9L);
    return true;
}

static void change_state(struct paje_reading *reading, enum paje_kind kind, char *const *words)
{
    struct paje_container *container = container_of(reading, words[PAJE_CONTAINER]);
    uint32_t thread = container ? thread_of(reading, container) : UINT32_MAX;
    int64_t ns;
    if (thread == UINT32_MAX || !time_of(words, &ns)) {
        import__pass_over(reading->import, "states of unknown containers");
        return;
    }
    reading->last_ns = ns;
    if (kind == PAJE_POP || (kind == PAJE_SET && container->has_state))
        import__leave_innermost(reading->import, thread, ns);
    container->has_state |= kind == PAJE_SET;
    if (kind != PAJE_POP)
        import__enter(reading->import, thread, ns,
                      import__function(reading->import, thread,
                                       value_of(reading, words[PAJE_VALUE]), NULL, NULL, 0));
}

static void define_value(struct paje_reading *reading, char *const *words)
{
    if (!words[PAJE_ALIAS] || !words[PAJE_NAME] || reading->names.count > 1000000)
        return;
    char *name = memory__text(words[PAJE_NAME]);
    map__put(&reading->values, words[PAJE_ALIAS], strlen(words[PAJE_ALIAS]), reading->names.count);
    vec__push(&reading->names, &name);
}

static void take(struct paje_reading *reading, char *line)
{
    char *id = next_word(&line), *words[PAJE_KEYS + 1] = {NULL};
    uint64_t place = id ? map__get(&reading->events, id, strlen(id)) : MAP_ABSENT;
    if (!id || *id == '#')
        return;
    if (place == MAP_ABSENT) {
        import__pass_over(reading->import, "events that are not defined");
        return;
    }
    const struct paje_event *event = VEC_AT(&reading->kinds, struct paje_event, place);
    for (size_t i = 0; i < event->count; i++)
        words[event->fields[i]] = next_word(&line);
    if (event->kind == PAJE_CREATE)
        create(reading, words);
    else if (event->kind == PAJE_ENTITY)
        define_value(reading, words);
    else if (event->kind == PAJE_SET || event->kind == PAJE_PUSH || event->kind == PAJE_POP)
        change_state(reading, event->kind, words);
    else if (event->kind == PAJE_OTHER)
        import__pass_over(reading->import, "events other than states");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void free_reading(struct paje_reading *reading)
{
    VEC_EACH (container, &reading->containers_of, struct paje_container)
        free(container->name);
    texts__free(&reading->names);
    vec__free(&reading->containers_of);
    vec__free(&reading->kinds);
    map__free(&reading->events);
    map__free(&reading->containers);
    map__free(&reading->values);
}

static int import_paje(const struct import_source *source, struct import *import,
                       struct error *error)
{
    struct paje_reading reading = {.import = import,
                                   .kinds = VEC_OF(struct paje_event),
                                   .containers_of = VEC_OF(struct paje_container),
                                   .names = VEC_OF(char *)};
    FILE *file = fopen(source->path, "re");
    char *line = NULL;
    size_t room = 0;
    if (!file)
        return error__set(error, -errno, "%.200s cannot be read: %s", source->path,
                          strerror(errno));
    while (getline(&line, &room, file) > 0 && !import__is_full(import)) {
        if (*line == '%')
            define(&reading, line + 1);
        else
            take(&reading, line);
    }
    /* A state that was set lasts until the end. */
    VEC_EACH (container, &reading.containers_of, struct paje_container)
        if (container->has_state && container->thread != UINT32_MAX)
            import__leave_innermost(import, container->thread, reading.last_ns);
    free(line);
    fclose(file);
    free_reading(&reading);
    return 0;
}

static bool recognises(const struct import_source *source)
{
    return !source->is_directory && strstr(source->head, "%EventDef") &&
           strstr(source->head, "Paje");
}

const struct importer importer_paje = {
    "Paje", "no off-CPU times, no locks, functions without lines", recognises, import_paje};
