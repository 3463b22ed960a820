/* OTF2 archives, by libotf2: a location a thread, a region a label, and events that OTF2 has.
 *
 *     began, ended ──► ThreadBegin, ThreadEnd
 *     enter, leave ──► Enter, Leave; the object of a wait is its attributes "object" and "name"
 *     hold, release ─► ThreadAcquireLock, ThreadReleaseLock; likewise, who takes it where is its
 *                      attribute "place", and "shared" is 1 where others may have it, too
 *     message ───────► MpiSend, MpiRecv, in a communicator of all ranks
 *
 * What has no length and no event of OTF2's, states and counters are left out. The archive's
 * timer counts ns. A chunk of each location is in memory; left to itself, the library would keep
 * all of them until the end. */
#include "base/memory.h"
#include "base/vec.h"
#include "present/export/span_exporters.h"
#include "present/shared.h"

#include <otf2/otf2.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_CHUNK_BYTES (256u << 10)
#define DEFINITION_CHUNK_BYTES (1u << 20)

/* The trace's communicators are not told apart: ranks are those of MPI_COMM_WORLD. */
#define MESSAGES_COMMUNICATOR 0

enum otf2_attribute { OTF2_OBJECT, OTF2_PLACE, OTF2_NAME, OTF2_SHARED };

struct otf2_writing {
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    OTF2_AttributeList *attributes;
    OTF2_EvtWriter **events; /* by thread; NULL: it has told nothing yet, or has ended */
    uint64_t *counts;        /* of the events of threads that have ended */
    bool *has_ended;
    struct vec labels;      /* const struct span_label *, by number; NULL: not met */
    struct vec places;      /* const struct span_place *, likewise */
    struct vec objects;     /* const struct span_object *, likewise; the first strings are theirs */
    uint32_t *acquisitions; /* by thread */
    uint32_t *ranks;        /* by thread: its place in the communicator of messages */
    uint32_t strings;
};

/* Regions of labels and of places. */
static OTF2_RegionRef region_of_label(const struct span_label *label)
{
    return 2 * label->number;
}

static OTF2_RegionRef region_of_place(const struct span_place *place)
{
    return 2 * place->number + 1;
}

static void check(struct span_export *export, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS && !export->failed)
        export->failed = code == OTF2_ERROR_ENOSPC ? ENOSPC : errno ? errno : EIO;
}

static OTF2_FlushType flush_always(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_final)
{
    (void)user, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = flush_always};

/* One chunk a buffer: where it gets no other, the library writes what it has. */
static void *give_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **of_buffer,
                        uint64_t bytes)
{
    (void)user, (void)type, (void)location;
    if (*of_buffer)
        return NULL;
    return *of_buffer = memory__zeroed(1, bytes);
}

static void take_chunks(void *user, OTF2_FileType type, OTF2_LocationRef location, void **of_buffer,
                        bool is_final)
{
    (void)user, (void)type, (void)location, (void)is_final;
    free(*of_buffer);
    *of_buffer = NULL;
}

static const OTF2_MemoryCallbacks memory_callbacks = {.otf2_allocate = give_chunk,
                                                      .otf2_free_all = take_chunks};

/* Its own messages are not for whoever asked heurt. */
static OTF2_ErrorCode say_nothing(void *user, const char *file, uint64_t line, const char *function,
                                  OTF2_ErrorCode code, const char *format, va_list list)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)list;
    return code;
}

static void begin(struct span_export *export)
{
    struct otf2_writing *own = memory__zeroed(1, sizeof *own);
    uint32_t threads = export->run->thread_count;
    export->own = own;
    own->labels = VEC_OF(const struct span_label *);
    own->places = VEC_OF(const struct span_place *);
    own->objects = VEC_OF(const struct span_object *);
    own->events = memory__zeroed(threads + 1, sizeof(OTF2_EvtWriter *));
    own->counts = memory__zeroed(threads + 1, sizeof *own->counts);
    own->has_ended = memory__zeroed(threads + 1, sizeof *own->has_ended);
    own->acquisitions = memory__zeroed(threads + 1, sizeof *own->acquisitions);
    own->ranks = memory__zeroed(threads + 1, sizeof *own->ranks);
    for (uint32_t i = 0; i < export->run->rank_count; i++)
        own->ranks[export->run->ranks[i]] = i;
    own->attributes = OTF2_AttributeList_New();
    OTF2_Error_RegisterCallback(say_nothing, NULL);
    errno = 0;
    own->archive =
        OTF2_Archive_Open(export->directory, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK_BYTES,
                          DEFINITION_CHUNK_BYTES, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!own->archive) {
        export->failed = errno ? errno : EIO;
        return;
    }
    OTF2_Archive_SetFlushCallbacks(own->archive, &flush_callbacks, NULL);
    OTF2_Archive_SetMemoryCallbacks(own->archive, &memory_callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(own->archive);
    OTF2_Archive_SetCreator(own->archive, "heurt");
    check(export, OTF2_Archive_OpenEvtFiles(own->archive));
}

/* NULL: it failed. */
static OTF2_EvtWriter *writer_of(struct span_export *export, uint32_t thread)
{
    struct otf2_writing *own = export->own;
    if (!own->archive || export->failed || own->has_ended[thread])
        return NULL;
    if (!own->events[thread])
        own->events[thread] = OTF2_Archive_GetEvtWriter(own->archive, thread);
    if (!own->events[thread])
        export->failed = errno ? errno : EIO;
    return own->events[thread];
}

static void began(struct span_export *export, uint32_t thread, uint64_t ns)
{
    OTF2_EvtWriter *writer = writer_of(export, thread);
    if (writer)
        check(export, OTF2_EvtWriter_ThreadBegin(writer, NULL, ns, OTF2_UNDEFINED_COMM, thread));
}

/* Gives its chunk back: a run may have many threads, and few at a time. */
static void close_writer(struct span_export *export, uint32_t thread)
{
    struct otf2_writing *own = export->own;
    OTF2_EvtWriter *writer = writer_of(export, thread);
    own->has_ended[thread] = true;
    own->events[thread] = NULL;
    if (!writer)
        return;
    check(export, OTF2_EvtWriter_GetNumberOfEvents(writer, &own->counts[thread]));
    check(export, OTF2_Archive_CloseEvtWriter(own->archive, writer));
}

static void ended(struct span_export *export, uint32_t thread, uint64_t ns)
{
    OTF2_EvtWriter *writer = writer_of(export, thread);
    if (writer)
        check(export, OTF2_EvtWriter_ThreadEnd(writer, NULL, ns, OTF2_UNDEFINED_COMM, thread));
    close_writer(export, thread);
}

static void note_place(struct otf2_writing *own, const struct span_place *place)
{
    if (place)
        *VEC_REACH(&own->places, const struct span_place *, place->number) = place;
}

static void add_object(struct otf2_writing *own, const struct span_object *object)
{
    if (object)
        OTF2_AttributeList_AddUint64(own->attributes, OTF2_OBJECT, object->address);
}

static void add_name(struct otf2_writing *own, const struct span_object *object)
{
    if (!object)
        return;
    *VEC_REACH(&own->objects, const struct span_object *, object->number) = object;
    OTF2_AttributeList_AddStringRef(own->attributes, OTF2_NAME, object->number);
}

static void enter(struct span_export *export, uint32_t thread, const struct span_enter *enter)
{
    struct otf2_writing *own = export->own;
    OTF2_EvtWriter *writer = writer_of(export, thread);
    *VEC_REACH(&own->labels, const struct span_label *, enter->label->number) = enter->label;
    add_object(own, enter->object);
    add_name(own, enter->object);
    if (writer)
        check(export, OTF2_EvtWriter_Enter(writer, own->attributes, enter->ns,
                                           region_of_label(enter->label)));
    OTF2_AttributeList_RemoveAllAttributes(own->attributes);
}

static void leave(struct span_export *export, uint32_t thread, const struct span_leave *leave)
{
    OTF2_EvtWriter *writer = writer_of(export, thread);
    if (writer)
        check(export, OTF2_EvtWriter_Leave(writer, NULL, leave->ns, region_of_label(leave->label)));
}

static void hold(struct span_export *export, uint32_t thread, uint64_t ns,
                 const struct span_object *object, const struct span_place *place, bool is_shared)
{
    struct otf2_writing *own = export->own;
    OTF2_EvtWriter *writer = writer_of(export, thread);
    note_place(own, place);
    add_object(own, object);
    add_name(own, object);
    if (is_shared)
        OTF2_AttributeList_AddUint8(own->attributes, OTF2_SHARED, 1);
    if (place)
        OTF2_AttributeList_AddRegionRef(own->attributes, OTF2_PLACE, region_of_place(place));
    if (writer)
        check(export,
              OTF2_EvtWriter_ThreadAcquireLock(writer, own->attributes, ns, OTF2_PARADIGM_PTHREAD,
                                               object->number, ++own->acquisitions[thread]));
    OTF2_AttributeList_RemoveAllAttributes(own->attributes);
}

static void release(struct span_export *export, uint32_t thread, uint64_t ns,
                    const struct span_object *object, uint64_t from_ns)
{
    struct otf2_writing *own = export->own;
    OTF2_EvtWriter *writer = writer_of(export, thread);
    (void)from_ns;
    add_object(own, object);
    if (writer)
        check(export,
              OTF2_EvtWriter_ThreadReleaseLock(writer, own->attributes, ns, OTF2_PARADIGM_PTHREAD,
                                               object->number, own->acquisitions[thread]));
    OTF2_AttributeList_RemoveAllAttributes(own->attributes);
}

/* Of a message that is sent, other is who receives it, and the other way round. */
static void message(struct span_export *export, const struct span_message *message)
{
    struct otf2_writing *own = export->own;
    OTF2_EvtWriter *writer = writer_of(export, message->thread);
    if (!writer)
        return;
    check(export, (message->is_received ? OTF2_EvtWriter_MpiRecv : OTF2_EvtWriter_MpiSend)(
                      writer, NULL, message->ns, own->ranks[message->other], MESSAGES_COMMUNICATOR,
                      message->tag, message->bytes));
}

/* ---- definitions ----------------------------------------------------------------------------- */

static OTF2_StringRef string(struct span_export *export, const char *text)
{
    struct otf2_writing *own = export->own;
    check(export, OTF2_GlobalDefWriter_WriteString(own->definitions, own->strings, text));
    return own->strings++;
}

/* Takes over the text. */
static OTF2_StringRef owned_string(struct span_export *export, char *text)
{
    OTF2_StringRef ref = string(export, text);
    free(text);
    return ref;
}

static OTF2_RegionRole role_of(enum class_kind kind)
{
    return kind == CLASS_BARRIER ? OTF2_REGION_ROLE_BARRIER
           : kind == CLASS_LOOP  ? OTF2_REGION_ROLE_LOOP
           : kind == CLASS_LOCK  ? OTF2_REGION_ROLE_WRAPPER
                                 : OTF2_REGION_ROLE_FUNCTION;
}

static void put_region(struct span_export *export, OTF2_RegionRef self, const char *name,
                       const char *detail, const struct span_place *place, OTF2_RegionRole role)
{
    struct otf2_writing *own = export->own;
    OTF2_StringRef called = string(export, name);
    OTF2_StringRef from = string(export, place ? place->function : "");
    OTF2_StringRef told = string(export, detail);
    OTF2_StringRef file = string(export, place && place->file ? place->file : "");
    uint32_t line = place ? place->line : 0;
    check(export, OTF2_GlobalDefWriter_WriteRegion(own->definitions, self, called, from, told, role,
                                                   OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, file,
                                                   line, line));
}

static void put_label(struct span_export *export, uint32_t number, const struct span_label *label)
{
    if (label)
        put_region(export, 2 * number, label->name, label->detail, label->place,
                   role_of(label->kind));
    else
        put_region(export, 2 * number, "", "not met", NULL, OTF2_REGION_ROLE_UNKNOWN);
}

static void put_place(struct span_export *export, uint32_t number, const struct span_place *place)
{
    put_region(export, 2 * number + 1, place ? place->function : "",
               place ? "a lock is taken here" : "not met", place,
               place ? OTF2_REGION_ROLE_CODE : OTF2_REGION_ROLE_UNKNOWN);
}

/* One behind the other, as readers want them: numbers of which nothing is told are regions, too. */
static void put_regions(struct span_export *export)
{
    struct otf2_writing *own = export->own;
    size_t count = own->labels.count > own->places.count ? own->labels.count : own->places.count;
    for (uint32_t i = 0; i < count; i++) {
        bool is_label = i < own->labels.count, is_place = i < own->places.count;
        put_label(export, i, is_label ? *VEC_AT(&own->labels, const struct span_label *, i) : NULL);
        put_place(export, i, is_place ? *VEC_AT(&own->places, const struct span_place *, i) : NULL);
    }
}

/* Those that events refer to, before any others. */
static void put_names(struct span_export *export)
{
    struct otf2_writing *own = export->own;
    VEC_EACH (object, &own->objects, const struct span_object *)
        owned_string(export, *object ? memory__format("%s %s", (*object)->noun, (*object)->name)
                                     : memory__text(""));
}

static void put_attribute(struct span_export *export, enum otf2_attribute attribute,
                          const char *name, const char *words, OTF2_Type type)
{
    struct otf2_writing *own = export->own;
    OTF2_StringRef called = string(export, name), told = string(export, words);
    check(export,
          OTF2_GlobalDefWriter_WriteAttribute(own->definitions, attribute, called, told, type));
}

static void put_locations(struct span_export *export)
{
    struct otf2_writing *own = export->own;
    const struct span_run *run = export->run;
    for (uint32_t i = 0; i < run->process_count; i++) {
        const struct span_process *process = &run->processes[i];
        OTF2_StringRef name =
            owned_string(export, memory__format("%s (%u)", process->path, process->pid));
        check(export, OTF2_GlobalDefWriter_WriteLocationGroup(own->definitions, i, name,
                                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                              OTF2_UNDEFINED_LOCATION_GROUP));
    }
    for (uint32_t i = 0; i < run->thread_count; i++) {
        const struct span_thread *thread = &run->threads[i];
        OTF2_StringRef name =
            owned_string(export, memory__format("%s (%u)", thread->name, thread->tid));
        check(export, OTF2_GlobalDefWriter_WriteLocation(own->definitions, i, name,
                                                         OTF2_LOCATION_TYPE_CPU_THREAD,
                                                         own->counts[i], thread->process));
    }
}

/* The threads of all ranks, and a group and a communicator of all of these. */
static void put_communicator(struct span_export *export)
{
    struct otf2_writing *own = export->own;
    uint32_t count = export->run->rank_count;
    uint64_t *members = memory__zeroed(count, sizeof *members);
    OTF2_StringRef name = string(export, "ranks");
    for (uint32_t i = 0; i < count; i++)
        members[i] = export->run->ranks[i];
    check(export,
          OTF2_GlobalDefWriter_WriteGroup(own->definitions, 0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, members));
    for (uint32_t i = 0; i < count; i++)
        members[i] = i;
    check(export,
          OTF2_GlobalDefWriter_WriteGroup(own->definitions, 1, name, OTF2_GROUP_TYPE_COMM_GROUP,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, members));
    check(export, OTF2_GlobalDefWriter_WriteComm(own->definitions, MESSAGES_COMMUNICATOR, name, 1,
                                                 OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    free(members);
}

static void put_definitions(struct span_export *export)
{
    struct otf2_writing *own = export->own;
    const struct span_run *run = export->run;
    own->definitions = OTF2_Archive_GetGlobalDefWriter(own->archive);
    if (!own->definitions) {
        export->failed = errno ? errno : EIO;
        return;
    }
    check(export, OTF2_GlobalDefWriter_WriteClockProperties(
                      own->definitions, 1000000000, 0, run->to_ns,
                      run->start_realtime_ns ? run->start_realtime_ns : OTF2_UNDEFINED_TIMESTAMP));
    put_names(export);
    OTF2_StringRef machine = string(export, run->command), node = string(export, "machine");
    check(export, OTF2_GlobalDefWriter_WriteSystemTreeNode(own->definitions, 0, machine, node,
                                                           OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    put_attribute(export, OTF2_OBJECT, "object", "address of the lock, barrier …",
                  OTF2_TYPE_UINT64);
    put_attribute(export, OTF2_PLACE, "place", "where the lock is taken", OTF2_TYPE_REGION);
    put_attribute(export, OTF2_NAME, "name",
                  "of the lock, barrier …: its kind, and what it is called", OTF2_TYPE_STRING);
    put_attribute(export, OTF2_SHARED, "shared", "1: others may have the lock, too",
                  OTF2_TYPE_UINT8);
    put_regions(export);
    put_locations(export);
    if (export->run->rank_count)
        put_communicator(export);
}

/* Archives want a file of definitions for each location; what is local has none. */
static void put_local_definitions(struct span_export *export)
{
    struct otf2_writing *own = export->own;
    check(export, OTF2_Archive_OpenDefFiles(own->archive));
    for (uint32_t i = 0; i < export->run->thread_count && !export->failed; i++) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(own->archive, i);
        if (writer)
            check(export, OTF2_Archive_CloseDefWriter(own->archive, writer));
    }
    check(export, OTF2_Archive_CloseDefFiles(own->archive));
}

static void finish(struct span_export *export)
{
    struct otf2_writing *own = export->own;
    if (own->archive) {
        for (uint32_t i = 0; i < export->run->thread_count; i++)
            if (!own->has_ended[i])
                close_writer(export, i);
        put_definitions(export);
        check(export, OTF2_Archive_CloseEvtFiles(own->archive));
        put_local_definitions(export);
        check(export, OTF2_Archive_Close(own->archive));
    }
    OTF2_AttributeList_Delete(own->attributes);
    free(own->events);
    free(own->counts);
    free(own->has_ended);
    free(own->acquisitions);
    free(own->ranks);
    vec__free(&own->labels);
    vec__free(&own->places);
    vec__free(&own->objects);
    free(own);
}

const struct span_exporter exporter_otf2 = {
    .name = "otf2",
    .order = SPANS_IN_TIME,
    .is_directory = true,
    .begin = begin,
    .began = began,
    .ended = ended,
    .enter = enter,
    .leave = leave,
    .hold = hold,
    .release = release,
    .message = message,
    .finish = finish,
};
