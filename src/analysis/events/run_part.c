#include "analysis/events/run_part.h"

#include "analysis/sync/open_waits.h"
#include "base/memory.h"
#include "format/excerpt.h"
#include "format/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MOST 3 /* of what is kept */

/* An event that a bound may stand behind. */
struct edge_event {
    uint32_t id, words;
    uint64_t payload[WORDS_MOST];
};

/* The walk over a thread. */
struct edge_walk {
    const struct part_bounds *bounds;
    uint64_t start_tick, end_tick; /* of its life */
    bool is_open, is_closed;       /* both edges are known */
    uint64_t stack_tick;           /* of the call stack of the event that comes; 0: none */
    struct part_edges edges;
    struct edge_event first; /* its THREAD_START; id 0: none */
    struct vec made;         /* struct edge_event: what was initialised, ends of channels */
    struct vec locks;        /* struct edge_event: acquisitions of locks that it has */
    struct open_waits waits;
    struct edge_event entered[OPEN_WAITS_MOST]; /* as waits has them */
};

struct part_walk {
    const struct trace *trace;
    struct part_bounds bounds;
    struct part_edges *edges; /* by thread, */
    struct vec *made;         /* and what struct edge_walk has of it */
};

static void keep(struct vec *events, uint32_t id, const uint64_t *payload, uint32_t words)
{
    struct edge_event *kept = vec__push(events, NULL);
    *kept = (struct edge_event){.id = id, .words = words < WORDS_MOST ? words : WORDS_MOST};
    memcpy(kept->payload, payload, kept->words * sizeof *payload);
}

/* ---- the edges ------------------------------------------------------------------------------- */

static void put(struct vec *words, uint64_t tick, const struct edge_event *kept)
{
    const struct event event = {tick, kept->id, kept->words, kept->payload};
    size_t before = words->count;
    uint64_t *at = vec__extend(words, WORDS_MOST + 2);
    words->count = before + excerpt__put_event(at, &event);
}

static void put_all(struct vec *words, uint64_t tick, const struct vec *events)
{
    VEC_EACH (event, events, const struct edge_event)
        put(words, tick, event);
}

/* Who created it did so before. */
static void put_start(struct edge_walk *self, uint64_t tick)
{
    if (!self->first.id)
        return;
    self->first.payload[1] = HEURT_NO_SERIAL;
    put(&self->edges.opening, tick, &self->first);
}

static void open_part(struct edge_walk *self)
{
    uint64_t tick = self->bounds->from_tick;
    self->is_open = true;
    if (self->start_tick >= tick)
        return;
    put_start(self, tick);
    put_all(&self->edges.opening, tick, &self->made);
    put_all(&self->edges.opening, tick, &self->locks);
    for (uint32_t i = 0; i < self->waits.depth; i++)
        if (!wait__is_call(self->waits.ids[i]))
            put(&self->edges.opening, tick, &self->entered[i]);
}

/* Waits that go on have not ended well. */
static void close_part(struct edge_walk *self)
{
    self->is_closed = true;
    for (uint32_t i = self->waits.depth; i-- > 0;)
        if (!wait__is_call(self->waits.ids[i]))
            put(&self->edges.closing, self->bounds->to_tick,
                &(struct edge_event){
                    .id = self->waits.ids[i] | 1, .words = 1, .payload = {ETIMEDOUT}});
}

/* ---- events ---------------------------------------------------------------------------------- */

static void drop_lock(struct edge_walk *self, uint64_t lock)
{
    for (size_t i = self->locks.count; i-- > 0;) {
        struct edge_event *held = VEC_AT(&self->locks, struct edge_event, i);
        if (held->payload[1] != lock)
            continue;
        memmove(held, held + 1, (self->locks.count - i - 1) * sizeof *held);
        self->locks.count--;
        return;
    }
}

static void wait_begins(struct edge_walk *self, const struct event *event)
{
    struct open_waits *waits = &self->waits;
    if (waits->depth == OPEN_WAITS_MOST)
        waits->depth = 0; /* handlers left them by longjmp */
    struct edge_event *entered = &self->entered[waits->depth];
    *entered = (struct edge_event){.id = event->id, .words = event->words};
    memcpy(entered->payload, event->payload, event->words * sizeof *event->payload);
    open_waits__begin(waits, event->id);
}

static void wait_ends(struct edge_walk *self, const struct event *event)
{
    uint32_t place = open_waits__find(&self->waits, event->id);
    if (!place)
        return;
    const struct edge_event *entered = &self->entered[place - 1];
    if (entered->id == HEURT_EVENT_LOCK_WAIT &&
        wait__is_good(entered->id, event->words, event->payload))
        keep(&self->locks, HEURT_EVENT_LOCK_ACQUIRED, entered->payload, 2);
    self->waits.depth = place - 1;
}

static void take_point(struct edge_walk *self, const struct event *event)
{
    switch (event->id) {
    case HEURT_EVENT_THREAD_START:
        self->first = (struct edge_event){.id = event->id, .words = event->words};
        memcpy(self->first.payload, event->payload, event->words * sizeof *event->payload);
        break;
    case HEURT_EVENT_INITIALISED:
    case HEURT_EVENT_CHANNEL:
        if (!self->is_open)
            keep(&self->made, event->id, event->payload, event->words);
        break;
    case HEURT_EVENT_LOCK_ACQUIRED:
        keep(&self->locks, event->id, event->payload, event->words);
        break;
    case HEURT_EVENT_LOCK_RELEASED:
        drop_lock(self, event->payload[1]);
        break;
    case HEURT_EVENT_UNWOUND:
        self->waits.depth = 0;
        break;
    case HEURT_EVENT_LOST:
        self->waits.depth = 0;
        self->locks.count = 0;
        break;
    default:
        break;
    }
}

static bool is_of_kernel(uint32_t id)
{
    return id == HEURT_EVENT_OFF_CPU || id == HEURT_EVENT_FAULT || id == HEURT_EVENT_KERNEL ||
           id == HEURT_EVENT_KERNEL_LOST;
}

/* A stack stands before the event that it is of. */
static void take_stack(struct edge_walk *self, const struct event *event)
{
    if (self->stack_tick && event->words <= (event->id < HEURT_EVENT_FUNCTIONS ? WORDS_MOST : 0)) {
        struct earlier_call *call = vec__push(&self->edges.stacked, NULL);
        *call = (struct earlier_call){self->stack_tick, event->id, event->words, {0}};
        if (event->words)
            memcpy(call->payload, event->payload, event->words * sizeof *event->payload);
    }
    self->stack_tick = event->id == HEURT_EVENT_STACK ? event->tick : 0;
}

static void take_event(void *part, const struct event *event)
{
    struct edge_walk *self = part;
    if (is_of_kernel(event->id))
        return;
    if (!self->is_open)
        take_stack(self, event);
    if (event->id >= HEURT_EVENT_FUNCTIONS)
        return;
    if (!self->is_open && event->tick >= self->bounds->from_tick)
        open_part(self);
    if (!self->is_closed && event->tick > self->bounds->to_tick)
        close_part(self);
    if (self->is_closed)
        return;
    if (!wait__is_begun_by(event->id & ~1u))
        take_point(self, event);
    else if (event->id & 1)
        wait_ends(self, event);
    else
        wait_begins(self, event);
}

/* Events of functions tell nothing of the edges, but where a call stack stands before one. */
static void pass_functions(void *part, struct event_words *words)
{
    while (words->at < words->end && !((struct edge_walk *)part)->stack_tick) {
        uint32_t id = event__id(*words->at);
        uint64_t tick = event__whole_tick(words->tick, *words->at);
        if (id < HEURT_EVENT_FUNCTIONS || !event_words__has_plain(words, id, tick))
            break;
        event_words__pass(words, tick);
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void *start_part(struct run *run)
{
    struct part_walk *walk = memory__zeroed(1, sizeof *walk);
    walk->trace = run->trace;
    walk->bounds = *(const struct part_bounds *)run->options;
    walk->edges = memory__zeroed(trace__threads(run->trace)->count, sizeof *walk->edges);
    walk->made = memory__zeroed(trace__threads(run->trace)->count, sizeof *walk->made);
    return walk;
}

static void *start_thread(void *self, unsigned lane, uint32_t thread)
{
    const struct part_walk *walk = self;
    const struct trace_thread *row =
        VEC_AT(trace__threads(walk->trace), struct trace_thread, thread);
    struct edge_walk *edge = memory__zeroed(1, sizeof *edge);
    (void)lane;
    *edge = (struct edge_walk){
        .bounds = &walk->bounds,
        .start_tick = row->start_tick,
        .end_tick = row->end_tick,
        .edges = {VEC_OF(uint64_t), VEC_OF(uint64_t), VEC_OF(struct earlier_call)},
        .made = VEC_OF(struct edge_event),
        .locks = VEC_OF(struct edge_event)};
    return edge;
}

static void end_thread(void *part)
{
    struct edge_walk *self = part;
    if (!self->is_open)
        open_part(self);
    if (!self->is_closed && self->end_tick > self->bounds->to_tick)
        close_part(self);
    vec__free(&self->locks);
}

static void join_thread(void *self, uint32_t thread, void *part)
{
    struct part_walk *walk = self;
    struct edge_walk *edge = part;
    walk->edges[thread] = edge->edges;
    walk->made[thread] = edge->made;
    free(edge);
}

/* A thread of the process that was there when the part began. */
static struct part_edges *heir_of(const struct part_walk *walk, const struct trace_thread *maker)
{
    const struct vec *threads = trace__threads(walk->trace);
    uint64_t from = walk->bounds.from_tick;
    VEC_EACH (heir, threads, const struct trace_thread)
        if (heir->process == maker->process && heir->end_tick > from && heir->start_tick < from)
            return &walk->edges[heir - (const struct trace_thread *)threads->items];
    return NULL;
}

/* What a thread made that is not in the part stands with another of its process. */
static void hand_on(struct part_walk *walk, uint32_t thread)
{
    const struct trace_thread *maker =
        VEC_AT(trace__threads(walk->trace), struct trace_thread, thread);
    bool is_in = maker->end_tick > walk->bounds.from_tick;
    struct part_edges *edges = is_in ? NULL : heir_of(walk, maker);
    if (!edges || !walk->made[thread].count)
        return;
    struct vec words = VEC_OF(uint64_t);
    put_all(&words, walk->bounds.from_tick, &walk->made[thread]);
    size_t count = edges->opening.count;
    if (count)
        memcpy(vec__extend(&words, count), edges->opening.items, count * sizeof(uint64_t));
    vec__free(&edges->opening);
    edges->opening = words;
}

static void *end_part(void *self)
{
    struct part_walk *walk = self;
    uint32_t threads = (uint32_t)trace__threads(walk->trace)->count;
    for (uint32_t i = 0; i < threads; i++)
        hand_on(walk, i);
    for (uint32_t i = 0; i < threads; i++)
        vec__free(&walk->made[i]);
    struct trace *part =
        trace__part(walk->trace, walk->bounds.from_tick, walk->bounds.to_tick, walk->edges);
    free(walk->made);
    free(walk->edges);
    free(walk);
    return part;
}

static void free_part(void *result)
{
    trace__close_part(result);
}

const struct analysis part_analysis = {
    .name = "part",
    .walk = WALK_THREADS,
    .start = start_part,
    .thread = start_thread,
    .event = take_event,
    .events = pass_functions,
    .end = end_thread,
    .join = join_thread,
    .finish = end_part,
    .free = free_part,
};
