#include "present/export/event_fields.h"

#include "base/memory.h"
#include "present/screen/fields.h"
#include "present/table/document.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the payload words of an event are -------------------------------------------------- */

enum field {
    FIELD_NONE,
    FIELD_SITE,
    FIELD_POINTER,   /* an object's address, under the name that the shape gives */
    FIELD_MUTEX,     /* of a condition wait */
    FIELD_OPERATION, /* SITE of a raw futex(2) */
    FIELD_DESCRIPTOR,
    FIELD_OUT,  /* of a channel */
    FIELD_SIZE, /* or a timeout, by the call */
    FIELD_NS,   /* under the name that the shape gives */
    FIELD_CPU,
    FIELD_RUNNABLE,
    FIELD_CREATOR,
    FIELD_CODE, /* the address of a function */
    FIELD_INSTRUCTION,
    FIELD_NUMBER,
    FIELD_STACK,
    FIELD_SAMPLED, /* a function and what its next occurrence stands for */
    FIELD_TICKS,   /* as time, under the name that the shape gives */
    FIELD_OFF,     /* likewise: HEURT_OFF */
    FIELD_BACK,    /* HEURT_BACK: time without a CPU, and the CPU */
    FIELD_WAKER,
    FIELD_ADDRESS,
    FIELD_WAITED,  /* since when others wait, before the event */
    FIELD_TOOK,    /* ticks of the call */
    FIELD_INITIAL, /* a barrier's parties, a semaphore's value */
    FIELD_OPENMP,  /* a figure that depends on what begins or ends */
    FIELD_PAIR,    /* two numbers of MPI */
    FIELD_BYTES,
};

#define FIELDS_MOST 4

/* Fields of the enter or point event; a leave has at most its result. */
struct field_shape {
    const char *object; /* what POINTER, NS, NUMBER, TICKS and OFF are called */
    enum field fields[FIELDS_MOST];
};

static const struct field_shape shapes[HEURT_EVENT_MESSAGE_RANK + 1] = {
    [HEURT_EVENT_THREAD_START] = {"pthread", {FIELD_POINTER, FIELD_CREATOR, FIELD_CODE}},
    [HEURT_EVENT_THREAD_END] = {"", {FIELD_CPU, FIELD_RUNNABLE}},
    [HEURT_EVENT_LOCK_WAIT] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_LOCK_ACQUIRED] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_LOCK_BUSY] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_LOCK_RELEASED] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_LOCK_HELD] = {"lock", {FIELD_SITE, FIELD_POINTER, FIELD_WAITED}},
    [HEURT_EVENT_CONDITION_WAIT] = {"condition", {FIELD_SITE, FIELD_POINTER, FIELD_MUTEX}},
    [HEURT_EVENT_CONDITION_SIGNALLED] = {"condition", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_BARRIER_WAIT] = {"barrier", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_SEMAPHORE_WAIT] = {"semaphore", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_SEMAPHORE_ACQUIRED] = {"semaphore", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_SEMAPHORE_POSTED] = {"semaphore", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_JOIN] = {"pthread", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_THREAD_CREATED] = {"pthread", {FIELD_SITE, FIELD_POINTER, FIELD_TOOK}},
    [HEURT_EVENT_IO] = {"", {FIELD_SITE, FIELD_DESCRIPTOR, FIELD_SIZE}},
    [HEURT_EVENT_SLEEP] = {"requested", {FIELD_SITE, FIELD_NS}},
    [HEURT_EVENT_FUTEX_WAIT] = {"address", {FIELD_OPERATION, FIELD_POINTER}},
    [HEURT_EVENT_FUTEX_WOKEN] = {"address", {FIELD_OPERATION, FIELD_POINTER}},
    [HEURT_EVENT_FORKED] = {"pid", {FIELD_NUMBER}},
    [HEURT_EVENT_STACK] = {"", {FIELD_STACK}},
    [HEURT_EVENT_LOST] = {"events", {FIELD_NUMBER}},
    [HEURT_EVENT_SAMPLED] = {"", {FIELD_SAMPLED}},
    [HEURT_EVENT_PAUSED] = {"took", {FIELD_TICKS}},
    [HEURT_EVENT_OFF_CPU] = {"off", {FIELD_OFF, FIELD_BACK, FIELD_WAKER}},
    [HEURT_EVENT_FAULT] = {"took", {FIELD_OFF, FIELD_ADDRESS, FIELD_INSTRUCTION}},
    [HEURT_EVENT_KERNEL] = {"cpu", {FIELD_NUMBER}},
    [HEURT_EVENT_KERNEL_LOST] = {"records", {FIELD_NUMBER}},
    [HEURT_EVENT_INSTRUCTIONS] = {"retired", {FIELD_NUMBER}},
    [HEURT_EVENT_INITIALISED] = {"object", {FIELD_SITE, FIELD_POINTER, FIELD_INITIAL}},
    [HEURT_EVENT_MEMORY_MAP] = {"address", {FIELD_SITE, FIELD_POINTER, FIELD_SIZE}},
    [HEURT_EVENT_ALLOCATED] = {"address", {FIELD_SITE, FIELD_POINTER, FIELD_SIZE}},
    [HEURT_EVENT_FREED] = {"address", {FIELD_POINTER}},
    [HEURT_EVENT_CHANNEL] = {"in", {FIELD_DESCRIPTOR, FIELD_POINTER, FIELD_OUT}},
    [HEURT_EVENT_OPENMP_BEGIN] = {"", {FIELD_SITE, FIELD_OPENMP, FIELD_OPENMP}},
    [HEURT_EVENT_OPENMP_END] = {"", {FIELD_SITE, FIELD_TOOK, FIELD_OPENMP, FIELD_OPENMP}},
    [HEURT_EVENT_MESSAGE_CALL] = {"communicator", {FIELD_SITE, FIELD_NUMBER, FIELD_BYTES}},
    [HEURT_EVENT_MESSAGE_SENT] = {"", {FIELD_PAIR, FIELD_PAIR, FIELD_BYTES}},
    [HEURT_EVENT_MESSAGE_AWAITED] = {"", {FIELD_PAIR, FIELD_PAIR, FIELD_BYTES}},
    [HEURT_EVENT_MESSAGE_DONE] = {"", {FIELD_PAIR, FIELD_PAIR, FIELD_BYTES}},
    [HEURT_EVENT_MESSAGE_COLLECTIVE] = {"", {FIELD_PAIR, FIELD_PAIR, FIELD_BYTES}},
    [HEURT_EVENT_MESSAGE_COMMUNICATOR] = {"connected", {FIELD_PAIR, FIELD_PAIR, FIELD_NUMBER}},
    [HEURT_EVENT_MESSAGE_RANK] = {"", {FIELD_PAIR, FIELD_PAIR}},
};

static const char *lock_kind(uint32_t how)
{
    static const char *const kinds[] = {
        [HEURT_LOCK_MUTEX] = "mutex",          [HEURT_LOCK_READ] = "read",
        [HEURT_LOCK_WRITE] = "write",          [HEURT_LOCK_SPIN] = "spin",
        [HEURT_LOCK_RW_ANY] = "read or write", [HEURT_LOCK_CRITICAL] = "critical",
        [HEURT_LOCK_OPENMP] = "omp",           [HEURT_LOCK_ORDERED] = "ordered",
        [HEURT_LOCK_STREAM] = "FILE",          [HEURT_LOCK_FILE] = "file",
    };
    return how < sizeof kinds / sizeof kinds[0] && kinds[how] ? kinds[how] : "?";
}

static const char *allocation_kind(uint32_t how)
{
    static const char *const kinds[] = {
        [HEURT_ALLOCATION_MALLOC] = "malloc",   [HEURT_ALLOCATION_CALLOC] = "calloc",
        [HEURT_ALLOCATION_REALLOC] = "realloc", [HEURT_ALLOCATION_NEW] = "new",
        [HEURT_ALLOCATION_MMAP] = "mmap",       [HEURT_ALLOCATION_NAMED] = "named",
    };
    return how < sizeof kinds / sizeof kinds[0] ? kinds[how] : "?";
}

static const char *object_kind(uint32_t how)
{
    static const char *const kinds[] = {
        [HEURT_OBJECT_MUTEX] = "mutex",         [HEURT_OBJECT_RWLOCK] = "reader-writer lock",
        [HEURT_OBJECT_SPIN] = "spin lock",      [HEURT_OBJECT_CONDITION] = "condition variable",
        [HEURT_OBJECT_SEMAPHORE] = "semaphore", [HEURT_OBJECT_BARRIER] = "barrier",
    };
    return how < sizeof kinds / sizeof kinds[0] ? kinds[how] : "?";
}

static const char *descriptor_kind(uint32_t kind)
{
    static const char *const kinds[] = {
        [HEURT_DESCRIPTOR_UNKNOWN] = "",           [HEURT_DESCRIPTOR_FILE] = " file",
        [HEURT_DESCRIPTOR_SOCKET] = " socket",     [HEURT_DESCRIPTOR_PIPE] = " pipe",
        [HEURT_DESCRIPTOR_TERMINAL] = " terminal", [HEURT_DESCRIPTOR_OTHER] = " other",
    };
    return kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : " ?";
}

static const char *off_kind(uint32_t how)
{
    static const char *const kinds[] = {
        [HEURT_OFF_BLOCKED] = "blocked",  [HEURT_OFF_PREEMPTED] = "preempted",
        [HEURT_OFF_FAULT] = "page fault", [HEURT_OFF_FUTEX] = "futex",
        [HEURT_OFF_DISK] = "disk",        [HEURT_OFF_STOPPED] = "stopped",
    };
    return how < sizeof kinds / sizeof kinds[0] ? kinds[how] : "?";
}

static const char *fault_kind(uint32_t how)
{
    return how == HEURT_FAULT_MEASURED    ? "measured"
           : how == HEURT_FAULT_ESTIMATED ? "estimated"
           : how == HEURT_FAULT_COUNTED   ? "counted"
                                          : "?";
}

struct event_title event__title(const struct shown_thread *thread, uint32_t id,
                                const uint64_t *payload)
{
    uint32_t even = id & ~1u, how = payload ? HEURT_SITE_HOW(*payload) : 0;
    if (even >= HEURT_EVENT_FUNCTIONS) {
        const struct trace_function *function = trace_process__function(thread->process, even);
        bool is_locked = function && function->flags & HEURT_FUNCTION_LOCKED && id == even;
        return (struct event_title){function ? function->name : "?",
                                    is_locked ? "locked instructions" : ""};
    }
    const char *name = event__name(even);
    if (!name)
        name = "?";
    if (payload && even == HEURT_EVENT_IO)
        return (struct event_title){io__name(how), ""};
    if (payload && even == HEURT_EVENT_SLEEP)
        return (struct event_title){sleep__name(HEURT_SLEEP_CALL(*payload)),
                                    how & HEURT_SLEEP_POLLS ? "again and again" : ""};
    if (payload && even == HEURT_EVENT_MESSAGE_CALL)
        return (struct event_title){message_call__name(how), ""};
    if (payload && even == HEURT_EVENT_MEMORY_MAP)
        return (struct event_title){memory_map__name(how), ""};
    if (payload && even >= HEURT_EVENT_LOCK_WAIT && even <= HEURT_EVENT_LOCK_RELEASED)
        return (struct event_title){name, lock_kind(HEURT_LOCK_KIND(*payload))};
    if (payload && even == HEURT_EVENT_CONDITION_SIGNALLED)
        return (struct event_title){name, how ? "broadcast" : "signal"};
    if (payload && even == HEURT_EVENT_INITIALISED)
        return (struct event_title){name, object_kind(how)};
    if (payload && even == HEURT_EVENT_ALLOCATED)
        return (struct event_title){name, allocation_kind(HEURT_ALLOCATION_KIND(*payload))};
    if (payload && (even == HEURT_EVENT_OPENMP_BEGIN || even == HEURT_EVENT_OPENMP_END))
        return (struct event_title){name, openmp__name(how)};
    if (payload && even == HEURT_EVENT_OFF_CPU)
        return (struct event_title){name, off_kind(how)};
    if (payload && even == HEURT_EVENT_FAULT)
        return (struct event_title){name, fault_kind(how)};
    return (struct event_title){name, ""};
}

/* ---- one line -------------------------------------------------------------------------------- */

/* An address as function file:line where its symbol is kept, else as module+offset. free() it. */
static char *code_text(const struct shown_trace *shown, const struct shown_thread *thread,
                       uint64_t address, uint64_t tick)
{
    const struct trace_process *process = thread->process;
    const struct symbol *symbol =
        shown->symbols ? symbols__get(shown->symbols, process->serial, address) : NULL;
    if (symbol && symbol->file && symbol->line)
        return memory__format("%s %s:%u", symbol->function, symbol->file, symbol->line);
    if (symbol)
        return memory__format("%s%s%s", symbol->function, symbol->file ? " " : "",
                              symbol->file ? symbol->file : "");
    const struct trace_module *module = trace_process__module(process, address, tick);
    if (!module)
        return memory__format("0x%" PRIx64, address);
    const char *slash = strrchr(module->path, '/');
    return memory__format("%s+0x%" PRIx64, slash ? slash + 1 : module->path,
                          address - module->bias);
}

static void put_known_ns(const struct fields *fields, const char *name, uint64_t ns)
{
    if (ns == UINT64_MAX)
        fields__unknown(fields, name, "ns");
    else
        fields__number(fields, name, "ns", ns);
}

static void put_size(const struct fields *fields, uint32_t call, uint64_t word)
{
    if (call == HEURT_IO_POLL || call == HEURT_IO_SELECT || call == HEURT_IO_EPOLL_WAIT)
        fields__signed(fields, "timeout", "ms", (int64_t)word);
    else
        fields__number(fields, "size", NULL, word);
}

static void put_descriptor(const struct fields *fields, uint64_t word)
{
    const char *kind = descriptor_kind((uint32_t)(word >> 32));
    int32_t descriptor = (int32_t)(uint32_t)word;
    if (descriptor < -1)
        fields__signed(fields, "queue", NULL, HEURT_QUEUE_OF(descriptor));
    else
        fields__signed(fields, "fd", NULL, descriptor);
    if (!fields->json)
        fputs(kind, fields->out);
    else if (*kind)
        fields__text(fields, "descriptor", memory__text(kind + 1));
}

static void put_frames(const struct shown_trace *shown, const struct shown_thread *thread,
                       uint64_t tick, const struct fields *fields, const uint64_t *frames,
                       size_t count)
{
    struct json_object *list = fields->json ? json_object_new_array() : NULL;
    for (size_t i = 0; i < count; i++) {
        char *text = code_text(shown, thread, frames[i], tick);
        if (list) {
            json_object_array_add(list, json__new_text(text));
        } else {
            fputs(i ? " < " : " ", fields->out);
            text__print(fields->out, text);
        }
        free(text);
    }
    if (list)
        json_object_object_add(fields->json, "frames", list);
}

static void put_stack(const struct shown_trace *shown, const struct shown_thread *thread,
                      const struct event *event, const struct fields *fields)
{
    const uint64_t *frames;
    size_t count = shown->symbols ? symbols__get_stack(shown->symbols, thread->thread->serial,
                                                       event->tick, &frames)
                                  : 0;
    if (count)
        put_frames(shown, thread, event->tick, fields, frames, count);
    else
        fields__number(fields, "words", NULL, event->payload[0]);
}

static void put_sampled(const struct fields *fields, const struct shown_thread *thread,
                        uint64_t word)
{
    uint32_t id = HEURT_SAMPLED_ID(word);
    const struct trace_function *function = trace_process__function(thread->process, id);
    const char *name = id < HEURT_EVENT_FUNCTIONS ? event__name(id) : NULL;
    fields__text(fields, "function", memory__text(function ? function->name : name ? name : "?"));
    fields__number(fields, "block", NULL, HEURT_SAMPLED_BLOCK(word));
}

static void put_initial(const struct fields *fields, uint32_t kind, uint64_t word)
{
    if (kind == HEURT_OBJECT_BARRIER)
        fields__number(fields, "parties", NULL, word);
    else if (kind == HEURT_OBJECT_SEMAPHORE)
        fields__number(fields, "value", NULL, word);
}

/* Of the events that the kernel's records become. */
static void put_kernel_field(const struct shown_trace *shown, const struct fields *fields,
                             const struct field_shape *shape, enum field field, uint64_t word)
{
    uint64_t ticks = HEURT_SITE_ADDRESS(word);
    switch (field) {
    case FIELD_TICKS:
        put_known_ns(fields, shape->object, shown_trace__duration_ns(shown, word));
        return;
    case FIELD_OFF:
        put_known_ns(fields, shape->object, shown_trace__duration_ns(shown, ticks));
        return;
    case FIELD_BACK:
        put_known_ns(fields, "runnable",
                     ticks == HEURT_NOT_KNOWN ? UINT64_MAX
                                              : shown_trace__duration_ns(shown, ticks));
        fields__number(fields, "cpu", NULL, HEURT_SITE_HOW(word));
        return;
    case FIELD_WAKER:
        if (word)
            fields__number(fields, "waker", NULL, word);
        return;
    case FIELD_ADDRESS:
        fields__address(fields, "address", word);
        return;
    default:
        return;
    }
}

/* What the two figures of an event of OpenMP are called; NULL: nothing. */
static const char *openmp_figure(bool is_end, enum heurt_openmp what, unsigned figure)
{
    static const char *const begins[][2] = {
        [HEURT_OPENMP_REGION] = {"region", "threads"},
        [HEURT_OPENMP_BODY] = {"region", "threads"},
        [HEURT_OPENMP_LOOP] = {"chunk", "iterations"},
    };
    static const char *const ends[][2] = {
        [HEURT_OPENMP_LOOP] = {"chunks", "iterations"},
        [HEURT_OPENMP_CHUNK] = {"iterations", "first"},
        [HEURT_OPENMP_BARRIER] = {"idle", NULL},
        [HEURT_OPENMP_TASK_MADE] = {"tasks", NULL},
        [HEURT_OPENMP_TASK] = {"tasks", "of_others"},
        [HEURT_OPENMP_TASKWAIT] = {"idle", "waits"},
        [HEURT_OPENMP_CANCEL] = {"construct", NULL},
        [HEURT_OPENMP_ENTERED] = {"entries", NULL},
    };
    size_t known = is_end ? sizeof ends / sizeof *ends : sizeof begins / sizeof *begins;
    return (unsigned)what < known ? (is_end ? ends : begins)[what][figure] : NULL;
}

static void put_openmp(const struct shown_trace *shown, const struct event *event,
                       const struct fields *fields, size_t index)
{
    bool is_end = event->id == HEURT_EVENT_OPENMP_END;
    unsigned figure = (unsigned)index - (is_end ? 2 : 1);
    enum heurt_openmp what = HEURT_SITE_HOW(event->payload[0]);
    const char *name = openmp_figure(is_end, what, figure);
    uint64_t word = event->payload[index];
    if (!name)
        return;
    if (strcmp(name, "idle") == 0) {
        put_known_ns(fields, name, shown_trace__duration_ns(shown, word));
    } else if (what == HEURT_OPENMP_BODY && figure == 1) {
        fields__number(fields, "number", NULL, word >> 32);
        fields__number(fields, name, NULL, (uint32_t)word);
    } else if (what == HEURT_OPENMP_LOOP && !is_end && figure == 0) {
        fields__number(fields, "schedule", NULL, HEURT_SITE_HOW(word));
        fields__number(fields, name, NULL, HEURT_SITE_ADDRESS(word));
    } else {
        fields__number(fields, name, NULL, word);
    }
}

#define PAIR_OF(event) ((HEURT_EVENT_MESSAGE_##event - HEURT_EVENT_MESSAGE_SENT) / 2)

/* The two numbers of a word of MPI's events; what is any is left out. */
static void put_pair(const struct fields *fields, uint32_t id, size_t index, uint64_t word)
{
    static const char *const pairs[][2][2] = {
        [0] = {{"request", "communicator"}, {"to", "tag"}}, /* SENT */
        [PAIR_OF(AWAITED)] = {{"request", "communicator"}, {"from", "tag"}},
        [PAIR_OF(DONE)] = {{"request", "cancelled"}, {"from", "tag"}},
        [PAIR_OF(COLLECTIVE)] = {{"request", "communicator"}, {"root", "call"}},
        [PAIR_OF(COMMUNICATOR)] = {{"size", "communicator"}, {"own", "first"}},
        [PAIR_OF(RANK)] = {{"rank", "ranks"}, {"library", "threads"}},
    };
    const char *const *names = pairs[(id - HEURT_EVENT_MESSAGE_SENT) / 2][index];
    uint32_t values[2] = {HEURT_MESSAGE_HIGH(word), HEURT_MESSAGE_LOW(word)};
    for (unsigned i = 0; i < 2; i++)
        if (values[i] != HEURT_MESSAGE_ANY)
            fields__number(fields, names[i], NULL, values[i]);
}

static void put_creator(const struct fields *fields, uint64_t serial)
{
    if (serial == HEURT_NO_SERIAL)
        return;
    if (fields->json)
        fields__number(fields, "creator", NULL, serial);
    else
        fprintf(fields->out, " creator=#%" PRIu64, serial);
}

static void put_field(const struct shown_trace *shown, const struct shown_thread *thread,
                      const struct event *event, const struct fields *fields, size_t index)
{
    uint64_t word = event->payload[index];
    const struct field_shape *shape = &shapes[event->id];
    switch (shape->fields[index]) {
    case FIELD_NONE:
        return;
    case FIELD_OPERATION:
        fields__number(fields, "operation", NULL, HEURT_SITE_HOW(word));
        /* fall through */
    case FIELD_SITE:
        fields__text(fields, "site",
                     code_text(shown, thread, HEURT_SITE_ADDRESS(word), event->tick));
        return;
    case FIELD_POINTER:
    case FIELD_MUTEX:
        fields__address(fields, index == 2 ? "mutex" : shape->object, word);
        return;
    case FIELD_DESCRIPTOR:
        put_descriptor(fields, word);
        return;
    case FIELD_PAIR:
        put_pair(fields, event->id, index, word);
        return;
    case FIELD_BYTES:
        fields__number(fields, "bytes", NULL, word);
        return;
    case FIELD_OUT:
        fields__address(fields, "out", word);
        return;
    case FIELD_SIZE:
        put_size(fields, HEURT_SITE_HOW(event->payload[0]),
                 event->id == HEURT_EVENT_ALLOCATED ? HEURT_ALLOCATION_BYTES(word) : word);
        return;
    case FIELD_NS:
        put_known_ns(fields, shape->object, word);
        return;
    case FIELD_CPU:
        put_known_ns(fields, "cpu", word);
        return;
    case FIELD_RUNNABLE:
        put_known_ns(fields, "runnable", word);
        return;
    case FIELD_CREATOR:
        put_creator(fields, word);
        return;
    case FIELD_CODE:
        fields__text(fields, "routine", code_text(shown, thread, word, event->tick));
        return;
    case FIELD_INSTRUCTION:
        if (word)
            fields__text(fields, "site", code_text(shown, thread, word + 1, event->tick));
        return;
    case FIELD_NUMBER:
        fields__number(fields, shape->object, NULL, word);
        return;
    case FIELD_SAMPLED:
        put_sampled(fields, thread, word);
        return;
    case FIELD_WAITED:
        put_known_ns(fields, "waited", word ? shown_trace__duration_ns(shown, word) : UINT64_MAX);
        return;
    case FIELD_TOOK:
        if (event->id == HEURT_EVENT_OPENMP_END && !word)
            return; /* there was a begin */
        put_known_ns(fields, "took", shown_trace__duration_ns(shown, word));
        return;
    case FIELD_INITIAL:
        put_initial(fields, HEURT_SITE_HOW(event->payload[0]), word);
        return;
    case FIELD_STACK:
        put_stack(shown, thread, event, fields);
        return;
    case FIELD_OPENMP:
        put_openmp(shown, event, fields, index);
        return;
    default:
        put_kernel_field(shown, fields, shape, shape->fields[index], word);
    }
}

/* The arguments of a function by their names; argN where there are too few names. */
static void put_arguments(const struct shown_thread *thread, const struct event *event,
                          const struct fields *fields)
{
    const struct trace_function *function = trace_process__function(thread->process, event->id);
    const char *name = function ? function->argument_names : "";
    for (uint32_t i = 0; i < event->words; i++) {
        int length = (int)strcspn(name, ",");
        char *own = length ? memory__format("%.*s", length, name) : memory__format("arg%u", i + 1);
        fields__signed(fields, own, NULL, (int64_t)event->payload[i]);
        if (event->payload[i] > 0xffff && !fields->json)
            fprintf(fields->out, " (0x%" PRIx64 ")", event->payload[i]);
        free(own);
        name += length + (name[length] == ',');
    }
    if (function && *function->file)
        fields__text(fields, "at", memory__format("%s:%u", function->file, function->line));
}

bool event__has_fields(const struct shown_thread *thread, const struct event *event)
{
    if (event->words || event->id % 2 || event->id < HEURT_EVENT_FUNCTIONS)
        return event->words > 0;
    const struct trace_function *function = trace_process__function(thread->process, event->id);
    return function && *function->file;
}

bool event__fields_last(const struct shown_trace *shown, const struct shown_thread *thread,
                        const struct event *event)
{
    if (event->id % 2 || event->id >= HEURT_EVENT_FUNCTIONS)
        return true;
    for (size_t i = 0; i < event->words && i < FIELDS_MOST; i++) {
        enum field field =
            event->id < sizeof shapes / sizeof shapes[0] ? shapes[event->id].fields[i] : FIELD_NONE;
        bool is_site = field == FIELD_SITE || field == FIELD_OPERATION;
        if (is_site && !(shown->symbols && symbols__get(shown->symbols, thread->process->serial,
                                                        HEURT_SITE_ADDRESS(event->payload[i]))))
            return false; /* which module is there may change */
        if (!is_site && field != FIELD_NONE && field != FIELD_POINTER && field != FIELD_MUTEX)
            return false;
    }
    return true;
}

void event__put_fields(const struct shown_trace *shown, const struct shown_thread *thread,
                       const struct event *event, const struct fields *fields)
{
    if (event->id % 2) {
        if (event->words)
            fields__signed(fields, "result", NULL, (int64_t)event->payload[0]);
    } else if (event->id >= HEURT_EVENT_FUNCTIONS) {
        put_arguments(thread, event, fields);
    } else {
        size_t count = event->words < FIELDS_MOST ? event->words : FIELDS_MOST;
        for (size_t i = 0; i < count && event->id < sizeof shapes / sizeof shapes[0]; i++)
            put_field(shown, thread, event, fields, i);
        if (event->id == HEURT_EVENT_LOCK_ACQUIRED && count &&
            HEURT_SITE_HOW(event->payload[0]) & HEURT_LOCK_TRIED)
            fields__number(fields, "tried", NULL, 1);
        if (event->id == HEURT_EVENT_ALLOCATED && count &&
            HEURT_SITE_HOW(event->payload[0]) & HEURT_ALLOCATION_DRAWN)
            fields__number(fields, "drawn", NULL, 1);
    }
}
