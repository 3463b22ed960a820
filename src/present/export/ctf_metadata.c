/* ctf_metadata.c: see ctf_metadata.h. */
#include "present/export/ctf_metadata.h"

#include "base/memory.h"
#include "base/sanitize.h"
#include "present/screen/fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 200     /* of a name that only readers' screens show */
#define NAMED_MOST 100000u /* of a kind */

/* All fields begin at a whole byte. */
#define INTEGER(bits, more, name) \
    "typealias integer { size = " bits "; align = 8; " more " } := " name ";"
#define OF_CLOCK "map = clock.run.value;"

static const char *const types[] = {
    INTEGER("8", "signed = false;", "uint8_t"),
    INTEGER("16", "signed = false;", "uint16_t"),
    INTEGER("32", "signed = false;", "uint32_t"),
    INTEGER("64", "signed = false;", "uint64_t"),
    INTEGER("64", "signed = false; base = 16;", "word_t"),
    INTEGER("64", "signed = true;", "int64_t"),
    "trace {",
    "    major = 1; minor = 8; byte_order = le;",
    "    packet.header := struct {",
    "        uint32_t magic; uint32_t stream_id; uint64_t stream_instance_id;",
    "    };",
    "};",
    NULL,
};

/* Behind the clock. */
static const char *const times[] = {
    INTEGER("32", "signed = false; " OF_CLOCK, "time32_t"),
    INTEGER("64", "signed = false; " OF_CLOCK, "time64_t"),
    NULL,
};

#define PACKET_TIMES                                                                             \
    "        time64_t timestamp_begin; time64_t timestamp_end; uint64_t content_size; uint64_t " \
    "packet_size;"

static const char *const streams[] = {
    "stream {",
    "    id = 0;",
    "    packet.context := struct {",
    PACKET_TIMES,
    "    };",
    "    event.header := struct { uint8_t id; time64_t timestamp; };",
    "};",
    "stream {",
    "    id = 1;",
    "    packet.context := struct {",
    PACKET_TIMES,
    "        enum threads thread; uint32_t tid; uint32_t pid;",
    "    };",
    "    event.header := struct { uint8_t id; time32_t timestamp; };",
    "};",
    NULL,
};

static void put_lines(const char *const *lines, FILE *out)
{
    for (; *lines; lines++)
        fprintf(out, "%s\n", *lines);
}

struct event_text {
    unsigned stream, id;
    const char *name, *fields;
};

static const struct event_text event_texts[] = {
    {CTF_DEFINITIONS, CTF_DEFINE_PROCESS, "process",
     "uint32_t number; uint32_t pid; uint32_t parent_pid; string path;"},
    {CTF_DEFINITIONS, CTF_DEFINE_THREAD, "thread",
     "uint32_t number; uint32_t process; uint32_t tid; string name;"},
    {CTF_DEFINITIONS, CTF_DEFINE_PLACE, "place",
     "uint32_t number; word_t address; uint32_t line; string function; string module; string "
     "file;"},
    {CTF_DEFINITIONS, CTF_DEFINE_CALL, "call",
     "uint32_t number; uint16_t _event; uint16_t how; uint32_t place; string kind; string name; "
     "string detail; string arguments;"},
    {CTF_DEFINITIONS, CTF_DEFINE_OBJECT, "object",
     "uint32_t number; word_t address; string kind; string name;"},
    {CTF_THREADS, CTF_BEGIN, "begin", ""},
    {CTF_THREADS, CTF_END, "end", ""},
    {CTF_THREADS, CTF_ENTER, "enter", "enum calls call;"},
    {CTF_THREADS, CTF_ENTER_WITH, "enter_with",
     "enum calls call; enum objects object; uint8_t count; word_t "
     "words[count];"},
    {CTF_THREADS, CTF_LEAVE, "leave", ""},
    {CTF_THREADS, CTF_LEAVE_WITH, "leave_with",
     "int64_t result; enum threads by; enum places place; uint64_t at;"},
    {CTF_THREADS, CTF_LEAVE_UNSEEN, "leave_unseen", ""},
    {CTF_THREADS, CTF_LEAVE_OPEN, "leave_open", ""},
    {CTF_THREADS, CTF_POINT, "point",
     "enum calls call; enum objects object; uint8_t count; word_t "
     "words[count];"},
    {CTF_THREADS, CTF_WEIGHT, "weight", "uint32_t weight;"},
    {CTF_THREADS, CTF_STATE, "state", "enum states state;"},
    {CTF_THREADS, CTF_SENT, "sent",
     "uint64_t message; enum threads to; uint32_t tag; uint64_t bytes;"},
    {CTF_THREADS, CTF_RECEIVED, "received",
     "uint64_t message; enum threads from; uint32_t tag; uint64_t bytes;"},
};

/* A string of TSDL, cut to fit. */
static void put_string(const char *text, FILE *out)
{
    char *cut = memory__format("%.*s", NAME_BYTES, text), *clean = text__for_screen(cut);
    fputc('"', out);
    for (const char *at = clean; *at; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', out);
        fputc(*at, out);
    }
    fputc('"', out);
    free(clean);
    free(cut);
}

static void begin_names(const char *name, const char *type, FILE *out)
{
    fprintf(out, "enum %s : %s {\n    \"none\" = %s", name, type,
            type[4] == '8' ? "255" : "4294967295");
}

static void put_name(const char *name, const char *more, size_t number, FILE *out)
{
    char *whole = memory__format("%s%s%s", name, *more ? " " : "", more);
    fputs(",\n    ", out);
    put_string(whole, out);
    fprintf(out, " = %zu", number);
    free(whole);
}

static void end_names(FILE *out)
{
    fputs("\n};\n", out);
}

static size_t named(const struct vec *all)
{
    return all->count < NAMED_MOST ? all->count : NAMED_MOST;
}

static void put_calls(const struct ctf_names *names, FILE *out)
{
    begin_names("calls", "uint32_t", out);
    for (size_t i = 0; i < named(&names->labels); i++) {
        const struct span_label *label = *VEC_AT(&names->labels, const struct span_label *, i);
        if (label)
            put_name(label->name, label->detail, i, out);
    }
    end_names(out);
}

static void put_objects(const struct ctf_names *names, FILE *out)
{
    begin_names("objects", "uint32_t", out);
    for (size_t i = 0; i < named(&names->objects); i++) {
        const struct span_object *object = *VEC_AT(&names->objects, const struct span_object *, i);
        if (object)
            put_name(object->noun, object->name, i, out);
    }
    end_names(out);
}

static void put_places(const struct ctf_names *names, FILE *out)
{
    begin_names("places", "uint32_t", out);
    for (size_t i = 0; i < named(&names->places); i++) {
        const struct span_place *place = *VEC_AT(&names->places, const struct span_place *, i);
        char line[32] = "";
        if (place && place->line)
            snprintf(line, sizeof line, ":%u", place->line);
        if (place)
            put_name(place->function, line, i, out);
    }
    end_names(out);
}

static void put_threads(const struct span_run *run, FILE *out)
{
    begin_names("threads", "uint32_t", out);
    for (uint32_t i = 0; i < run->thread_count && i < NAMED_MOST; i++) {
        char tid[32];
        snprintf(tid, sizeof tid, "(%u)", run->threads[i].tid);
        put_name(run->threads[i].name, tid, i, out);
    }
    end_names(out);
}

static void put_states(FILE *out)
{
    begin_names("states", "uint8_t", out);
    for (unsigned i = 0; i < COMPONENTS; i++)
        put_name(span_state__name((enum component)i), "", i, out);
    end_names(out);
}

/* Times are since the run's start, so that the offset is what its clock showed then. */
static void put_clock(const struct span_run *run, FILE *out)
{
    uint64_t start = run->start_realtime_ns;
    char *command = memory__text(run->command);
    for (char *at = command; (at = strchr(at, '\n'));)
        *at = ' '; /* between arguments */
    fputs("env { tracer_name = \"heurt\"; command = ", out);
    put_string(command, out);
    free(command);
    fprintf(out,
            "; };\nclock {\n    name = run; freq = 1000000000; offset_s = %" PRIu64
            "; offset = %" PRIu64 ";\n};\n",
            start / 1000000000u, start % 1000000000u);
}

void ctf_metadata__put(const struct span_run *run, const struct ctf_names *names, FILE *out)
{
    fputs("/* CTF 1.8 */\n", out);
    put_lines(types, out);
    put_clock(run, out);
    put_lines(times, out);
    put_threads(run, out);
    put_calls(names, out);
    put_objects(names, out);
    put_places(names, out);
    put_states(out);
    put_lines(streams, out);
    for (size_t i = 0; i < sizeof event_texts / sizeof event_texts[0]; i++)
        fprintf(
            out, "event { name = \"%s\"; id = %u; stream_id = %u; fields := struct { %s }; };\n",
            event_texts[i].name, event_texts[i].id, event_texts[i].stream, event_texts[i].fields);
}
