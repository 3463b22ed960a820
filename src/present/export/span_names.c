/* span_names.c: see span_names.h. */
#include "present/export/span_names.h"

#include "analysis/callsite/calls.h"
#include "base/map.h"
#include "base/memory.h"
#include "present/export/event_fields.h"
#include "present/locks/locks_shared.h"

#include <stdlib.h>
#include <string.h>

#define RECENT 1024u /* a power of two */

/* A key that was looked for, and what was found. */
struct recent_name {
    uint64_t key[3];
    void *found; /* NULL: nothing is kept here */
};

/* What is kept under keys of three words, in the order in which it was made. */
struct name_index {
    struct map by_key;
    struct vec all; /* void * */
    struct recent_name recent[RECENT];
};

struct span_names {
    const struct report *report;
    struct vec *functions; /* by process: const struct span_label *, by half the id */
    struct name_index labels, places, objects;
    struct vec texts; /* char * */
    struct map idle_sites;
    struct vec idle; /* struct idle_site */
};

/* What was waited at a place, as the profile has it. */
struct idle_site {
    uint64_t idle_ns, other_ns;
};

static struct recent_name *recent_of(struct name_index *index, const uint64_t key[3])
{
    uint64_t hash = (key[0] ^ key[0] >> 29) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 31 ^ key[1]) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 30 ^ key[2]) * 0x9e3779b97f4a7c15ull;
    return &index->recent[hash >> 40 & (RECENT - 1)];
}

/* NULL: there is none yet. */
static void *find(struct name_index *index, const uint64_t key[3])
{
    struct recent_name *recent = recent_of(index, key);
    if (recent->found && memcmp(recent->key, key, sizeof recent->key) == 0)
        return recent->found;
    uint64_t place = map__get(&index->by_key, key, sizeof recent->key);
    if (place == MAP_ABSENT)
        return NULL;
    memcpy(recent->key, key, sizeof recent->key);
    return recent->found = *VEC_AT(&index->all, void *, place);
}

/* Its number. */
static uint32_t keep(struct name_index *index, const uint64_t key[3], void *made)
{
    uint32_t number = (uint32_t)index->all.count;
    map__put(&index->by_key, key, 3 * sizeof *key, number);
    vec__push(&index->all, &made);
    return number;
}

static void free_index(struct name_index *index)
{
    VEC_EACH (one, &index->all, void *)
        free(*one);
    vec__free(&index->all);
    map__free(&index->by_key);
}

static void learn_idle(struct span_names *names, const struct profile *profile)
{
    VEC_EACH (class, &profile->classes, struct profile_class) {
        const uint64_t key[2] = {class->what.at.process, class->what.at.site};
        uint64_t index = map__put(&names->idle_sites, key, sizeof key, names->idle.count);
        struct idle_site *site = VEC_REACH(&names->idle, struct idle_site, index);
        *(class->idle ? &site->idle_ns : &site->other_ns) += class->sum_ns;
    }
}

static bool is_idle(const struct span_names *names, uint64_t process, uint64_t site)
{
    const uint64_t key[2] = {process, site};
    uint64_t index = map__get(&names->idle_sites, key, sizeof key);
    if (index == MAP_ABSENT)
        return false;
    const struct idle_site *found = VEC_AT(&names->idle, struct idle_site, index);
    return found->idle_ns > found->other_ns;
}

struct span_names *span_names__new(const struct report *report)
{
    struct span_names *names = memory__zeroed(1, sizeof *names);
    size_t processes = trace__processes(report->trace)->count;
    names->report = report;
    names->functions = memory__zeroed(processes + 1, sizeof *names->functions);
    for (size_t i = 0; i < processes; i++)
        names->functions[i] = VEC_OF(void *);
    names->labels.all = names->places.all = names->objects.all = VEC_OF(void *);
    names->texts = VEC_OF(char *);
    names->idle = VEC_OF(struct idle_site);
    if (report->profile)
        learn_idle(names, report->profile);
    return names;
}

void span_names__free(struct span_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < trace__processes(names->report->trace)->count; i++)
        vec__free(&names->functions[i]);
    VEC_EACH (label, &names->labels.all, struct span_label *)
        free((void *)(*label)->arguments);
    free(names->functions);
    free_index(&names->labels);
    free_index(&names->places);
    free_index(&names->objects);
    texts__free(&names->texts);
    map__free(&names->idle_sites);
    vec__free(&names->idle);
    free(names);
}

static const char *own_text(struct span_names *names, char *text)
{
    vec__push(&names->texts, &text);
    return text;
}

/* ---- places ---------------------------------------------------------------------------------- */

static const struct span_place *keep_place(struct span_names *names, const uint64_t key[3],
                                           const struct place *place, uint64_t address)
{
    struct span_place *made = memory__zeroed(1, sizeof *made);
    *made = (struct span_place){.function = place->function,
                                .module = place->module,
                                .file = place->file,
                                .line = place->line,
                                .address = address};
    made->number = keep(&names->places, key, made);
    return made;
}

const struct span_place *span_names__place(struct span_names *names, uint32_t process,
                                           uint64_t address)
{
    const uint64_t key[3] = {process, address, 0};
    char unknown[32];
    if (!address)
        return NULL;
    const struct span_place *found = find(&names->places, key);
    if (found)
        return found;
    struct place place = place__of_site(names->report, process, address, unknown);
    if (place.function == unknown)
        place.function = own_text(names, memory__text(unknown));
    return keep_place(names, key, &place, address);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static enum class_kind kind_of(const struct trace_function *function)
{
    return !function                                    ? CLASS_CALL
           : function->kind == HEURT_FUNCTION_REGION    ? CLASS_REGION
           : function->kind == HEURT_FUNCTION_ITERATION ? CLASS_ITERATION
           : function->kind == HEURT_FUNCTION_LOOP      ? CLASS_LOOP
                                                        : CLASS_CALL;
}

static const char *const *arguments_of(struct span_names *names,
                                       const struct trace_function *function)
{
    uint32_t count = function ? function->argument_count : 0;
    const char **arguments = memory__zeroed(count + 1, sizeof *arguments);
    const char *name = function ? function->argument_names : "";
    for (uint32_t i = 0; i < count; i++) {
        int length = (int)strcspn(name, ",");
        arguments[i] = own_text(names, length ? memory__format("%.*s", length, name)
                                              : memory__format("arg%u", i + 1));
        name += length + (name[length] == ',');
    }
    return arguments;
}

static const struct span_place *place_of_function(struct span_names *names, uint32_t process,
                                                  const struct trace_function *function)
{
    const struct class_definition class = {.at = {.kind = kind_of(function),
                                                  .process = process,
                                                  .function = function->name,
                                                  .address = function->address,
                                                  .file = *function->file ? function->file : NULL,
                                                  .line = function->line}};
    const uint64_t key[3] = {process, function->address, function->id};
    const struct span_place *found = find(&names->places, key);
    char unknown[32];
    if (found)
        return found;
    struct place place = place__of_class(names->report, &class, unknown);
    return keep_place(names, key, &place, function->address);
}

static const struct span_label *keep_label(struct span_names *names, const uint64_t key[3],
                                           const struct span_label *label)
{
    struct span_label *made = memory__zeroed(1, sizeof *made);
    *made = *label;
    made->number = keep(&names->labels, key, made);
    return made;
}

static const struct span_label *label_of_function(struct span_names *names, uint32_t index,
                                                  uint32_t id)
{
    uint32_t serial = trace__process_at(names->report->trace, index)->serial;
    const struct trace_function *function =
        trace_process__function(trace__process_at(names->report->trace, index), id);
    const struct span_label label = {.kind = kind_of(function),
                                     .name = function ? function->name : "?",
                                     .detail = "",
                                     .place = function ? place_of_function(names, serial, function)
                                                       : NULL,
                                     .arguments = arguments_of(names, function)};
    const struct span_label **kept = VEC_REACH(&names->functions[index], const struct span_label *,
                                               (id - HEURT_EVENT_FUNCTIONS) / 2);
    return *kept = keep_label(names, (const uint64_t[3]){index, id, 0}, &label);
}

/* Without what belongs to the single event: of calls, the place is in the first word. */
static void make_key(uint32_t process, const struct event *event, uint64_t key[3])
{
    key[0] = (uint64_t)process << 32 | event->id;
    key[1] = event->words ? event->payload[0] : 0;
    key[2] = event->id == HEURT_EVENT_IO && event->words > 1 ? event->payload[1] >> 32 : 0;
}

bool span_names__has_site(const struct event *event)
{
    switch (event->id) {
    case HEURT_EVENT_LOST:
    case HEURT_EVENT_KERNEL_LOST:
    case HEURT_EVENT_THREAD_START:
    case HEURT_EVENT_THREAD_END:
        return false;
    default:
        return event->words > 0 && event->id < HEURT_EVENT_FUNCTIONS;
    }
}

/* A region of OpenMP, a body or a loop goes by that, as code does. */
static void name_construct(struct span_label *label, const struct event_title *title)
{
    label->kind = CLASS_REGION;
    label->name = title->detail;
    label->detail = "";
}

static const struct span_label *label_of_call(struct span_names *names, uint32_t index,
                                              const struct event *event, const uint64_t key[3])
{
    struct call call = {0};
    const struct shown_thread shown = {.process = trace__process_at(names->report->trace, index)};
    bool is_span = event__is_span(event->id) && call__describe(event, &call);
    struct event_title title =
        event__title(&shown, event->id, event->words ? event->payload : NULL);
    struct span_label label = {
        .kind = is_span ? call.kind : CLASS_KINDS,
        .name = is_span ? call.function : title.name,
        .detail = title.detail,
        .place = span_names__has_site(event)
                     ? span_names__place(names, shown.process->serial,
                                         HEURT_SITE_ADDRESS(event->payload[0]))
                     : NULL,
        .arguments = arguments_of(names, NULL),
        .event = event->id,
        .how = span_names__has_site(event) ? HEURT_SITE_HOW(event->payload[0]) : 0,
        .is_idle = span_names__has_site(event) &&
                   is_idle(names, shown.process->serial, HEURT_SITE_ADDRESS(event->payload[0]))};
    if (event->id == HEURT_EVENT_OPENMP_BEGIN)
        name_construct(&label, &title);
    return keep_label(names, key, &label);
}

const struct span_label *span_names__label(struct span_names *names, uint32_t process,
                                           const struct event *event)
{
    uint64_t key[3];
    if (event->id >= HEURT_EVENT_FUNCTIONS) {
        size_t place = (event->id - HEURT_EVENT_FUNCTIONS) / 2;
        const struct vec *functions = &names->functions[process];
        const struct span_label *found =
            place < functions->count ? *VEC_AT(functions, const struct span_label *, place) : NULL;
        return found ? found : label_of_function(names, process, event->id);
    }
    make_key(process, event, key);
    if (!span_names__has_site(event))
        key[1] = 0;
    const struct span_label *found = find(&names->labels, key);
    return found ? found : label_of_call(names, process, event, key);
}

/* ---- objects --------------------------------------------------------------------------------- */

const struct span_object *span_names__object(struct span_names *names,
                                             const struct sync_object *object)
{
    uint32_t process = event__process_of_object(object->process, object->address);
    const uint64_t key[3] = {(uint64_t)process << 32 | (uint32_t)object->kind << 8 | object->lock,
                             object->address, 0};
    struct span_object *found = find(&names->objects, key);
    if (found)
        return found;
    found = memory__zeroed(1, sizeof *found);
    *found =
        (struct span_object){.noun = object__noun(object),
                             .name = own_text(names, object__clear_name(names->report, object)),
                             .address = object->address};
    found->number = keep(&names->objects, key, found);
    return found;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *span_label__category(const struct span_label *label)
{
    return label->kind < CLASS_KINDS ? class_kind__name(label->kind) : "point";
}

const char *span_state__name(enum component state)
{
    return state == COMPONENT_RUNNING     ? "on a CPU"
           : state == COMPONENT_RUNNABLE  ? "wanted a CPU"
           : state == COMPONENT_CONDITION ? "blocked" /* in a futex: of whatever */
                                          : component__words(state);
}

const char *span_counter__name(enum span_counter counter)
{
    static const char *const names[SPAN_COUNTERS] = {[SPAN_CPUS] = "CPUs used",
                                                     [SPAN_RUNNING] = "threads at work",
                                                     [SPAN_WANTING] = "threads that want a CPU"};
    return names[counter];
}
