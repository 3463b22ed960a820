#include "analysis/sync/parking.h"

struct parking_place {
    bool is_shared; /* several threads wait at one condition */
};

/* So many waits of one thread at a place were ended by another. */
struct parking_pass {
    uint32_t place, from, to;
    uint64_t count, ticks; /* ticks: they lasted */
};

/* Who waits for an object. */
struct parking_owner {
    bool is_known;
    uint32_t thread, place;
};

static struct parking_place *place_at(const struct parking *parking, uint32_t number)
{
    return VEC_AT(&parking->places, struct parking_place, number);
}

static uint32_t number_of(struct parking *parking, uint32_t process, uint64_t site)
{
    const uint64_t key[] = {process, site};
    uint64_t number = map__put(&parking->places_by_site, key, sizeof key, parking->places.count);
    if (number == parking->places.count)
        vec__push(&parking->places, &(struct parking_place){0});
    return (uint32_t)number;
}

static struct parking_owner *owner_of(struct parking *parking, uint32_t object)
{
    while (parking->owners.count <= object)
        vec__push(&parking->owners, &(struct parking_owner){0});
    return VEC_AT(&parking->owners, struct parking_owner, object);
}

static void count_pass(struct parking *parking, uint32_t place, uint32_t from, uint32_t to,
                       uint64_t ticks)
{
    const uint64_t key[] = {place, from, to};
    uint64_t number = map__put(&parking->passes_by_threads, key, sizeof key, parking->passes.count);
    if (number == parking->passes.count)
        vec__push(&parking->passes, &(struct parking_pass){place, from, to, 0, 0});
    struct parking_pass *pass = VEC_AT(&parking->passes, struct parking_pass, number);
    pass->count++;
    pass->ticks += ticks;
}

void parking__take(struct parking *parking, uint32_t process, const struct sync_event *event)
{
    uint32_t number = number_of(parking, process, event->site);
    struct parking_owner *owner = owner_of(parking, event->object);
    place_at(parking, number)->is_shared |= owner->is_known && owner->thread != event->thread;
    *owner = (struct parking_owner){true, event->thread, number};
    if (event->type != SYNC_EVENT_GAVE_UP && event->by != SYNC_EVENT_NOBODY)
        count_pass(parking, number, event->by, event->thread, sync_event__ticks(event));
}

/* How often the one to whom the turn was passed passed it back. */
static uint64_t passed_back(const struct parking *parking, const struct parking_pass *pass)
{
    const uint64_t key[] = {pass->place, pass->to, pass->from};
    uint64_t back = map__get(&parking->passes_by_threads, key, sizeof key);
    return back == MAP_ABSENT ? 0 : VEC_AT(&parking->passes, struct parking_pass, back)->count;
}

bool parking__passes_turns(const struct parking *parking, uint32_t object)
{
    if (object >= parking->owners.count)
        return false;
    const struct parking_owner *owner = VEC_AT(&parking->owners, struct parking_owner, object);
    if (!owner->is_known || place_at(parking, owner->place)->is_shared)
        return false;
    uint64_t waits = 0, turns = 0, ticks = 0;
    double turns_ticks = 0;
    VEC_EACH (pass, &parking->passes, struct parking_pass) {
        if (pass->place != owner->place || pass->to != owner->thread)
            continue;
        uint64_t back = passed_back(parking, pass);
        uint64_t passed = pass->count < back ? pass->count : back;
        waits += pass->count;
        turns += passed;
        ticks += pass->ticks;
        turns_ticks += (double)pass->ticks * (double)passed / (double)pass->count;
    }
    return turns >= PARKING_LEAST && turns >= waits / 2 && turns_ticks >= (double)ticks / 2;
}

struct parking parking__start(void)
{
    return (struct parking){.places = VEC_OF(struct parking_place),
                            .passes = VEC_OF(struct parking_pass),
                            .owners = VEC_OF(struct parking_owner)};
}

void parking__free(struct parking *parking)
{
    vec__free(&parking->places);
    vec__free(&parking->passes);
    vec__free(&parking->owners);
    map__free(&parking->places_by_site);
    map__free(&parking->passes_by_threads);
}
