/* dump.c: heurt dump: the trace as text, one line an event, all threads merged by time. */
#include "base/memory.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/fields.h"
#include "format/reader.h"
#include "format/symbols.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What the user asked for. */
struct request {
    const char *directory;
    struct vec threads;   /* const char *: TID, NAME (a glob) or #SERIAL; empty: all */
    struct vec functions; /* const char *: globs; empty: all */
    uint64_t from_ns, to_ns;
    bool raw, json;
};

/* A span that a thread is in. */
struct open_span {
    uint32_t id;
    bool has_payload;
    uint64_t first; /* word of its payload */
};

/* A thread while the dump goes through its events. */
struct dumped_thread {
    const struct trace_thread *thread;
    const struct trace_process *process;
    struct vec open; /* struct open_span, outermost first */
    bool wanted;
};

struct dump {
    const struct request *request;
    const struct trace *trace;
    const struct symbols *symbols; /* NULL: none */
    struct dumped_thread *threads; /* as trace__threads */
    FILE *out;
};

/* ---- what the payload words of an event are ------------------------------------------------- */

enum field {
    FIELD_NONE,
    FIELD_SITE,
    FIELD_POINTER,   /* an object's address, under the name that the shape gives */
    FIELD_MUTEX,     /* of a condition wait */
    FIELD_OPERATION, /* SITE of a raw futex(2) */
    FIELD_DESCRIPTOR,
    FIELD_SIZE, /* or a timeout, by the call */
    FIELD_NS,   /* under the name that the shape gives */
    FIELD_CPU,
    FIELD_RUNNABLE,
    FIELD_CREATOR,
    FIELD_CODE, /* the address of a function */
    FIELD_NUMBER,
    FIELD_STACK,
    FIELD_SAMPLED, /* a function and what its next occurrence stands for */
    FIELD_TICKS,   /* as time, under the name that the shape gives */
    FIELD_OFF,     /* likewise: HEURT_OFF */
    FIELD_BACK,    /* HEURT_BACK: time without a CPU, and the CPU */
    FIELD_WAKER,
    FIELD_ADDRESS,
    FIELD_INITIAL, /* a barrier's parties, a semaphore's value */
};

/* Fields of the enter or point event; a leave has at most its result. */
struct shape {
    const char *object; /* what POINTER, NS, NUMBER, TICKS and OFF are called */
    enum field fields[3];
};

static const struct shape shapes[HEURT_EVENT_INITIALISED + 1] = {
    [HEURT_EVENT_THREAD_START] = {"pthread", {FIELD_POINTER, FIELD_CREATOR, FIELD_CODE}},
    [HEURT_EVENT_THREAD_END] = {"", {FIELD_CPU, FIELD_RUNNABLE}},
    [HEURT_EVENT_LOCK_WAIT] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_LOCK_ACQUIRED] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_LOCK_BUSY] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_LOCK_RELEASED] = {"lock", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_CONDITION_WAIT] = {"condition", {FIELD_SITE, FIELD_POINTER, FIELD_MUTEX}},
    [HEURT_EVENT_CONDITION_SIGNALLED] = {"condition", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_BARRIER_WAIT] = {"barrier", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_SEMAPHORE_WAIT] = {"semaphore", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_SEMAPHORE_ACQUIRED] = {"semaphore", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_SEMAPHORE_POSTED] = {"semaphore", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_JOIN] = {"pthread", {FIELD_SITE, FIELD_POINTER}},
    [HEURT_EVENT_THREAD_CREATED] = {"pthread", {FIELD_SITE, FIELD_POINTER}},
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
    [HEURT_EVENT_FAULT] = {"took", {FIELD_OFF, FIELD_ADDRESS}},
    [HEURT_EVENT_KERNEL] = {"cpu", {FIELD_NUMBER}},
    [HEURT_EVENT_KERNEL_LOST] = {"records", {FIELD_NUMBER}},
    [HEURT_EVENT_INSTRUCTIONS] = {"retired", {FIELD_NUMBER}},
    [HEURT_EVENT_INITIALISED] = {"object", {FIELD_SITE, FIELD_POINTER, FIELD_INITIAL}},
};

static const char *lock_kind(uint32_t how)
{
    static const char *const kinds[] = {
        [HEURT_LOCK_MUTEX] = "mutex",          [HEURT_LOCK_READ] = "read",
        [HEURT_LOCK_WRITE] = "write",          [HEURT_LOCK_SPIN] = "spin",
        [HEURT_LOCK_RW_ANY] = "read or write",
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
        [HEURT_OFF_DISK] = "disk",
    };
    return how < sizeof kinds / sizeof kinds[0] ? kinds[how] : "?";
}

static const char *fault_kind(uint32_t how)
{
    return how == HEURT_FAULT_MEASURED    ? "measured"
           : how == HEURT_FAULT_ESTIMATED ? "estimated"
                                          : "?";
}

/* What an event is called, and what stands in parentheses behind it (or ""). */
struct title {
    const char *name, *detail;
};

/* payload: the first word of the enter's or point's, NULL when there is none. */
static struct title title_of(const struct dumped_thread *thread, uint32_t id,
                             const uint64_t *payload)
{
    uint32_t even = id & ~1u, how = payload ? HEURT_SITE_HOW(*payload) : 0;
    if (even >= HEURT_EVENT_FUNCTIONS) {
        const struct trace_function *function = trace_process__function(thread->process, even);
        bool is_locked = function && function->flags & HEURT_FUNCTION_LOCKED && id == even;
        return (struct title){function ? function->name : "?",
                              is_locked ? "locked instructions" : ""};
    }
    const char *name = event__name(even);
    if (!name)
        name = "?";
    if (payload && even == HEURT_EVENT_IO)
        return (struct title){io__name(how), ""};
    if (payload && even == HEURT_EVENT_SLEEP)
        return (struct title){sleep__name(how), ""};
    if (payload && even >= HEURT_EVENT_LOCK_WAIT && even <= HEURT_EVENT_LOCK_RELEASED)
        return (struct title){name, lock_kind(HEURT_LOCK_KIND(*payload))};
    if (payload && even == HEURT_EVENT_CONDITION_SIGNALLED)
        return (struct title){name, how ? "broadcast" : "signal"};
    if (payload && even == HEURT_EVENT_INITIALISED)
        return (struct title){name, object_kind(how)};
    if (payload && even == HEURT_EVENT_OFF_CPU)
        return (struct title){name, off_kind(how)};
    if (payload && even == HEURT_EVENT_FAULT)
        return (struct title){name, fault_kind(how)};
    return (struct title){name, ""};
}

/* ---- one line ------------------------------------------------------------------------------- */

/* An address as function file:line where its symbol is kept, else as module+offset. free() it. */
static char *code_text(const struct dump *dump, const struct dumped_thread *thread,
                       uint64_t address, uint64_t tick)
{
    const struct trace_process *process = thread->process;
    const struct symbol *symbol =
        dump->symbols ? symbols__get(dump->symbols, process->serial, address) : NULL;
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
    fields__signed(fields, "fd", NULL, (int32_t)(uint32_t)word);
    if (!fields->json)
        fputs(kind, fields->out);
    else if (*kind)
        fields__text(fields, "descriptor", memory__text(kind + 1));
}

static void put_frames(const struct dump *dump, const struct dumped_thread *thread, uint64_t tick,
                       const struct fields *fields, const uint64_t *frames, size_t count)
{
    struct json_object *list = fields->json ? json_object_new_array() : NULL;
    for (size_t i = 0; i < count; i++) {
        char *text = code_text(dump, thread, frames[i], tick);
        if (list) {
            json_object_array_add(list, text__json(text));
        } else {
            fputs(i ? " < " : " ", fields->out);
            text__print(fields->out, text);
        }
        free(text);
    }
    if (list)
        json_object_object_add(fields->json, "frames", list);
}

static void put_stack(const struct dump *dump, const struct dumped_thread *thread,
                      const struct event *event, const struct fields *fields)
{
    const uint64_t *frames;
    size_t count = dump->symbols ? symbols__get_stack(dump->symbols, thread->thread->serial,
                                                      event->tick, &frames)
                                 : 0;
    if (count)
        put_frames(dump, thread, event->tick, fields, frames, count);
    else
        fields__number(fields, "words", NULL, event->payload[0]);
}

static void put_sampled(const struct fields *fields, const struct dumped_thread *thread,
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
static void put_kernel_field(const struct dump *dump, const struct fields *fields,
                             const struct shape *shape, enum field field, uint64_t word)
{
    uint64_t ticks = HEURT_SITE_ADDRESS(word);
    switch (field) {
    case FIELD_TICKS:
        put_known_ns(fields, shape->object, trace__ns(dump->trace, word));
        return;
    case FIELD_OFF:
        put_known_ns(fields, shape->object, trace__ns(dump->trace, ticks));
        return;
    case FIELD_BACK:
        put_known_ns(fields, "runnable",
                     ticks == HEURT_NOT_KNOWN ? UINT64_MAX : trace__ns(dump->trace, ticks));
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

static void put_creator(const struct fields *fields, uint64_t serial)
{
    if (serial == HEURT_NO_SERIAL)
        return;
    if (fields->json)
        fields__number(fields, "creator", NULL, serial);
    else
        fprintf(fields->out, " creator=#%" PRIu64, serial);
}

static void put_field(const struct dump *dump, const struct dumped_thread *thread,
                      const struct event *event, const struct fields *fields, size_t index)
{
    uint64_t word = event->payload[index];
    const struct shape *shape = &shapes[event->id];
    switch (shape->fields[index]) {
    case FIELD_NONE:
        return;
    case FIELD_OPERATION:
        fields__number(fields, "operation", NULL, HEURT_SITE_HOW(word));
        /* fall through */
    case FIELD_SITE:
        fields__text(fields, "site",
                     code_text(dump, thread, HEURT_SITE_ADDRESS(word), event->tick));
        return;
    case FIELD_POINTER:
    case FIELD_MUTEX:
        fields__address(fields, index == 2 ? "mutex" : shape->object, word);
        return;
    case FIELD_DESCRIPTOR:
        put_descriptor(fields, word);
        return;
    case FIELD_SIZE:
        put_size(fields, HEURT_SITE_HOW(event->payload[0]), word);
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
        fields__text(fields, "routine", code_text(dump, thread, word, event->tick));
        return;
    case FIELD_NUMBER:
        fields__number(fields, shape->object, NULL, word);
        return;
    case FIELD_SAMPLED:
        put_sampled(fields, thread, word);
        return;
    case FIELD_INITIAL:
        put_initial(fields, HEURT_SITE_HOW(event->payload[0]), word);
        return;
    case FIELD_STACK:
        put_stack(dump, thread, event, fields);
        return;
    default:
        put_kernel_field(dump, fields, shape, shape->fields[index], word);
    }
}

/* The arguments of a function by their names; argN where there are too few names. */
static void put_arguments(const struct dumped_thread *thread, const struct event *event,
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

static void put_fields(const struct dump *dump, const struct dumped_thread *thread,
                       const struct event *event, const struct fields *fields)
{
    if (event->id % 2) {
        if (event->words)
            fields__signed(fields, "result", NULL, (int64_t)event->payload[0]);
    } else if (event->id >= HEURT_EVENT_FUNCTIONS) {
        put_arguments(thread, event, fields);
    } else {
        size_t count = event->words < 3 ? event->words : 3;
        for (size_t i = 0; i < count && event->id < sizeof shapes / sizeof shapes[0]; i++)
            put_field(dump, thread, event, fields, i);
        if (event->id == HEURT_EVENT_LOCK_ACQUIRED && count &&
            HEURT_SITE_HOW(event->payload[0]) & HEURT_LOCK_TRIED)
            fields__number(fields, "tried", NULL, 1);
    }
}

/* ---- which events, and where they stand ------------------------------------------------------ */

static bool is_wanted(const struct dump *dump, const struct dumped_thread *thread,
                      const struct event *event, struct title title)
{
    const struct request *request = dump->request;
    uint64_t ns = trace__since_start_ns(dump->trace, event->tick);
    if (!thread->wanted || ns < request->from_ns || ns > request->to_ns)
        return false;
    const char *kind = event__name(event->id & ~1u);
    VEC_EACH(glob, &request->functions, const char *)
    if (fnmatch(*glob, title.name, 0) == 0 || (kind && fnmatch(*glob, kind, 0) == 0))
        return true;
    return request->functions.count == 0;
}

/* Takes the span that a leave ends, and what was left open in it, off the thread's stack. Returns
 * what it was, or no payload when its enter was never seen. */
static struct open_span leave_span(struct dumped_thread *thread, uint32_t id)
{
    for (size_t i = thread->open.count; i-- > 0;) {
        const struct open_span *span = VEC_AT(&thread->open, struct open_span, i);
        if (span->id != (id & ~1u))
            continue;
        thread->open.count = i;
        return *span;
    }
    return (struct open_span){.id = id};
}

static void leave_innermost_function(struct dumped_thread *thread)
{
    for (size_t i = thread->open.count; i-- > 0;)
        if (VEC_AT(&thread->open, struct open_span, i)->id >= HEURT_EVENT_FUNCTIONS) {
            thread->open.count = i;
            return;
        }
}

static const char *what_of(uint32_t id)
{
    return id % 2 ? "leave" : event__is_span(id) ? "enter" : "point";
}

static void print_line(const struct dump *dump, const struct dumped_thread *thread,
                       const struct event *event, struct title title, size_t depth)
{
    uint64_t ns = trace__since_start_ns(dump->trace, event->tick);
    char name[17] = "";
    strncpy(name, thread->thread->name, sizeof name - 1);
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(dump->out, "%" PRIu64 ".%09" PRIu64 " %7u %-15s %s %*s", ns / 1000000000,
            ns % 1000000000, thread->thread->tid, name, what_of(event->id), (int)(depth * 2), "");
    text__print(dump->out, title.name);
    if (*title.detail)
        fprintf(dump->out, " (%s)", title.detail);
    put_fields(dump, thread, event, &(struct fields){.out = dump->out});
    fputc('\n', dump->out);
}

/* An object on a line of its own. */
static void print_json(const struct dump *dump, const struct dumped_thread *thread,
                       const struct event *event, struct title title, size_t depth)
{
    char name[17] = "";
    strncpy(name, thread->thread->name, sizeof name - 1);
    struct json_object *line = json_object_new_object(), *fields = json_object_new_object();
    json_object_object_add(line, "ns",
                           json_object_new_uint64(trace__since_start_ns(dump->trace, event->tick)));
    json_object_object_add(line, "tid", json_object_new_int64(thread->thread->tid));
    json_object_object_add(line, "serial", json_object_new_int64(thread->thread->serial));
    json_object_object_add(line, "thread", text__json(name));
    json_object_object_add(line, "what", json_object_new_string(what_of(event->id)));
    json_object_object_add(line, "depth", json_object_new_uint64(depth));
    json_object_object_add(line, "name", text__json(title.name));
    json_object_object_add(line, "detail", *title.detail ? text__json(title.detail) : NULL);
    put_fields(dump, thread, event, &(struct fields){.json = fields});
    json_object_object_add(line, "fields", fields);
    fprintf(dump->out, "%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
    json_object_put(line);
}

/* Tick, serial of the thread, id and payload, as they are in the file. */
static void print_raw(const struct dump *dump, const struct dumped_thread *thread,
                      const struct event *event)
{
    fprintf(dump->out, "%" PRIu64 " #%u %u", event->tick, thread->thread->serial, event->id);
    for (uint32_t i = 0; i < event->words; i++)
        fprintf(dump->out, " 0x%" PRIx64, event->payload[i]);
    fputc('\n', dump->out);
}

static void dump_event(const struct dump *dump, struct dumped_thread *thread,
                       const struct event *event)
{
    struct open_span span = {event->id, event->words > 0, event->words ? *event->payload : 0};
    if (event->id == HEURT_EVENT_UNWOUND)
        leave_innermost_function(thread);
    if (event->id % 2)
        span = leave_span(thread, event->id);
    struct title title = title_of(thread, event->id, span.has_payload ? &span.first : NULL);
    if (is_wanted(dump, thread, event, title)) {
        if (dump->request->raw)
            print_raw(dump, thread, event);
        else if (dump->request->json)
            print_json(dump, thread, event, title, thread->open.count);
        else
            print_line(dump, thread, event, title, thread->open.count);
    }
    if (event->id % 2 == 0 && event__is_span(event->id))
        vec__push(&thread->open, &span);
}

/* ---- the whole trace ------------------------------------------------------------------------- */

static bool matches_thread(const struct trace_thread *thread, const char *wanted)
{
    char *end;
    bool is_serial = wanted[0] == '#';
    unsigned long number = strtoul(wanted + is_serial, &end, 10);
    if (end != wanted + is_serial && !*end && number == (is_serial ? thread->serial : thread->tid))
        return true;
    return fnmatch(wanted, thread->name, 0) == 0;
}

/* The threads, each with whether it was asked for; *matched counts these. */
static struct dumped_thread *make_threads(const struct trace *trace, const struct request *request,
                                          size_t *matched)
{
    const struct vec *threads = trace__threads(trace);
    struct dumped_thread *all = memory__zeroed(threads->count, sizeof *all);
    *matched = 0;
    for (size_t i = 0; i < threads->count; i++) {
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, i);
        all[i].thread = thread;
        all[i].process = VEC_AT(trace__processes(trace), struct trace_process, thread->process);
        all[i].open = VEC_OF(struct open_span);
        all[i].wanted = request->threads.count == 0;
        VEC_EACH(wanted, &request->threads, const char *)
        all[i].wanted |= matches_thread(thread, *wanted);
        *matched += all[i].wanted;
    }
    return all;
}

/* Returns 0, or the errno of a write that failed. */
static int dump_all(const struct dump *dump)
{
    struct trace_merge *merge = trace_merge__start(dump->trace);
    struct event event;
    size_t thread;
    int failed = 0;
    while (!failed && trace_merge__next(merge, &event, &thread)) {
        errno = 0;
        dump_event(dump, &dump->threads[thread], &event);
        if (ferror(dump->out))
            failed = errno ? errno : EIO;
    }
    trace_merge__free(merge);
    if (!failed && fflush(dump->out) < 0)
        failed = errno;
    return failed;
}

static void say_what_is_missing(const struct trace *trace)
{
    uint64_t lost = trace__events_lost(trace), damaged = trace__damaged_chunks(trace);
    if (lost)
        say("%" PRIu64 " events are missing: the trace was full when they happened (record again "
            "with a larger --max-size)",
            lost);
    if (damaged)
        say("%" PRIu64 " place%s of the trace could not be understood; the events there are "
            "missing",
            damaged, damaged == 1 ? "" : "s");
}

static int dump_trace(const struct request *request, const struct trace *trace)
{
    struct symbols *symbols = NULL;
    struct error error = {""};
    size_t matched;
    int code = symbols__load(request->directory, &symbols, &error);
    if (code < 0 && code != -ENOENT)
        say("%s", error.text);
    struct dump dump = {
        .request = request,
        .trace = trace,
        .symbols = symbols,
        .threads = make_threads(trace, request, &matched),
    };
    if (!matched && request->threads.count)
        say("no thread of the trace is the one that --thread asks for");
    if (trace__is_aggregated(trace))
        say("the run was recorded with --aggregate: of its events only the last ones, which no "
            "class has counted, are there; heurt report shows what the others came to");
    dump.out = pager__open();
    if (request->json)
        fputs("{\"schema\":\"heurt.dump/1\"}\n", dump.out);
    int failed = dump_all(&dump);
    pager__close(dump.out);
    if (failed && failed != EPIPE)
        say("the dump could not be written: %s", strerror(failed));
    else if (!failed)
        say_what_is_missing(trace);
    for (size_t i = 0; i < trace__threads(trace)->count; i++)
        vec__free(&dump.threads[i].open);
    free(dump.threads);
    symbols__free(symbols);
    return failed && failed != EPIPE ? EXIT_HEURT : 0;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* Seconds since the start as ns; false when text is no such number. */
static bool parse_seconds(const char *text, uint64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0 && seconds < 1e9))
        return false;
    *ns = (uint64_t)(seconds * 1e9 + 0.5);
    return true;
}

/* Fills request; -1, or the exit status when there is nothing more to do. */
static int parse(int argc, char **argv, struct request *request)
{
    enum { OPTION_FROM = 256, OPTION_TO, OPTION_RAW, OPTION_JSON };
    static const struct option options[] = {
        {"input", required_argument, NULL, 'i'},
        {"thread", required_argument, NULL, 't'},
        {"function", required_argument, NULL, 'f'},
        {"from", required_argument, NULL, OPTION_FROM},
        {"to", required_argument, NULL, OPTION_TO},
        {"raw", no_argument, NULL, OPTION_RAW},
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    optind = 0; /* other commands may have used getopt before */
    for (int option; (option = getopt_long(argc, argv, "i:t:f:h", options, NULL)) != -1;) {
        const char *argument = optarg;
        if (option == 'h')
            return show_help(&command_dump);
        else if (option == 'i')
            request->directory = argument;
        else if (option == 't')
            vec__push(&request->threads, &argument);
        else if (option == 'f')
            vec__push(&request->functions, &argument);
        else if (option == OPTION_RAW)
            request->raw = true;
        else if (option == OPTION_JSON)
            request->json = true;
        else if (option == '?')
            return wrong_usage(&command_dump, "these options are not understood");
        else if (!parse_seconds(argument,
                                option == OPTION_FROM ? &request->from_ns : &request->to_ns))
            return wrong_usage(&command_dump, "--%s needs seconds since the start, not '%s'",
                               option == OPTION_FROM ? "from" : "to", argument);
    }
    if (optind < argc)
        return wrong_usage(&command_dump, "'%s' is not an option; a trace is named with -i",
                           argv[optind]);
    if (request->raw && request->json)
        return wrong_usage(&command_dump, "--raw and --json cannot both be");
    return -1;
}

static int run(int argc, char **argv)
{
    struct request request = {
        .directory = DEFAULT_TRACE,
        .threads = VEC_OF(const char *),
        .functions = VEC_OF(const char *),
        .to_ns = UINT64_MAX,
    };
    struct trace *trace;
    struct error error = {""};
    int status = parse(argc, argv, &request);
    if (status < 0 && trace__open(request.directory, &trace, &error) < 0) {
        say("%s", error.text);
        status = EXIT_HEURT;
    }
    if (status < 0) {
        /* A reader that goes away, or a pager that is left, is no reason to die by a signal. */
        signal(SIGPIPE, SIG_IGN);
        status = dump_trace(&request, trace);
        trace__close(trace);
    }
    vec__free(&request.threads);
    vec__free(&request.functions);
    return status;
}

static const char options_help[] =
    "  -i, --input DIR             the trace (heurt.data)\n"
    "  -t, --thread TID            only this thread: its id, its name, or #SERIAL; repeatable\n"
    "  -f, --function GLOB         only events of this name; repeatable\n"
    "  --from S, --to S            only events between these seconds since the start\n"
    "  --json                      one JSON object an event and line\n"
    "  --raw                       ticks, numbers and payload words as they are in the file\n";

const struct command command_dump = {
    "dump",
    "[-i DIR] [--thread TID|NAME|#SERIAL]… [--function GLOB]… [--from SECONDS] [--to SECONDS] "
    "[--json|--raw]",
    "the events of a trace as text, one line an event", run, options_help};
