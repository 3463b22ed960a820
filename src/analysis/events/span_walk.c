/* span_walk.c: see span_walk.h. */
#include "analysis/events/span_walk.h"

#include "base/memory.h"

#include <stdlib.h>

/* One thread. */
struct spans_of_thread {
    struct vec open;         /* struct walked_span, the outermost first */
    struct span_cause cause; /* of the wait that has ended last, until its span is left */
    uint32_t drawn_id, drawn_weight;
    uint64_t object_tick; /* of the last event of it that tells of an object, */
    uint32_t object;      /* and that object */
    uint64_t lock_tick;   /* likewise, of the last one that takes or releases a lock */
    uint32_t lock;
    bool has_begun, has_ended, is_wanted;
};

/* Who has a lock. */
struct walked_lock {
    uint32_t holder, readers;
    uint64_t since;
};

struct span_walk {
    const struct trace *trace;
    struct span_taker *taker;
    struct spans_of_thread *threads;
    struct sync_events *sync;
    struct sync_event next_sync;
    bool has_sync;
    struct vec locks; /* struct walked_lock, by object */
    uint64_t now, last_tick;
};

/* ---- spans ----------------------------------------------------------------------------------- */

static struct spans_of_thread *state_of(struct span_walk *walk, uint32_t thread)
{
    return &walk->threads[thread];
}

static const struct span_cause *cause_of(const struct spans_of_thread *thread,
                                         const struct walked_span *span)
{
    return thread->cause.since == span->tick && thread->cause.by != SYNC_EVENT_NOBODY
               ? &thread->cause
               : NULL;
}

static void leave_innermost(struct span_walk *walk, uint32_t index, enum span_ending ending)
{
    struct spans_of_thread *thread = state_of(walk, index);
    struct walked_span span = *VEC_AT(&thread->open, struct walked_span, thread->open.count - 1);
    thread->open.count--;
    if (thread->is_wanted && walk->taker->left)
        walk->taker->left(walk->taker, index, walk->now, &span, cause_of(thread, &span), ending);
}

static void leave_all(struct span_walk *walk, uint32_t index)
{
    while (state_of(walk, index)->open.count)
        leave_innermost(walk, index, SPAN_UNFINISHED);
}

/* From the innermost one on; at: a place in open, which is left with that ending. */
static void leave_from(struct span_walk *walk, uint32_t index, size_t at, enum span_ending ending)
{
    while (state_of(walk, index)->open.count > at + 1)
        leave_innermost(walk, index, SPAN_CUT);
    leave_innermost(walk, index, ending);
}

/* The innermost open span of that id, or of any function (id 0); -1: there is none. */
static long find_open(const struct spans_of_thread *thread, uint32_t id)
{
    for (size_t i = thread->open.count; i-- > 0;) {
        uint32_t open = VEC_AT(&thread->open, struct walked_span, i)->id;
        if (id ? open == id : open >= HEURT_EVENT_FUNCTIONS)
            return (long)i;
    }
    return -1;
}

/* id: 0: of any function. */
static void cut(struct span_walk *walk, uint32_t index, uint32_t id)
{
    long at = find_open(state_of(walk, index), id);
    if (at >= 0)
        leave_from(walk, index, (size_t)at, SPAN_CUT);
}

static void leave(struct span_walk *walk, uint32_t index, const struct event *event)
{
    struct spans_of_thread *thread = state_of(walk, index);
    long at = find_open(thread, event->id & ~1u);
    if (at < 0)
        return;
    struct walked_span *span = VEC_AT(&thread->open, struct walked_span, at);
    span->has_result = event->words && event->id < HEURT_EVENT_FUNCTIONS;
    span->result = span->has_result ? event->payload[0] : 0;
    leave_from(walk, index, (size_t)at, SPAN_LEFT);
}

static const struct sync_object *what_is(struct span_walk *walk, uint32_t object)
{
    return object == SYNC_EVENT_NO_OBJECT ? NULL : sync_events__object(walk->sync, object);
}

/* That of an event of the thread which is told now; NULL: it has none. */
static const struct sync_object *object_at(struct span_walk *walk, uint32_t thread,
                                           const struct event *event)
{
    const struct spans_of_thread *spans = state_of(walk, thread);
    bool is_it = event->id < HEURT_EVENT_FUNCTIONS && spans->object_tick == event->tick;
    return is_it ? what_is(walk, spans->object) : NULL;
}

static uint32_t take_weight(struct spans_of_thread *thread, uint32_t id)
{
    uint32_t weight = thread->drawn_weight && thread->drawn_id == id ? thread->drawn_weight : 1;
    if (weight != 1)
        thread->drawn_weight = 0;
    return weight;
}

static void enter(struct span_walk *walk, uint32_t index, const struct event *event)
{
    struct spans_of_thread *thread = state_of(walk, index);
    struct walked_span span = {
        .tick = event->tick, .id = event->id, .weight = take_weight(thread, event->id)};
    if (thread->is_wanted && walk->taker->entered)
        walk->taker->entered(walk->taker, index, walk->now, event, object_at(walk, index, event),
                             &span);
    vec__push(&thread->open, &span);
}

/* A region of OpenMP, a body or a loop, which has a begin and an end of its own: told as a span, of
 * which the result is what it is while it is open. */
static void enter_construct(struct span_walk *walk, uint32_t index, const struct event *event)
{
    if (!event->words)
        return;
    enter(walk, index, event);
    struct vec *open = &state_of(walk, index)->open;
    VEC_AT(open, struct walked_span, open->count - 1)->result = HEURT_SITE_HOW(event->payload[0]);
}

static void leave_construct(struct span_walk *walk, uint32_t index, const struct event *event)
{
    const struct vec *open = &state_of(walk, index)->open;
    for (size_t at = open->count; event->words && at-- > 0;) {
        const struct walked_span *span = VEC_AT(open, struct walked_span, at);
        if (span->id != HEURT_EVENT_OPENMP_BEGIN ||
            span->result != HEURT_SITE_HOW(event->payload[0]))
            continue;
        leave_from(walk, index, at, SPAN_LEFT);
        return;
    }
}

static void begin_thread(struct span_walk *walk, uint32_t index)
{
    struct spans_of_thread *thread = state_of(walk, index);
    thread->has_begun = true;
    if (thread->is_wanted && walk->taker->began)
        walk->taker->began(walk->taker, index, walk->now);
}

static void end_thread(struct span_walk *walk, uint32_t index)
{
    struct spans_of_thread *thread = state_of(walk, index);
    leave_all(walk, index);
    if (walk->taker->ended && thread->is_wanted && thread->has_begun && !thread->has_ended)
        walk->taker->ended(walk->taker, index, walk->now);
    thread->has_ended = true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void take_drawn(struct spans_of_thread *thread, uint64_t word)
{
    thread->drawn_id = HEURT_SAMPLED_ID(word);
    thread->drawn_weight = HEURT_SAMPLED_BLOCK(word);
}

static void mark(struct span_walk *walk, uint32_t index, const struct event *event)
{
    struct spans_of_thread *thread = state_of(walk, index);
    uint32_t weight = take_weight(thread, event->id);
    const struct sync_object *object =
        event->tick && thread->lock_tick == event->tick ? what_is(walk, thread->lock) : NULL;
    if (walk->taker->mark && thread->is_wanted && !thread->has_ended)
        walk->taker->mark(walk->taker, index, walk->now, event, object, weight);
}

static void take_point(struct span_walk *walk, uint32_t index, const struct event *event)
{
    struct spans_of_thread *thread = state_of(walk, index);
    switch (event->id) {
    case HEURT_EVENT_THREAD_END:
        leave_all(walk, index);
        mark(walk, index, event);
        end_thread(walk, index);
        break;
    case HEURT_EVENT_THREAD_START:
    case HEURT_EVENT_LOCK_ACQUIRED:
    case HEURT_EVENT_LOCK_HELD:
    case HEURT_EVENT_LOCK_RELEASED:
    case HEURT_EVENT_INITIALISED:
        mark(walk, index, event);
        break;
    case HEURT_EVENT_SAMPLED:
        take_drawn(thread, event->payload[0]);
        break;
    case HEURT_EVENT_UNWOUND:
        cut(walk, index, 0);
        break;
    case HEURT_EVENT_LOOP_LEFT:
        cut(walk, index, (uint32_t)event->payload[0]);
        break;
    case HEURT_EVENT_OPENMP_BEGIN:
        enter_construct(walk, index, event);
        break;
    case HEURT_EVENT_OPENMP_END:
        leave_construct(walk, index, event);
        break;
    case HEURT_EVENT_LOCK_BUSY:
    case HEURT_EVENT_CONDITION_SIGNALLED:
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
    case HEURT_EVENT_SEMAPHORE_POSTED:
    case HEURT_EVENT_THREAD_CREATED:
    case HEURT_EVENT_FUTEX_WOKEN:
    case HEURT_EVENT_FORKED:
    case HEURT_EVENT_EXEC:
    case HEURT_EVENT_LOST:
    case HEURT_EVENT_KERNEL_LOST:
        if (thread->is_wanted && walk->taker->point)
            walk->taker->point(walk->taker, index, walk->now, event, object_at(walk, index, event));
        break;
    default:
        break;
    }
}

/* What a process's first thread does when its record has ended (handlers of its exit) is none of
 * its life's. */
static void take_event(struct span_walk *walk, uint32_t index, const struct event *event)
{
    if (state_of(walk, index)->has_ended)
        return;
    if (!state_of(walk, index)->has_begun)
        begin_thread(walk, index);
    if (event->id % 2)
        leave(walk, index, event);
    else if (event__is_span(event->id))
        enter(walk, index, event);
    else
        take_point(walk, index, event);
}

/* ---- who ended a wait, and who has which lock ------------------------------------------------ */

static struct walked_lock *lock_of(struct span_walk *walk, uint32_t object)
{
    size_t before = walk->locks.count;
    struct walked_lock *found = VEC_REACH(&walk->locks, struct walked_lock, object);
    for (; before < walk->locks.count; before++)
        VEC_AT(&walk->locks, struct walked_lock, before)->holder = SYNC_EVENT_NOBODY;
    return found;
}

static void wait_ends(struct span_walk *walk, const struct sync_event *event)
{
    if (event->since)
        state_of(walk, event->thread)->cause =
            (struct span_cause){event->since, event->by, event->by_tick, event->by_site};
}

static void release(struct span_walk *walk, uint32_t object)
{
    struct walked_lock *lock = lock_of(walk, object);
    uint32_t holder = lock->holder;
    lock->holder = SYNC_EVENT_NOBODY;
    lock->readers = 0;
    if (walk->taker->released && holder != SYNC_EVENT_NOBODY && state_of(walk, holder)->is_wanted)
        walk->taker->released(walk->taker, holder, walk->now, what_is(walk, object), lock->since);
}

static void acquired(struct span_walk *walk, const struct sync_event *event)
{
    struct walked_lock *lock = lock_of(walk, event->object);
    bool is_shared = event->how == SYNC_EVENT_SHARED;
    if (what_is(walk, event->object)->kind != CLASS_LOCK)
        return;
    if (is_shared && lock->readers++)
        return;
    if (lock->holder != SYNC_EVENT_NOBODY)
        release(walk, event->object);
    lock->readers = is_shared;
    lock->holder = event->thread;
    lock->since = walk->now;
    if (walk->taker->held && state_of(walk, event->thread)->is_wanted)
        walk->taker->held(walk->taker, event->thread, walk->now, what_is(walk, event->object),
                          event->site, is_shared);
}

static void released(struct span_walk *walk, const struct sync_event *event)
{
    struct walked_lock *lock = lock_of(walk, event->object);
    if (lock->readers > 1)
        lock->readers--;
    else if (lock->holder == event->thread || lock->readers)
        release(walk, event->object);
}

static void tell_state(struct span_walk *walk, uint32_t thread, enum component state)
{
    const struct spans_of_thread *spans = state_of(walk, thread);
    if (walk->taker->state && spans->is_wanted && spans->has_begun && !spans->has_ended)
        walk->taker->state(walk->taker, thread, walk->now, state);
}

static void note_object(struct span_walk *walk, const struct sync_event *event)
{
    struct spans_of_thread *thread = state_of(walk, event->thread);
    thread->object = event->object;
    thread->object_tick = event->tick;
}

static void note_lock(struct span_walk *walk, const struct sync_event *event)
{
    struct spans_of_thread *thread = state_of(walk, event->thread);
    thread->lock = event->object;
    thread->lock_tick = event->tick;
}

static void take_sync(struct span_walk *walk, const struct sync_event *event)
{
    if (!state_of(walk, event->thread)->has_begun)
        begin_thread(walk, event->thread);
    switch (event->type) {
    case SYNC_EVENT_WAITS:
    case SYNC_EVENT_BUSY:
    case SYNC_EVENT_SIGNALLED:
        note_object(walk, event);
        break;
    case SYNC_EVENT_ACQUIRED:
        note_lock(walk, event);
        wait_ends(walk, event);
        acquired(walk, event);
        break;
    case SYNC_EVENT_GAVE_UP:
    case SYNC_EVENT_WOKEN:
    case SYNC_EVENT_LEFT:
    case SYNC_EVENT_JOINED:
        wait_ends(walk, event);
        break;
    case SYNC_EVENT_RELEASED:
        note_lock(walk, event);
        released(walk, event);
        break;
    case SYNC_EVENT_OFF:
        tell_state(walk, event->thread, (enum component)event->how);
        break;
    case SYNC_EVENT_BACK:
        tell_state(walk, event->thread, COMPONENT_RUNNING);
        break;
    default:
        break;
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void advance_to(struct span_walk *walk, uint64_t tick)
{
    if (tick > walk->now)
        walk->now = tick;
}

/* What threads do to each other until that tick. */
static void sync_until(struct span_walk *walk, uint64_t tick)
{
    while (walk->has_sync && walk->next_sync.tick <= tick && !walk->taker->is_full) {
        advance_to(walk, walk->next_sync.tick);
        take_sync(walk, &walk->next_sync);
        walk->has_sync = sync_events__next(walk->sync, &walk->next_sync);
    }
}

static void start(struct span_walk *walk, const bool *left_out)
{
    const struct sync_scope scope = {.left_out = left_out, .details = true};
    walk->sync = sync_events__start_for(walk->trace, &scope);
    walk->has_sync = sync_events__next(walk->sync, &walk->next_sync);
    walk->locks.count = 0;
    walk->now = 0;
}

static void take(struct span_walk *walk, uint32_t thread, const struct event *event)
{
    sync_until(walk, event->tick);
    advance_to(walk, event->tick);
    take_event(walk, thread, event);
}

/* What is still open is so until the trace ends. */
static void stop(struct span_walk *walk, uint32_t first, uint32_t end)
{
    sync_until(walk, UINT64_MAX);
    advance_to(walk, walk->last_tick);
    for (size_t i = 0; i < walk->locks.count; i++)
        release(walk, (uint32_t)i);
    for (uint32_t i = first; i < end; i++)
        end_thread(walk, i);
    sync_events__free(walk->sync);
}

static void tell_by_time(struct span_walk *walk, uint32_t threads)
{
    struct trace_merge *merge = trace_merge__start_of_threads(walk->trace);
    struct event event;
    size_t thread;
    start(walk, NULL);
    while (!walk->taker->is_full && trace_merge__next(merge, &event, &thread))
        take(walk, (uint32_t)thread, &event);
    stop(walk, 0, threads);
    trace_merge__free(merge);
}

static void tell_thread(struct span_walk *walk, uint32_t thread, bool *left_out)
{
    struct trace_cursor cursor;
    struct event event;
    left_out[thread] = false;
    start(walk, left_out);
    trace_cursor__start(&cursor, walk->trace, trace__thread_at(walk->trace, thread));
    while (!walk->taker->is_full && trace_cursor__next(&cursor, &event))
        if (!event__is_told_late(event.id))
            take(walk, thread, &event);
    trace_cursor__stop(&cursor);
    stop(walk, thread, thread + 1);
    left_out[thread] = true;
}

static void tell_by_thread(struct span_walk *walk, uint32_t threads)
{
    bool *left_out = memory__zeroed(threads, sizeof *left_out);
    for (uint32_t i = 0; i < threads; i++)
        left_out[i] = true;
    for (uint32_t i = 0; i < threads; i++)
        if (walk->threads[i].is_wanted && !walk->taker->is_full)
            tell_thread(walk, i, left_out);
    free(left_out);
}

/* Of the last thread. */
static uint64_t last_tick(const struct trace *trace)
{
    uint64_t last = 0;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        last = thread->end_tick > last ? thread->end_tick : last;
    return last;
}

void span_walk__tell(const struct trace *trace, enum span_order order, const bool *chosen,
                     struct span_taker *taker)
{
    uint32_t threads = (uint32_t)trace__threads(trace)->count;
    struct span_walk walk = {
        .trace = trace,
        .taker = taker,
        .threads = memory__zeroed(threads, sizeof *walk.threads),
        .locks = VEC_OF(struct walked_lock),
        .last_tick = last_tick(trace),
    };
    for (uint32_t i = 0; i < threads; i++) {
        walk.threads[i].open = VEC_OF(struct walked_span);
        walk.threads[i].is_wanted = !chosen || chosen[i];
    }
    if (order == SPANS_BY_TIME)
        tell_by_time(&walk, threads);
    else
        tell_by_thread(&walk, threads);
    for (uint32_t i = 0; i < threads; i++)
        vec__free(&walk.threads[i].open);
    vec__free(&walk.locks);
    free(walk.threads);
}
