#include "analysis/critical_path/path.h"

#include "base/memory.h"

#include <stdlib.h>

/* Chen and Stenström, "Critical Lock Analysis" (SC 2012): from the end of the last
 * thread backwards; where a thread waited for a lock, on to the thread that had it. It has nothing
 * in common with path.c, so that each checks the other. */

#define NEVER UINT64_MAX

/* Where the walk back may leave a thread (ACQUIRED, JOINED, STARTED), or come to one (RELEASED,
 * ENDED, CREATED). */
struct moment {
    enum sync_event_type type;
    uint32_t object, by;
    uint64_t number; /* of the synchronisation event */
    uint64_t tick, by_tick;
};

struct marked_section {
    uint32_t object, weight;
    bool contended, counted;
    uint64_t acquired, released; /* numbers of synchronisation events; NEVER */
    uint64_t since, until, wait;
};

struct marked_thread {
    struct vec moments;  /* struct moment */
    struct vec sections; /* struct marked_section, as they were acquired */
    struct vec open;     /* size_t: of sections */
    size_t first;        /* of sections: those before ended before the piece that is looked at */
};

/* A piece with the synchronisation events that it lies between. */
struct marked_piece {
    struct path_piece piece;
    uint64_t from, to;
};

struct marking {
    struct sync_events *walk;
    struct marked_thread *threads;
    uint32_t count;
    uint32_t main, last; /* the first that began, the last that ended (of several: main) */
    uint64_t end;        /* of the last one */
    uint64_t number;
    struct vec pieces; /* struct marked_piece, the last first */
};

/* ---- collecting ------------------------------------------------------------------------------ */

static void add_moment(struct marking *marking, const struct sync_event *sync_event)
{
    struct moment moment = {
        .type = sync_event->type,
        .object = sync_event->object,
        .by = sync_event->by,
        .number = marking->number,
        .tick = sync_event->tick,
        .by_tick = sync_event->by_tick,
    };
    vec__push(&marking->threads[sync_event->thread].moments, &moment);
}

static bool was_kept(const struct sync_event *sync_event)
{
    return sync_event->since && sync_event->by != SYNC_EVENT_NOBODY &&
           sync_event->by != sync_event->thread && sync_event->by_tick > sync_event->since;
}

static void add_section(struct marking *marking, const struct sync_event *sync_event)
{
    struct marked_thread *thread = &marking->threads[sync_event->thread];
    struct marked_section section = {
        .object = sync_event->object,
        .weight = sync_event->weight,
        .contended = sync_event->since > 0,
        .acquired = marking->number,
        .released = NEVER,
        .since = sync_event->tick,
        .until = NEVER,
        .wait = sync_event->since ? sync_event->tick - sync_event->since - sync_event->paused : 0,
    };
    vec__push(&thread->open, &thread->sections.count);
    vec__push(&thread->sections, &section);
}

static void end_section(struct marking *marking, const struct sync_event *sync_event)
{
    struct marked_thread *thread = &marking->threads[sync_event->thread];
    for (size_t i = thread->open.count; i-- > 0;) {
        size_t *place = VEC_AT(&thread->open, size_t, i);
        struct marked_section *section = VEC_AT(&thread->sections, struct marked_section, *place);
        if (section->object != sync_event->object)
            continue;
        section->released = marking->number;
        section->until = sync_event->tick;
        for (; i + 1 < thread->open.count; i++, place++)
            place[0] = place[1];
        thread->open.count--;
    }
}

static void collect_lock(struct marking *marking, const struct sync_event *sync_event)
{
    if (sync_events__object(marking->walk, sync_event->object)->kind != CLASS_LOCK)
        return;
    if (sync_event->type == SYNC_EVENT_RELEASED) {
        end_section(marking, sync_event);
        add_moment(marking, sync_event);
        return;
    }
    add_section(marking, sync_event);
    if (was_kept(sync_event))
        add_moment(marking, sync_event);
}

static void note_end(struct marking *marking, const struct sync_event *sync_event)
{
    bool is_main = sync_event->thread == marking->main;
    if (marking->last != SYNC_EVENT_NOBODY && sync_event->tick <= marking->end &&
        !(is_main && sync_event->tick == marking->end))
        return;
    marking->last = sync_event->thread;
    marking->end = sync_event->tick;
}

static void collect(struct marking *marking, const struct sync_event *sync_event)
{
    marking->number++;
    switch (sync_event->type) {
    case SYNC_EVENT_STARTED:
        if (marking->main == SYNC_EVENT_NOBODY)
            marking->main = sync_event->thread;
        add_moment(marking, sync_event);
        break;
    case SYNC_EVENT_ENDED:
        note_end(marking, sync_event);
        add_moment(marking, sync_event);
        break;
    case SYNC_EVENT_CREATED:
        add_moment(marking, sync_event);
        break;
    case SYNC_EVENT_JOINED:
        if (was_kept(sync_event))
            add_moment(marking, sync_event);
        break;
    case SYNC_EVENT_ACQUIRED:
    case SYNC_EVENT_RELEASED:
        collect_lock(marking, sync_event);
        break;
    default:
        break;
    }
}

/* ---- walking back ---------------------------------------------------------------------------- */

static const struct moment *moment_at(const struct marking *marking, uint32_t thread, size_t place)
{
    return VEC_AT(&marking->threads[thread].moments, struct moment, place);
}

/* How many of the thread's moments are before the synchronisation event of that number. */
static size_t moments_before(const struct marking *marking, uint32_t thread, uint64_t number)
{
    return VEC_FIRST(moment, &marking->threads[thread].moments, struct moment,
                     moment->number >= number);
}

/* What the moment that leads to another thread was ended by there; NULL: it is not told. */
static const struct moment *source_of(const struct marking *marking, const struct moment *moment)
{
    enum sync_event_type wanted = moment->type == SYNC_EVENT_ACQUIRED ? SYNC_EVENT_RELEASED
                                  : moment->type == SYNC_EVENT_JOINED ? SYNC_EVENT_ENDED
                                                                      : SYNC_EVENT_CREATED;
    for (size_t i = moments_before(marking, moment->by, moment->number); i-- > 0;) {
        const struct moment *source = moment_at(marking, moment->by, i);
        if (source->tick < moment->by_tick)
            return NULL;
        if (source->type == wanted && source->tick == moment->by_tick &&
            (wanted != SYNC_EVENT_RELEASED || source->object == moment->object))
            return source;
    }
    return NULL;
}

static bool leads_away(const struct moment *moment)
{
    return moment->type == SYNC_EVENT_STARTED || moment->type == SYNC_EVENT_ACQUIRED ||
           moment->type == SYNC_EVENT_JOINED;
}

/* Where the walk is: on that thread, before that synchronisation event and tick. */
struct path_place {
    uint32_t thread;
    uint64_t number, tick;
};

/* Goes on to who ended the wait. False: nobody did, or nobody knows who. */
static bool go_over(const struct marking *marking, const struct moment *moment,
                    struct path_place *place)
{
    if (moment->by == SYNC_EVENT_NOBODY || moment->by >= marking->count)
        return false;
    const struct moment *source = source_of(marking, moment);
    if (!source && moment->type != SYNC_EVENT_STARTED)
        return false;
    bool is_told = moment->by_tick && moment->by_tick < moment->tick;
    *place = (struct path_place){
        .thread = moment->by,
        .number = source ? source->number : moment->number,
        .tick = is_told ? moment->by_tick : moment->tick,
    };
    return true;
}

static void walk_back(struct marking *marking)
{
    struct path_place place = {marking->last, marking->number + 1, marking->end};
    for (size_t i = moments_before(marking, place.thread, place.number); i-- > 0;) {
        const struct moment *moment = moment_at(marking, place.thread, i);
        struct path_place next;
        if (!leads_away(moment) ||
            (!go_over(marking, moment, &next) && moment->type != SYNC_EVENT_STARTED))
            continue;
        struct marked_piece piece = {
            .piece = {place.thread, moment->tick, place.tick, moment->object, moment->type},
            .from = moment->number,
            .to = place.number,
        };
        vec__push(&marking->pieces, &piece);
        if (!go_over(marking, moment, &next))
            return;
        place = next;
        i = moments_before(marking, place.thread, place.number);
    }
}

/* ---- what is on it --------------------------------------------------------------------------- */

static struct path_lock *row_of(struct path_result *result, uint32_t object)
{
    while (result->locks.count <= object) {
        struct path_lock row = {.object = (uint32_t)result->locks.count};
        vec__push(&result->locks, &row);
    }
    return VEC_AT(&result->locks, struct path_lock, object);
}

/* Returns the tick until which the piece's time in sections is counted. */
static uint64_t add_to_path(struct path_result *result, struct marked_section *section,
                            const struct path_piece *piece, uint64_t covered)
{
    struct path_lock *row = row_of(result, section->object);
    uint64_t since = section->since > piece->start ? section->since : piece->start;
    uint64_t until = section->until < piece->end ? section->until : piece->end;
    row->hold += (until - since) * section->weight;
    if (!section->counted) {
        row->acquisitions += section->weight;
        row->contended += section->contended;
        row->wait += section->wait;
    }
    section->counted = true;
    if (until <= covered)
        return covered;
    result->in_sections += until - (since > covered ? since : covered);
    return until;
}

static void add_sections(struct marking *marking, const struct marked_piece *piece,
                         struct path_result *result)
{
    struct marked_thread *thread = &marking->threads[piece->piece.thread];
    struct vec *sections = &thread->sections;
    uint64_t covered = piece->piece.start;
    while (thread->first < sections->count &&
           VEC_AT(sections, struct marked_section, thread->first)->released <= piece->from)
        thread->first++;
    for (size_t i = thread->first; i < sections->count; i++) {
        struct marked_section *section = VEC_AT(sections, struct marked_section, i);
        if (section->acquired >= piece->to)
            break;
        if (section->released > piece->from)
            covered = add_to_path(result, section, &piece->piece, covered);
    }
}

static void add_piece(const struct path_piece *piece, struct path_result *result)
{
    uint64_t ticks = piece->end - piece->start;
    *VEC_AT(&result->threads, uint64_t, piece->thread) += ticks;
    if (result->pieces.count) {
        result->hand_over +=
            piece->start -
            VEC_AT(&result->pieces, struct path_piece, result->pieces.count - 1)->end;
        result->hand_overs++;
    } else {
        result->start = piece->start;
    }
    result->end = piece->end;
    vec__push(&result->pieces, piece);
}

/* Rows of locks that are not on the path go. */
static void keep_rows(struct vec *rows)
{
    size_t kept = 0;
    VEC_EACH (row, rows, struct path_lock) {
        if (row->acquisitions)
            *VEC_AT(rows, struct path_lock, kept++) = *row;
    }
    rows->count = kept;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void start(struct marking *marking, const struct trace *trace)
{
    *marking = (struct marking){
        .walk = sync_events__start(trace),
        .count = (uint32_t)trace__threads(trace)->count,
        .main = SYNC_EVENT_NOBODY,
        .last = SYNC_EVENT_NOBODY,
        .pieces = VEC_OF(struct marked_piece),
    };
    marking->threads = memory__zeroed(marking->count, sizeof *marking->threads);
    for (uint32_t i = 0; i < marking->count; i++) {
        marking->threads[i].moments = VEC_OF(struct moment);
        marking->threads[i].sections = VEC_OF(struct marked_section);
        marking->threads[i].open = VEC_OF(size_t);
    }
}

static void finish(struct marking *marking)
{
    for (uint32_t i = 0; i < marking->count; i++) {
        vec__free(&marking->threads[i].moments);
        vec__free(&marking->threads[i].sections);
        vec__free(&marking->threads[i].open);
    }
    free(marking->threads);
    vec__free(&marking->pieces);
}

void path__mark(const struct trace *trace, struct path_result *result)
{
    struct marking marking;
    struct sync_event sync_event;
    start(&marking, trace);
    while (sync_events__next(marking.walk, &sync_event))
        collect(&marking, &sync_event);
    *result = (struct path_result){
        .locks = VEC_OF(struct path_lock),
        .threads = VEC_OF(uint64_t),
        .pieces = VEC_OF(struct path_piece),
    };
    for (uint32_t i = 0; i < marking.count; i++)
        vec__push(&result->threads, NULL);
    if (marking.last != SYNC_EVENT_NOBODY)
        walk_back(&marking);
    for (size_t i = marking.pieces.count; i-- > 0;) {
        const struct marked_piece *piece = VEC_AT(&marking.pieces, struct marked_piece, i);
        add_piece(&piece->piece, result);
        add_sections(&marking, piece, result);
    }
    keep_rows(&result->locks);
    sync_events__free(marking.walk);
    finish(&marking);
}
