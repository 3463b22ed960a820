#include "analysis/sync/internal.h"

/* ---- waits begin ----------------------------------------------------------------------------- */

static uint32_t object_of_wait(struct sync_events *walk, const struct thread_state *thread,
                               const struct step *step)
{
    uint64_t address = step->payload[1];
    switch (step->id) {
    case HEURT_EVENT_LOCK_WAIT:
        return object__of(walk, thread, CLASS_LOCK, HEURT_SITE_HOW(step->payload[0]), address);
    case HEURT_EVENT_CONDITION_WAIT:
        return object__of(walk, thread, CLASS_CONDITION, 0, address);
    case HEURT_EVENT_BARRIER_WAIT:
        return object__of(walk, thread, CLASS_BARRIER, 0, address);
    case HEURT_EVENT_SEMAPHORE_WAIT:
        return object__of(walk, thread, CLASS_SEMAPHORE, 0, address);
    case HEURT_EVENT_FUTEX_WAIT:
        return object__of(walk, thread, CLASS_FUTEX, 0, address);
    default:
        return SYNC_EVENT_NO_OBJECT;
    }
}

static void arrive(struct sync_events *walk, struct thread_state *thread)
{
    struct object_state *barrier = object_at(walk, thread->wait.object);
    uint32_t self = index_of(walk, thread);
    vec__push(&barrier->arrivals, &self);
    thread->wait.round = barrier->round;
    thread->ended_by = (struct act){.thread = NOBODY};
}

/* The thread that a join waits for; NOBODY: it has not begun. */
static uint32_t joined_thread(struct sync_events *walk, const struct thread_state *thread)
{
    const struct pthread_name *name = pthread__of(walk, thread, thread->joins);
    return name->to_begin > 0 ? NOBODY : name->thread;
}

static void call_begins(struct sync_events *walk, struct thread_state *thread,
                        const struct step *step)
{
    if (walk->messages)
        transfer__begins(walk, thread, step);
    if (!walk->details)
        return;
    const struct event event = {step->tick, step->id, step->words, step->payload};
    struct sync_event *called =
        sync_events__tell(walk, thread, SYNC_EVENT_CALLED, SYNC_EVENT_NO_OBJECT);
    called->how = class_kind__component(call__kind(&event));
    called->site = HEURT_SITE_ADDRESS(step->payload[0]);
}

static void outermost_begins(struct sync_events *walk, struct thread_state *thread,
                             const struct step *step)
{
    uint64_t site = HEURT_SITE_ADDRESS(step->payload[0]);
    uint32_t object = object_of_wait(walk, thread, step);
    thread->mutex = SYNC_EVENT_NO_OBJECT;
    if (step->id == HEURT_EVENT_CONDITION_WAIT && step->words > 2 && step->payload[2]) {
        object_at(walk, object)->what.mutex = step->payload[2];
        thread->mutex = object__of(walk, thread, CLASS_LOCK, HEURT_LOCK_MUTEX, step->payload[2]);
        lock__given_up(walk, thread, thread->mutex, site, true);
    }
    struct sync_event *sync_event = sync_events__tell(walk, thread, SYNC_EVENT_WAITS, object);
    sync_event->site = site;
    sync_event->site_word = step->payload[0];
    if (step->id == HEURT_EVENT_LOCK_WAIT)
        sync_event->how = how_of_lock(HEURT_SITE_HOW(step->payload[0]));
    if (step->id == HEURT_EVENT_JOIN) {
        thread->joins = step->payload[1];
        thread->ended_by.thread = joined_thread(walk, thread);
    }
    thread->wait = *sync_event;
    thread->paused_before_wait = thread->paused;
    if (step->id == HEURT_EVENT_BARRIER_WAIT)
        arrive(walk, thread);
    sync_event->round = thread->wait.round;
}

/* step: NULL: it is not known how. */
static void call_ends(struct sync_events *walk, struct thread_state *thread,
                      const struct step *step)
{
    transfer__ends(walk, thread, step);
    if (walk->details)
        sync_events__tell(walk, thread, SYNC_EVENT_RETURNED, SYNC_EVENT_NO_OBJECT);
}

/* ---- waits end ------------------------------------------------------------------------------- */

static struct sync_event *tell_end(struct sync_events *walk, struct thread_state *thread,
                                   enum sync_event_type type)
{
    struct sync_event *sync_event = sync_events__tell(walk, thread, type, thread->wait.object);
    sync_event->site = thread->wait.site;
    sync_event->how = thread->wait.how;
    sync_event->since = thread->wait.tick;
    sync_event->round = thread->wait.round;
    sync_event->paused = thread->paused - thread->paused_before_wait;
    return sync_event;
}

/* Of an acquisition that waited. */
static void fill_wait(struct sync_event *sync_event, const struct thread_state *thread,
                      const struct act *last)
{
    sync_event->since = thread->wait.tick;
    sync_event->paused = thread->paused - thread->paused_before_wait;
    if (last->thread != NOBODY && last->thread != sync_event->thread &&
        last->tick >= sync_event->since)
        sync_event__set_by(sync_event, last);
}

static void lock_wait_ended(struct sync_events *walk, struct thread_state *thread)
{
    struct act last = object_at(walk, thread->wait.object)->last;
    struct sync_event *sync_event =
        lock__taken(walk, thread, thread->wait.object, thread->wait.how, thread->wait.site);
    if (sync_event)
        fill_wait(sync_event, thread, &object_at(walk, thread->wait.object)->last);
    else /* recursive: the wait was none */
        fill_wait(tell_end(walk, thread, SYNC_EVENT_GAVE_UP), thread, &last);
}

static void semaphore_wait_ended(struct sync_events *walk, struct thread_state *thread)
{
    struct sync_event *sync_event = tell_end(walk, thread, SYNC_EVENT_ACQUIRED);
    sync_event->held = (uint32_t)thread->held.count;
    fill_wait(sync_event, thread, &object_at(walk, thread->wait.object)->last);
}

static void end_round(struct sync_events *walk, struct object_state *barrier)
{
    uint32_t last = *VEC_AT(&barrier->arrivals, uint32_t, barrier->arrivals.count - 1);
    const struct sync_event *arrival = &walk->threads[last].wait;
    VEC_EACH (thread, &barrier->arrivals, uint32_t)
        walk->threads[*thread].ended_by = (struct act){last, arrival->tick, arrival->site};
    barrier->arrivals.count = 0;
    barrier->round++;
}

static void forget_arrival(struct object_state *barrier, uint32_t thread)
{
    size_t kept = 0;
    for (size_t i = 0; i < barrier->arrivals.count; i++) {
        uint32_t arrived = *VEC_AT(&barrier->arrivals, uint32_t, i);
        if (arrived != thread)
            *VEC_AT(&barrier->arrivals, uint32_t, kept++) = arrived;
    }
    barrier->arrivals.count = kept;
}

static void barrier_wait_ended(struct sync_events *walk, struct thread_state *thread)
{
    struct object_state *barrier = object_at(walk, thread->wait.object);
    if (thread->wait.round == barrier->round)
        end_round(walk, barrier);
    sync_event__set_by(tell_end(walk, thread, SYNC_EVENT_LEFT), &thread->ended_by);
}

static void join_ended(struct sync_events *walk, struct thread_state *thread)
{
    struct sync_event *sync_event = tell_end(walk, thread, SYNC_EVENT_JOINED);
    uint32_t joined = thread->ended_by.thread;
    if (joined == NOBODY)
        joined = joined_thread(walk, thread);
    if (joined == NOBODY || joined == sync_event->thread)
        return;
    const struct thread_state *other = &walk->threads[joined];
    sync_event->by = joined;
    sync_event->by_tick = other->ended ? other->end : sync_event->tick;
}

/* It ended without what was waited for, or nobody knows how. */
static struct sync_event *gave_up(struct sync_events *walk, struct thread_state *thread)
{
    if (thread->waits.ids[0] == HEURT_EVENT_BARRIER_WAIT) {
        struct object_state *barrier = object_at(walk, thread->wait.object);
        if (thread->wait.round == barrier->round)
            forget_arrival(barrier, index_of(walk, thread));
    }
    return tell_end(walk, thread, SYNC_EVENT_GAVE_UP);
}

static void good_end(struct sync_events *walk, struct thread_state *thread)
{
    switch (thread->waits.ids[0]) {
    case HEURT_EVENT_LOCK_WAIT:
        lock_wait_ended(walk, thread);
        break;
    case HEURT_EVENT_SEMAPHORE_WAIT:
        semaphore_wait_ended(walk, thread);
        break;
    case HEURT_EVENT_BARRIER_WAIT:
        barrier_wait_ended(walk, thread);
        break;
    case HEURT_EVENT_JOIN:
        join_ended(walk, thread);
        break;
    default:
        fill_wait(tell_end(walk, thread, SYNC_EVENT_WOKEN), thread,
                  &object_at(walk, thread->wait.object)->last);
        break;
    }
}

static void outermost_ends(struct sync_events *walk, struct thread_state *thread,
                           const struct step *step)
{
    if (wait__is_call(thread->waits.ids[0])) {
        call_ends(walk, thread, step);
        return;
    }
    if (wait__is_good(thread->waits.ids[0], step->words, step->payload))
        good_end(walk, thread);
    else
        gave_up(walk, thread);
    if (thread->waits.ids[0] != HEURT_EVENT_CONDITION_WAIT || thread->mutex == SYNC_EVENT_NO_OBJECT)
        return;
    struct sync_event *sync_event =
        lock__taken(walk, thread, thread->mutex, SYNC_EVENT_EXCLUSIVE, thread->wait.site);
    if (sync_event)
        sync_event->again = true;
}

void waits__forget(struct sync_events *walk, struct thread_state *thread, bool is_open)
{
    if (thread->waits.depth && wait__is_call(thread->waits.ids[0])) {
        call_ends(walk, thread, NULL);
    } else if (thread->waits.depth) {
        struct sync_event *sync_event = gave_up(walk, thread);
        sync_event->is_open = is_open;
        sync_event->unseen = true;
    }
    thread->waits.depth = 0;
}

void wait__begins(struct sync_events *walk, struct thread_state *thread, const struct step *step)
{
    if (thread->waits.depth == OPEN_WAITS_MOST)
        waits__forget(walk, thread, false); /* handlers left them by longjmp */
    if (!open_waits__begin(&thread->waits, step->id))
        return;
    if (wait__is_call(step->id))
        call_begins(walk, thread, step);
    else
        outermost_begins(walk, thread, step);
}

void wait__ends(struct sync_events *walk, struct thread_state *thread, const struct step *step)
{
    uint32_t place = open_waits__find(&thread->waits, step->id);
    if (!place)
        return;
    if (place == 1)
        outermost_ends(walk, thread, step);
    thread->waits.depth = place - 1;
}
