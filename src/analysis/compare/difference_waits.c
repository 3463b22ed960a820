#include "analysis/compare/difference.h"

#include "analysis/sync/sync_events.h"

#include <stdlib.h>

static bool ends_wait(const struct sync_event *sync_event)
{
    switch (sync_event->type) {
    case SYNC_EVENT_ACQUIRED:
    case SYNC_EVENT_WOKEN:
    case SYNC_EVENT_LEFT:
        return sync_event->since && sync_event->object != SYNC_EVENT_NO_OBJECT;
    default:
        return false;
    }
}

static struct difference_wait *wait_of(struct vec *waits, const struct sync_object *object,
                                       const struct sync_event *sync_event)
{
    VEC_EACH (wait, waits, struct difference_wait)
        if (wait->process == object->process && wait->kind == object->kind &&
            wait->object == object->address && wait->by == sync_event->by &&
            wait->by_site == sync_event->by_site)
            return wait;
    const struct difference_wait new = {.kind = object->kind,
                                        .process = object->process,
                                        .object = object->address,
                                        .by = sync_event->by,
                                        .by_site = sync_event->by_site};
    return vec__push(waits, &new);
}

static int by_time(const void *left, const void *right)
{
    const struct difference_wait *a = left, *b = right;
    return ORDER(b->wait_ns, a->wait_ns);
}

struct vec difference__waits(const struct trace *trace, uint32_t thread, uint64_t start,
                             uint64_t end)
{
    struct vec waits = VEC_OF(struct difference_wait);
    struct sync_event sync_event;
    struct sync_events *walk = sync_events__start(trace);
    while (sync_events__next(walk, &sync_event) && sync_event.tick <= end) {
        if (sync_event.thread != thread || sync_event.since < start || !ends_wait(&sync_event))
            continue;
        struct difference_wait *wait =
            wait_of(&waits, sync_events__object(walk, sync_event.object), &sync_event);
        uint64_t ticks = sync_event.tick - sync_event.since;
        wait->waits++;
        wait->wait_ns +=
            trace__ns(trace, ticks > sync_event.paused ? ticks - sync_event.paused : 0);
    }
    sync_events__free(walk);
    vec__sort(&waits, by_time);
    return waits;
}
