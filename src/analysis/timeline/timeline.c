#include "analysis/timeline/timeline.h"

#include "analysis/ledger/profile.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

/* What a thread is in. */
struct lane_now {
    uint64_t since_ns; /* all before is in its lane */
    unsigned in;       /* state of the wait or call that it is in; COMPONENT_RUNNING: of none */
    unsigned off;      /* why it is off the CPU; COMPONENT_RUNNING: it is not, */
    bool is_off_told;  /* if the kernel told */
};

/* What was waited at a place of the program. */
struct waiting_place {
    uint64_t idle_ns, other_ns;
};

/* Of a lock, the last time that it became free. */
struct lock_release {
    uint32_t thread;
    uint64_t tick, acquired_site;
};

struct lane_walk {
    const struct run *run;
    const struct profile *profile;
    struct timeline *timeline;
    struct vec now;      /* struct lane_now, by thread */
    struct vec places;   /* struct waiting_place */
    struct map place_of; /* process and site: place in these */
    struct vec releases; /* struct lock_release, by object */
};

/* ---- which waits are idle -------------------------------------------------------------------- */

struct place_key {
    uint64_t process, site;
};

static void learn_places(struct lane_walk *walk)
{
    VEC_EACH (class, &walk->profile->classes, struct profile_class) {
        const struct place_key key = {class->what.at.process, class->what.at.site};
        uint64_t index = map__put(&walk->place_of, &key, sizeof key, walk->places.count);
        struct waiting_place *place = VEC_REACH(&walk->places, struct waiting_place, index);
        *(class->idle ? &place->idle_ns : &place->other_ns) += class->sum_ns;
    }
}

static uint32_t process_of(const struct lane_walk *walk, uint32_t thread)
{
    const struct vec *threads = trace__threads(walk->run->trace);
    uint32_t process = VEC_AT(threads, struct trace_thread, thread)->process;
    return VEC_AT(trace__processes(walk->run->trace), struct trace_process, process)->serial;
}

static bool is_idle(const struct lane_walk *walk, const struct sync_event *event)
{
    const struct place_key key = {process_of(walk, event->thread), event->site};
    uint64_t index = map__get(&walk->place_of, &key, sizeof key);
    if (index == MAP_ABSENT)
        return false;
    const struct waiting_place *place = VEC_AT(&walk->places, struct waiting_place, index);
    return place->idle_ns > place->other_ns;
}

/* A wait for work that goes on when the trace ends is in no class. */
static bool ends_idle(const struct lane_walk *walk, const struct sync_event *event)
{
    const struct profile_thread *thread =
        VEC_FIND(&walk->profile->threads, const struct profile_thread, thread, event->thread);
    return thread && thread->idle_end_ns > 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Wanting a CPU counts before what is waited for, as in the ledger. */
static unsigned state_of(const struct lane_now *now)
{
    bool is_off = now->off == COMPONENT_RUNNABLE || now->off == COMPONENT_PAGE_FAULT;
    if (is_off || now->in == COMPONENT_RUNNING)
        return now->off;
    bool is_on = now->off == COMPONENT_RUNNING && now->is_off_told;
    return is_on ? now->in + TIMELINE_ON_CPU : now->in;
}

static struct timeline_lane *lane_of(const struct lane_walk *walk, uint32_t thread)
{
    return VEC_AT(&walk->timeline->lanes, struct timeline_lane, thread);
}

static void pass_time(struct lane_walk *walk, uint32_t thread, uint64_t tick)
{
    struct lane_now *now = VEC_AT(&walk->now, struct lane_now, thread);
    struct timeline_lane *lane = lane_of(walk, thread);
    uint64_t ns = trace__since_start_ns(walk->run->trace, tick);
    if (ns <= now->since_ns)
        return;
    timeline__add(walk->timeline, lane, state_of(now), ns - now->since_ns);
    lane->to_ns = now->since_ns = ns;
}

static unsigned state_of_wait(const struct lane_walk *walk, const struct sync_event *event)
{
    if (is_idle(walk, event))
        return TIMELINE_IDLE;
    if (event->object == SYNC_EVENT_NO_OBJECT)
        return COMPONENT_OTHER_BLOCKED; /* the end of a thread */
    return class_kind__component(sync_events__object(walk->run->sync_events, event->object)->kind);
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
static uint64_t site_of_other(const struct lane_walk *walk, const struct sync_event *event)
{
    if (event->object >= walk->releases.count)
        return event->by_site;
    const struct lock_release *last = VEC_AT(&walk->releases, struct lock_release, event->object);
    bool is_it = last->acquired_site && last->thread == event->by && last->tick == event->by_tick;
    return is_it ? last->acquired_site : event->by_site;
}

static void take_wait(struct lane_walk *walk, const struct sync_event *event)
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

static void end_wait(struct lane_walk *walk, struct lane_now *now, const struct sync_event *event)
{
    if (now->in != TIMELINE_IDLE && event->since)
        take_wait(walk, event);
    now->in = COMPONENT_RUNNING;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void take(struct lane_walk *walk, struct lane_now *now, const struct sync_event *event)
{
    switch (event->type) {
    case SYNC_EVENT_WAITS:
        now->in = state_of_wait(walk, event);
        break;
    case SYNC_EVENT_CALLED:
        now->in = is_idle(walk, event) ? TIMELINE_IDLE : event->how;
        break;
    case SYNC_EVENT_ACQUIRED:
        if (event->since)
            end_wait(walk, now, event);
        break;
    case SYNC_EVENT_GAVE_UP:
    case SYNC_EVENT_WOKEN:
    case SYNC_EVENT_LEFT:
    case SYNC_EVENT_JOINED:
        end_wait(walk, now, event);
        break;
    case SYNC_EVENT_RELEASED:
        *VEC_REACH(&walk->releases, struct lock_release, event->object) =
            (struct lock_release){event->thread, event->tick, event->acquired_site};
        break;
    case SYNC_EVENT_RETURNED:
        now->in = COMPONENT_RUNNING;
        break;
    case SYNC_EVENT_OFF:
        now->off = event->how;
        break;
    case SYNC_EVENT_BACK:
        now->off = COMPONENT_RUNNING;
        break;
    default:
        break;
    }
}

static bool is_cut_off(const struct sync_event *event)
{
    return event->is_open && (event->type == SYNC_EVENT_GAVE_UP || event->type == SYNC_EVENT_ENDED);
}

static bool sync(void *self, const struct sync_event *event)
{
    struct lane_walk *walk = self;
    struct lane_now *now = VEC_AT(&walk->now, struct lane_now, event->thread);
    if (is_cut_off(event) && now->in != COMPONENT_RUNNING && ends_idle(walk, event))
        now->in = TIMELINE_IDLE;
    pass_time(walk, event->thread, event->tick);
    take(walk, now, event);
    return true;
}

static void begin_lane(struct lane_walk *walk, const struct trace_thread *thread)
{
    uint64_t ns = trace__since_start_ns(walk->run->trace, thread->start_tick);
    struct timeline_lane *lane = lane_of(walk, (uint32_t)walk->now.count);
    lane->from_ns = lane->to_ns = ns;
    const struct profile_thread *profiled = VEC_FIND(
        &walk->profile->threads, const struct profile_thread, thread, (uint32_t)walk->now.count);
    vec__push(&walk->now, &(struct lane_now){ns, COMPONENT_RUNNING, COMPONENT_RUNNING,
                                             profiled && profiled->has_kernel});
}

static void *start(struct run *run)
{
    const struct profile *profile = run__result(run, &profile_analysis);
    if (trace__is_aggregated(run->trace) || !profile)
        return NULL;
    const struct vec *threads = trace__threads(run->trace);
    struct lane_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct lane_walk){.run = run,
                               .profile = profile,
                               .timeline = timeline__new(threads->count, profile->wall_ns),
                               .now = VEC_OF(struct lane_now),
                               .places = VEC_OF(struct waiting_place),
                               .releases = VEC_OF(struct lock_release)};
    VEC_EACH (thread, threads, struct trace_thread)
        begin_lane(walk, thread);
    learn_places(walk);
    return walk;
}

static int by_start(const void *left, const void *right)
{
    const struct timeline_wait *a = left, *b = right;
    return ORDER(a->from_ns, b->from_ns) ?: ORDER(a->thread, b->thread);
}

static void set_bounds(struct timeline *timeline)
{
    timeline->from_ns = UINT64_MAX;
    VEC_EACH (lane, &timeline->lanes, struct timeline_lane) {
        if (lane->to_ns <= lane->from_ns)
            continue;
        timeline->from_ns = lane->from_ns < timeline->from_ns ? lane->from_ns : timeline->from_ns;
        timeline->to_ns = lane->to_ns > timeline->to_ns ? lane->to_ns : timeline->to_ns;
    }
    if (!timeline->to_ns)
        timeline->from_ns = 0;
}

static void *finish(void *self)
{
    struct lane_walk *walk = self;
    struct timeline *timeline = walk->timeline;
    const struct sync_events *events = walk->run->sync_events;
    for (uint32_t i = 0; i < walk->now.count; i++)
        pass_time(walk, i,
                  VEC_AT(trace__threads(walk->run->trace), struct trace_thread, i)->end_tick);
    timeline__close_lanes(timeline);
    set_bounds(timeline);
    vec__sort(&timeline->waits, by_start);
    for (uint32_t i = 0; i < sync_events__objects(events); i++)
        vec__push(&timeline->objects, sync_events__object(events, i));
    vec__free(&walk->now);
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
    .after = (const struct analysis *const[]){&profile_analysis, NULL},
    .walk = WALK_TIME_DETAILS,
    .start = start,
    .sync = sync,
    .finish = finish,
    .free = free_timeline,
};
