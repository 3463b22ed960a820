/* Chrome's JSON of trace events: an array of them, or an object with such an array as traceEvents.
 *
 * The file is cut into events by its braces, and json-c parses one at a time; those of a thread may
 * stand in any order, so they are kept, 40 bytes each, until all have been read. B, E and X are
 * calls, M tells names, others are passed over. Times are in us. */
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "import/internal.h"

#include <json-c/json.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES_MAX (1u << 20)

enum chrome_kind { CHROME_END, CHROME_WHOLE, CHROME_BEGIN };

struct chrome_event {
    int64_t ns, end_ns; /* end_ns: of a whole one */
    uint64_t order;
    uint32_t function;
    enum chrome_kind kind;
};

struct chrome_reading {
    struct import *import;
    struct vec threads; /* struct vec of struct chrome_event, by the import's number */
    struct map ids;     /* text in place of a number -> number */
    uint32_t next_text_id;
    uint64_t events;
};

/* ---- one event ------------------------------------------------------------------------------- */

static const char *text_of(struct json_object *event, const char *key)
{
    struct json_object *value = json_object_object_get(event, key);
    return value ? json_object_get_string(value) : NULL;
}

/* A pid or tid, which may be a text. */
static uint32_t id_of(struct chrome_reading *reading, struct json_object *event, const char *key)
{
    struct json_object *value = json_object_object_get(event, key);
    if (!value || json_object_is_type(value, json_type_int))
        return (uint32_t)json_object_get_int64(value);
    const char *text = json_object_get_string(value);
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text && !*end)
        return (uint32_t)number;
    uint64_t id = map__get(&reading->ids, text, strlen(text));
    return (uint32_t)(id == MAP_ABSENT
                          ? map__put(&reading->ids, text, strlen(text), ++reading->next_text_id)
                          : id);
}

/* us become ns, exactly where the text is no longer than a long double. */
static bool ns_of(struct json_object *event, const char *key, int64_t *ns)
{
    const char *text = text_of(event, key);
    char *end;
    long double us = text ? strtold(text, &end) : 0;
    if (!text || end == text || !(us > -9e15L && us < 9e15L))
        return false;
    *ns = llroundl(us * 1000);
    return true;
}

static void take_name(struct chrome_reading *reading, struct json_object *event)
{
    const char *name = text_of(event, "name");
    struct json_object *arguments = json_object_object_get(event, "args");
    const char *told =
        json_object_is_type(arguments, json_type_object) ? text_of(arguments, "name") : NULL;
    uint32_t pid = id_of(reading, event, "pid");
    if (told && name && strcmp(name, "thread_name") == 0)
        import__thread(reading->import, pid, id_of(reading, event, "tid"), told);
    else if (told && name && strcmp(name, "process_name") == 0)
        import__process(reading->import, pid, 0, told);
}

static void keep(struct chrome_reading *reading, struct json_object *event, struct chrome_event one)
{
    uint32_t thread = import__thread(reading->import, id_of(reading, event, "pid"),
                                     id_of(reading, event, "tid"), NULL);
    if (thread == UINT32_MAX) {
        import__pass_over(reading->import, "events of too many threads");
        return;
    }
    if (one.kind != CHROME_END)
        one.function = import__function(reading->import, thread, text_of(event, "name"),
                                        text_of(event, "cat"), NULL, 0);
    one.order = reading->events++;
    const struct vec none = VEC_OF(struct chrome_event);
    while (reading->threads.count <= thread)
        vec__push(&reading->threads, &none);
    vec__push(VEC_AT(&reading->threads, struct vec, thread), &one);
}

static void take_event(struct chrome_reading *reading, struct json_object *event)
{
    struct chrome_event one = {.function = UINT32_MAX};
    int64_t took_ns = 0;
    const char *phase = text_of(event, "ph");
    if (phase && strcmp(phase, "M") == 0) {
        take_name(reading, event);
        return;
    }
    bool is_known = phase && (!strcmp(phase, "B") || !strcmp(phase, "E") || !strcmp(phase, "X"));
    if (!is_known || !ns_of(event, "ts", &one.ns) ||
        (*phase == 'X' && (!ns_of(event, "dur", &took_ns) || took_ns < 0))) {
        import__pass_over(reading->import, is_known ? "events without a time"
                                                    : "events of another "
                                                      "phase");
        return;
    }
    one.kind = *phase == 'B' ? CHROME_BEGIN : *phase == 'E' ? CHROME_END : CHROME_WHOLE;
    one.end_ns = one.ns + took_ns;
    keep(reading, event, one);
}

static void take_text(struct chrome_reading *reading, struct json_tokener *tokener,
                      const char *text, size_t bytes)
{
    json_tokener_reset(tokener);
    struct json_object *event = json_tokener_parse_ex(tokener, text, (int)bytes);
    if (json_object_is_type(event, json_type_object))
        take_event(reading, event);
    else
        import__pass_over(reading->import, "what is no event");
    json_object_put(event);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Where the scan is: events are the objects of the array at the root, or of the root's member
 * traceEvents. */
struct chrome_scan {
    FILE *file;
    unsigned depth; /* of brackets around */
    bool in_text, is_escaped;
    bool root_is_array; /* of events */
    bool in_events;
    size_t key_bytes; /* of the last text at depth 1 */
    char key[16];
    struct vec text; /* char: of the event that is read */
    bool is_event;
};

static void in_text(struct chrome_scan *scan, int c)
{
    if (scan->is_escaped)
        scan->is_escaped = false;
    else if (c == '\\')
        scan->is_escaped = true;
    else if (c == '"')
        scan->in_text = false;
    else if (scan->depth == 1 && scan->key_bytes < sizeof scan->key - 1)
        scan->key[scan->key_bytes++] = (char)c;
}

static void open_bracket(struct chrome_scan *scan, int c)
{
    scan->key[scan->key_bytes] = 0;
    if (scan->depth == 0)
        scan->root_is_array = scan->in_events = c == '[';
    else if (scan->depth == 1 && c == '[' && !scan->root_is_array)
        scan->in_events = strcmp(scan->key, "traceEvents") == 0;
    if (scan->in_events && c == '{' && scan->depth == (scan->root_is_array ? 1u : 2u)) {
        scan->is_event = true;
        scan->text.count = 0;
    }
    scan->depth++;
}

/* True: the event that is read ends here. */
static bool close_bracket(struct chrome_scan *scan)
{
    scan->depth -= scan->depth > 0;
    if (!scan->root_is_array && scan->depth == 1)
        scan->in_events = false;
    return scan->is_event && scan->depth == (scan->root_is_array ? 1u : 2u);
}

static bool step(struct chrome_scan *scan, int c)
{
    if (scan->in_text)
        in_text(scan, c);
    else if (c == '"') {
        scan->in_text = true;
        scan->key_bytes = scan->depth == 1 ? 0 : scan->key_bytes;
    } else if (c == '{' || c == '[')
        open_bracket(scan, c);
    else if (c == '}' || c == ']')
        return close_bracket(scan);
    return false;
}

static void read_file(struct chrome_reading *reading, FILE *file)
{
    struct chrome_scan scan = {.file = file, .text = VEC_OF(char)};
    struct json_tokener *tokener = json_tokener_new();
    for (int c; (c = getc_unlocked(file)) != EOF;) {
        bool ends = step(&scan, c);
        if (!scan.is_event)
            continue;
        if (scan.text.count < EVENT_BYTES_MAX)
            vec__push(&scan.text, &(char){(char)c});
        if (!ends)
            continue;
        take_text(reading, tokener, scan.text.items, scan.text.count);
        scan.is_event = false;
    }
    if (scan.is_event || scan.depth > 1)
        import__pass_over(reading->import, "what follows where the file breaks off");
    json_tokener_free(tokener);
    vec__free(&scan.text);
}

/* ---- calls in their order -------------------------------------------------------------------- */

/* Of those that begin at one time, the longer is around the other. */
static int by_time(const void *left, const void *right)
{
    const struct chrome_event *a = left, *b = right;
    if (a->ns != b->ns)
        return ORDER(a->ns, b->ns);
    if (a->kind == CHROME_WHOLE && b->kind == CHROME_WHOLE && a->end_ns != b->end_ns)
        return ORDER(b->end_ns, a->end_ns);
    return ORDER(a->order, b->order);
}

/* Ends whole calls that are over by then. ends: int64_t, of the open ones; INT64_MAX: of a begun
 * one. */
static void end_until(struct import *import, uint32_t thread, struct vec *ends, int64_t ns)
{
    while (ends->count && *VEC_AT(ends, int64_t, ends->count - 1) <= ns) {
        import__leave_innermost(import, thread, *VEC_AT(ends, int64_t, ends->count - 1));
        ends->count--;
    }
}

/* A call that lasts longer than the one around it ends with that. */
static void begin(struct import *import, uint32_t thread, struct vec *ends,
                  const struct chrome_event *event)
{
    int64_t around = ends->count ? *VEC_AT(ends, int64_t, ends->count - 1) : INT64_MAX;
    int64_t end_ns = event->kind == CHROME_BEGIN ? INT64_MAX : event->end_ns;
    if (event->function == UINT32_MAX || ends->count >= 10000) {
        import__pass_over(import, "calls");
        return;
    }
    if (end_ns > around && event->kind == CHROME_WHOLE) {
        end_ns = around;
        import__pass_over(import, "ends of calls that overlap");
    }
    vec__push(ends, &end_ns);
    import__enter(import, thread, event->ns, event->function);
}

static void write_thread(struct import *import, uint32_t thread, struct vec *events)
{
    struct vec ends = VEC_OF(int64_t);
    vec__sort(events, by_time);
    VEC_EACH (event, events, struct chrome_event) {
        end_until(import, thread, &ends, event->ns);
        if (event->kind != CHROME_END)
            begin(import, thread, &ends, event);
        else if (ends.count) {
            ends.count--;
            import__leave_innermost(import, thread, event->ns);
        } else
            import__pass_over(import, "ends of calls that did not begin");
    }
    end_until(import, thread, &ends, INT64_MAX - 1);
    vec__free(&ends);
}

static bool recognises(const struct import_source *source)
{
    const char *at = source->head;
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    at += strspn(at, " \t\r\n");
    return !source->is_directory && (*at == '[' || *at == '{') &&
           (strstr(at, "\"ph\"") || strstr(at, "\"traceEvents\""));
}

/* The first event of all is where times begin. */
static void set_start(struct chrome_reading *reading)
{
    int64_t first_ns = INT64_MAX;
    VEC_EACH (events, &reading->threads, struct vec)
        VEC_EACH (event, events, struct chrome_event)
            first_ns = event->ns < first_ns ? event->ns : first_ns;
    if (first_ns != INT64_MAX)
        import__tick(reading->import, first_ns);
}

static int import_chrome(const struct import_source *source, struct import *import,
                         struct error *error)
{
    struct chrome_reading reading = {
        .import = import, .threads = VEC_OF(struct vec), .next_text_id = 1u << 30};
    FILE *file = fopen(source->path, "re");
    if (!file)
        return error__set(error, -errno, "%.200s cannot be read: %s", source->path,
                          strerror(errno));
    read_file(&reading, file);
    fclose(file);
    set_start(&reading);
    for (uint32_t i = 0; i < reading.threads.count; i++) {
        struct vec *events = VEC_AT(&reading.threads, struct vec, i);
        write_thread(import, i, events);
        vec__free(events);
    }
    vec__free(&reading.threads);
    map__free(&reading.ids);
    return 0;
}

const struct importer importer_chrome = {"Chrome JSON",
                                         "no locks, no off-CPU times, functions without lines",
                                         recognises, import_chrome};
