#include "analysis/compare/difference.h"

#include "analysis/sync/sync_events.h"

#include <stdlib.h>

static bool ends_wait(const struct encounter *encounter)
{
    switch (encounter->type) {
    case ENCOUNTER_ACQUIRED:
    case ENCOUNTER_WOKEN:
    case ENCOUNTER_LEFT:
        return encounter->since && encounter->object != ENCOUNTER_NO_OBJECT;
    default:
        return false;
    }
}

static struct difference_wait *wait_of(struct vec *waits, const struct encounter_object *object,
                                       const struct encounter *encounter)
{
    VEC_EACH (wait, waits, struct difference_wait)
        if (wait->process == object->process && wait->kind == object->kind &&
            wait->object == object->address && wait->by == encounter->by &&
            wait->by_site == encounter->by_site)
            return wait;
    const struct difference_wait new = {.kind = object->kind,
                                        .process = object->process,
                                        .object = object->address,
                                        .by = encounter->by,
                                        .by_site = encounter->by_site};
    return vec__push(waits, &new);
}

static int by_time(const void *left, const void *right)
{
    const struct difference_wait *a = left, *b = right;
    return (a->wait_ns < b->wait_ns) - (a->wait_ns > b->wait_ns);
}

struct vec difference__waits(const struct trace *trace, uint32_t thread, uint64_t start,
                             uint64_t end)
{
    struct vec waits = VEC_OF(struct difference_wait);
    struct encounter encounter;
    struct encounters *walk = encounters__start(trace);
    while (encounters__next(walk, &encounter) && encounter.tick <= end) {
        if (encounter.thread != thread || encounter.since < start || !ends_wait(&encounter))
            continue;
        struct difference_wait *wait =
            wait_of(&waits, encounters__object(walk, encounter.object), &encounter);
        uint64_t ticks = encounter.tick - encounter.since;
        wait->waits++;
        wait->wait_ns += trace__ns(trace, ticks > encounter.paused ? ticks - encounter.paused : 0);
    }
    encounters__free(walk);
    if (waits.count)
        qsort(waits.items, waits.count, sizeof(struct difference_wait), by_time);
    return waits;
}
