#include "analysis/events/activity.h"

#include "analysis/analysis.h"
#include "analysis/events/time_off_cpu.h"
#include "base/memory.h"

#include <stdlib.h>

/* A thread gets a CPU, or gives it back. */
struct activity_edge {
    uint64_t tick;
    int32_t change;
};

struct activity_walk {
    const struct trace *trace;
    struct vec edges; /* struct activity_edge */
};

struct activity_part {
    const struct trace_thread *thread;
    struct vec edges;
    uint64_t on_since; /* it has a CPU since then */
    bool is_told;
};

static struct activity_walk *walk_of(const struct trace *trace)
{
    struct activity_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct activity_walk){trace, VEC_OF(struct activity_edge)};
    return trace__is_aggregated(trace) ? (free(walk), NULL) : walk;
}

static void *start(struct run *run)
{
    return walk_of(run->trace);
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    const struct activity_walk *walk = self;
    struct activity_part *part = memory__zeroed(1, sizeof *part);
    (void)lane;
    part->thread = trace__thread_at(walk->trace, thread);
    part->edges = VEC_OF(struct activity_edge);
    part->on_since = part->thread->start_tick;
    part->is_told = part->thread->life != NULL;
    return part;
}

static void push_time(struct activity_part *part, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    vec__push(&part->edges, &(struct activity_edge){from, 1});
    vec__push(&part->edges, &(struct activity_edge){to, -1});
}

static void event(void *self, const struct event *event)
{
    struct activity_part *part = self;
    struct off_cpu off = off_cpu__of(event);
    part->is_told = part->is_told || off_cpu__is_told(event);
    if (off.type != OFF_CPU_BLOCKED && off.type != OFF_CPU_PREEMPTED)
        return;
    push_time(part, part->on_since, off.begin);
    part->on_since = off.end > part->on_since ? off.end : part->on_since;
}

static void end(void *self)
{
    struct activity_part *part = self;
    push_time(part, part->on_since, part->thread->end_tick);
}

static void join(void *self, uint32_t thread, void *joined)
{
    struct activity_walk *walk = self;
    struct activity_part *part = joined;
    (void)thread;
    if (part->is_told)
        VEC_EACH (edge, &part->edges, struct activity_edge)
            vec__push(&walk->edges, edge);
    vec__free(&part->edges);
    free(part);
}

/* Who goes comes before who begins at the same tick. */
static int by_tick(const void *left, const void *right)
{
    const struct activity_edge *one = left, *other = right;
    int order = ORDER(one->tick, other->tick);
    return order ? order : ORDER(one->change, other->change);
}

static void *finish(void *self)
{
    struct activity_walk *walk = self;
    struct cpu_activity *activity = walk->edges.count ? memory__zeroed(1, sizeof *activity) : NULL;
    uint64_t service = 0, active = 0, single = 0, before = 0;
    int64_t now = 0;
    vec__sort(&walk->edges, by_tick);
    VEC_EACH (edge, &walk->edges, struct activity_edge) {
        uint64_t ticks = edge->tick - before;
        service += (uint64_t)now * ticks;
        active += now > 0 ? ticks : 0;
        single += now == 1 ? ticks : 0;
        before = edge->tick;
        now += edge->change;
        activity->most = now > activity->most ? (uint32_t)now : activity->most;
    }
    if (activity) {
        activity->service_ns = trace__ns(walk->trace, service);
        activity->active_ns = trace__ns(walk->trace, active);
        activity->single_ns = trace__ns(walk->trace, single);
    }
    vec__free(&walk->edges);
    free(walk);
    return activity;
}

const struct analysis activity_analysis = {.name = "activity",
                                           .walk = WALK_THREADS,
                                           .start = start,
                                           .thread = thread,
                                           .event = event,
                                           .end = end,
                                           .join = join,
                                           .finish = finish,
                                           .free = free};

static void take_thread(struct activity_walk *walk, uint32_t number)
{
    struct activity_part *part = thread(walk, 0, number);
    struct trace_cursor cursor;
    struct event told;
    trace_cursor__start(&cursor, walk->trace, part->thread);
    while (trace_cursor__next_fixed(&cursor, &told))
        event(part, &told);
    end(part);
    join(walk, number, part);
}

struct cpu_activity cpu_activity__of(const struct trace *trace)
{
    struct activity_walk *walk = walk_of(trace);
    for (uint32_t i = 0; walk && i < trace__threads(trace)->count; i++)
        take_thread(walk, i);
    struct cpu_activity *found = walk ? finish(walk) : NULL;
    struct cpu_activity activity = found ? *found : (struct cpu_activity){0};
    free(found);
    return activity;
}
