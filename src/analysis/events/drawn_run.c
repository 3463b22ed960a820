#include "analysis/events/drawn_run.h"

#include "analysis/analysis.h"
#include "base/memory.h"
#include "format/excerpt.h"

#include <stdlib.h>
#include <string.h>

#define WINDOWS_MOST 32u
#define WINDOWS_LEAST 8u
#define WINDOW_NS 20000000u /* where there can be that many: edges weigh less in longer ones */
#define TOLD_AT_MOST 64u    /* objects that a thread signals in a gap */
#define PAYLOAD_MOST (HEURT_ARGUMENTS_MAX + 1)

struct drawn_run {
    const struct trace *of;
    struct trace *trace;
    uint64_t begin, step, length; /* a window of that length in each step */
    uint32_t count;
    uint64_t *begins; /* by window */
    struct vec stops; /* uint64_t: ticks of what is kept outside of windows, ascending */
};

/* In front of the payload of an event that is kept. */
struct kept_event {
    uint64_t tick;
    uint32_t id, words;
};

/* An event of a gap. */
struct gap_event {
    struct kept_event what;
    uint64_t order;
    uint64_t payload[PAYLOAD_MOST];
};

/* What is kept of a thread. */
struct kept_thread {
    struct vec words; /* uint64_t: struct kept_event, then the payload */
    struct vec stops; /* uint64_t */
};

/* The walk over a thread. */
struct keeper {
    const struct drawn_run *run;
    struct kept_thread kept;
    uint64_t tick;    /* of the last event, never stepping back */
    bool is_in_gap;   /* since the last event */
    uint64_t order;   /* of the events of the gap */
    struct vec past;  /* struct gap_event: what ends something that began before the gap, or is
                         always kept */
    struct vec spans; /* struct gap_event: enters of spans that are open */
    struct vec locks; /* struct gap_event: acquisitions of locks that it has */
    struct vec told;  /* struct gap_event: the first signal to each object */
};

/* ---- where ticks are ------------------------------------------------------------------------- */

static uint32_t window_of(const struct drawn_run *run, uint64_t tick)
{
    uint64_t place = tick > run->begin ? (tick - run->begin) / run->step : 0;
    return place < run->count ? (uint32_t)place : run->count - 1;
}

static bool is_in_window(const struct drawn_run *run, uint64_t tick)
{
    uint64_t begin = run->begins[window_of(run, tick)];
    return tick >= begin && tick - begin < run->length;
}

/* Ticks of windows before that one. */
static uint64_t ticks_before(const struct drawn_run *run, uint64_t tick)
{
    uint32_t window = window_of(run, tick);
    uint64_t begin = run->begins[window], in = tick > begin ? tick - begin : 0;
    return window * run->length + (in < run->length ? in : run->length);
}

/* How many stops are at or before the tick. */
static size_t stops_until(const struct drawn_run *run, uint64_t tick)
{
    size_t from = 0, to = run->stops.count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (*VEC_AT(&run->stops, uint64_t, middle) <= tick)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint64_t drawn_tick(const struct drawn_run *run, uint64_t tick)
{
    return run->begin + ticks_before(run, tick) + stops_until(run, tick);
}

bool drawn_run__tick(const struct drawn_run *run, uint64_t tick, uint64_t *drawn)
{
    size_t stops = stops_until(run, tick);
    *drawn = run->begin + ticks_before(run, tick) + stops;
    return is_in_window(run, tick) || (stops && *VEC_AT(&run->stops, uint64_t, stops - 1) == tick);
}

/* The first tick behind that one, which is in a gap, that may be in a window. */
static uint64_t end_of_gap(const struct drawn_run *run, uint64_t tick)
{
    uint32_t window = window_of(run, tick);
    if (tick >= run->begins[window])
        window++;
    return window < run->count ? run->begins[window] : UINT64_MAX;
}

uint64_t drawn_run__next_tick(const struct drawn_run *run, uint64_t tick)
{
    size_t stops = stops_until(run, tick);
    if (is_in_window(run, tick) || (stops && *VEC_AT(&run->stops, uint64_t, stops - 1) == tick))
        return tick;
    uint64_t end = end_of_gap(run, tick);
    uint64_t stop = stops < run->stops.count ? *VEC_AT(&run->stops, uint64_t, stops) : UINT64_MAX;
    return stop < end ? stop : end;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void keep(struct kept_thread *kept, uint64_t tick, uint32_t id, uint32_t words,
                 const uint64_t *payload)
{
    const struct kept_event head = {tick, id, words};
    uint64_t *at = vec__extend(&kept->words, sizeof head / sizeof *at + words);
    memcpy(at, &head, sizeof head);
    if (words)
        memcpy(at + sizeof head / sizeof *at, payload, words * sizeof *at);
}

static void add_gap_event(struct keeper *self, struct vec *events, const struct event *event)
{
    struct gap_event *fresh = vec__push(events, NULL);
    uint32_t words = event->words < PAYLOAD_MOST ? event->words : PAYLOAD_MOST;
    fresh->what = (struct kept_event){self->tick, event->id, words};
    fresh->order = self->order++;
    if (words)
        memcpy(fresh->payload, event->payload, words * sizeof *fresh->payload);
}

static int by_order(const void *a, const void *b)
{
    const struct gap_event *left = a, *right = b;
    return left->order < right->order ? -1 : left->order > right->order;
}

static void append(struct vec *all, struct vec *events)
{
    VEC_EACH (event, events, struct gap_event)
        vec__push(all, event);
    events->count = 0;
}

/* The gap is over: what is left of it, in its order. */
static void leave_gap(struct keeper *self)
{
    struct vec *all = &self->past;
    append(all, &self->spans);
    append(all, &self->locks);
    append(all, &self->told);
    if (all->count)
        qsort(all->items, all->count, sizeof(struct gap_event), by_order);
    VEC_EACH (event, all, struct gap_event) {
        keep(&self->kept, event->what.tick, event->what.id, event->what.words, event->payload);
        vec__push(&self->kept.stops, &event->what.tick);
    }
    all->count = 0;
    self->is_in_gap = false;
}

/* ---- spans and locks of a gap ---------------------------------------------------------------- */

/* The innermost span of the id (any function: 0) that began in the gap; NULL: none. */
static struct gap_event *open_span(struct keeper *self, uint32_t id)
{
    for (size_t i = self->spans.count; i-- > 0;) {
        struct gap_event *span = VEC_AT(&self->spans, struct gap_event, i);
        if (id ? span->what.id == id : span->what.id >= HEURT_EVENT_FUNCTIONS)
            return span;
    }
    return NULL;
}

/* The span, and what is open in it. */
static void drop_span(struct keeper *self, const struct gap_event *span)
{
    self->spans.count = (size_t)(span - (struct gap_event *)self->spans.items);
}

static struct gap_event *find_object(struct vec *events, uint32_t id, uint64_t object)
{
    for (size_t i = events->count; i-- > 0;) {
        struct gap_event *event = VEC_AT(events, struct gap_event, i);
        if (event->payload[1] == object && (!id || event->what.id == id))
            return event;
    }
    return NULL;
}

static void acquired(struct keeper *self, const uint64_t *payload)
{
    const struct event event = {self->tick, HEURT_EVENT_LOCK_ACQUIRED, 2, payload};
    add_gap_event(self, &self->locks, &event);
}

static void released(struct keeper *self, const struct event *event)
{
    struct gap_event *lock = find_object(&self->locks, 0, event->payload[1]);
    if (!lock) {
        if (!find_object(&self->past, HEURT_EVENT_LOCK_RELEASED, event->payload[1]))
            add_gap_event(self, &self->past, event);
        return;
    }
    struct gap_event *last = VEC_AT(&self->locks, struct gap_event, self->locks.count - 1);
    memmove(lock, lock + 1, (size_t)(last - lock) * sizeof *lock);
    self->locks.count--;
}

/* Joins are kept: they are no more than threads. */
static void span_ends(struct keeper *self, const struct event *event)
{
    struct gap_event *span = open_span(self, event->id & ~1u);
    if (!span) {
        add_gap_event(self, &self->past, event);
        return;
    }
    struct gap_event enter = *span;
    drop_span(self, span);
    if (event->id == (HEURT_EVENT_LOCK_WAIT | 1) && event->words &&
        (event->payload[0] == 0 || event->payload[0] == 130)) /* EOWNERDEAD */
        acquired(self, enter.payload);
    if (event->id != (HEURT_EVENT_JOIN | 1))
        return;
    vec__push(&self->past, &enter);
    add_gap_event(self, &self->past, event);
}

static void is_left(struct keeper *self, const struct event *event, uint32_t id)
{
    struct gap_event *span = open_span(self, id);
    if (span)
        drop_span(self, span);
    else
        add_gap_event(self, &self->past, event);
}

static void is_told(struct keeper *self, const struct event *event)
{
    if (self->told.count < TOLD_AT_MOST && !find_object(&self->told, event->id, event->payload[1]))
        add_gap_event(self, &self->told, event);
}

static void lost(struct keeper *self, const struct event *event)
{
    self->past.count = self->spans.count = self->locks.count = 0;
    add_gap_event(self, &self->past, event);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void take_in_gap(struct keeper *self, const struct event *event)
{
    switch (event->id) {
    case HEURT_EVENT_THREAD_START: /* before what the kernel tells of the thread */
        add_gap_event(self, &self->past, event);
        leave_gap(self);
        break;
    case HEURT_EVENT_THREAD_END:
    case HEURT_EVENT_THREAD_CREATED:
    case HEURT_EVENT_FORKED:
        add_gap_event(self, &self->past, event);
        break;
    case HEURT_EVENT_LOCK_ACQUIRED:
        acquired(self, event->payload);
        break;
    case HEURT_EVENT_LOCK_RELEASED:
        released(self, event);
        break;
    case HEURT_EVENT_CONDITION_SIGNALLED:
    case HEURT_EVENT_FUTEX_WOKEN:
        is_told(self, event);
        break;
    case HEURT_EVENT_UNWOUND:
        is_left(self, event, 0);
        break;
    case HEURT_EVENT_LOOP_LEFT:
        is_left(self, event, (uint32_t)event->payload[0]);
        break;
    case HEURT_EVENT_LOST:
        lost(self, event);
        break;
    default:
        if (event__is_span(event->id) && event->id & 1)
            span_ends(self, event);
        else if (event__is_span(event->id))
            add_gap_event(self, &self->spans, event);
        break;
    }
}

/* What is told of a time that ends then: as far as it is in windows. */
static bool tells_of_time(uint32_t id)
{
    return id == HEURT_EVENT_OFF_CPU || id == HEURT_EVENT_FAULT || id == HEURT_EVENT_PAUSED;
}

static uint64_t time_of(const struct event *event)
{
    uint64_t ticks = HEURT_SITE_ADDRESS(event->payload[0]);
    return ticks < event->tick ? ticks : event->tick;
}

static bool is_of_no_use(const struct event *event)
{
    switch (event->id) {
    case HEURT_EVENT_STACK:
    case HEURT_EVENT_INSTRUCTIONS:
    case HEURT_EVENT_INITIALISED:
    case HEURT_EVENT_ALLOCATED:
    case HEURT_EVENT_FREED:
    case HEURT_EVENT_OPENMP_BEGIN:
    case HEURT_EVENT_OPENMP_END:
    case HEURT_EVENT_KERNEL_LOST:
    case HEURT_EVENT_EXEC:
        return true;
    default:
        return false;
    }
}

/* What tells of a time in windows, or of all of it. */
static void take_time(struct keeper *self, const struct event *event)
{
    const struct drawn_run *run = self->run;
    bool is_in = is_in_window(run, event->tick);
    if (is_in && self->is_in_gap && event->tick > self->tick)
        leave_gap(self);
    if (is_in || event->id == HEURT_EVENT_KERNEL ||
        ticks_before(run, event->tick) > ticks_before(run, event->tick - time_of(event)))
        keep(&self->kept, event->tick, event->id, event->words, event->payload);
}

static void take_event(void *part, const struct event *event)
{
    struct keeper *self = part;
    const struct drawn_run *run = self->run;
    if (is_of_no_use(event))
        return;
    if (event->id == HEURT_EVENT_KERNEL || tells_of_time(event->id)) {
        take_time(self, event);
        return;
    }
    self->tick = event->tick > self->tick ? event->tick : self->tick;
    if (!is_in_window(run, self->tick)) {
        self->is_in_gap = true;
        take_in_gap(self, event);
        return;
    }
    if (self->is_in_gap)
        leave_gap(self);
    keep(&self->kept, self->tick, event->id, event->words, event->payload);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Takes an event of a gap that enters a function, or leaves the innermost span. */
static inline bool take_function(struct keeper *self, uint32_t id, uint64_t tick)
{
    struct vec *spans = &self->spans;
    if (!(id & 1)) {
        struct gap_event *span = vec__extend(spans, 1);
        span->what = (struct kept_event){tick, id, 0};
        span->order = self->order++;
        return true;
    }
    if (!spans->count || VEC_AT(spans, struct gap_event, spans->count - 1)->what.id != (id & ~1u))
        return false;
    spans->count--;
    return true;
}

/* Takes events of functions of the gap that is now, which are most of a long run. */
static void take_functions(void *part, struct event_words *words)
{
    struct keeper *self = part;
    uint64_t end = self->is_in_gap ? end_of_gap(self->run, self->tick) : 0;
    while (words->at < words->end) {
        uint32_t id = event__id(*words->at);
        uint64_t tick = event__whole_tick(words->tick, *words->at);
        uint64_t now = tick > self->tick ? tick : self->tick;
        if (id < HEURT_EVENT_FUNCTIONS || now >= end || !event_words__has_plain(words, id, tick) ||
            !take_function(self, id, now))
            break;
        event_words__pass(words, tick);
        self->tick = now;
    }
}

/* What the walk hands on. */
struct joiner {
    struct drawn_run run;
    struct kept_thread *threads;
};

static void *keep_thread(void *self, unsigned lane, uint32_t thread)
{
    struct keeper *keeper = memory__zeroed(1, sizeof *keeper);
    (void)lane, (void)thread;
    *keeper = (struct keeper){.run = &((struct joiner *)self)->run,
                              .kept = {VEC_OF(uint64_t), VEC_OF(uint64_t)},
                              .past = VEC_OF(struct gap_event),
                              .spans = VEC_OF(struct gap_event),
                              .locks = VEC_OF(struct gap_event),
                              .told = VEC_OF(struct gap_event)};
    return keeper;
}

static void end_thread(void *part)
{
    struct keeper *keeper = part;
    leave_gap(keeper);
    vec__free(&keeper->past);
    vec__free(&keeper->spans);
    vec__free(&keeper->locks);
    vec__free(&keeper->told);
}

static void join_thread(void *self, uint32_t thread, void *part)
{
    struct joiner *joiner = self;
    struct keeper *keeper = part;
    VEC_EACH (stop, &keeper->kept.stops, uint64_t)
        vec__push(&joiner->run.stops, stop);
    vec__free(&keeper->kept.stops);
    joiner->threads[thread] = keeper->kept;
    free(keeper);
}

/* ---- the drawn run --------------------------------------------------------------------------- */

static int by_tick(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void order_stops(struct vec *stops)
{
    size_t count = 0;
    if (stops->count)
        qsort(stops->items, stops->count, sizeof(uint64_t), by_tick);
    VEC_EACH (stop, stops, uint64_t) {
        if (!count || *VEC_AT(stops, uint64_t, count - 1) != *stop)
            *VEC_AT(stops, uint64_t, count++) = *stop;
    }
    stops->count = count;
}

/* So much of the ticks until then as the drawn run has of them. */
static uint64_t drawn_ticks(const struct drawn_run *run, uint64_t ticks, uint64_t until)
{
    uint64_t since = ticks < until ? until - ticks : 0;
    return drawn_tick(run, until) - drawn_tick(run, since);
}

static void shorten(const struct drawn_run *run, struct event *event, uint64_t *payload)
{
    payload[0] = HEURT_OFF(drawn_ticks(run, HEURT_SITE_ADDRESS(payload[0]), event->tick),
                           HEURT_SITE_HOW(payload[0]));
    if (event->id != HEURT_EVENT_OFF_CPU || event->words < 2 ||
        HEURT_SITE_ADDRESS(payload[1]) == HEURT_NOT_KNOWN)
        return;
    payload[1] = HEURT_BACK(drawn_ticks(run, HEURT_SITE_ADDRESS(payload[1]), event->tick),
                            HEURT_SITE_HOW(payload[1]));
}

/* Each event is written where it was kept, or before. */
static struct excerpt_thread draw_thread(const struct drawn_run *run, uint32_t index,
                                         struct kept_thread *kept)
{
    const struct trace_thread *thread = trace__thread_at(run->of, index);
    uint64_t *at = kept->words.items, *end = at ? at + kept->words.count : at, *into = at;
    while (at < end) {
        struct kept_event head;
        memcpy(&head, at, sizeof head);
        at += sizeof head / sizeof *at;
        struct event event = {head.tick, head.id, head.words, at};
        if (tells_of_time(head.id))
            shorten(run, &event, at);
        event.tick = drawn_tick(run, head.tick);
        into += excerpt__put_event(into, &event);
        at += head.words;
    }
    kept->words.count = (size_t)(into - (uint64_t *)kept->words.items);
    return (struct excerpt_thread){drawn_tick(run, thread->start_tick),
                                   drawn_tick(run, thread->end_tick), kept->words};
}

/* splitmix64, Steele et al. 2014 */
static uint64_t random_of(uint64_t number)
{
    uint64_t z = (number + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static uint32_t windows_for(const struct trace *trace, uint64_t ticks, double share)
{
    double windows = (double)trace__ns(trace, ticks) * share / WINDOW_NS;
    return windows < WINDOWS_LEAST  ? WINDOWS_LEAST
           : windows > WINDOWS_MOST ? WINDOWS_MOST
                                    : (uint32_t)windows;
}

static void lay_windows(struct drawn_run *run, double share)
{
    uint64_t first = UINT64_MAX, last = 0;
    VEC_EACH (thread, trace__threads(run->of), struct trace_thread) {
        first = thread->start_tick < first ? thread->start_tick : first;
        last = thread->end_tick > last ? thread->end_tick : last;
    }
    run->begin = first;
    run->count = windows_for(run->of, last > first ? last - first : 0, share);
    run->step = (last > first ? last - first : 0) / run->count + 1;
    run->length = share < 1 ? (uint64_t)((double)run->step * share) + 1 : run->step;
    run->begins = memory__zeroed(run->count, sizeof *run->begins);
    for (uint32_t i = 0; i < run->count; i++)
        run->begins[i] = first + i * run->step + random_of(i) % (run->step - run->length + 1);
}

static void draw(struct joiner *self)
{
    struct drawn_run *run = &self->run;
    uint32_t count = (uint32_t)trace__threads(run->of)->count;
    struct excerpt_thread *threads = memory__zeroed(count, sizeof *threads);
    order_stops(&run->stops);
    for (uint32_t i = 0; i < count; i++)
        threads[i] = draw_thread(run, i, &self->threads[i]);
    run->trace =
        trace__excerpt(run->of, threads, drawn_tick(run, trace__session(run->of)->end.tick));
    free(threads);
}

static void *start_drawing(struct run *run)
{
    struct joiner *joiner = memory__zeroed(1, sizeof *joiner);
    joiner->run = (struct drawn_run){.of = run->trace, .stops = VEC_OF(uint64_t)};
    joiner->threads = memory__zeroed(trace__threads(run->trace)->count, sizeof *joiner->threads);
    lay_windows(&joiner->run, *(const double *)run->options);
    return joiner;
}

static void *end_drawing(void *self)
{
    struct joiner *joiner = self;
    struct drawn_run *run = memory__zeroed(1, sizeof *run);
    draw(joiner);
    *run = joiner->run;
    free(joiner->threads);
    free(joiner);
    return run;
}

const struct analysis drawn_analysis = {
    .name = "drawn run",
    .walk = WALK_THREADS,
    .start = start_drawing,
    .thread = keep_thread,
    .event = take_event,
    .events = take_functions,
    .end = end_thread,
    .join = join_thread,
    .finish = end_drawing,
};

void drawn_run__empty(struct drawn_run *run)
{
    trace__empty_excerpt(run->trace);
}

void drawn_run__free(struct drawn_run *run)
{
    if (!run)
        return;
    trace__close_excerpt(run->trace);
    free(run->begins);
    vec__free(&run->stops);
    free(run);
}

const struct trace *drawn_run__trace(const struct drawn_run *run)
{
    return run->trace;
}
