/* export_perfetto.c: TrackEvents of Perfetto (protos/perfetto/trace), for ui.perfetto.dev and
 * trace_processor.
 *
 *     clock, tracks   then, by time, packets of one sequence:
 *         texts that are new (interned: written once, then told by number)
 *         slices of threads, of locks that are held, of times off the CPU; instants; counters
 *
 * A thread's slices are on its own track, times off the CPU on one below it; each lock has a track
 * with who holds it, as far as LOCK_TRACKS_MOST. A flow leads from the instant at which a thread
 * lets another one go on to the slice of that one's wait. Times are differences to the packet
 * before (an incremental clock), but those of such instants, which are known late. Numbers of
 * fields are those of the public schema; tests/cli has the part of it that is used. */
#include "base/memory.h"
#include "base/proto.h"
#include "base/text.h"
#include "present/export/span_exporters.h"

#include <stdlib.h>

#define SEQUENCE 1u
#define CLOCK_OWN 64u /* the first that belongs to a sequence */
#define CLOCK_BOOTTIME 6u
#define CLOCK_REALTIME 1u
#define LOCK_TRACKS_MOST 2000u
#define PACKETS_BYTES (1u << 16)

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

enum packet_field {
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_FIRST = 87,
};

enum event_field {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_PLACE = 34,
    EVENT_DOUBLE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48,
};

enum event_type { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

enum interned_field {
    INTERNED_CATEGORIES = 1,
    INTERNED_NAMES = 2,
    INTERNED_ANNOTATIONS = 3,
    INTERNED_PLACES = 4,
    INTERNED_TEXTS = 29,
};

/* Names of annotations, by their numbers. */
enum annotation {
    ANNOTATION_OBJECT = 1,
    ANNOTATION_BY,
    ANNOTATION_BY_PLACE,
    ANNOTATION_AFTER,
    ANNOTATION_WEIGHT,
    ANNOTATION_END,
    ANNOTATION_ARGUMENTS, /* the first argument's; those that follow have the next ones */
};

/* Numbers that stand for things in one table of interned texts; 0: it is not written yet. */
struct interned {
    struct vec numbers; /* uint32_t, by the thing's own number */
    uint32_t last;      /* of the table */
};

enum interned_names { NAMES_OF_LABELS, NAMES_OF_THREADS, NAMES_OF_STATES, NAMES_OF_OTHERS, NAMES };

struct perfetto {
    struct proto packets, packet, event, inner, text; /* packets: that are not written yet */
    uint64_t ns;                                      /* of the packet before */
    struct interned names[NAMES]; /* event names: numbers are given by names[0].last */
    struct interned places, kinds;
    struct interned objects, threads, place_texts; /* texts of annotations: objects.last */
    struct interned arguments;                     /* by label: the first of its arguments' names */
    uint32_t next_argument;
    struct vec state_tracks, lock_tracks; /* bool: it is written, by thread and object */
    bool *is_off;                         /* by thread: a slice is open on its state track */
    uint32_t threads_count, processes_count;
    uint64_t flows; /* that have begun; they are numbered from 1 */
    bool lacks_locks;
};

/* ---- tracks ---------------------------------------------------------------------------------- */

static uint64_t track_of_thread(uint32_t thread)
{
    return thread + 1u;
}

static uint64_t track_of_process(const struct perfetto *perfetto, uint32_t process)
{
    return 1ull + perfetto->threads_count + process;
}

static uint64_t track_of_counter(const struct perfetto *perfetto, unsigned counter)
{
    return track_of_process(perfetto, perfetto->processes_count) + counter;
}

static uint64_t track_of_locks(const struct perfetto *perfetto)
{
    return track_of_counter(perfetto, SPAN_COUNTERS);
}

static uint64_t track_of_state(const struct perfetto *perfetto, uint32_t thread)
{
    return track_of_locks(perfetto) + 1 + thread;
}

static uint64_t track_of_lock(const struct perfetto *perfetto, uint32_t object)
{
    return track_of_state(perfetto, perfetto->threads_count) + object;
}

/* ---- packets --------------------------------------------------------------------------------- */

static void flush(struct perfetto *perfetto, FILE *out)
{
    fwrite(perfetto->packets.bytes, 1, perfetto->packets.count, out);
    proto__clear(&perfetto->packets);
}

static void put_packet(struct perfetto *perfetto, FILE *out)
{
    proto__message(&perfetto->packets, 1, &perfetto->packet);
    if (perfetto->packets.count >= PACKETS_BYTES)
        flush(perfetto, out);
}

static void begin_packet(struct perfetto *perfetto, unsigned flags)
{
    proto__clear(&perfetto->packet);
    proto__number(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
    proto__number(&perfetto->packet, PACKET_FLAGS, flags);
}

static void begin_event(struct perfetto *perfetto, enum event_type type, uint64_t track)
{
    proto__clear(&perfetto->event);
    proto__number(&perfetto->event, EVENT_TYPE, type);
    proto__number(&perfetto->event, EVENT_TRACK, track);
}

static void put_event(struct span_export *export, uint64_t ns)
{
    struct perfetto *perfetto = export->own;
    begin_packet(perfetto, NEEDS_STATE);
    proto__number(&perfetto->packet, PACKET_TIME, ns > perfetto->ns ? ns - perfetto->ns : 0);
    proto__message(&perfetto->packet, PACKET_EVENT, &perfetto->event);
    perfetto->ns = ns > perfetto->ns ? ns : perfetto->ns;
    put_packet(perfetto, export->out);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* An entry is in inner: its number, then what follows. */
static void begin_interned(struct perfetto *perfetto, uint32_t number)
{
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, 1, number);
}

static void put_interned(struct span_export *export, enum interned_field table)
{
    struct perfetto *perfetto = export->own;
    proto__clear(&perfetto->text);
    proto__message(&perfetto->text, table, &perfetto->inner);
    begin_packet(perfetto, NEEDS_STATE);
    proto__message(&perfetto->packet, PACKET_INTERNED, &perfetto->text);
    put_packet(perfetto, export->out);
}

static void intern_text(struct span_export *export, enum interned_field table, uint32_t number,
                        const char *text)
{
    struct perfetto *perfetto = export->own;
    begin_interned(perfetto, number);
    proto__text(&perfetto->inner, 2, text);
    put_interned(export, table);
}

/* The number of the thing; *is_new: it has just got it, the next one of the table. */
static uint32_t number_of(struct interned *interned, uint32_t *last, uint32_t thing, bool *is_new)
{
    uint32_t *number = VEC_REACH(&interned->numbers, uint32_t, thing);
    *is_new = !*number;
    if (*is_new)
        *number = ++*last;
    return *number;
}

static uint32_t name_of(struct span_export *export, enum interned_names sort, uint32_t thing,
                        const char *text)
{
    struct perfetto *perfetto = export->own;
    bool is_new;
    uint32_t number = number_of(&perfetto->names[sort], &perfetto->names[0].last, thing, &is_new);
    if (is_new)
        intern_text(export, INTERNED_NAMES, number, text);
    return number;
}

static uint32_t kind_of(struct span_export *export, const struct span_label *label)
{
    struct perfetto *perfetto = export->own;
    bool is_new;
    uint32_t number =
        number_of(&perfetto->kinds, &perfetto->kinds.last, (uint32_t)label->kind, &is_new);
    if (is_new)
        intern_text(export, INTERNED_CATEGORIES, number, span_label__category(label));
    return number;
}

/* Of annotations. */
static uint32_t text_of(struct span_export *export, struct interned *sort, uint32_t thing,
                        char *(*make)(struct span_export *export, const void *what),
                        const void *what)
{
    struct perfetto *perfetto = export->own;
    bool is_new;
    uint32_t number = number_of(sort, &perfetto->objects.last, thing, &is_new);
    if (is_new) {
        char *text = make(export, what);
        intern_text(export, INTERNED_TEXTS, number, text);
        free(text);
    }
    return number;
}

static char *object_text(struct span_export *export, const void *what)
{
    const struct span_object *object = what;
    (void)export;
    return memory__format("%s %s", object->noun, object->name);
}

static char *thread_text(struct span_export *export, const void *what)
{
    const struct span_thread *thread = what;
    (void)export;
    return memory__format("%s (%u)", thread->name, thread->tid);
}

static char *place_text(struct span_export *export, const void *what)
{
    const struct span_place *place = what;
    (void)export;
    return place->file && place->line
               ? memory__format("%s %s:%u", place->function, path__name(place->file), place->line)
               : memory__text(place->function);
}

static uint32_t place_of(struct span_export *export, const struct span_place *place)
{
    struct perfetto *perfetto = export->own;
    bool is_new;
    uint32_t number = number_of(&perfetto->places, &perfetto->places.last, place->number, &is_new);
    if (!is_new)
        return number;
    begin_interned(perfetto, number);
    if (place->file)
        proto__text(&perfetto->inner, 2, place->file);
    proto__text(&perfetto->inner, 3, place->function);
    if (place->line)
        proto__number(&perfetto->inner, 4, place->line);
    put_interned(export, INTERNED_PLACES);
    return number;
}

/* ---- annotations ----------------------------------------------------------------------------- */

enum { ANNOTATION_NAME = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_TEXT = 17 };

static void annotate(struct perfetto *perfetto, uint32_t name, unsigned how, uint64_t value)
{
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, ANNOTATION_NAME, name);
    proto__number(&perfetto->inner, how, value);
    proto__message(&perfetto->event, EVENT_ANNOTATION, &perfetto->inner);
}

/* The number of the name of a label's first argument; those that follow have the next ones. */
static uint32_t arguments_of(struct span_export *export, const struct span_label *label)
{
    struct perfetto *perfetto = export->own;
    bool is_new;
    uint32_t first =
        number_of(&perfetto->arguments, &perfetto->next_argument, label->number, &is_new);
    if (!is_new)
        return first;
    for (uint32_t i = 0; label->arguments[i]; i++) {
        intern_text(export, INTERNED_ANNOTATIONS, first + i, label->arguments[i]);
        perfetto->next_argument = first + i;
    }
    return first;
}

/* What an event tells of: numbers of texts, which are written before it. 0: it does not. */
struct told {
    uint32_t name, kind, place, object, arguments, by, by_place;
};

static struct told told_of(struct span_export *export, const struct span_enter *enter)
{
    struct perfetto *perfetto = export->own;
    const struct span_label *label = enter->label;
    struct told told = {.name = name_of(export, NAMES_OF_LABELS, label->number, label->name),
                        .kind = kind_of(export, label)};
    if (label->place)
        told.place = place_of(export, label->place);
    if (enter->object)
        told.object =
            text_of(export, &perfetto->objects, enter->object->number, object_text, enter->object);
    if (enter->value_count)
        told.arguments = arguments_of(export, label);
    return told;
}

static void put_told(struct perfetto *perfetto, const struct told *told)
{
    if (told->name)
        proto__number(&perfetto->event, EVENT_NAME, told->name);
    if (told->kind)
        proto__number(&perfetto->event, EVENT_CATEGORY, told->kind);
    if (told->place)
        proto__number(&perfetto->event, EVENT_PLACE, told->place);
    if (told->object)
        annotate(perfetto, ANNOTATION_OBJECT, ANNOTATION_TEXT, told->object);
    if (told->by)
        annotate(perfetto, ANNOTATION_BY, ANNOTATION_TEXT, told->by);
    if (told->by_place)
        annotate(perfetto, ANNOTATION_BY_PLACE, ANNOTATION_TEXT, told->by_place);
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void put_begin(struct span_export *export, enum event_type type, uint32_t thread,
                      const struct span_enter *enter)
{
    struct perfetto *perfetto = export->own;
    struct told told = told_of(export, enter);
    begin_event(perfetto, type, track_of_thread(thread));
    put_told(perfetto, &told);
    for (uint32_t i = 0; i < enter->value_count && enter->label->arguments[i]; i++)
        annotate(perfetto, told.arguments + i, ANNOTATION_INT, enter->values[i]);
    if (enter->weight != 1)
        annotate(perfetto, ANNOTATION_WEIGHT, ANNOTATION_UINT, enter->weight);
    put_event(export, enter->ns);
}

static void enter(struct span_export *export, uint32_t thread, const struct span_enter *enter)
{
    put_begin(export, SLICE_BEGIN, thread, enter);
}

static void point(struct span_export *export, uint32_t thread, const struct span_enter *point)
{
    put_begin(export, INSTANT, thread, point);
}

/* Other packets may be of later times: what is behind them, readers sort in. */
static void put_event_at(struct span_export *export, uint64_t ns)
{
    struct perfetto *perfetto = export->own;
    begin_packet(perfetto, NEEDS_STATE);
    proto__number(&perfetto->packet, PACKET_CLOCK, CLOCK_BOOTTIME);
    proto__number(&perfetto->packet, PACKET_TIME, export->run->start_monotonic_ns + ns);
    proto__message(&perfetto->packet, PACKET_EVENT, &perfetto->event);
    put_packet(perfetto, export->out);
}

/* The instant at which the other thread let this one go on; known only now. Returns its flow. */
static uint64_t put_cause(struct span_export *export, const struct span_leave *leave)
{
    struct perfetto *perfetto = export->own;
    struct told told = {.name = name_of(export, NAMES_OF_OTHERS, 0, "lets another thread go on")};
    if (leave->object)
        told.object =
            text_of(export, &perfetto->objects, leave->object->number, object_text, leave->object);
    if (leave->by_place)
        told.place = place_of(export, leave->by_place);
    begin_event(perfetto, INSTANT, track_of_thread(leave->by));
    put_told(perfetto, &told);
    proto__fixed64(&perfetto->event, EVENT_FLOW, ++perfetto->flows);
    put_event_at(export, leave->by_ns);
    return perfetto->flows;
}

static void annotate_cause(struct span_export *export, const struct span_leave *leave,
                           const struct told *told, uint64_t flow)
{
    struct perfetto *perfetto = export->own;
    put_told(perfetto, told);
    if (leave->ns >= leave->by_ns)
        annotate(perfetto, ANNOTATION_AFTER, ANNOTATION_UINT, leave->ns - leave->by_ns);
    proto__fixed64(&perfetto->event, EVENT_FLOW_ENDS, flow);
}

static struct told told_of_cause(struct span_export *export, const struct span_leave *leave)
{
    struct perfetto *perfetto = export->own;
    struct told told = {.by = text_of(export, &perfetto->threads, leave->by, thread_text,
                                      &export->run->threads[leave->by])};
    if (leave->by_place)
        told.by_place = text_of(export, &perfetto->place_texts, leave->by_place->number, place_text,
                                leave->by_place);
    return told;
}

static void leave(struct span_export *export, uint32_t thread, const struct span_leave *leave)
{
    struct perfetto *perfetto = export->own;
    bool is_caused = leave->by != SPAN_BY_NOBODY;
    uint64_t flow = is_caused ? put_cause(export, leave) : 0;
    struct told told = is_caused ? told_of_cause(export, leave) : (struct told){0};
    begin_event(perfetto, SLICE_END, track_of_thread(thread));
    if (is_caused)
        annotate_cause(export, leave, &told, flow);
    if (leave->end != SPAN_END_SEEN)
        annotate(perfetto, ANNOTATION_END, ANNOTATION_UINT, leave->end == SPAN_END_OF_RUN);
    put_event(export, leave->ns);
}

/* Flows of messages are numbered from the top, apart from the others. */
static void message(struct span_export *export, const struct span_message *message)
{
    struct perfetto *perfetto = export->own;
    const struct told told = {.name = name_of(export, NAMES_OF_OTHERS, message->is_received ? 2 : 3,
                                              message->is_received ? "receives" : "sends")};
    begin_event(perfetto, INSTANT, track_of_thread(message->thread));
    put_told(perfetto, &told);
    proto__fixed64(&perfetto->event, message->is_received ? EVENT_FLOW_ENDS : EVENT_FLOW,
                   UINT64_MAX - message->number);
    put_event(export, message->ns);
}

/* ---- other tracks ---------------------------------------------------------------------------- */

/* A track is in inner. */
static void put_track(struct span_export *export)
{
    struct perfetto *perfetto = export->own;
    begin_packet(perfetto, 0);
    proto__message(&perfetto->packet, PACKET_TRACK, &perfetto->inner);
    put_packet(perfetto, export->out);
}

enum track_field {
    TRACK_ID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
};

static void put_named_track(struct span_export *export, uint64_t track, uint64_t parent,
                            const char *name)
{
    struct perfetto *perfetto = export->own;
    begin_interned(perfetto, 0);
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, TRACK_ID, track);
    if (parent)
        proto__number(&perfetto->inner, TRACK_PARENT, parent);
    proto__text(&perfetto->inner, TRACK_NAME, name);
    put_track(export);
}

/* Whether it is written, from now on. */
static bool is_written(struct vec *tracks, uint32_t number)
{
    bool *written = VEC_REACH(tracks, bool, number), was = *written;
    *written = true;
    return was;
}

static void state(struct span_export *export, uint32_t thread, uint64_t ns, enum component state)
{
    struct perfetto *perfetto = export->own;
    uint64_t track = track_of_state(perfetto, thread);
    if (!is_written(&perfetto->state_tracks, thread))
        put_named_track(export, track, track_of_thread(thread), "off the CPU");
    if (perfetto->is_off[thread]) {
        begin_event(perfetto, SLICE_END, track);
        put_event(export, ns);
    }
    perfetto->is_off[thread] = state != COMPONENT_RUNNING;
    if (state == COMPONENT_RUNNING)
        return;
    struct told told = {.name = name_of(export, NAMES_OF_STATES, state, span_state__name(state))};
    begin_event(perfetto, SLICE_BEGIN, track);
    put_told(perfetto, &told);
    put_event(export, ns);
}

static void ended(struct span_export *export, uint32_t thread, uint64_t ns)
{
    struct perfetto *perfetto = export->own;
    if (perfetto->is_off[thread])
        state(export, thread, ns, COMPONENT_RUNNING);
}

/* The object's track; 0: it has none. */
static uint64_t lock_track(struct span_export *export, const struct span_object *object)
{
    struct perfetto *perfetto = export->own;
    if (object->number >= LOCK_TRACKS_MOST) {
        perfetto->lacks_locks = true;
        return 0;
    }
    uint64_t track = track_of_lock(perfetto, object->number);
    if (!is_written(&perfetto->lock_tracks, object->number)) {
        char *text = object_text(export, object);
        put_named_track(export, track, track_of_locks(perfetto), text);
        free(text);
    }
    return track;
}

static void hold(struct span_export *export, uint32_t thread, uint64_t ns,
                 const struct span_object *object, const struct span_place *place, bool is_shared)
{
    struct perfetto *perfetto = export->own;
    uint64_t track = lock_track(export, object);
    if (!track)
        return;
    struct told told = {
        .name = is_shared
                    ? name_of(export, NAMES_OF_OTHERS, 1, "readers")
                    : name_of(export, NAMES_OF_THREADS, thread, export->run->threads[thread].name),
        .place = place ? place_of(export, place) : 0,
    };
    begin_event(perfetto, SLICE_BEGIN, track);
    put_told(perfetto, &told);
    put_event(export, ns);
}

static void release(struct span_export *export, uint32_t thread, uint64_t ns,
                    const struct span_object *object, uint64_t from_ns)
{
    uint64_t track = lock_track(export, object);
    (void)thread, (void)from_ns;
    if (!track)
        return;
    begin_event(export->own, SLICE_END, track);
    put_event(export, ns);
}

static void count(struct span_export *export, uint64_t ns, enum span_counter counter, double value)
{
    struct perfetto *perfetto = export->own;
    begin_event(perfetto, COUNTER, track_of_counter(perfetto, counter));
    proto__double(&perfetto->event, EVENT_DOUBLE, value);
    put_event_at(export, ns);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void add_clock(struct perfetto *perfetto, uint32_t clock, uint64_t ns, bool is_incremental)
{
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, 1, clock);
    proto__number(&perfetto->inner, 2, ns);
    if (is_incremental)
        proto__number(&perfetto->inner, 3, 1);
    proto__message(&perfetto->event, 1, &perfetto->inner);
}

/* The sequence's own clock begins at 0 with the run, whose times those of BOOTTIME are; on a
 * machine that has slept these are CLOCK_MONOTONIC's. */
static void put_clocks(struct span_export *export)
{
    struct perfetto *perfetto = export->own;
    const struct span_run *run = export->run;
    proto__clear(&perfetto->event);
    add_clock(perfetto, CLOCK_BOOTTIME, run->start_monotonic_ns, false);
    if (run->start_realtime_ns)
        add_clock(perfetto, CLOCK_REALTIME, run->start_realtime_ns, false);
    add_clock(perfetto, CLOCK_OWN, 0, true);
    proto__number(&perfetto->event, 2, CLOCK_BOOTTIME);
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, PACKET_CLOCK, CLOCK_OWN);
    begin_packet(perfetto, STATE_CLEARED);
    proto__number(&perfetto->packet, PACKET_FIRST, 1);
    proto__message(&perfetto->packet, PACKET_DEFAULTS, &perfetto->inner);
    put_packet(perfetto, export->out);
    begin_packet(perfetto, NEEDS_STATE);
    proto__message(&perfetto->packet, PACKET_CLOCKS, &perfetto->event);
    put_packet(perfetto, export->out);
}

static void put_process(struct span_export *export, uint32_t index)
{
    struct perfetto *perfetto = export->own;
    const struct span_process *process = &export->run->processes[index];
    proto__clear(&perfetto->event);
    proto__number(&perfetto->event, 1, process->pid);
    proto__text(&perfetto->event, 6, path__name(process->path));
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, TRACK_ID, track_of_process(perfetto, index));
    proto__message(&perfetto->inner, TRACK_PROCESS, &perfetto->event);
    put_track(export);
}

static void put_thread(struct span_export *export, uint32_t index)
{
    struct perfetto *perfetto = export->own;
    const struct span_thread *thread = &export->run->threads[index];
    proto__clear(&perfetto->event);
    proto__number(&perfetto->event, 1, export->run->processes[thread->process].pid);
    proto__number(&perfetto->event, 2, thread->tid);
    proto__text(&perfetto->event, 5, thread->name);
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, TRACK_ID, track_of_thread(index));
    proto__number(&perfetto->inner, TRACK_PARENT, track_of_process(perfetto, thread->process));
    proto__message(&perfetto->inner, TRACK_THREAD, &perfetto->event);
    put_track(export);
}

static void put_counter(struct span_export *export, enum span_counter counter)
{
    struct perfetto *perfetto = export->own;
    proto__clear(&perfetto->event);
    proto__number(&perfetto->event, 3, 2); /* UNIT_COUNT */
    proto__clear(&perfetto->inner);
    proto__number(&perfetto->inner, TRACK_ID, track_of_counter(perfetto, counter));
    proto__text(&perfetto->inner, TRACK_NAME, span_counter__name(counter));
    proto__message(&perfetto->inner, TRACK_COUNTER, &perfetto->event);
    put_track(export);
}

static void put_annotation_names(struct span_export *export)
{
    static const char *const names[] = {
        [ANNOTATION_OBJECT] = "object",
        [ANNOTATION_BY] = "ended by",
        [ANNOTATION_BY_PLACE] = "who was in",
        [ANNOTATION_AFTER] = "ns after that",
        [ANNOTATION_WEIGHT] = "calls that it stands for",
        [ANNOTATION_END] = "goes on at the end",
    };
    struct perfetto *perfetto = export->own;
    for (uint32_t i = 1; i < sizeof names / sizeof names[0]; i++)
        intern_text(export, INTERNED_ANNOTATIONS, i, names[i]);
    perfetto->next_argument = ANNOTATION_ARGUMENTS - 1;
}

static struct perfetto *new_perfetto(const struct span_run *run)
{
    struct perfetto *perfetto = memory__zeroed(1, sizeof *perfetto);
    struct vec *numbers[] = {&perfetto->places.numbers,    &perfetto->kinds.numbers,
                             &perfetto->objects.numbers,   &perfetto->threads.numbers,
                             &perfetto->arguments.numbers, &perfetto->place_texts.numbers};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = VEC_OF(uint32_t);
    for (unsigned i = 0; i < NAMES; i++)
        perfetto->names[i].numbers = VEC_OF(uint32_t);
    perfetto->state_tracks = perfetto->lock_tracks = VEC_OF(bool);
    perfetto->is_off = memory__zeroed(run->thread_count + 1, sizeof *perfetto->is_off);
    perfetto->threads_count = run->thread_count;
    perfetto->processes_count = run->process_count;
    return perfetto;
}

static void begin(struct span_export *export)
{
    struct perfetto *perfetto = export->own = new_perfetto(export->run);
    put_clocks(export);
    for (uint32_t i = 0; i < export->run->process_count; i++)
        put_process(export, i);
    for (uint32_t i = 0; i < export->run->thread_count; i++)
        put_thread(export, i);
    for (unsigned i = 0; i < SPAN_COUNTERS; i++)
        put_counter(export, (enum span_counter)i);
    put_named_track(export, track_of_locks(perfetto), 0, "who holds which lock");
    put_annotation_names(export);
}

static void finish(struct span_export *export)
{
    struct perfetto *perfetto = export->own;
    flush(perfetto, export->out);
    if (perfetto->lacks_locks) {
        char *sentence = memory__format(
            "there are tracks of the first %u locks alone; others are in the slices of their waits",
            LOCK_TRACKS_MOST);
        vec__push(export->remarks, &sentence);
    }
    struct vec *vecs[] = {&perfetto->places.numbers,    &perfetto->kinds.numbers,
                          &perfetto->objects.numbers,   &perfetto->threads.numbers,
                          &perfetto->arguments.numbers, &perfetto->place_texts.numbers,
                          &perfetto->state_tracks,      &perfetto->lock_tracks};
    for (size_t i = 0; i < sizeof vecs / sizeof vecs[0]; i++)
        vec__free(vecs[i]);
    for (unsigned i = 0; i < NAMES; i++)
        vec__free(&perfetto->names[i].numbers);
    proto__free(&perfetto->packets);
    proto__free(&perfetto->packet);
    proto__free(&perfetto->event);
    proto__free(&perfetto->inner);
    proto__free(&perfetto->text);
    free(perfetto->is_off);
    free(perfetto);
}

const struct span_exporter exporter_perfetto = {.name = "perfetto",
                                                .order = SPANS_IN_TIME,
                                                .is_binary = true,
                                                .begin = begin,
                                                .ended = ended,
                                                .enter = enter,
                                                .leave = leave,
                                                .message = message,
                                                .point = point,
                                                .state = state,
                                                .hold = hold,
                                                .release = release,
                                                .count = count,
                                                .finish = finish};
