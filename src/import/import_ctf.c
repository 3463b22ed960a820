/* Traces in the Common Trace Format, read by libbabeltrace2: the directory that holds metadata, or
 * one that has such ones in it, as LTTng's.
 *
 * Events of all streams come merged by time, since LTTng's streams are of CPUs and not of threads.
 * What they mean is said elsewhere: import_ctf_own.c, import_ctf_lttng.c. */
#include "import/import_ctf.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "import/internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEPTH_MAX 8u     /* of directories in one another */
#define TRACES_MAX 1000u /* in one source */

static const struct ctf_meaning *const meanings[] = {&ctf_own, &ctf_lttng};
enum { MEANINGS = sizeof meanings / sizeof meanings[0] };

/* What a class of events is to whom. */
struct ctf_kind {
    uint32_t meaning, kind; /* kind 0: it is passed over */
};

struct ctf_reading {
    struct import *import;
    void *selves[MEANINGS];
    struct map classes; /* class of events, its address -> place in kinds */
    struct vec kinds;   /* struct ctf_kind */
};

/* ---- fields ---------------------------------------------------------------------------------- */

static const bt_field *member(const bt_field *structure, const char *name)
{
    if (!structure || bt_field_get_class_type(structure) != BT_FIELD_CLASS_TYPE_STRUCTURE)
        return NULL;
    return bt_field_structure_borrow_member_field_by_name_const(structure, name);
}

static uint64_t number_of(const bt_field *field)
{
    bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;
    if (field && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
        return bt_field_integer_unsigned_get_value(field);
    if (field && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        return (uint64_t)bt_field_integer_signed_get_value(field);
    return 0;
}

uint64_t ctf__number(const bt_field *structure, const char *name)
{
    return number_of(member(structure, name));
}

bool ctf__has(const bt_field *structure, const char *name)
{
    return member(structure, name);
}

const char *ctf__text(const bt_field *structure, const char *name)
{
    const bt_field *field = member(structure, name);
    return field && bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRING
               ? bt_field_string_get_value(field)
               : NULL;
}

size_t ctf__numbers(const bt_field *structure, const char *name, uint64_t *numbers, size_t max)
{
    const bt_field *field = member(structure, name);
    if (!field ||
        !bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_ARRAY))
        return 0;
    uint64_t count = bt_field_array_get_length(field);
    count = count < max ? count : max;
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = number_of(bt_field_array_borrow_element_field_by_index_const(field, i));
    return count;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct ctf_kind new_kind(struct ctf_reading *reading, const char *name)
{
    for (uint32_t i = 0; name && i < MEANINGS; i++) {
        uint32_t kind = meanings[i]->kind(name);
        if (kind && !reading->selves[i]) {
            reading->selves[i] = meanings[i]->start(reading->import);
            import__is_of(reading->import, meanings[i]->name, meanings[i]->lacks);
        }
        if (kind)
            return (struct ctf_kind){i, kind};
    }
    return (struct ctf_kind){0, 0};
}

static struct ctf_kind kind_of(struct ctf_reading *reading, const bt_event_class *class)
{
    uint64_t place = map__put(&reading->classes, &class, sizeof class, reading->kinds.count);
    if (place == reading->kinds.count) {
        const struct ctf_kind kind = new_kind(reading, bt_event_class_get_name(class));
        vec__push(&reading->kinds, &kind);
    }
    return *VEC_AT(&reading->kinds, struct ctf_kind, place);
}

static bool ns_of(const bt_message *message, const bt_event *event, int64_t *ns)
{
    const bt_stream_class *class =
        bt_stream_borrow_class_const(bt_event_borrow_stream_const(event));
    return bt_stream_class_borrow_default_clock_class_const(class) &&
           bt_clock_snapshot_get_ns_from_origin(
               bt_message_event_borrow_default_clock_snapshot_const(message), ns) ==
               BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;
}

static void take_event(struct ctf_reading *reading, const bt_message *message)
{
    const bt_event *event = bt_message_event_borrow_event_const(message);
    const struct ctf_kind kind = kind_of(reading, bt_event_borrow_class_const(event));
    const bt_stream *stream = bt_event_borrow_stream_const(event);
    struct ctf_told told = {.name = bt_event_class_get_name(bt_event_borrow_class_const(event)),
                            .fields = bt_event_borrow_payload_field_const(event),
                            .context = bt_event_borrow_common_context_field_const(event)};
    if (kind.kind == 0 || !ns_of(message, event, &told.ns)) {
        import__pass_over(reading->import,
                          kind.kind ? "events without a time" : "events of another meaning");
        return;
    }
    if (bt_stream_class_supports_packets(bt_stream_borrow_class_const(stream)))
        told.packet = bt_packet_borrow_context_field_const(bt_event_borrow_packet_const(event));
    meanings[kind.meaning]->take(reading->selves[kind.meaning], kind.kind, &told);
}

static void take_message(struct ctf_reading *reading, const bt_message *message)
{
    switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_EVENT:
        take_event(reading, message);
        break;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        import__pass_over(reading->import, "events that the tracer discarded");
        break;
    default:
        break;
    }
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator,
                                                                  void *user)
{
    struct ctf_reading *reading = user;
    bt_message_array_const messages;
    uint64_t count;
    bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &count);
    if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
        return (bt_graph_simple_sink_component_consume_func_status)status;
    for (uint64_t i = 0; i < count; i++) {
        take_message(reading, messages[i]);
        bt_message_put_ref(messages[i]);
    }
    return import__is_full(reading->import) ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END
                                            : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* ---- the directories ------------------------------------------------------------------------- */

static bool has_metadata(const char *directory)
{
    char *path = memory__format("%s/metadata", directory);
    bool has = access(path, R_OK) == 0;
    free(path);
    return has;
}

/* Those in and below the directory that hold a trace each: char *, which the caller frees. */
static void find_traces(const char *directory, unsigned depth, struct vec *found)
{
    if (found->count >= TRACES_MAX || depth > DEPTH_MAX)
        return;
    if (has_metadata(directory)) {
        char *path = memory__text(directory);
        vec__push(found, &path);
        return;
    }
    DIR *opened = opendir(directory);
    for (struct dirent *entry; opened && (entry = readdir(opened));) {
        char *path = memory__format("%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
            find_traces(path, depth + 1, found);
        free(path);
    }
    if (opened)
        closedir(opened);
}

static int by_path(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static struct vec traces_of(const struct import_source *source)
{
    struct vec found = VEC_OF(char *);
    if (source->is_directory)
        find_traces(source->path, 0, &found);
    vec__sort(&found, by_path);
    return found;
}

static bool recognises(const struct import_source *source)
{
    struct vec found = traces_of(source);
    bool is = found.count > 0;
    texts__free(&found);
    return is;
}

/* ---- babeltrace2's graph --------------------------------------------------------------------- */

/* The classes of the components that are wanted. */
struct ctf_classes {
    const bt_plugin *ctf, *utils;
    const bt_component_class_source *source;
    const bt_component_class_filter *muxer;
};

static bool find_classes(struct ctf_classes *classes)
{
    *classes = (struct ctf_classes){0};
    bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &classes->ctf);
    bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &classes->utils);
    if (classes->ctf)
        classes->source = bt_plugin_borrow_source_component_class_by_name_const(classes->ctf, "fs");
    if (classes->utils)
        classes->muxer =
            bt_plugin_borrow_filter_component_class_by_name_const(classes->utils, "muxer");
    return classes->source && classes->muxer;
}

/* Every stream of the source to an input of the muxer, which has always one that is free. */
static bool connect_streams(bt_graph *graph, const bt_component_source *source,
                            const bt_component_filter *muxer)
{
    uint64_t streams = bt_component_source_get_output_port_count(source);
    for (uint64_t i = 0; i < streams; i++) {
        uint64_t inputs = bt_component_filter_get_input_port_count(muxer);
        if (bt_graph_connect_ports(
                graph, bt_component_source_borrow_output_port_by_index_const(source, i),
                bt_component_filter_borrow_input_port_by_index_const(muxer, inputs - 1),
                NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
            return false;
    }
    return true;
}

#define METADATA_MAGIC 0x75d11d57u /* CTF 1.8.3, 7.1: metadata in packets */

/* The head of a packet of metadata, behind the magic. */
struct metadata_head {
    uint8_t uuid[16];
    uint32_t checksum, content_bits, packet_bits;
    uint8_t schemes[5];
} __attribute__((packed));

/* Whether packets of metadata are whole: babeltrace2 (2.0.4) waits for ever for what is missing.
 * Metadata that is text has none. */
static bool are_packets_whole(const char *bytes, size_t count)
{
    const size_t head_bytes = sizeof(uint32_t) + sizeof(struct metadata_head);
    for (size_t at = 0; at < count;) {
        uint32_t magic, packet_bytes, content_bytes;
        struct metadata_head head;
        if (count - at < head_bytes)
            return at == 0; /* it is text */
        memcpy(&magic, bytes + at, sizeof magic);
        memcpy(&head, bytes + at + sizeof magic, sizeof head);
        bool is_other = magic == __builtin_bswap32(METADATA_MAGIC); /* order of bytes */
        if (magic != METADATA_MAGIC && !is_other)
            return at == 0;
        packet_bytes = (is_other ? __builtin_bswap32(head.packet_bits) : head.packet_bits) / 8;
        content_bytes = (is_other ? __builtin_bswap32(head.content_bits) : head.content_bits) / 8;
        if (content_bytes < head_bytes || content_bytes > packet_bytes || packet_bytes > count - at)
            return false;
        at += packet_bytes;
    }
    return true;
}

static bool is_metadata_whole(const char *directory)
{
    char *path = memory__format("%s/metadata", directory);
    struct import_source source;
    struct error error;
    const uint8_t *bytes;
    size_t count;
    bool is = import_source__open(path, &source, &error) == 0 && !source.is_directory &&
              import_source__map(&source, &bytes, &count, &error) == 0;
    if (is) {
        is = are_packets_whole((const char *)bytes, count);
        munmap((void *)bytes, count);
    }
    free(path);
    return is;
}

static bool add_trace(bt_graph *graph, const struct ctf_classes *classes, const char *path,
                      size_t number, const bt_component_filter *muxer)
{
    const bt_component_source *source = NULL;
    bt_value *parameters = bt_value_map_create(), *inputs = bt_value_array_create();
    char *name = memory__format("trace %zu", number);
    bool is = bt_value_array_append_string_element(inputs, path) == 0 &&
              bt_value_map_insert_entry(parameters, "inputs", inputs) == 0 &&
              bt_graph_add_source_component(graph, classes->source, name, parameters,
                                            BT_LOGGING_LEVEL_NONE,
                                            &source) == BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
              connect_streams(graph, source, muxer);
    bt_value_put_ref(inputs);
    bt_value_put_ref(parameters);
    free(name);
    return is;
}

/* How many of the traces can be read. */
static size_t add_traces(bt_graph *graph, const struct ctf_classes *classes,
                         const struct vec *traces, struct ctf_reading *reading,
                         const bt_component_filter *muxer)
{
    size_t count = 0;
    VEC_EACH (path, traces, char *) {
        bool is = is_metadata_whole(*path) && add_trace(graph, classes, *path, count, muxer);
        bt_current_thread_clear_error();
        count += is;
        if (!is)
            import__pass_over(reading->import, "a trace whose metadata cannot be read");
    }
    return count;
}

static bool add_sink(bt_graph *graph, struct ctf_reading *reading, const bt_component_filter *muxer)
{
    const bt_component_sink *sink = NULL;
    return bt_graph_add_simple_sink_component(graph, "heurt", NULL, consume, NULL, reading,
                                              &sink) == BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
           bt_graph_connect_ports(graph,
                                  bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
                                  bt_component_sink_borrow_input_port_by_index_const(sink, 0),
                                  NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
}

/* False: there is nothing that can be read. */
static bool read_traces(struct ctf_reading *reading, const struct vec *traces,
                        const struct ctf_classes *classes)
{
    const bt_component_filter *muxer = NULL;
    bt_graph *graph = bt_graph_create(0);
    bool is =
        graph &&
        bt_graph_add_filter_component(graph, classes->muxer, "muxer", NULL, BT_LOGGING_LEVEL_NONE,
                                      &muxer) == BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
        add_traces(graph, classes, traces, reading, muxer) && add_sink(graph, reading, muxer);
    if (is && bt_graph_run(graph) != BT_GRAPH_RUN_STATUS_OK)
        import__pass_over(reading->import, "what follows where a trace is damaged");
    bt_current_thread_clear_error();
    bt_graph_put_ref(graph);
    return is;
}

static int finish(struct ctf_reading *reading, struct error *error)
{
    int code = 0;
    for (uint32_t i = 0; i < MEANINGS; i++)
        if (reading->selves[i] && code == 0)
            code = meanings[i]->finish(reading->selves[i], error);
    map__free(&reading->classes);
    vec__free(&reading->kinds);
    return code;
}

static int import_ctf(const struct import_source *source, struct import *import,
                      struct error *error)
{
    struct ctf_reading reading = {.import = import, .kinds = VEC_OF(struct ctf_kind)};
    struct vec traces = traces_of(source);
    struct ctf_classes classes;
    bool is_there = find_classes(&classes), is_read = false;
    if (is_there)
        is_read = read_traces(&reading, &traces, &classes);
    bt_plugin_put_ref(classes.ctf);
    bt_plugin_put_ref(classes.utils);
    texts__free(&traces);
    int code = finish(&reading, error);
    if (!is_there)
        return error__set(error, -ENOENT, "libbabeltrace2 has no plugin that reads CTF here");
    return is_read ? code
                   : error__set(error, -EINVAL, "%.200s is no trace in CTF that can be read",
                                source->path);
}

const struct importer importer_ctf = {"CTF", "nothing that is known", recognises, import_ctf,
                                      "libbabeltrace2"};
