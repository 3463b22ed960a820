/* What heurt export --ctf writes: the events of heurt, with the words of their payloads
 * (docs/heurt-export.md). So a trace comes back as it was, but for what the export left out. */
#include "base/memory.h"
#include "base/vec.h"
#include "import/import_ctf.h"
#include "import/import_states.h"

#include <stdlib.h>
#include <string.h>

#define NUMBERS_AHEAD (1u << 20) /* of the largest before it a definition's number may be */
#define NONE 4294967295u
#define WORDS_MAX 8u

enum own_kind {
    OWN_PROCESS = 1,
    OWN_THREAD,
    OWN_PLACE,
    OWN_CALL,
    OWN_OBJECT,
    OWN_BEGIN,
    OWN_END,
    OWN_ENTER,
    OWN_LEAVE,
    OWN_LEAVE_OPEN,
    OWN_POINT,
    OWN_WEIGHT,
    OWN_STATE,
};

static const struct {
    const char *name;
    enum own_kind kind;
} kinds[] = {
    {"process", OWN_PROCESS},
    {"thread", OWN_THREAD},
    {"place", OWN_PLACE},
    {"call", OWN_CALL},
    {"object", OWN_OBJECT},
    {"begin", OWN_BEGIN},
    {"end", OWN_END},
    {"enter", OWN_ENTER},
    {"enter_with", OWN_ENTER},
    {"leave", OWN_LEAVE},
    {"leave_with", OWN_LEAVE},
    {"leave_unseen", OWN_LEAVE},
    {"leave_open", OWN_LEAVE_OPEN},
    {"point", OWN_POINT},
    {"weight", OWN_WEIGHT},
    {"state", OWN_STATE},
};

struct own_place {
    char *function, *module, *file;
    uint32_t line;
};

struct own_call {
    bool is_told;
    uint32_t event, how, place;
    enum heurt_function_kind kind;
    char *name, *arguments;
};

struct own_object {
    uint64_t address;
    char *name;
};

struct own_thread {
    uint32_t thread; /* the import's number; UINT32_MAX: not told */
    struct vec open; /* struct own_open */
    uint64_t weight; /* of the next enter or point; 0: 1 */
    bool begins, has_ended;
    struct import_states states;
};

/* What a thread is in. */
struct own_open {
    uint32_t event, function; /* event 0: a function */
};

struct own_reading {
    struct import *import;
    struct vec processes; /* uint32_t: pid, by number */
    struct vec threads;   /* struct own_thread */
    struct vec places;    /* struct own_place */
    struct vec calls;     /* struct own_call */
    struct vec objects;   /* struct own_object */
};

static void *start(struct import *import)
{
    struct own_reading *reading = memory__zeroed(1, sizeof *reading);
    reading->import = import;
    reading->processes = VEC_OF(uint32_t);
    reading->threads = VEC_OF(struct own_thread);
    reading->places = VEC_OF(struct own_place);
    reading->calls = VEC_OF(struct own_call);
    reading->objects = VEC_OF(struct own_object);
    return reading;
}

static uint32_t kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return 0;
}

/* Words of an event beside its first one, by its id; -1: there is no such event. */
#define OWN_POINT_WORDS(name, id, words) [id] = 1 + (words),
#define OWN_SPAN_WORDS(name, id, enter, leave) [id] = 1 + (enter), [(id) + 1] = 1 + (leave),
static const uint16_t words_of[] = {HEURT_EVENT_TABLE(OWN_POINT_WORDS, OWN_SPAN_WORDS)};

/* UINT32_MAX: there is no such event that can be told here. */
static uint32_t words_of_event(uint32_t id)
{
    uint32_t words = id < sizeof words_of / sizeof words_of[0] ? words_of[id] : 0;
    return words && words - 1u <= WORDS_MAX ? words - 1u : UINT32_MAX;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static char *text_of(const struct ctf_told *event, const char *field)
{
    const char *text = ctf__text(event->fields, field);
    return memory__text(text ? text : "");
}

/* Texts are "" where they are not known. */
static const char *known(const char *text)
{
    return text && *text ? text : NULL;
}

static void take_process(struct own_reading *reading, const struct ctf_told *event, uint32_t number)
{
    uint32_t pid = (uint32_t)ctf__number(event->fields, "pid");
    *VEC_REACH(&reading->processes, uint32_t, number) = pid;
    import__process(reading->import, pid, (uint32_t)ctf__number(event->fields, "parent_pid"),
                    ctf__text(event->fields, "path"));
}

static void take_thread(struct own_reading *reading, const struct ctf_told *event, uint32_t number)
{
    uint64_t process = ctf__number(event->fields, "process");
    uint32_t pid =
        process < reading->processes.count ? *VEC_AT(&reading->processes, uint32_t, process) : 1;
    while (reading->threads.count <= number) {
        const struct own_thread none = {.thread = UINT32_MAX, .open = VEC_OF(struct own_open)};
        vec__push(&reading->threads, &none);
    }
    struct own_thread *thread = VEC_AT(&reading->threads, struct own_thread, number);
    if (thread->thread == UINT32_MAX)
        thread->thread =
            import__thread(reading->import, pid, (uint32_t)ctf__number(event->fields, "tid"),
                           ctf__text(event->fields, "name"));
}

static void take_place(struct own_reading *reading, const struct ctf_told *event, uint32_t number)
{
    struct own_place *place = VEC_REACH(&reading->places, struct own_place, number);
    if (place->function)
        return;
    *place =
        (struct own_place){text_of(event, "function"), text_of(event, "module"),
                           text_of(event, "file"), (uint32_t)ctf__number(event->fields, "line")};
}

static enum heurt_function_kind function_kind(const char *word)
{
    return word && strcmp(word, "region") == 0      ? HEURT_FUNCTION_REGION
           : word && strcmp(word, "iteration") == 0 ? HEURT_FUNCTION_ITERATION
           : word && strcmp(word, "loop") == 0      ? HEURT_FUNCTION_LOOP
                                                    : HEURT_FUNCTION_PATCHED;
}

static void take_call(struct own_reading *reading, const struct ctf_told *event, uint32_t number)
{
    struct own_call *call = VEC_REACH(&reading->calls, struct own_call, number);
    if (call->is_told)
        return;
    *call = (struct own_call){.is_told = true,
                              .event = (uint32_t)ctf__number(event->fields, "event"),
                              .how = (uint32_t)ctf__number(event->fields, "how"),
                              .place = (uint32_t)ctf__number(event->fields, "place"),
                              .kind = function_kind(ctf__text(event->fields, "kind")),
                              .name = text_of(event, "name"),
                              .arguments = text_of(event, "arguments")};
}

static void take_object(struct own_reading *reading, const struct ctf_told *event, uint32_t number)
{
    struct own_object *object = VEC_REACH(&reading->objects, struct own_object, number);
    if (object->name)
        return;
    *object = (struct own_object){ctf__number(event->fields, "address"), text_of(event, "name")};
}

static const struct vec *numbered(const struct own_reading *reading, enum own_kind kind)
{
    return kind == OWN_PROCESS  ? &reading->processes
           : kind == OWN_THREAD ? &reading->threads
           : kind == OWN_PLACE  ? &reading->places
           : kind == OWN_CALL   ? &reading->calls
                                : &reading->objects;
}

static void take_definition(struct own_reading *reading, enum own_kind kind,
                            const struct ctf_told *event)
{
    static void (*const takes[])(struct own_reading *, const struct ctf_told *,
                                 uint32_t) = {[OWN_PROCESS] = take_process,
                                              [OWN_THREAD] = take_thread,
                                              [OWN_PLACE] = take_place,
                                              [OWN_CALL] = take_call,
                                              [OWN_OBJECT] = take_object};
    uint64_t number = ctf__number(event->fields, "number");
    if (number >= numbered(reading, kind)->count + NUMBERS_AHEAD ||
        (kind == OWN_THREAD && number >= IMPORT_THREADS_MAX))
        import__pass_over(reading->import, "definitions whose numbers are too large");
    else
        takes[kind](reading, event, (uint32_t)number);
}

/* ---- what threads do ------------------------------------------------------------------------- */

static const struct own_place *place_at(const struct own_reading *reading, uint32_t number)
{
    return number < reading->places.count ? VEC_AT(&reading->places, struct own_place, number)
                                          : NULL;
}

static uint64_t site_of(struct own_reading *reading, uint32_t thread, const struct own_call *call)
{
    const struct own_place *place = place_at(reading, call->place);
    return place && place->function
               ? import__site(reading->import, thread, place->function, known(place->module),
                              known(place->file), place->line)
               : 0;
}

static uint32_t function_of(struct own_reading *reading, uint32_t thread,
                            const struct own_call *call)
{
    static const struct own_place nowhere;
    const struct own_place *place = place_at(reading, call->place);
    place = place ? place : &nowhere;
    const struct import_function function = {call->name,         known(place->module),
                                             known(place->file), place->line,
                                             call->kind,         known(call->arguments)};
    return import__function_of(reading->import, thread, &function);
}

/* What an enter, or a point, tells. */
struct own_told {
    const struct own_call *call;
    uint32_t id;                 /* even, of the event that it becomes */
    uint64_t payload[WORDS_MAX]; /* of that */
    uint32_t words;
};

/* False: it has no meaning. Functions have as many words as they have arguments; of an event whose
 * first word is the place, that is told as the call's. */
static bool told_by(struct own_reading *reading, uint32_t thread, const struct ctf_told *event,
                    struct own_told *told)
{
    uint64_t number = ctf__number(event->fields, "call");
    *told = (struct own_told){0};
    if (number >= reading->calls.count)
        return false;
    told->call = VEC_AT(&reading->calls, struct own_call, number);
    told->id = told->call->event;
    bool is_function = told->id == 0;
    if (!told->call->is_told || told->id & 1)
        return false;
    if (is_function) {
        told->id = function_of(reading, thread, told->call);
        for (const char *at = told->call->arguments; *at; at++)
            told->words += *at == ',';
        told->words += *told->call->arguments != 0;
    } else
        told->words = words_of_event(told->id);
    if (told->id == UINT32_MAX || told->words > WORDS_MAX)
        return false;
    size_t count = ctf__numbers(event->fields, "words", told->payload, told->words);
    if (!is_function && count < told->words) {
        memmove(told->payload + 1, told->payload, (told->words - 1) * sizeof *told->payload);
        told->payload[0] = HEURT_SITE(site_of(reading, thread, told->call), told->call->how);
    }
    return true;
}

static void name_object(struct own_reading *reading, uint32_t thread, const struct ctf_told *event)
{
    uint64_t number =
        ctf__has(event->fields, "object") ? ctf__number(event->fields, "object") : NONE;
    struct own_object *object = number < reading->objects.count
                                    ? VEC_AT(&reading->objects, struct own_object, number)
                                    : NULL;
    if (!object || !known(object->name))
        return;
    import__name_object(reading->import, thread, object->address, object->name);
    *object->name = 0; /* it is told */
}

static void write_weight(struct own_reading *reading, struct own_thread *thread, int64_t ns,
                         uint32_t id)
{
    if (thread->weight > 1)
        import__event(reading->import, thread->thread, ns, HEURT_EVENT_SAMPLED,
                      (const uint64_t[]){HEURT_SAMPLED(id, thread->weight)}, 1);
    thread->weight = 0;
}

static void enter(struct own_reading *reading, struct own_thread *thread,
                  const struct ctf_told *event)
{
    struct own_told told;
    struct own_open open = {0, UINT32_MAX};
    if (told_by(reading, thread->thread, event, &told)) {
        name_object(reading, thread->thread, event);
        write_weight(reading, thread, event->ns, told.id);
        open = (struct own_open){told.call->event, told.id};
        if (told.call->event)
            import__event(reading->import, thread->thread, event->ns, told.id, told.payload,
                          told.words);
        else
            import__enter_with(reading->import, thread->thread, event->ns, told.id, told.payload,
                               told.words);
    } else
        import__pass_over(reading->import, "calls that are not defined");
    if (thread->open.count < 100000)
        vec__push(&thread->open, &open);
}

/* What is still open when the thread ends has no end: but what it entered last is gone. */
static void leave(struct own_reading *reading, struct own_thread *thread,
                  const struct ctf_told *event, bool has_ended)
{
    if (thread->open.count == 0) {
        import__pass_over(reading->import, "ends of calls that did not begin");
        return;
    }
    const struct own_open open = *VEC_AT(&thread->open, struct own_open, --thread->open.count);
    uint32_t words = open.event ? words_of_event(open.event | 1) : 0;
    const uint64_t result[WORDS_MAX] = {ctf__number(event->fields, "result")};
    if (!has_ended || open.function == UINT32_MAX)
        return;
    if (open.event && words != UINT32_MAX)
        import__event(reading->import, thread->thread, event->ns, open.event | 1, result, words);
    else if (!open.event)
        import__leave(reading->import, thread->thread, event->ns, open.function);
}

/* The import's number; UINT32_MAX: none, which is HEURT_NO_SERIAL, too. */
static uint64_t thread_numbered(const struct own_reading *reading, uint64_t number)
{
    return number < reading->threads.count
               ? VEC_AT(&reading->threads, struct own_thread, number)->thread
               : HEURT_NO_SERIAL;
}

/* What a thread was when it began, and what it came to, are points beside these. */
static void begin(struct own_reading *reading, struct own_thread *thread, int64_t ns)
{
    if (!thread->begins)
        return;
    thread->begins = false;
    import__begin(reading->import, thread->thread, ns);
}

static void point(struct own_reading *reading, struct own_thread *thread,
                  const struct ctf_told *event)
{
    struct own_told told;
    if (!told_by(reading, thread->thread, event, &told) || told.call->event == 0) {
        import__pass_over(reading->import, "points that are not defined");
        return;
    }
    if (told.id == HEURT_EVENT_THREAD_START) {
        thread->begins = false;
        told.payload[1] = thread_numbered(reading, told.payload[1]);
    } else
        begin(reading, thread, event->ns);
    thread->has_ended |= told.id == HEURT_EVENT_THREAD_END;
    name_object(reading, thread->thread, event);
    write_weight(reading, thread, event->ns, told.id);
    import__event(reading->import, thread->thread, event->ns, told.id, told.payload, told.words);
}

/* ---- off the CPU ----------------------------------------------------------------------------- */

/* The value's name: state is an enumeration. */
static const char *state_of(const struct ctf_told *event)
{
    const bt_field *field =
        event->fields ? bt_field_structure_borrow_member_field_by_name_const(event->fields, "state")
                      : NULL;
    bt_field_class_enumeration_mapping_label_array labels;
    uint64_t count = 0;
    if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION ||
        bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count) !=
            BT_FIELD_ENUMERATION_GET_MAPPING_LABELS_STATUS_OK)
        return "";
    return count ? labels[0] : "";
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void end(struct own_reading *reading, struct own_thread *thread, int64_t ns)
{
    if (!thread->has_ended)
        import__end(reading->import, thread->thread, ns);
    thread->has_ended = true;
}

static void take_of_thread(struct own_reading *reading, enum own_kind kind,
                           struct own_thread *thread, const struct ctf_told *event)
{
    if (kind == OWN_BEGIN) {
        thread->begins = true;
        return;
    }
    if (kind != OWN_POINT)
        begin(reading, thread, event->ns);
    if (kind == OWN_END)
        end(reading, thread, event->ns);
    else if (kind == OWN_ENTER)
        enter(reading, thread, event);
    else if (kind == OWN_LEAVE)
        leave(reading, thread, event, true);
    else if (kind == OWN_LEAVE_OPEN)
        leave(reading, thread, event, false);
    else if (kind == OWN_POINT)
        point(reading, thread, event);
    else if (kind == OWN_STATE)
        import_states__change(reading->import, thread->thread, &thread->states, event->ns,
                              state_of(event));
    else
        thread->weight = ctf__number(event->fields, "weight");
}

static void take(void *self, uint32_t kind, const struct ctf_told *event)
{
    struct own_reading *reading = self;
    if (kind < OWN_BEGIN) {
        take_definition(reading, (enum own_kind)kind, event);
        return;
    }
    uint64_t number = ctf__number(event->packet, "thread");
    struct own_thread *thread = number < reading->threads.count
                                    ? VEC_AT(&reading->threads, struct own_thread, number)
                                    : NULL;
    if (thread && thread->thread != UINT32_MAX)
        take_of_thread(reading, (enum own_kind)kind, thread, event);
    else
        import__pass_over(reading->import, "events of threads that are not defined");
}

static int finish(void *self, struct error *error)
{
    struct own_reading *reading = self;
    (void)error;
    VEC_EACH (thread, &reading->threads, struct own_thread)
        vec__free(&thread->open);
    VEC_EACH (place, &reading->places, struct own_place) {
        free(place->function);
        free(place->module);
        free(place->file);
    }
    VEC_EACH (call, &reading->calls, struct own_call) {
        free(call->name);
        free(call->arguments);
    }
    VEC_EACH (object, &reading->objects, struct own_object)
        free(object->name);
    vec__free(&reading->processes);
    vec__free(&reading->threads);
    vec__free(&reading->places);
    vec__free(&reading->calls);
    vec__free(&reading->objects);
    free(reading);
    return 0;
}

const struct ctf_meaning ctf_own = {
    "heurt in CTF", "no call stacks, no samples, not what recording cost", start, kind_named, take,
    finish};
