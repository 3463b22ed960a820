#include "import/import.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "format/symbols.h"
#include "format/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first event has this tick; what is earlier has room before it. */
#define START_TICK (1ull << 40)
#define LIMIT_UNITS (1ull << 26) /* 256 GiB, sparse */
#define FIRST_ADDRESS 0x100000u  /* of what has a name */
#define OPEN_MAX 16384u          /* calls in one another */

struct import_thread {
    uint32_t process; /* serial */
    uint32_t pid, tid;
    bool has_started;
    uint64_t last_tick;
    struct vec open; /* uint32_t: ids of the calls that it is in */
};

struct import {
    struct trace_writer *writer;
    struct symbols *symbols;
    struct vec threads;   /* struct import_thread */
    struct map processes; /* pid -> serial */
    struct map by_tid;    /* pid, tid -> place in threads */
    struct map functions; /* process, line, texts -> id */
    struct map sites;     /* likewise -> address */
    uint32_t process_count, next_id, loop_count;
    uint64_t next_address;
    struct vec addresses; /* uint64_t: of functions, by number_of */
    bool has_first;
    int64_t first_ns;
    uint64_t last_tick;
    int code;                       /* of the first write that failed */
    struct import_outcome *outcome; /* the caller's, who may look at it meanwhile */
};

static void took(struct import *import, int code)
{
    if (code < 0 && import->code == 0)
        import->code = code;
}

bool import__is_full(const struct import *import)
{
    return import->code < 0;
}

void import__is_of(struct import *import, const char *name, const char *lacks)
{
    import->outcome->name = name;
    import->outcome->lacks = lacks;
}

struct symbols *import__symbols(struct import *import)
{
    return import->symbols;
}

void import__pass_over(struct import *import, const char *what)
{
    struct import_outcome *outcome = import->outcome;
    if (outcome->passed_over++ == 0)
        strncpy(outcome->passed_over_what, what, sizeof outcome->passed_over_what - 1);
}

void import__meta(struct import *import, const char *key, const char *value)
{
    took(import, trace_writer__meta(import->writer, key, value));
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* A struct, and texts behind it. */
static void define(struct import *import, uint32_t process, enum heurt_definition_type type,
                   const void *head, size_t head_bytes, const char *const *texts, size_t count)
{
    size_t bytes = head_bytes;
    for (size_t i = 0; i < count; i++)
        bytes += strnlen(texts[i], IMPORT_NAME_MAX) + 1;
    char *body = memory__zeroed(bytes, 1), *at = body + head_bytes;
    memcpy(body, head, head_bytes);
    for (size_t i = 0; i < count; i++) {
        size_t length = strnlen(texts[i], IMPORT_NAME_MAX);
        memcpy(at, texts[i], length);
        at += length + 1;
    }
    took(import, trace_writer__define(import->writer, process, type, body, bytes));
    free(body);
}

void import__define(struct import *import, uint32_t thread, enum heurt_definition_type type,
                    const void *body, size_t bytes)
{
    uint32_t process = VEC_AT(&import->threads, struct import_thread, thread)->process;
    took(import, trace_writer__define(import->writer, process, type, body, bytes));
}

uint32_t import__process(struct import *import, uint32_t pid, uint32_t parent_pid, const char *path)
{
    uint64_t found = map__get(&import->processes, &pid, sizeof pid);
    if (found != MAP_ABSENT)
        return (uint32_t)found;
    uint32_t serial = import->process_count++;
    map__put(&import->processes, &pid, sizeof pid, serial);
    const struct heurt_process process = {.pid = pid,
                                          .parent_pid = parent_pid,
                                          .tick = START_TICK,
                                          .parent_process = HEURT_NO_SERIAL};
    define(import, serial, HEURT_DEFINITION_PROCESS, &process, sizeof process,
           &(const char *){path ? path : ""}, 1);
    return serial;
}

static void name_thread(struct import *import, uint32_t thread, const char *name)
{
    struct heurt_thread_name named = {.thread = thread};
    strncpy(named.name, name, sizeof named.name - 1);
    import__define(import, thread, HEURT_DEFINITION_THREAD_NAME, &named, sizeof named);
}

uint32_t import__thread(struct import *import, uint32_t pid, uint32_t tid, const char *name)
{
    const uint32_t key[] = {pid, tid};
    uint64_t found = map__get(&import->by_tid, key, sizeof key);
    if (found == MAP_ABSENT) {
        found = import->threads.count;
        if (found >= IMPORT_THREADS_MAX)
            return UINT32_MAX;
        map__put(&import->by_tid, key, sizeof key, found);
        const struct import_thread thread = {.process = import__process(import, pid, 0, NULL),
                                             .pid = pid,
                                             .tid = tid,
                                             .open = VEC_OF(uint32_t)};
        vec__push(&import->threads, &thread);
        trace_writer__name_thread(import->writer, (uint32_t)found, pid, tid);
    }
    if (name)
        name_thread(import, (uint32_t)found, name);
    return (uint32_t)found;
}

uint32_t import__process_of(const struct import *import, uint32_t thread)
{
    return VEC_AT(&import->threads, struct import_thread, thread)->process;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct named_place {
    uint32_t process, line;
    const char *name, *module, *file;
    enum heurt_function_kind kind; /* of a function */
    const char *arguments;         /* likewise; "": none */
};

/* What a place is told by. free() it. */
static char *key_of(const struct named_place *place, size_t *bytes)
{
    const char *file = place->file ? place->file : "", *module = place->module ? place->module : "";
    size_t name_bytes = strnlen(place->name, IMPORT_NAME_MAX);
    char *key = memory__format("%u %u %u %s %.*s", place->process, place->line, place->kind,
                               place->arguments, (int)name_bytes, place->name);
    size_t head = strlen(key);
    *bytes = head + 1 + strlen(file) + 1 + strlen(module);
    key = memory__resize(key, *bytes + 1, 1);
    strcpy(key + head + 1, file);
    strcpy(key + head + 2 + strlen(file), module);
    return key;
}

static uint64_t new_address(struct import *import, const struct named_place *place)
{
    uint64_t address = import->next_address += 16;
    char *name = memory__format("%.*s", (int)IMPORT_NAME_MAX, place->name);
    symbols__put(import->symbols, place->process, address,
                 &(struct symbol){.function = name,
                                  .module = place->module ? place->module : "",
                                  .file = place->file,
                                  .line = place->line,
                                  .named = true});
    free(name);
    return address;
}

/* UINT32_MAX: there are no more. Loops that were marked have ids of their own. */
static uint32_t new_id(struct import *import, enum heurt_function_kind kind)
{
    uint32_t id = import->next_id;
    if (kind == HEURT_FUNCTION_LOOP && import->loop_count < HEURT_LOOPS_MAX)
        return HEURT_EVENT_LOOPS + 2 * import->loop_count++;
    if (id > HEURT_FUNCTION_LAST)
        return UINT32_MAX;
    import->next_id = id + 2 == HEURT_EVENT_LOOPS ? 1 << HEURT_ID_BITS : id + 2;
    return id;
}

static uint32_t arguments_in(const char *names)
{
    uint32_t count = *names ? 1 : 0;
    for (; *names; names++)
        count += *names == ',';
    return count;
}

/* Of a function's id, counted from 0. */
static uint32_t number_of(uint32_t id)
{
    return HEURT_IS_LOOP(id) ? (id - HEURT_EVENT_LOOPS) / 2
                             : HEURT_LOOPS_MAX + (id - HEURT_EVENT_FUNCTIONS) / 2;
}

static uint32_t new_function(struct import *import, const struct named_place *place)
{
    uint32_t id = new_id(import, place->kind);
    bool is_marker = place->kind != HEURT_FUNCTION_PATCHED;
    if (id == UINT32_MAX)
        return id;
    const struct heurt_function function = {.id = id,
                                            .kind = HEURT_IS_LOOP(id) ? HEURT_FUNCTION_LOOP
                                                    : place->kind == HEURT_FUNCTION_LOOP
                                                        ? HEURT_FUNCTION_REGION
                                                        : place->kind,
                                            .address = new_address(import, place),
                                            .line = is_marker ? place->line : 0,
                                            .argument_count = arguments_in(place->arguments)};
    const char *texts[] = {place->name, is_marker && place->file ? place->file : "",
                           place->arguments};
    *VEC_REACH(&import->addresses, uint64_t, number_of(id)) = function.address;
    define(import, place->process, HEURT_DEFINITION_FUNCTION, &function, sizeof function, texts, 3);
    return id;
}

static struct named_place place_of(const struct import *import, uint32_t thread, const char *name,
                                   const char *module, const char *file, uint32_t line)
{
    uint32_t process = VEC_AT(&import->threads, struct import_thread, thread)->process;
    return (struct named_place){
        process, line, name && *name ? name : "?", module, file, HEURT_FUNCTION_PATCHED, ""};
}

uint32_t import__function_of(struct import *import, uint32_t thread,
                             const struct import_function *function)
{
    size_t bytes;
    struct named_place place =
        place_of(import, thread, function->name, function->module, function->file, function->line);
    place.kind = function->kind;
    if (function->arguments && arguments_in(function->arguments) <= HEURT_ARGUMENTS_MAX)
        place.arguments = function->arguments;
    char *key = key_of(&place, &bytes);
    uint64_t id = map__get(&import->functions, key, bytes);
    if (id == MAP_ABSENT) {
        id = new_function(import, &place);
        map__put(&import->functions, key, bytes, id);
    }
    free(key);
    return (uint32_t)id;
}

uint32_t import__function(struct import *import, uint32_t thread, const char *name,
                          const char *module, const char *file, uint32_t line)
{
    const struct import_function function = {name, module, file, line, HEURT_FUNCTION_PATCHED,
                                             NULL};
    return import__function_of(import, thread, &function);
}

uint64_t import__site(struct import *import, uint32_t thread, const char *name, const char *module,
                      const char *file, uint32_t line)
{
    size_t bytes;
    const struct named_place place = place_of(import, thread, name, module, file, line);
    char *key = key_of(&place, &bytes);
    uint64_t address = map__get(&import->sites, key, bytes);
    if (address == MAP_ABSENT) {
        address = new_address(import, &place);
        map__put(&import->sites, key, bytes, address);
    }
    free(key);
    return address;
}

/* ---- events ---------------------------------------------------------------------------------- */

uint64_t import__tick(struct import *import, int64_t ns)
{
    if (!import->has_first)
        import->first_ns = ns;
    import->has_first = true;
    uint64_t since = (uint64_t)ns - (uint64_t)import->first_ns; /* modulo 2^64 */
    if (since >= 1ull << 62)
        return -since < START_TICK ? START_TICK + since : 1;
    return START_TICK + since;
}

static void write_event(struct import *import, uint32_t thread, uint64_t tick, uint32_t id,
                        const uint64_t *payload, size_t words)
{
    struct import_thread *at = VEC_AT(&import->threads, struct import_thread, thread);
    import->outcome->events++;
    took(import,
         trace_writer__event(import->writer, at->process, thread, tick, id, payload, words));
}

uint64_t import__innermost_site(const struct import *import, uint32_t thread)
{
    const struct vec *open = &VEC_AT(&import->threads, struct import_thread, thread)->open;
    if (open->count == 0)
        return 0;
    return *VEC_AT(&import->addresses, uint64_t,
                   number_of(*VEC_AT(open, uint32_t, open->count - 1)));
}

void import__name_object(struct import *import, uint32_t thread, uint64_t address, const char *name)
{
    uint32_t process = VEC_AT(&import->threads, struct import_thread, thread)->process;
    char *cut = memory__format("%.*s", (int)IMPORT_NAME_MAX, name);
    symbols__put_variable(import->symbols, process, address,
                          &(struct symbol){.function = cut, .module = "", .named = true});
    free(cut);
}

/* The thread's clock, which never goes back. The thread has begun. */
static uint64_t go_on(struct import *import, uint32_t thread, int64_t ns)
{
    struct import_thread *at = VEC_AT(&import->threads, struct import_thread, thread);
    uint64_t tick = import__tick(import, ns);
    tick = tick > at->last_tick ? tick : at->last_tick;
    at->last_tick = tick;
    import->last_tick = tick > import->last_tick ? tick : import->last_tick;
    if (!at->has_started)
        write_event(import, thread, tick, HEURT_EVENT_THREAD_START,
                    (const uint64_t[]){at->tid, HEURT_NO_SERIAL, 0}, 3);
    at->has_started = true;
    return tick;
}

void import__event(struct import *import, uint32_t thread, int64_t ns, uint32_t id,
                   const uint64_t *payload, size_t words)
{
    struct import_thread *at = VEC_AT(&import->threads, struct import_thread, thread);
    if (import__is_full(import))
        return;
    if (id == HEURT_EVENT_THREAD_START && !at->has_started)
        at->has_started = true;
    write_event(import, thread, go_on(import, thread, ns), id, payload, words);
}

void import__begin(struct import *import, uint32_t thread, int64_t ns)
{
    if (!import__is_full(import))
        go_on(import, thread, ns);
}

void import__end(struct import *import, uint32_t thread, int64_t ns)
{
    const uint64_t not_known[] = {UINT64_MAX, UINT64_MAX};
    import__event(import, thread, ns, HEURT_EVENT_THREAD_END, not_known, 2);
}

void import__enter_with(struct import *import, uint32_t thread, int64_t ns, uint32_t function,
                        const uint64_t *arguments, size_t count)
{
    struct vec *open = &VEC_AT(&import->threads, struct import_thread, thread)->open;
    if (import__is_full(import))
        return;
    if (function == UINT32_MAX || open->count == OPEN_MAX) {
        import__pass_over(import, "calls");
        return;
    }
    vec__push(open, &function);
    write_event(import, thread, go_on(import, thread, ns), function, arguments, count);
}

void import__enter(struct import *import, uint32_t thread, int64_t ns, uint32_t function)
{
    import__enter_with(import, thread, ns, function, NULL, 0);
}

void import__leave_innermost(struct import *import, uint32_t thread, int64_t ns)
{
    struct vec *open = &VEC_AT(&import->threads, struct import_thread, thread)->open;
    if (import__is_full(import) || open->count == 0)
        return;
    uint32_t id = *VEC_AT(open, uint32_t, --open->count);
    write_event(import, thread, go_on(import, thread, ns), id | 1, NULL, 0);
}

void import__leave(struct import *import, uint32_t thread, int64_t ns, uint32_t function)
{
    struct vec *open = &VEC_AT(&import->threads, struct import_thread, thread)->open;
    size_t depth = open->count;
    while (depth && *VEC_AT(open, uint32_t, depth - 1) != function)
        depth--;
    if (depth == 0) {
        import__pass_over(import, "ends of calls that did not begin");
        return;
    }
    while (open->count >= depth && !import__is_full(import))
        import__leave_innermost(import, thread, ns);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int start(const char *directory, struct import *import, struct error *error)
{
    const struct heurt_session settings = {.clock = HEURT_CLOCK_MONOTONIC,
                                           .limit_units = LIMIT_UNITS,
                                           .start = {START_TICK, START_TICK}};
    *import = (struct import){.threads = VEC_OF(struct import_thread),
                              .addresses = VEC_OF(uint64_t),
                              .next_id = HEURT_EVENT_FUNCTIONS,
                              .next_address = FIRST_ADDRESS,
                              .last_tick = START_TICK};
    int code = trace_writer__create(directory, &settings, &import->writer, error);
    import->symbols = code < 0 ? NULL : symbols__new();
    return code;
}

static void note(struct import *import)
{
    const struct import_outcome *outcome = import->outcome;
    char *sentence = memory__format("Imported from %s: %s.", outcome->name, outcome->lacks);
    char *origin = memory__format("%s: %s", outcome->name, outcome->lacks);
    import__meta(import, "imported", origin);
    if (import->process_count)
        took(import, trace_writer__define(import->writer, 0, HEURT_DEFINITION_NOTE, sentence,
                                          strlen(sentence) + 1));
    free(sentence);
    free(origin);
}

static int end(struct import *import, const char *directory, struct error *error)
{
    const struct heurt_clock_pair at = {import->last_tick, import->last_tick};
    if (import->code < 0) {
        trace_writer__discard(import->writer);
        return error__set(error, import->code, "the trace %s could not be written: %s", directory,
                          strerror(-import->code));
    }
    int code = trace_writer__finish(import->writer, 0, at, error);
    return code ? code : symbols__save(import->symbols, directory, error);
}

static void free_import(struct import *import)
{
    VEC_EACH (thread, &import->threads, struct import_thread)
        vec__free(&thread->open);
    vec__free(&import->threads);
    vec__free(&import->addresses);
    map__free(&import->processes);
    map__free(&import->by_tid);
    map__free(&import->functions);
    map__free(&import->sites);
    symbols__free(import->symbols);
}

int importer__run(const struct importer *importer, const struct import_source *source,
                  const char *directory, struct import_outcome *outcome, struct error *error)
{
    struct import import;
    int code = start(directory, &import, error);
    *outcome = (struct import_outcome){0};
    import.outcome = outcome;
    if (code == 0) {
        import__is_of(&import, importer->name, importer->lacks);
        code = importer->import(source, &import, error);
        if (code == 0 && outcome->events == 0)
            code = error__set(error, -ENODATA, "there are no events in %s that have a meaning here",
                              source->path);
        note(&import);
        if (code < 0)
            trace_writer__discard(import.writer);
        else
            code = end(&import, directory, error);
    }
    outcome->threads = import.threads.count;
    free_import(&import);
    return code;
}
