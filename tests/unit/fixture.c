#include "fixture.h"

#include "base/memory.h"
#include "base/vec.h"
#include "format/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 4096

struct known_function {
    uint32_t process, id;
    char *name;
    uint32_t arguments;
};

struct fixture {
    const char *directory;
    struct trace_writer *writer; /* NULL until the first line that writes */
    struct heurt_session settings;
    struct heurt_clock_pair end;
    bool has_end;
    int wait_status;
    struct vec functions; /* struct known_function */
    uint32_t thread, process;
    uint64_t last_tick;
    struct error *error;
};

struct known_event {
    const char *name;
    uint32_t id;
    int words[2]; /* enter or point, leave; -1: no leave */
};

static const struct known_event known_events[] = {
#define KNOWN_POINT(name, id, words) {#name, id, {words, -1}},
#define KNOWN_SPAN(name, id, enter_words, leave_words) {#name, id, {enter_words, leave_words}},
    HEURT_EVENT_TABLE(KNOWN_POINT, KNOWN_SPAN)
#undef KNOWN_POINT
#undef KNOWN_SPAN
};

/* ---- words of a line ------------------------------------------------------------------------- */

/* Cuts the next word off, or NULL at the end of the line. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    if (!*word || *word == '#')
        return NULL;
    char *end = word + strcspn(word, " \t");
    *line = *end ? end + 1 : end;
    *end = 0;
    return word;
}

static uint64_t number(const char *word)
{
    char *end;
    uint64_t value = strtoull(word, &end, 0);
    if (*end == '/')
        return HEURT_SITE(value, strtoull(end + 1, NULL, 0));
    if (*end == ':')
        return value | strtoull(end + 1, NULL, 0) << 32;
    return value;
}

/* The next word as a number, or otherwise when there is none. */
static uint64_t next_number(char **line, uint64_t otherwise)
{
    const char *word = next_word(line);
    return word ? number(word) : otherwise;
}

static const char *next_text(char **line)
{
    const char *word = next_word(line);
    return word ? word : "";
}

/* ---- bodies of definitions ------------------------------------------------------------------- */

struct body {
    char bytes[16384];
    size_t count;
};

static void add(struct body *body, const void *bytes, size_t count)
{
    if (count > sizeof body->bytes - body->count)
        abort();
    memcpy(body->bytes + body->count, bytes, count);
    body->count += count;
}

static void add_text(struct body *body, const char *text)
{
    add(body, text, strlen(text) + 1);
}

static int define(struct fixture *fixture, uint32_t process, enum heurt_definition_type type,
                  const struct body *body)
{
    return trace_writer__define(fixture->writer, process, type, body->bytes, body->count);
}

/* ---- lines that define ----------------------------------------------------------------------- */

static int write_meta(struct fixture *fixture, char *line)
{
    const char *key = next_text(&line);
    return trace_writer__meta(fixture->writer, key, line);
}

static int write_process(struct fixture *fixture, char *line)
{
    struct body body = {.count = 0};
    uint32_t serial = (uint32_t)next_number(&line, 0);
    struct heurt_process process = {.pid = (uint32_t)next_number(&line, 0)};
    const char *path = next_text(&line);
    process.parent_process = (uint32_t)next_number(&line, HEURT_NO_SERIAL);
    process.tick = next_number(&line, 0);
    add(&body, &process, sizeof process);
    add_text(&body, path);
    return define(fixture, serial, HEURT_DEFINITION_PROCESS, &body);
}

static int write_module(struct fixture *fixture, char *line)
{
    struct body body = {.count = 0};
    uint32_t process = (uint32_t)next_number(&line, 0);
    struct heurt_module module = {.tick = next_number(&line, 0)};
    module.start = next_number(&line, 0);
    module.end = next_number(&line, 0);
    const char *path = next_text(&line);
    module.bias = next_number(&line, 0);
    add(&body, &module, sizeof module);
    add_text(&body, path);
    return define(fixture, process, HEURT_DEFINITION_MODULE, &body);
}

static int write_gone(struct fixture *fixture, char *line)
{
    struct body body = {.count = 0};
    uint32_t process = (uint32_t)next_number(&line, 0);
    struct heurt_module_gone gone = {.tick = next_number(&line, 0)};
    gone.start = next_number(&line, 0);
    add(&body, &gone, sizeof gone);
    return define(fixture, process, HEURT_DEFINITION_MODULE_GONE, &body);
}

/* At an access of 8 bytes, of which one stands for weight ns. */
static int write_sample(struct fixture *fixture, char *line)
{
    struct body body = {.count = 0};
    struct heurt_sample sample = {.monotonic_ns = next_number(&line, 0), .bytes = 8};
    sample.pid = (uint32_t)next_number(&line, 0);
    sample.tid = (uint32_t)next_number(&line, 0);
    sample.weight_ns = (uint32_t)next_number(&line, 0);
    sample.instruction = next_number(&line, 0);
    sample.address = next_number(&line, 0);
    sample.access = (uint8_t)next_number(&line, 0) & 0xf;
    sample.iterations = (uint32_t)next_number(&line, 0);
    sample.iterations_ns = sample.iterations ? sample.weight_ns : 0;
    sample.loop_least = sample.iterations ? 16 : 0;
    add(&body, &sample, sizeof sample);
    return define(fixture, HEURT_NO_SERIAL, HEURT_DEFINITION_SAMPLES, &body);
}

static uint32_t count_names(const char *names)
{
    uint32_t count = *names ? 1 : 0;
    for (; *names; names++)
        count += *names == ',';
    return count;
}

static int write_any_function(struct fixture *fixture, char *line, enum heurt_function_kind kind)
{
    struct body body = {.count = 0};
    uint32_t process = (uint32_t)next_number(&line, 0);
    struct heurt_function function = {.id = (uint32_t)next_number(&line, 0), .kind = kind};
    const char *name = next_text(&line);
    function.address = next_number(&line, 0);
    char *last = next_word(&line);
    char *colon = last && kind != HEURT_FUNCTION_PATCHED ? strrchr(last, ':') : NULL;
    if (colon) {
        function.line = (uint32_t)number(colon + 1);
        *colon = 0;
    }
    const char *arguments = last && kind == HEURT_FUNCTION_PATCHED ? last : "";
    function.argument_count = count_names(arguments);
    add(&body, &function, sizeof function);
    add_text(&body, name);
    add_text(&body, colon ? last : "");
    add_text(&body, arguments);
    struct known_function known = {process, function.id, memory__text(name),
                                   function.argument_count};
    vec__push(&fixture->functions, &known);
    return define(fixture, process, HEURT_DEFINITION_FUNCTION, &body);
}

static int write_function(struct fixture *fixture, char *line)
{
    return write_any_function(fixture, line, HEURT_FUNCTION_PATCHED);
}

static int write_region(struct fixture *fixture, char *line)
{
    return write_any_function(fixture, line, HEURT_FUNCTION_REGION);
}

static int write_iteration(struct fixture *fixture, char *line)
{
    return write_any_function(fixture, line, HEURT_FUNCTION_ITERATION);
}

static int write_refusal(struct fixture *fixture, char *line)
{
    uint32_t process = (uint32_t)next_number(&line, 0);
    const char *function = next_text(&line), *module = next_text(&line);
    return trace_writer__refuse(fixture->writer, process, function, module, line);
}

static int write_note(struct fixture *fixture, char *line)
{
    struct body body = {.count = 0};
    uint32_t process = (uint32_t)next_number(&line, 0);
    add_text(&body, line);
    return define(fixture, process, HEURT_DEFINITION_NOTE, &body);
}

static int write_thread(struct fixture *fixture, char *line)
{
    struct body body = {.count = 0};
    fixture->thread = (uint32_t)next_number(&line, 0);
    const char *name = next_text(&line);
    fixture->process = (uint32_t)next_number(&line, 0);
    if (!*name)
        return 0;
    struct heurt_thread_name thread = {.thread = fixture->thread};
    memcpy(thread.name, name, strnlen(name, sizeof thread.name));
    add(&body, &thread, sizeof thread);
    return define(fixture, fixture->process, HEURT_DEFINITION_THREAD_NAME, &body);
}

/* ---- lines that are events ------------------------------------------------------------------- */

/* Payload words of the event, HEURT_WORDS_VARIABLE, or -1; *id is set. */
static int find_event(const struct fixture *fixture, const char *name, bool leave, uint32_t *id)
{
    for (size_t i = 0; i < sizeof known_events / sizeof known_events[0]; i++)
        if (strcasecmp(known_events[i].name, name) == 0) {
            *id = known_events[i].id | leave;
            return known_events[i].words[leave];
        }
    const struct known_function *found = NULL;
    VEC_EACH (function, &fixture->functions, struct known_function)
        if (strcmp(function->name, name) == 0 && (!found || function->process == fixture->process))
            found = function; /* of another image: inherited by a fork */
    if (!found)
        return -1;
    *id = found->id | leave;
    return leave ? 0 : (int)found->arguments;
}

static int write_event(struct fixture *fixture, uint64_t tick, char *line)
{
    uint64_t payload[WORDS_MAX] = {0};
    uint32_t id = 0;
    const char *name = next_text(&line);
    bool leave = strcmp(name, "leave") == 0;
    if (leave || strcmp(name, "enter") == 0)
        name = next_text(&line);
    int words = find_event(fixture, name, leave, &id);
    if (words < 0)
        return error__set(fixture->error, -EINVAL, "no event %s%s", leave ? "leave " : "", name);
    int given = words == HEURT_WORDS_VARIABLE;
    for (const char *word; given < WORDS_MAX && (word = next_word(&line));)
        payload[given++] = number(word);
    if (words == HEURT_WORDS_VARIABLE) {
        payload[0] = (uint64_t)given - 1;
        words = given;
    }
    if (given > words)
        return error__set(fixture->error, -EINVAL, "%s has %d words, not %d", name, words, given);
    if (tick > fixture->last_tick)
        fixture->last_tick = tick;
    return trace_writer__event(fixture->writer, fixture->process, fixture->thread, tick, id,
                               payload, (size_t)words);
}

/* ---- all lines ------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int (*write)(struct fixture *, char *);
} writers[] = {
    {"meta", write_meta},           {"process", write_process},   {"module", write_module},
    {"gone", write_gone},           {"function", write_function}, {"region", write_region},
    {"iteration", write_iteration}, {"refusal", write_refusal},   {"note", write_note},
    {"thread", write_thread},       {"sample", write_sample},
};

/* Lines that set something up; false when word is none of them. */
static bool set_up(struct fixture *fixture, const char *word, char *line)
{
    if (strcmp(word, "clock") == 0) {
        bool tsc = strcmp(next_text(&line), "tsc") == 0;
        fixture->settings.clock = tsc ? HEURT_CLOCK_TSC : HEURT_CLOCK_MONOTONIC;
    } else if (strcmp(word, "limit") == 0) {
        fixture->settings.limit_units = next_number(&line, 0);
    } else if (strcmp(word, "start") == 0) {
        fixture->settings.start.tick = next_number(&line, 0);
        fixture->settings.start.monotonic_ns = next_number(&line, fixture->settings.start.tick);
    } else if (strcmp(word, "end") == 0) {
        fixture->end.tick = next_number(&line, 0);
        fixture->end.monotonic_ns = next_number(&line, fixture->end.tick);
        fixture->wait_status = (int)next_number(&line, 0);
        fixture->has_end = true;
    } else {
        return false;
    }
    return true;
}

static int write_line(struct fixture *fixture, char *line)
{
    char *word = next_word(&line);
    if (!word || set_up(fixture, word, line))
        return 0;
    if (!fixture->writer) {
        int code = trace_writer__create(fixture->directory, &fixture->settings, &fixture->writer,
                                        fixture->error);
        if (code < 0)
            return code;
    }
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (strcmp(word, writers[i].word) == 0)
            return writers[i].write(fixture, line);
    if (*word < '0' || *word > '9')
        return error__set(fixture->error, -EINVAL, "no such line: %s", word);
    return write_event(fixture, number(word), line);
}

static int write_lines(struct fixture *fixture, char *text, struct error *error)
{
    int number_of_line = 0, code = 0;
    for (char *line; code == 0 && (line = strsep(&text, "\n"));) {
        struct error why = {""};
        fixture->error = &why;
        number_of_line++;
        code = write_line(fixture, line);
        if (code < 0)
            error__set(error, code, "line %d of the fixture: %.200s (%s)", number_of_line, why.text,
                       strerrordesc_np(-code));
    }
    return code;
}

int fixture__write(const char *directory, const char *text, struct error *error)
{
    struct fixture fixture = {
        .directory = directory,
        .settings = {.clock = HEURT_CLOCK_MONOTONIC, .limit_units = 262144},
        .functions = VEC_OF(struct known_function),
    };
    char *copy = memory__text(text);
    int code = write_lines(&fixture, copy, error);
    free(copy);
    VEC_EACH (function, &fixture.functions, struct known_function)
        free(function->name);
    vec__free(&fixture.functions);
    if (!fixture.writer)
        return code < 0 ? code : error__set(error, -EINVAL, "the fixture writes nothing");
    if (!fixture.has_end)
        fixture.end = (struct heurt_clock_pair){fixture.last_tick, fixture.last_tick};
    int finished = trace_writer__finish(fixture.writer, fixture.wait_status, fixture.end,
                                        code < 0 ? NULL : error);
    return code < 0 ? code : finished;
}

struct trace *fixture__open(const char *text)
{
    char base[] = "/tmp/heurt-fixture-XXXXXX";
    struct trace *trace = NULL;
    struct error error = {""};
    if (!mkdtemp(base))
        abort();
    char *directory = memory__format("%s/t", base);
    char *events = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    if (fixture__write(directory, text, &error) < 0 || trace__open(directory, &trace, &error) < 0)
        fprintf(stderr, "%s\n", error.text);
    unlink(events);
    rmdir(directory);
    rmdir(base);
    free(events);
    free(directory);
    if (!trace)
        abort();
    return trace;
}
