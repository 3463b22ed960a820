/* blame_sync.c: barriers and signals. */
#include "analysis/cause/internal.h"

#include "base/memory.h"

#include <stdlib.h>

#define PARTIES_AT_FIRST 64

static struct blamed_object *blamed_object_of(struct blame_walk *walk, uint32_t object)
{
    struct blamed_object **place = VEC_REACH(&walk->blamed_objects, struct blamed_object *, object);
    if (!*place) {
        *place = memory__zeroed(1, sizeof **place);
        (*place)->arrivals = VEC_OF(struct arrival);
        (*place)->parties = VEC_OF(struct watched);
    }
    return *place;
}

/* Divides ticks as what was done between two looks is divided. */
static void divide(const struct activity *now, const struct activity *before, uint64_t ticks,
                   struct activity *part)
{
    uint64_t sum = 0, left = ticks;
    unsigned most = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        part->ticks[i] = now->ticks[i] > before->ticks[i] ? now->ticks[i] - before->ticks[i] : 0;
        sum += part->ticks[i];
        most = part->ticks[i] > part->ticks[most] ? i : most;
    }
    if (!sum)
        most = COMPONENT_OTHER_BLOCKED; /* nobody knows */
    for (unsigned i = 0; i < COMPONENTS && sum; i++) {
        part->ticks[i] = (uint64_t)((unsigned __int128)part->ticks[i] * ticks / sum);
        left -= part->ticks[i];
    }
    part->ticks[most] += left;
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void add_party(struct blamed_object *barrier, uint32_t thread)
{
    struct watched party = {.thread = thread};
    vec__push(&barrier->parties, &party);
}

/* What those had done at the round's first arrival who may be its last ones: who was there the last
 * time; at first, any of the process. */
static void start_round(struct blame_walk *walk, struct blamed_object *barrier, uint32_t process,
                        uint64_t tick)
{
    for (uint32_t i = 0; i < walk->thread_count && !barrier->round; i++) {
        if (walk->threads[i].serial == process && !walk->threads[i].ended &&
            barrier->parties.count < PARTIES_AT_FIRST)
            add_party(barrier, i);
    }
    VEC_EACH (party, &barrier->parties, struct watched)
        party->before = *thread__did(walk, &walk->threads[party->thread], tick);
}

void barrier__wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                          const struct sync_event *event)
{
    struct blamed_object *barrier = blamed_object_of(walk, event->object);
    if (!barrier->arrivals.count)
        start_round(walk, barrier, thread->serial, event->tick);
    struct arrival arrival = {.thread = event->thread,
                              .tick = event->tick,
                              .site = event->site,
                              .did = *thread__did(walk, thread, event->tick)};
    vec__push(&barrier->arrivals, &arrival);
}

static const struct activity *before_round(const struct blamed_object *barrier, uint32_t thread)
{
    static const struct activity nothing; /* all its life will do */
    VEC_EACH (party, &barrier->parties, struct watched) {
        if (party->thread == thread)
            return &party->before;
    }
    return &nothing;
}

/* tick: at which the first one leaves. */
static void blame_last(struct blame_walk *walk, const struct blamed_object *barrier, uint64_t tick)
{
    const struct arrival *last =
        VEC_AT(&barrier->arrivals, struct arrival, barrier->arrivals.count - 1);
    const struct activity *before = before_round(barrier, last->thread);
    struct blocker blocker = {walk->threads[last->thread].serial, last->thread, true, last->site};
    VEC_EACH (arrival, &barrier->arrivals, struct arrival) {
        const struct sync_event wait = {
            .tick = tick,
            .since = arrival->tick,
            .paused = sync_events__paused(walk->sync_events, arrival->thread)};
        uint64_t ticks = last->tick - arrival->tick, most = sync_event__ticks(&wait);
        struct activity part;
        if (!walk->threads[arrival->thread].entry)
            continue;
        divide(&last->did, before, ticks < most ? ticks : most, &part);
        entry__blame(walk->threads[arrival->thread].entry, &blocker, &part);
    }
}

static void end_round(struct blamed_object *barrier)
{
    barrier->parties.count = 0;
    VEC_EACH (arrival, &barrier->arrivals, struct arrival)
        add_party(barrier, arrival->thread);
    barrier->arrivals.count = 0;
    barrier->round++;
}

static void forget_arrival(struct blamed_object *barrier, uint32_t thread)
{
    size_t kept = 0;
    for (size_t i = 0; i < barrier->arrivals.count; i++) {
        const struct arrival *arrival = VEC_AT(&barrier->arrivals, struct arrival, i);
        if (arrival->thread != thread)
            *VEC_AT(&barrier->arrivals, struct arrival, kept++) = *arrival;
    }
    barrier->arrivals.count = kept;
}

void barrier__wait_ends(struct blame_walk *walk, const struct sync_event *event)
{
    struct blamed_object *barrier = blamed_object_of(walk, event->object);
    if (event->round != barrier->round)
        return; /* not the first one to leave */
    if (event->type == SYNC_EVENT_GAVE_UP) {
        forget_arrival(barrier, event->thread);
        return;
    }
    blame_last(walk, barrier, event->tick);
    end_round(barrier);
}

/* ---- threads whose doings a wait may need ---------------------------------------------------- */

static void watch(struct blame_walk *walk, struct blame_thread *thread, uint32_t index,
                  uint64_t tick)
{
    if (&walk->threads[index] == thread || thread->watched_count == WATCHED)
        return;
    for (uint32_t i = 0; i < thread->watched_count; i++) {
        if (thread->watched[i].thread == index)
            return;
    }
    thread->watched[thread->watched_count++] = (struct watched){
        .thread = index, .before = *thread__did(walk, &walk->threads[index], tick)};
}

/* Who signalled there lately; else threads of the process that may. */
void signal__wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                         const struct sync_event *event)
{
    const struct blamed_object *object = blamed_object_of(walk, event->object);
    thread->watched_count = 0;
    for (uint32_t i = 0; i < object->recent_count; i++)
        watch(walk, thread, object->recent[i], event->tick);
    size_t looked_at = walk->thread_count < 2 * WATCHED ? walk->thread_count : 2 * WATCHED;
    for (uint32_t i = 0; i < looked_at; i++) {
        if (walk->threads[i].serial == thread->serial && !walk->threads[i].ended)
            watch(walk, thread, i, event->tick);
    }
}

void signal__blame(struct blame_walk *walk, struct blame_thread *thread,
                   const struct sync_event *event)
{
    static const struct activity nothing;
    struct blame_thread *by = &walk->threads[event->by];
    struct blocker blocker = {by->serial, event->by, false, event->by_site};
    const struct activity *before = &nothing;
    for (uint32_t i = 0; i < thread->watched_count; i++) {
        if (thread->watched[i].thread == event->by)
            before = &thread->watched[i].before;
    }
    struct activity part;
    divide(thread__did(walk, by, event->tick), before, sync_event__ticks(event), &part);
    entry__blame(thread->entry, &blocker, &part);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void keep_recent(struct blamed_object *object, uint32_t thread)
{
    uint32_t place = 0;
    while (place < object->recent_count && object->recent[place] != thread)
        place++;
    if (place == object->recent_count) {
        if (object->recent_count < WATCHED)
            object->recent_count++;
        else
            place--;
    }
    for (; place > 0; place--)
        object->recent[place] = object->recent[place - 1];
    object->recent[0] = thread;
}

void signal__given(struct blame_walk *walk, const struct sync_event *event)
{
    keep_recent(blamed_object_of(walk, event->object), event->thread);
}

void blamed_objects__free(struct blame_walk *walk)
{
    VEC_EACH (object, &walk->blamed_objects, struct blamed_object *) {
        if (!*object)
            continue;
        vec__free(&(*object)->arrivals);
        vec__free(&(*object)->parties);
        free(*object);
    }
    vec__free(&walk->blamed_objects);
}
