/* Perfetto's traces (protos/perfetto/trace): TrackEvents of any data source, and of
 * heurt export --perfetto.
 *
 *     Trace: TracePacket…     a packet: who wrote it (a sequence), when (on a clock), and one of
 *         clocks, a track, texts that are told by number from then on, an event
 *
 * Numbers of texts, defaults and incremental clocks are a sequence's own, until it says that it
 * begins anew. Slices on tracks of threads are calls. Packets stand in no order, and a track may be
 * told behind its events: events are kept, 32 bytes each, until all have been read. In heurt's own
 * traces slices with an object are waits for it, and a track below a thread's tells when that was
 * off the CPU. Numbers of fields are those of the public schema. */
#include "base/map.h"
#include "base/memory.h"
#include "base/proto.h"
#include "base/vec.h"
#include "import/import_states.h"
#include "import/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CLOCKS 128u
#define CLOCK_BOOTTIME 6u
#define CLOCKS_OWN 64u /* from here on clocks are a sequence's own */
#define OPEN_MAX 10000u
#define OFF_TRACK "off the CPU"
#define NO_TEXT 0u

enum perfetto_text {
    TEXT_CATEGORY = 1,
    TEXT_NAME = 2,
    TEXT_ANNOTATION = 3,
    TEXT_PLACE = 4,
    TEXT_VALUE = 29
};
enum perfetto_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

struct perfetto_clock {
    bool is_known, is_incremental;
    uint64_t unit_ns; /* of its values; 0: 1 */
    uint64_t value;   /* the last one, of an incremental clock */
    int64_t offset;   /* what makes the reference's ns of its ns */
};

struct perfetto_sequence {
    uint32_t id, generation; /* how often has it begun anew */
    uint32_t default_clock;
    uint64_t default_track;
    bool has_default_track;
    struct perfetto_clock clocks[CLOCKS - CLOCKS_OWN];
};

struct perfetto_place {
    uint32_t file, function, line; /* texts */
};

struct perfetto_event {
    int64_t ns;
    uint32_t order, name, category, object, place; /* texts, and a place; 0: none */
    uint8_t type;
    bool is_off; /* of the track that tells when the thread was off the CPU */
};

struct perfetto_track {
    uint64_t id, parent;
    bool is_told, is_thread;
    uint32_t pid, tid, name; /* a text */
    struct vec events;       /* struct perfetto_event */
};

struct perfetto_reading {
    struct import *import;
    struct map text_ids;     /* text -> place in texts */
    struct vec texts;        /* char *; the first one is none */
    struct map interned;     /* sequence, generation, table, number -> text, or place */
    struct vec places;       /* struct perfetto_place; the first one is none */
    struct map sequence_ids; /* -> place in sequences */
    struct vec sequences;    /* struct perfetto_sequence */
    struct map track_ids;    /* -> place in tracks */
    struct vec tracks;       /* struct perfetto_track */
    struct perfetto_clock clocks[CLOCKS_OWN]; /* that all have in common */
    uint64_t count;                           /* events that were kept */
    struct map objects;                       /* object's text -> its address */
    bool is_own;                              /* it tells what only heurt does */
};

/* ---- texts ----------------------------------------------------------------------------------- */

static uint32_t text_of(struct perfetto_reading *reading, const void *bytes, size_t count)
{
    count = count < IMPORT_NAME_MAX ? count : IMPORT_NAME_MAX;
    uint64_t id = map__put(&reading->text_ids, bytes, count, reading->texts.count);
    if (id == reading->texts.count) {
        char *text = memory__format("%.*s", (int)count, (const char *)bytes);
        vec__push(&reading->texts, &text);
    }
    return (uint32_t)id;
}

static const char *text_at(const struct perfetto_reading *reading, uint32_t id)
{
    return *VEC_AT(&reading->texts, char *, id);
}

struct interned_key {
    uint32_t sequence, generation;
    uint64_t number;
    uint32_t table, zero;
};

static struct interned_key key_of(const struct perfetto_sequence *sequence,
                                  enum perfetto_text table, uint64_t number)
{
    return (struct interned_key){sequence->id, sequence->generation, number, table, 0};
}

/* What the number means; 0: nothing. */
static uint32_t interned_at(const struct perfetto_reading *reading,
                            const struct perfetto_sequence *sequence, enum perfetto_text table,
                            uint64_t number)
{
    const struct interned_key key = key_of(sequence, table, number);
    uint64_t found = map__get(&reading->interned, &key, sizeof key);
    return found == MAP_ABSENT ? 0 : (uint32_t)found;
}

static void intern(struct perfetto_reading *reading, const struct perfetto_sequence *sequence,
                   enum perfetto_text table, uint64_t number, uint32_t meaning)
{
    const struct interned_key key = key_of(sequence, table, number);
    map__put(&reading->interned, &key, sizeof key, meaning);
}

static uint32_t add_place(struct perfetto_reading *reading, struct proto_reader location,
                          uint64_t *number)
{
    struct perfetto_place place = {0};
    while (proto_reader__next(&location)) {
        if (location.field == 1)
            *number = location.number;
        else if (location.field == 2 && location.bytes)
            place.file = text_of(reading, location.bytes, location.count);
        else if (location.field == 3 && location.bytes)
            place.function = text_of(reading, location.bytes, location.count);
        else if (location.field == 4)
            place.line = (uint32_t)location.number;
    }
    vec__push(&reading->places, &place);
    return (uint32_t)reading->places.count - 1;
}

/* A number, and a text in the field after it. */
static void add_text(struct perfetto_reading *reading, const struct perfetto_sequence *sequence,
                     enum perfetto_text table, struct proto_reader entry)
{
    uint64_t number = 0;
    uint32_t text = NO_TEXT;
    while (proto_reader__next(&entry)) {
        if (entry.field == 1)
            number = entry.number;
        else if (entry.field == 2 && entry.bytes)
            text = text_of(reading, entry.bytes, entry.count);
    }
    intern(reading, sequence, table, number, text);
}

static void take_interned(struct perfetto_reading *reading,
                          const struct perfetto_sequence *sequence, struct proto_reader data)
{
    while (proto_reader__next(&data)) {
        uint64_t number = 0;
        if (!data.bytes)
            continue;
        if (data.field == TEXT_PLACE) {
            uint32_t place = add_place(reading, proto_reader__inner(&data), &number);
            intern(reading, sequence, TEXT_PLACE, number, place);
        } else if (data.field <= TEXT_ANNOTATION || data.field == TEXT_VALUE)
            add_text(reading, sequence, (enum perfetto_text)data.field, proto_reader__inner(&data));
    }
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static struct perfetto_clock *clock_of(struct perfetto_reading *reading,
                                       struct perfetto_sequence *sequence, uint64_t id)
{
    if (id >= CLOCKS)
        return NULL;
    return id < CLOCKS_OWN ? &reading->clocks[id] : &sequence->clocks[id - CLOCKS_OWN];
}

static uint64_t unit_of(const struct perfetto_clock *clock)
{
    return clock->unit_ns ? clock->unit_ns : 1;
}

struct snapshot_clock {
    uint64_t id, value, unit_ns;
    bool is_incremental;
};

static struct snapshot_clock read_clock(struct proto_reader message)
{
    struct snapshot_clock clock = {0};
    while (proto_reader__next(&message)) {
        if (message.field == 1)
            clock.id = message.number;
        else if (message.field == 2)
            clock.value = message.number;
        else if (message.field == 3)
            clock.is_incremental = message.number;
        else if (message.field == 4)
            clock.unit_ns = message.number;
    }
    return clock;
}

static void set_clock(struct perfetto_reading *reading, struct perfetto_sequence *sequence,
                      const struct snapshot_clock *told, uint64_t reference_ns)
{
    struct perfetto_clock *clock = clock_of(reading, sequence, told->id);
    if (!clock || (told->id < CLOCKS_OWN && clock->is_known))
        return;
    clock->is_known = true;
    clock->is_incremental = told->is_incremental;
    clock->unit_ns = told->unit_ns;
    clock->value = told->value;
    clock->offset = (int64_t)(reference_ns - told->value * unit_of(clock));
}

/* All of them show one moment: BOOTTIME, or the first of the common ones, is what they refer to. */
static void take_clocks(struct perfetto_reading *reading, struct perfetto_sequence *sequence,
                        struct proto_reader snapshot)
{
    struct proto_reader again = snapshot;
    uint64_t reference_ns = 0, best = UINT64_MAX;
    while (proto_reader__next(&snapshot)) {
        if (snapshot.field != 1 || !snapshot.bytes)
            continue;
        const struct snapshot_clock clock = read_clock(proto_reader__inner(&snapshot));
        uint64_t rank = clock.id == CLOCK_BOOTTIME ? 0 : clock.id < CLOCKS_OWN ? 1 : 2;
        if (rank < best) {
            best = rank;
            reference_ns = clock.value * (clock.unit_ns ? clock.unit_ns : 1);
        }
    }
    while (proto_reader__next(&again)) {
        if (again.field != 1 || !again.bytes)
            continue;
        const struct snapshot_clock clock = read_clock(proto_reader__inner(&again));
        set_clock(reading, sequence, &clock, reference_ns);
    }
}

static int64_t ns_of(struct perfetto_reading *reading, struct perfetto_sequence *sequence,
                     uint64_t clock_id, uint64_t value)
{
    clock_id = clock_id ? clock_id : sequence->default_clock;
    struct perfetto_clock *clock =
        clock_of(reading, sequence, clock_id ? clock_id : CLOCK_BOOTTIME);
    if (!clock)
        return (int64_t)value;
    if (clock->is_incremental)
        value = clock->value += value;
    return (int64_t)(value * unit_of(clock) + (uint64_t)clock->offset);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* Valid until the next one. */
static struct perfetto_track *track_of(struct perfetto_reading *reading, uint64_t id)
{
    uint64_t place = map__put(&reading->track_ids, &id, sizeof id, reading->tracks.count);
    if (place == reading->tracks.count) {
        const struct perfetto_track track = {.id = id, .events = VEC_OF(struct perfetto_event)};
        vec__push(&reading->tracks, &track);
    }
    return VEC_AT(&reading->tracks, struct perfetto_track, place);
}

static void read_thread(struct perfetto_reading *reading, struct perfetto_track *track,
                        struct proto_reader thread)
{
    track->is_thread = true;
    while (proto_reader__next(&thread)) {
        if (thread.field == 1)
            track->pid = (uint32_t)thread.number;
        else if (thread.field == 2)
            track->tid = (uint32_t)thread.number;
        else if (thread.field == 5 && thread.bytes)
            track->name = text_of(reading, thread.bytes, thread.count);
    }
}

static void read_process(struct perfetto_reading *reading, struct proto_reader process)
{
    uint32_t pid = 0, name = NO_TEXT;
    while (proto_reader__next(&process)) {
        if (process.field == 1)
            pid = (uint32_t)process.number;
        else if (process.field == 6 && process.bytes)
            name = text_of(reading, process.bytes, process.count);
    }
    import__process(reading->import, pid, 0, name ? text_at(reading, name) : NULL);
}

static void take_track(struct perfetto_reading *reading, struct proto_reader descriptor)
{
    struct proto_reader again = descriptor;
    uint64_t id = 0;
    while (proto_reader__next(&descriptor))
        if (descriptor.field == 1)
            id = descriptor.number;
    struct perfetto_track *track = track_of(reading, id);
    track->is_told = true;
    while (proto_reader__next(&again)) {
        if (again.field == 2 && again.bytes && !track->is_thread)
            track->name = text_of(reading, again.bytes, again.count);
        else if (again.field == 3 && again.bytes)
            read_process(reading, proto_reader__inner(&again));
        else if (again.field == 4 && again.bytes)
            read_thread(reading, track, proto_reader__inner(&again));
        else if (again.field == 5)
            track->parent = again.number;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

struct read_event {
    struct perfetto_event event;
    uint64_t track;
    bool has_track;
};

static uint32_t object_in(struct perfetto_reading *reading,
                          const struct perfetto_sequence *sequence, struct proto_reader annotation)
{
    uint32_t name = NO_TEXT, value = NO_TEXT;
    while (proto_reader__next(&annotation)) {
        if (annotation.field == 1)
            name = interned_at(reading, sequence, TEXT_ANNOTATION, annotation.number);
        else if (annotation.field == 10 && annotation.bytes)
            name = text_of(reading, annotation.bytes, annotation.count);
        else if (annotation.field == 6 && annotation.bytes)
            value = text_of(reading, annotation.bytes, annotation.count);
        else if (annotation.field == 17)
            value = interned_at(reading, sequence, TEXT_VALUE, annotation.number);
    }
    return strcmp(text_at(reading, name), "object") == 0 ? value : NO_TEXT;
}

static void read_field(struct perfetto_reading *reading, const struct perfetto_sequence *sequence,
                       const struct proto_reader *field, struct read_event *read)
{
    uint64_t number = 0;
    switch (field->field) {
    case 3:
        read->event.category = interned_at(reading, sequence, TEXT_CATEGORY, field->number);
        break;
    case 4:
        if (field->bytes && !read->event.object)
            read->event.object = object_in(reading, sequence, proto_reader__inner(field));
        break;
    case 9:
        read->event.type = field->number < 255 ? (uint8_t)field->number : 255;
        break;
    case 10:
        read->event.name = interned_at(reading, sequence, TEXT_NAME, field->number);
        break;
    case 11:
        read->track = field->number;
        read->has_track = true;
        break;
    case 22:
        if (field->bytes)
            read->event.category = text_of(reading, field->bytes, field->count);
        break;
    case 23:
        if (field->bytes)
            read->event.name = text_of(reading, field->bytes, field->count);
        break;
    case 33:
        if (field->bytes)
            read->event.place = add_place(reading, proto_reader__inner(field), &number);
        break;
    case 34:
        read->event.place = interned_at(reading, sequence, TEXT_PLACE, field->number);
        break;
    }
}

static void keep(struct perfetto_reading *reading, struct read_event *read)
{
    read->event.order = (uint32_t)reading->count++;
    vec__push(&track_of(reading, read->track)->events, &read->event);
}

static void take_event(struct perfetto_reading *reading, const struct perfetto_sequence *sequence,
                       int64_t ns, struct proto_reader message)
{
    struct read_event read = {
        .event.ns = ns, .track = sequence->default_track, .has_track = sequence->has_default_track};
    while (proto_reader__next(&message))
        read_field(reading, sequence, &message, &read);
    if (message.is_damaged || (read.event.type != TYPE_BEGIN && read.event.type != TYPE_END))
        import__pass_over(reading->import, read.event.type == TYPE_INSTANT   ? "instants"
                                           : read.event.type == TYPE_COUNTER ? "counters"
                                                                             : "events of other "
                                                                               "types");
    else if (!read.has_track)
        import__pass_over(reading->import, "slices without a track");
    else
        keep(reading, &read);
}

/* ---- packets --------------------------------------------------------------------------------- */

static struct perfetto_sequence *sequence_of(struct perfetto_reading *reading, uint32_t id)
{
    uint64_t place = map__put(&reading->sequence_ids, &id, sizeof id, reading->sequences.count);
    if (place == reading->sequences.count) {
        const struct perfetto_sequence sequence = {.id = id};
        vec__push(&reading->sequences, &sequence);
    }
    return VEC_AT(&reading->sequences, struct perfetto_sequence, place);
}

static void begin_anew(struct perfetto_sequence *sequence)
{
    uint32_t id = sequence->id, generation = sequence->generation + 1;
    *sequence = (struct perfetto_sequence){.id = id, .generation = generation};
}

static void take_defaults(struct perfetto_sequence *sequence, struct proto_reader defaults)
{
    while (proto_reader__next(&defaults)) {
        struct proto_reader event = proto_reader__inner(&defaults);
        if (defaults.field == 58)
            sequence->default_clock = (uint32_t)defaults.number;
        while (defaults.field == 11 && defaults.bytes && proto_reader__next(&event))
            if (event.field == 11) {
                sequence->default_track = event.number;
                sequence->has_default_track = true;
            }
    }
}

/* Where it stands in a packet, what concerns the sequence as a whole comes first. */
static struct perfetto_sequence *read_head(struct perfetto_reading *reading,
                                           struct proto_reader packet, uint64_t *clock,
                                           uint64_t *time)
{
    struct proto_reader again = packet;
    uint32_t id = 0;
    bool begins = false;
    while (proto_reader__next(&packet)) {
        if (packet.field == 10)
            id = (uint32_t)packet.number;
        else if (packet.field == 13)
            begins |= packet.number & 1;
        else if (packet.field == 41)
            begins |= packet.number;
        else if (packet.field == 8)
            *time = packet.number;
        else if (packet.field == 58)
            *clock = packet.number;
    }
    struct perfetto_sequence *sequence = sequence_of(reading, id);
    if (begins)
        begin_anew(sequence);
    while (proto_reader__next(&again)) {
        if (again.field == 59 && again.bytes)
            take_defaults(sequence, proto_reader__inner(&again));
        else if (again.field == 12 && again.bytes)
            take_interned(reading, sequence, proto_reader__inner(&again));
    }
    return sequence;
}

static void take_packet(struct perfetto_reading *reading, struct proto_reader packet)
{
    uint64_t clock = 0, time = 0;
    struct perfetto_sequence *sequence = read_head(reading, packet, &clock, &time);
    while (proto_reader__next(&packet)) {
        struct proto_reader inner = proto_reader__inner(&packet);
        if (!packet.bytes)
            continue;
        if (packet.field == 6)
            take_clocks(reading, sequence, inner);
        else if (packet.field == 11)
            take_event(reading, sequence, ns_of(reading, sequence, clock, time), inner);
        else if (packet.field == 60)
            take_track(reading, inner);
        else if (packet.field == 1)
            import__pass_over(reading->import, "events of the kernel (ftrace)");
        else if (packet.field == 50)
            import__pass_over(reading->import, "packets that are compressed");
    }
    if (packet.is_damaged)
        import__pass_over(reading->import, "packets that are damaged");
}

/* ---- what comes of them ---------------------------------------------------------------------- */

/* The thread that the track is of, or that the one above it is of; NULL: none. */
static const struct perfetto_track *thread_track(struct perfetto_reading *reading,
                                                 const struct perfetto_track *track, bool *is_off)
{
    *is_off = !track->is_thread && strcmp(text_at(reading, track->name), OFF_TRACK) == 0;
    if (track->is_thread || !*is_off)
        return track->is_thread ? track : NULL;
    uint64_t place = map__get(&reading->track_ids, &track->parent, sizeof track->parent);
    const struct perfetto_track *parent =
        place == MAP_ABSENT ? NULL : VEC_AT(&reading->tracks, struct perfetto_track, place);
    return parent && parent->is_thread ? parent : NULL;
}

/* Moves the track's events to those of its thread. */
static void gather(struct perfetto_reading *reading, struct perfetto_track *track,
                   struct vec *threads)
{
    bool is_off;
    const struct perfetto_track *of = thread_track(reading, track, &is_off);
    uint32_t thread = of ? import__thread(reading->import, of->pid, of->tid,
                                          of->name ? text_at(reading, of->name) : NULL)
                         : UINT32_MAX;
    if (thread == UINT32_MAX) {
        for (size_t i = 0; i < track->events.count; i++)
            import__pass_over(reading->import, "slices of tracks that are no threads");
        vec__free(&track->events);
        return;
    }
    const struct vec none = VEC_OF(struct perfetto_event);
    while (threads->count <= thread)
        vec__push(threads, &none);
    struct vec *events = VEC_AT(threads, struct vec, thread);
    reading->is_own |= is_off;
    VEC_EACH (event, &track->events, struct perfetto_event) {
        event->is_off = is_off;
        vec__push(events, event);
    }
    vec__free(&track->events);
}

static int by_time(const void *left, const void *right)
{
    const struct perfetto_event *a = left, *b = right;
    return a->ns != b->ns ? ORDER(a->ns, b->ns) : ORDER(a->order, b->order);
}

/* An event that a slice with an object becomes; 0: it is a call. */
static uint32_t wait_of(const struct perfetto_reading *reading, const struct perfetto_event *event)
{
    const char *category = text_at(reading, event->category);
    return !event->object                       ? 0
           : strcmp(category, "lock") == 0      ? HEURT_EVENT_LOCK_WAIT
           : strcmp(category, "barrier") == 0   ? HEURT_EVENT_BARRIER_WAIT
           : strcmp(category, "semaphore") == 0 ? HEURT_EVENT_SEMAPHORE_WAIT
           : strcmp(category, "condition") == 0 ? HEURT_EVENT_CONDITION_WAIT
                                                : 0;
}

/* Its text is what it is and what it is called: "mutex queue->head_lock". */
static uint64_t object_of(struct perfetto_reading *reading, uint32_t thread, uint32_t text)
{
    uint64_t address = 0x1000 + 64 * (uint64_t)text;
    const char *name = text_at(reading, text), *behind = strchr(name, ' ');
    uint64_t told = map__get(&reading->objects, &text, sizeof text);
    if (told == MAP_ABSENT)
        import__name_object(reading->import, thread, address, behind ? behind + 1 : name);
    map__put(&reading->objects, &text, sizeof text, 1);
    return address;
}

/* A slice that is open: what ends it. */
struct perfetto_open {
    uint32_t wait; /* 0: a call */
};

static void begin_wait(struct perfetto_reading *reading, uint32_t thread,
                       const struct perfetto_event *event, uint32_t wait)
{
    const struct perfetto_place *place =
        VEC_AT(&reading->places, struct perfetto_place, event->place);
    uint64_t site = place->function
                        ? import__site(reading->import, thread, text_at(reading, place->function),
                                       NULL, text_at(reading, place->file), place->line)
                        : import__innermost_site(reading->import, thread);
    const uint64_t payload[] = {HEURT_SITE(site, 0), object_of(reading, thread, event->object), 0};
    import__event(reading->import, thread, event->ns, wait, payload,
                  wait == HEURT_EVENT_CONDITION_WAIT ? 3 : 2);
}

static void begin(struct perfetto_reading *reading, uint32_t thread,
                  const struct perfetto_event *event, struct vec *open)
{
    const struct perfetto_place *place =
        VEC_AT(&reading->places, struct perfetto_place, event->place);
    const struct perfetto_open one = {wait_of(reading, event)};
    if (open->count >= OPEN_MAX) {
        import__pass_over(reading->import, "slices in too many others");
        return;
    }
    vec__push(open, &one);
    if (one.wait) {
        reading->is_own = true;
        begin_wait(reading, thread, event, one.wait);
        return;
    }
    uint32_t id = import__function(reading->import, thread, text_at(reading, event->name),
                                   text_at(reading, event->category),
                                   place->file ? text_at(reading, place->file) : NULL, place->line);
    import__enter(reading->import, thread, event->ns, id);
}

static void end(struct perfetto_reading *reading, uint32_t thread, int64_t ns, struct vec *open)
{
    if (open->count == 0) {
        import__pass_over(reading->import, "ends of slices that did not begin");
        return;
    }
    uint32_t wait = VEC_AT(open, struct perfetto_open, --open->count)->wait;
    /* Who has the lock how long is not told: to time out is to wait, and not to have it then. */
    const uint64_t result = wait == HEURT_EVENT_LOCK_WAIT ? ETIMEDOUT : 0;
    if (wait)
        import__event(reading->import, thread, ns, wait | 1, &result, 1);
    else
        import__leave_innermost(reading->import, thread, ns);
}

/* The state of a thread while its events are written. */
struct perfetto_states {
    struct import_states states;
    bool is_ending; /* a slice of a state has ended, */
    int64_t end_ns; /* then: the next one may begin at once */
};

static void end_state(struct perfetto_reading *reading, uint32_t thread,
                      struct perfetto_states *now)
{
    if (now->is_ending)
        import_states__change(reading->import, thread, &now->states, now->end_ns, IMPORT_ON_CPU);
    now->is_ending = false;
}

static void change_state(struct perfetto_reading *reading, uint32_t thread,
                         const struct perfetto_event *event, struct perfetto_states *now)
{
    if (now->is_ending && (event->type != TYPE_BEGIN || event->ns != now->end_ns))
        end_state(reading, thread, now);
    now->is_ending = event->type == TYPE_END;
    now->end_ns = event->ns;
    if (event->type == TYPE_BEGIN)
        import_states__change(reading->import, thread, &now->states, event->ns,
                              text_at(reading, event->name));
}

static void write_thread(struct perfetto_reading *reading, uint32_t thread, struct vec *events)
{
    struct vec open = VEC_OF(struct perfetto_open);
    struct perfetto_states now = {0};
    vec__sort(events, by_time);
    VEC_EACH (event, events, struct perfetto_event) {
        if (import__is_full(reading->import))
            break;
        if (!event->is_off)
            end_state(reading, thread, &now);
        if (event->is_off)
            change_state(reading, thread, event, &now);
        else if (event->type == TYPE_BEGIN)
            begin(reading, thread, event, &open);
        else
            end(reading, thread, event->ns, &open);
    }
    end_state(reading, thread, &now);
    vec__free(&open);
}

/* The first event of all is where times begin. */
static void set_start(struct perfetto_reading *reading, const struct vec *threads)
{
    int64_t first_ns = INT64_MAX;
    VEC_EACH (events, threads, struct vec)
        VEC_EACH (event, events, struct perfetto_event)
            first_ns = event->ns < first_ns ? event->ns : first_ns;
    if (first_ns != INT64_MAX)
        import__tick(reading->import, first_ns);
}

static void write_all(struct perfetto_reading *reading)
{
    struct vec threads = VEC_OF(struct vec); /* of struct perfetto_event, by the import's number */
    VEC_EACH (track, &reading->tracks, struct perfetto_track)
        gather(reading, track, &threads);
    set_start(reading, &threads);
    for (uint32_t i = 0; i < threads.count; i++) {
        struct vec *events = VEC_AT(&threads, struct vec, i);
        write_thread(reading, i, events);
        vec__free(events);
    }
    vec__free(&threads);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void start(struct perfetto_reading *reading, struct import *import)
{
    *reading = (struct perfetto_reading){.import = import,
                                         .texts = VEC_OF(char *),
                                         .places = VEC_OF(struct perfetto_place),
                                         .sequences = VEC_OF(struct perfetto_sequence),
                                         .tracks = VEC_OF(struct perfetto_track)};
    text_of(reading, "", 0);
    vec__push(&reading->places, NULL);
}

static void free_reading(struct perfetto_reading *reading)
{
    VEC_EACH (text, &reading->texts, char *)
        free(*text);
    vec__free(&reading->texts);
    vec__free(&reading->places);
    vec__free(&reading->sequences);
    vec__free(&reading->tracks);
    map__free(&reading->text_ids);
    map__free(&reading->interned);
    map__free(&reading->sequence_ids);
    map__free(&reading->track_ids);
    map__free(&reading->objects);
}

static int import_perfetto(const struct import_source *source, struct import *import,
                           struct error *error)
{
    struct perfetto_reading reading;
    const uint8_t *bytes;
    size_t count;
    int code = import_source__map(source, &bytes, &count, error);
    if (code < 0)
        return code;
    start(&reading, import);
    struct proto_reader trace = proto_reader__of(bytes, count);
    while (proto_reader__next(&trace))
        if (trace.field == 1 && trace.bytes)
            take_packet(&reading, proto_reader__inner(&trace));
    if (trace.is_damaged)
        import__pass_over(import, "what follows where the file breaks off");
    write_all(&reading);
    if (reading.is_own)
        import__is_of(import, "heurt in Perfetto's format",
                      "of locks the waits alone, not who has them; no call stacks");
    free_reading(&reading);
    munmap((void *)bytes, count);
    return 0;
}

/* Whether all of the head, as far as it goes, is packets with fields that packets have. */
static bool recognises(const struct import_source *source)
{
    struct proto_reader trace = proto_reader__of(source->head, source->head_bytes);
    unsigned packets = 0;
    if (source->is_directory)
        return false;
    while (proto_reader__next(&trace)) {
        struct proto_reader packet = proto_reader__inner(&trace);
        if (trace.field != 1 || !trace.bytes)
            return false;
        while (proto_reader__next(&packet))
            if (packet.field > 2000)
                return false;
        if (packet.is_damaged)
            return false;
        packets++;
    }
    /* A packet that the head cuts is one, too. */
    return packets > 1 || (packets == 1 && !trace.is_damaged);
}

const struct importer importer_perfetto = {
    "Perfetto", "no locks, no off-CPU times, no flows; slices of threads alone", recognises,
    import_perfetto};
