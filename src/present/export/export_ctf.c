/* export_ctf.c: Common Trace Format 1.8, as babeltrace2 and Trace Compass read it: a directory.
 *
 *     metadata       how the rest is laid out, in TSDL, written last (ctf_metadata.h)
 *     definitions    processes, threads, places, calls, objects: the stream that numbers mean
 *     thread-N       packets of a thread's events: 1 byte of id, 4 of the time, and the fields
 *
 * A packet begins anew when its buffer is full, and where an event is so much later than the one
 * before that 32 bits would not tell its time. Files are opened for a packet alone, so that any
 * number of threads can be written. Memory: a buffer a living thread, and names. */
#include "base/memory.h"
#include "base/text.h"
#include "present/export/ctf_metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFERS_BYTES (64u << 20) /* of all threads, where they are many */
#define BUFFER_MOST (64u << 10)
#define BUFFER_LEAST (8u << 10)
#define WORDS_MOST 255u
#define EVENT_MOST (32u + 8u * WORDS_MOST)
#define DEFINITIONS_BYTES (64u << 10)

struct ctf_stream {
    unsigned char *bytes; /* the packet that is written; NULL: none is */
    size_t used;
    uint64_t begin_ns, ns; /* of the packet; of its last event */
};

struct ctf_writing {
    struct ctf_names names;
    struct ctf_stream *threads;
    struct vec definitions; /* char: events, without a packet around them */
    size_t buffer_bytes;
};

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put_bytes(struct ctf_stream *stream, const void *bytes, size_t count)
{
    memcpy(stream->bytes + stream->used, bytes, count);
    stream->used += count;
}

static void put8(struct ctf_stream *stream, uint8_t value)
{
    stream->bytes[stream->used++] = value;
}

static void put32(struct ctf_stream *stream, uint32_t value)
{
    put_bytes(stream, &value, sizeof value);
}

static void put64(struct ctf_stream *stream, uint64_t value)
{
    put_bytes(stream, &value, sizeof value);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* What each packet begins with, as ctf_metadata.c describes it. */
struct __attribute__((packed)) packet_head {
    uint32_t magic, stream_class;
    uint64_t stream;
    uint64_t begin_ns, end_ns, content_bits, packet_bits;
};

struct __attribute__((packed)) thread_packet_head {
    struct packet_head packet;
    uint32_t thread, tid, pid;
};

static void append(struct span_export *export, const char *name, const void *head,
                   size_t head_bytes, const void *bytes, size_t count)
{
    char *path = memory__format("%s/%s", export->directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = file < 0 ? NULL : fdopen(file, "a");
    errno = out ? 0 : errno;
    if (out) {
        setvbuf(out, NULL, _IONBF, 0);
        bool is_written =
            fwrite(head, 1, head_bytes, out) == head_bytes && fwrite(bytes, 1, count, out) == count;
        if (fclose(out) != 0 || !is_written)
            export->failed = errno ? errno : EIO;
    } else {
        export->failed = errno ? errno : EIO;
    }
    free(path);
}

static void flush(struct span_export *export, uint32_t thread)
{
    struct ctf_writing *own = export->own;
    struct ctf_stream *stream = &own->threads[thread];
    const struct span_thread *what = &export->run->threads[thread];
    uint64_t bits = 8 * (sizeof(struct thread_packet_head) + stream->used);
    const struct thread_packet_head head = {
        .packet = {CTF_MAGIC, CTF_THREADS, thread + 1u, stream->begin_ns, stream->ns, bits, bits},
        .thread = thread,
        .tid = what->tid,
        .pid = export->run->processes[what->process].pid};
    char name[32];
    snprintf(name, sizeof name, "thread-%u", thread);
    if (stream->used && !export->failed)
        append(export, name, &head, sizeof head, stream->bytes, stream->used);
    stream->used = 0;
}

/* Where the event's fields go, for EVENT_MOST bytes. */
static struct ctf_stream *begin_event(struct span_export *export, uint32_t thread, uint64_t ns,
                                      enum ctf_event event)
{
    struct ctf_writing *own = export->own;
    struct ctf_stream *stream = &own->threads[thread];
    if (!stream->bytes)
        stream->bytes = memory__zeroed(1, own->buffer_bytes);
    if (stream->used + EVENT_MOST > own->buffer_bytes ||
        (stream->used && ns - stream->ns > UINT32_MAX))
        flush(export, thread);
    if (!stream->used)
        stream->begin_ns = ns;
    stream->ns = ns;
    put8(stream, (uint8_t)event);
    put32(stream, (uint32_t)ns);
    return stream;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void define(struct ctf_writing *own, const void *bytes, size_t count)
{
    memcpy(vec__extend(&own->definitions, count), bytes, count);
}

static void define32(struct ctf_writing *own, uint32_t value)
{
    define(own, &value, sizeof value);
}

/* babeltrace2 2.0.4 shows the text before in place of an empty one. */
static void define_text(struct ctf_writing *own, const char *text)
{
    text = text && *text ? text : "-";
    define(own, text, strlen(text) + 1);
}

static void flush_definitions(struct span_export *export)
{
    struct ctf_writing *own = export->own;
    uint64_t bits = 8 * (sizeof(struct packet_head) + own->definitions.count);
    const struct packet_head head = {CTF_MAGIC, CTF_DEFINITIONS, 0, 0, 0, bits, bits};
    if (own->definitions.count && !export->failed)
        append(export, "definitions", &head, sizeof head, own->definitions.items,
               own->definitions.count);
    own->definitions.count = 0;
}

static void begin_definition(struct span_export *export, enum ctf_definition definition,
                             uint32_t number)
{
    struct ctf_writing *own = export->own;
    const uint64_t time = 0;
    if (own->definitions.count > DEFINITIONS_BYTES)
        flush_definitions(export);
    define(own, &(uint8_t){(uint8_t)definition}, 1);
    define(own, &time, sizeof time);
    define32(own, number);
}

static uint32_t number_of_place(struct span_export *export, const struct span_place *place)
{
    struct ctf_writing *own = export->own;
    if (!place)
        return CTF_NONE;
    const struct span_place **met =
        VEC_REACH(&own->names.places, const struct span_place *, place->number);
    if (*met)
        return place->number;
    *met = place;
    begin_definition(export, CTF_DEFINE_PLACE, place->number);
    define(own, &place->address, sizeof place->address);
    define32(own, place->line);
    define_text(own, place->function);
    define_text(own, place->module);
    define_text(own, place->file);
    return place->number;
}

static char *arguments_of(const struct span_label *label)
{
    char *all = memory__text("");
    for (const char *const *name = label->arguments; name && *name; name++)
        all = text__join(all, ",", *name);
    return all;
}

static uint32_t number_of_label(struct span_export *export, const struct span_label *label)
{
    struct ctf_writing *own = export->own;
    const struct span_label **met =
        VEC_REACH(&own->names.labels, const struct span_label *, label->number);
    if (*met)
        return label->number;
    *met = label;
    uint32_t place = number_of_place(export, label->place);
    const uint16_t event[2] = {(uint16_t)label->event, (uint16_t)label->how};
    char *arguments = arguments_of(label);
    begin_definition(export, CTF_DEFINE_CALL, label->number);
    define(own, event, sizeof event);
    define32(own, place);
    define_text(own, span_label__category(label));
    define_text(own, label->name);
    define_text(own, label->detail);
    define_text(own, arguments);
    free(arguments);
    return label->number;
}

static uint32_t number_of_object(struct span_export *export, const struct span_object *object)
{
    struct ctf_writing *own = export->own;
    if (!object)
        return CTF_NONE;
    const struct span_object **met =
        VEC_REACH(&own->names.objects, const struct span_object *, object->number);
    if (*met)
        return object->number;
    *met = object;
    begin_definition(export, CTF_DEFINE_OBJECT, object->number);
    define(own, &object->address, sizeof object->address);
    define_text(own, object->noun);
    define_text(own, object->name);
    return object->number;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void put_words(struct span_export *export, struct ctf_stream *stream, uint32_t object,
                      const struct span_enter *enter)
{
    uint32_t count = enter->word_count < WORDS_MOST ? enter->word_count : WORDS_MOST;
    put32(stream, number_of_label(export, enter->label));
    put32(stream, object);
    put8(stream, (uint8_t)count);
    put_bytes(stream, enter->words, count * sizeof *enter->words);
}

static void put_weight(struct span_export *export, uint32_t thread, const struct span_enter *enter)
{
    if (enter->weight != 1)
        put32(begin_event(export, thread, enter->ns, CTF_WEIGHT), enter->weight);
}

static void enter(struct span_export *export, uint32_t thread, const struct span_enter *enter)
{
    uint32_t object = number_of_object(export, enter->object);
    bool is_plain = object == CTF_NONE && !enter->word_count;
    put_weight(export, thread, enter);
    struct ctf_stream *stream =
        begin_event(export, thread, enter->ns, is_plain ? CTF_ENTER : CTF_ENTER_WITH);
    if (is_plain)
        put32(stream, number_of_label(export, enter->label));
    else
        put_words(export, stream, object, enter);
}

static void point(struct span_export *export, uint32_t thread, const struct span_enter *point)
{
    uint32_t object = number_of_object(export, point->object);
    put_weight(export, thread, point);
    put_words(export, begin_event(export, thread, point->ns, CTF_POINT), object, point);
}

static void leave(struct span_export *export, uint32_t thread, const struct span_leave *leave)
{
    bool is_caused = leave->by != SPAN_BY_NOBODY;
    bool has_more = leave->has_result || is_caused;
    struct ctf_stream *stream = begin_event(export, thread, leave->ns,
                                            leave->end == SPAN_END_NOT_SEEN ? CTF_LEAVE_UNSEEN
                                            : leave->end == SPAN_END_OF_RUN ? CTF_LEAVE_OPEN
                                            : has_more                      ? CTF_LEAVE_WITH
                                                                            : CTF_LEAVE);
    if (leave->end != SPAN_END_SEEN || !has_more)
        return;
    put64(stream, leave->result);
    put32(stream, is_caused ? leave->by : CTF_NONE);
    put32(stream, number_of_place(export, is_caused ? leave->by_place : NULL));
    put64(stream, is_caused ? leave->by_ns : 0);
}

static void state(struct span_export *export, uint32_t thread, uint64_t ns, enum component state)
{
    put8(begin_event(export, thread, ns, CTF_STATE), (uint8_t)state);
}

static void message(struct span_export *export, const struct span_message *message)
{
    struct ctf_stream *stream = begin_event(export, message->thread, message->ns,
                                            message->is_received ? CTF_RECEIVED : CTF_SENT);
    put64(stream, message->number);
    put32(stream, message->other);
    put32(stream, message->tag);
    put64(stream, message->bytes);
}

static void began(struct span_export *export, uint32_t thread, uint64_t ns)
{
    begin_event(export, thread, ns, CTF_BEGIN);
}

static void ended(struct span_export *export, uint32_t thread, uint64_t ns)
{
    struct ctf_writing *own = export->own;
    begin_event(export, thread, ns, CTF_END);
    flush(export, thread);
    free(own->threads[thread].bytes);
    own->threads[thread].bytes = NULL;
}

/* ---- the directory --------------------------------------------------------------------------- */

static void begin(struct span_export *export)
{
    const struct span_run *run = export->run;
    struct ctf_writing *own = export->own = memory__zeroed(1, sizeof *own);
    size_t each = BUFFERS_BYTES / (run->thread_count + 1);
    own->buffer_bytes = each > BUFFER_MOST    ? BUFFER_MOST
                        : each < BUFFER_LEAST ? BUFFER_LEAST
                                              : each;
    own->threads = memory__zeroed(run->thread_count + 1, sizeof *own->threads);
    own->definitions = VEC_OF(char);
    own->names.labels = own->names.places = own->names.objects = VEC_OF(const void *);
    for (uint32_t i = 0; i < run->process_count; i++) {
        begin_definition(export, CTF_DEFINE_PROCESS, i);
        define32(own, run->processes[i].pid);
        define32(own, run->processes[i].parent_pid);
        define_text(own, run->processes[i].path);
    }
    for (uint32_t i = 0; i < run->thread_count; i++) {
        begin_definition(export, CTF_DEFINE_THREAD, i);
        define32(own, run->threads[i].process);
        define32(own, run->threads[i].tid);
        define_text(own, run->threads[i].name);
    }
}

static void write_metadata(struct span_export *export)
{
    struct ctf_writing *own = export->own;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        out_of_memory(BUFFER_LEAST);
    ctf_metadata__put(export->run, &own->names, out);
    if (fclose(out) != 0)
        out_of_memory(bytes);
    append(export, "metadata", text, bytes, "", 0);
    free(text);
}

static void finish(struct span_export *export)
{
    struct ctf_writing *own = export->own;
    for (uint32_t i = 0; i < export->run->thread_count; i++) {
        if (own->threads[i].used)
            flush(export, i);
        free(own->threads[i].bytes);
    }
    flush_definitions(export);
    if (!export->failed)
        write_metadata(export);
    vec__free(&own->names.labels);
    vec__free(&own->names.places);
    vec__free(&own->names.objects);
    vec__free(&own->definitions);
    free(own->threads);
    free(own);
}

const struct span_exporter exporter_ctf = {
    .name = "ctf",
    .order = SPANS_IN_TIME,
    .is_directory = true,
    .begin = begin,
    .began = began,
    .ended = ended,
    .enter = enter,
    .leave = leave,
    .point = point,
    .mark = point,
    .message = message,
    .state = state,
    .finish = finish,
};
