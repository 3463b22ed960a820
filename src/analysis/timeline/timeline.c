#include "analysis/timeline/timeline.h"

#include "analysis/ledger/profile.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

/* What was waited at a place of the program. */
struct waiting_place {
    uint64_t idle_ns, other_ns;
};

/* Of a lock, the last time that it became free. */
struct lock_release {
    uint32_t thread;
    uint64_t tick, acquired_site;
};

struct waits_walk {
    const struct run *run;
    const struct profile *profile;
    struct timeline *timeline;
    struct vec places;   /* struct waiting_place */
    struct map place_of; /* process and site: place in these */
    struct vec releases; /* struct lock_release, by object */
};

/* ---- which waits are idle -------------------------------------------------------------------- */

struct place_key {
    uint64_t process, site;
};

static void learn_places(struct waits_walk *walk)
{
    VEC_EACH (class, &walk->profile->classes, struct profile_class) {
        const struct place_key key = {class->what.at.process, class->what.at.site};
        uint64_t index = map__put(&walk->place_of, &key, sizeof key, walk->places.count);
        struct waiting_place *place = VEC_REACH(&walk->places, struct waiting_place, index);
        *(class->idle ? &place->idle_ns : &place->other_ns) += class->sum_ns;
    }
}

static bool is_idle(const struct waits_walk *walk, const struct sync_event *event)
{
    const struct place_key key = {trace__serial_of(walk->run->trace, event->thread), event->site};
    uint64_t index = map__get(&walk->place_of, &key, sizeof key);
    if (index == MAP_ABSENT)
        return false;
    const struct waiting_place *place = VEC_AT(&walk->places, struct waiting_place, index);
    return place->idle_ns > place->other_ns;
}

/* A wait for work that goes on when the trace ends is in no class. */
static bool ends_idle(const struct waits_walk *walk, const struct sync_event *event)
{
    const struct profile_thread *thread =
        VEC_FIND(&walk->profile->threads, const struct profile_thread, thread, event->thread);
    return thread && thread->idle_end_ns > 0;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* What is between the stretches is work. */
static void fill_lane(struct timeline *timeline, struct timeline_lane *lane,
                      const struct thread_states *states)
{
    lane->from_ns = lane->to_ns = states->begin_ns;
    VEC_EACH (stretch, &states->stretches, struct thread_stretch) {
        timeline__add(timeline, lane, COMPONENT_RUNNING, stretch->begin_ns - lane->to_ns);
        timeline__add(timeline, lane, stretch->state, stretch->length_ns);
        lane->to_ns = stretch->begin_ns + stretch->length_ns;
    }
    timeline__add(timeline, lane, COMPONENT_RUNNING, states->end_ns - lane->to_ns);
    lane->to_ns = states->end_ns;
}

static struct timeline *timeline_of(const struct thread_times *thread_times, uint64_t wall_ns)
{
    struct timeline *timeline = timeline__new(thread_times->thread_count, wall_ns);
    VEC_EACH (lane, &timeline->lanes, struct timeline_lane)
        fill_lane(timeline, lane, &thread_times->threads[lane->thread]);
    timeline__close_lanes(timeline);
    timeline->from_ns = thread_times->begin_ns;
    timeline->to_ns = thread_times->end_ns;
    return timeline;
}

/* ---- waits ----------------------------------------------------------------------------------- */

static bool is_shorter(const struct timeline_wait *a, const struct timeline_wait *b)
{
    return a->ns < b->ns;
}

HEAP_OF(waits, struct timeline_wait, is_shorter)

static void keep_wait(struct timeline *timeline, const struct timeline_wait *wait)
{
    struct timeline_wait *kept = timeline->waits.items;
    timeline->all_waits++;
    timeline->all_waits_ns += wait->ns;
    if (timeline->waits.count < TIMELINE_WAITS_MOST) {
        vec__push(&timeline->waits, wait);
        waits__rise(timeline->waits.items, timeline->waits.count - 1);
    } else if (is_shorter(&kept[0], wait)) {
        kept[0] = *wait;
        waits__sink(kept, timeline->waits.count, 0);
    }
}

/* Where who ended the wait was then; of a lock, where that one had taken it. */
static uint64_t site_of_other(const struct waits_walk *walk, const struct sync_event *event)
{
    if (event->object >= walk->releases.count)
        return event->by_site;
    const struct lock_release *last = VEC_AT(&walk->releases, struct lock_release, event->object);
    bool is_it = last->acquired_site && last->thread == event->by && last->tick == event->by_tick;
    return is_it ? last->acquired_site : event->by_site;
}

static void take_wait(struct waits_walk *walk, const struct sync_event *event)
{
    const struct trace *trace = walk->run->trace;
    uint64_t from_ns = trace__since_start_ns(trace, event->since);
    uint64_t to_ns = trace__since_start_ns(trace, event->tick);
    bool is_ended = event->by != SYNC_EVENT_NOBODY;
    keep_wait(walk->timeline,
              &(struct timeline_wait){
                  .thread = event->thread,
                  .by = event->by,
                  .object = event->object,
                  .from_ns = from_ns,
                  .ns = to_ns > from_ns ? to_ns - from_ns : 0,
                  .by_ns = is_ended ? trace__since_start_ns(trace, event->by_tick) : to_ns,
                  .site = event->site,
                  .by_site = is_ended ? site_of_other(walk, event) : 0});
}

static bool is_for_work(const struct waits_walk *walk, const struct sync_event *event)
{
    return (event->is_open && ends_idle(walk, event)) || is_idle(walk, event);
}

static void note_release(struct waits_walk *walk, const struct sync_event *event)
{
    *VEC_REACH(&walk->releases, struct lock_release, event->object) =
        (struct lock_release){event->thread, event->tick, event->acquired_site};
}

static bool sync(void *self, const struct sync_event *event)
{
    switch (event->type) {
    case SYNC_EVENT_ACQUIRED:
    case SYNC_EVENT_GAVE_UP:
    case SYNC_EVENT_WOKEN:
    case SYNC_EVENT_LEFT:
    case SYNC_EVENT_JOINED:
        if (event->since && !is_for_work(self, event))
            take_wait(self, event);
        break;
    case SYNC_EVENT_RELEASED:
        note_release(self, event);
        break;
    default:
        break;
    }
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void *start(struct run *run)
{
    const struct profile *profile = run__result(run, &profile_analysis);
    const struct thread_times *thread_times = run__result(run, &thread_times_analysis);
    if (!thread_times)
        return NULL;
    struct waits_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct waits_walk){.run = run,
                                .profile = profile,
                                .timeline = timeline_of(thread_times, profile->wall_ns),
                                .places = VEC_OF(struct waiting_place),
                                .releases = VEC_OF(struct lock_release)};
    learn_places(walk);
    return walk;
}

static int by_start(const void *left, const void *right)
{
    const struct timeline_wait *a = left, *b = right;
    return ORDER(a->from_ns, b->from_ns) ?: ORDER(a->thread, b->thread);
}

static void *finish(void *self)
{
    struct waits_walk *walk = self;
    struct timeline *timeline = walk->timeline;
    const struct sync_events *events = walk->run->sync_events;
    vec__sort(&timeline->waits, by_start);
    for (uint32_t i = 0; i < sync_events__objects(events); i++)
        vec__push(&timeline->objects, sync_events__object(events, i));
    vec__free(&walk->places);
    vec__free(&walk->releases);
    map__free(&walk->place_of);
    free(walk);
    return timeline;
}

static void free_timeline(void *result)
{
    timeline__free(result);
}

const struct analysis timeline_analysis = {
    .name = "timeline",
    .after = (const struct analysis *const[]){&thread_times_analysis, NULL},
    .walk = WALK_TIME,
    .start = start,
    .sync = sync,
    .finish = finish,
    .free = free_timeline,
};
