#include "analysis/sync/internal.h"

/* ---- objects --------------------------------------------------------------------------------- */

static uint32_t kind_of_lock(uint32_t how)
{
    return how == HEURT_LOCK_READ || how == HEURT_LOCK_RW_ANY ? HEURT_LOCK_WRITE : how;
}

static uint32_t new_object(struct sync_events *walk, uint32_t process, enum class_kind kind,
                           uint32_t lock, uint64_t address)
{
    struct object_state fresh = {
        .what = {process, kind, lock, address, .initialised_by = NOBODY},
        .owner = NOBODY,
        .abandoned = {.thread = NOBODY},
        .last = {.thread = NOBODY},
        .arrivals = VEC_OF(uint32_t),
    };
    vec__push(&walk->objects, &fresh);
    return (uint32_t)walk->objects.count - 1;
}

uint32_t object__of(struct sync_events *walk, const struct thread_state *thread,
                    enum class_kind kind, uint32_t lock, uint64_t address)
{
    uint32_t process = event__process_of_object(thread->serial, address);
    lock = kind == CLASS_LOCK ? kind_of_lock(lock) : 0;
    uint32_t both = (uint32_t)kind << 8 | lock;
    uint64_t hash = (address + both + ((uint64_t)process << 7)) * 0x9e3779b97f4a7c15ull;
    struct recent_object *recent = &walk->recent[hash >> 40 & (RECENT_OBJECTS - 1)];
    if (recent->object_and_1 && recent->address == address && recent->process == process &&
        recent->kind == both)
        return recent->object_and_1 - 1;
    uint64_t key[2] = {(uint64_t)process << 32 | both, address};
    uint64_t place = map__put(&walk->by_address, key, sizeof key, walk->objects.count);
    if (place == walk->objects.count)
        new_object(walk, thread->serial, kind, lock, address);
    *recent = (struct recent_object){address, process, both, (uint32_t)place + 1};
    return (uint32_t)place;
}

/* ---- who has what ---------------------------------------------------------------------------- */

static struct held_lock *held_of(const struct thread_state *thread, uint32_t object)
{
    for (size_t i = thread->held.count; i-- > 0;) {
        struct held_lock *held = VEC_AT(&thread->held, struct held_lock, i);
        if (held->object == object)
            return held;
    }
    return NULL;
}

static void drop_held(struct thread_state *thread, struct held_lock *held)
{
    struct held_lock *end = VEC_AT(&thread->held, struct held_lock, 0) + thread->held.count;
    for (; held + 1 < end; held++)
        *held = held[1];
    thread->held.count--;
}

static struct sync_event *tell_release(struct sync_events *walk, struct thread_state *thread,
                                       struct held_lock *held, uint64_t tick, uint64_t site,
                                       bool again)
{
    struct object_state *object = object_at(walk, held->object);
    struct sync_event *sync_event =
        sync_events__tell(walk, thread, SYNC_EVENT_RELEASED, held->object);
    sync_event->tick = tick;
    sync_event->site = site;
    sync_event->how = held->how;
    sync_event->since = held->since;
    sync_event->acquired_site = held->site;
    sync_event->paused = thread->paused - held->paused;
    sync_event->again = again;
    drop_held(thread, held);
    sync_event->held = (uint32_t)thread->held.count;
    if (object->owner == sync_event->thread)
        object->owner = NOBODY;
    object->last = (struct act){sync_event->thread, tick, site};
    return sync_event;
}

/* A release by a thread that has not got it is passed over when another has: it may be the one
 * before an acquisition that clocks of two CPUs put before it. */
void lock__given_up(struct sync_events *walk, struct thread_state *thread, uint32_t object,
                    uint64_t site, bool again)
{
    struct held_lock *held = held_of(thread, object);
    struct object_state *state = object_at(walk, object);
    if (held && (again || --held->depth == 0)) {
        tell_release(walk, thread, held, thread->steps.tick, site, again);
    } else if (!held && state->owner == NOBODY) {
        struct sync_event *sync_event =
            sync_events__tell(walk, thread, SYNC_EVENT_RELEASED, object);
        sync_event->site = site;
        sync_event->held = (uint32_t)thread->held.count;
        state->last = (struct act){sync_event->thread, sync_event->tick, site};
    }
}

/* Another thread has it: that its owner released it is not in the trace, or comes late. */
static void end_ownership(struct sync_events *walk, struct object_state *state, uint32_t object,
                          uint64_t tick)
{
    struct thread_state *owner = &walk->threads[state->owner];
    struct held_lock *held = held_of(owner, object);
    if (held)
        tell_release(walk, owner, held, tick, 0, false);
    state->owner = NOBODY;
}

struct sync_event *lock__taken(struct sync_events *walk, struct thread_state *thread,
                               uint32_t object, uint32_t how, uint64_t site)
{
    struct object_state *state = object_at(walk, object);
    struct held_lock *held = held_of(thread, object);
    uint32_t self = index_of(walk, thread);
    if (held) {
        held->depth++;
        return NULL;
    }
    if (state->owner != NOBODY)
        end_ownership(walk, state, object, thread->steps.tick);
    if (how == SYNC_EVENT_EXCLUSIVE)
        state->owner = self;
    state->abandoned.thread = NOBODY;
    struct sync_event *sync_event = sync_events__tell(walk, thread, SYNC_EVENT_ACQUIRED, object);
    sync_event->how = how;
    sync_event->site = site;
    sync_event->held = (uint32_t)thread->held.count;
    struct held_lock fresh = {object, how, 1, sync_event->tick, site, thread->paused};
    vec__push(&thread->held, &fresh);
    return sync_event;
}

bool lock__ends(struct sync_events *walk, struct thread_state *thread, uint64_t tick)
{
    if (!thread->held.count)
        return false;
    struct held_lock *held = VEC_AT(&thread->held, struct held_lock, thread->held.count - 1);
    uint32_t object = held->object;
    struct lock_holder abandoned = {index_of(walk, thread), held->site};
    tell_release(walk, thread, held, tick, 0, false)->at_end = true;
    object_at(walk, object)->abandoned = abandoned;
    return true;
}

void locks__lose(struct sync_events *walk, struct thread_state *thread)
{
    VEC_EACH (held, &thread->held, struct held_lock)
        object_at(walk, held->object)->owner = NOBODY;
    thread->held.count = 0;
}

/* False: it has not got it. */
static bool add_holder(const struct sync_events *walk, uint32_t thread, uint32_t object,
                       struct vec *holders)
{
    const struct held_lock *held = held_of(&walk->threads[thread], object);
    if (held)
        vec__push(holders, &(struct lock_holder){thread, held->site});
    return held;
}

void sync_events__holders(const struct sync_events *walk, uint32_t object, struct vec *holders)
{
    const struct object_state *state = object_at(walk, object);
    if (state->abandoned.thread != NOBODY)
        vec__push(holders, &state->abandoned);
    if (state->owner != NOBODY && add_holder(walk, state->owner, object, holders))
        return;
    for (uint32_t i = 0; i < walk->thread_count; i++)
        add_holder(walk, i, object, holders);
}

uint32_t sync_events__find(const struct sync_events *walk, uint32_t process, enum class_kind kind,
                           uint64_t address)
{
    uint64_t owner = event__process_of_object(process, address);
    uint64_t key[2] = {owner << 32 | (uint32_t)kind << 8, address};
    uint64_t place = map__get(&walk->by_address, key, sizeof key);
    return place == MAP_ABSENT ? SYNC_EVENT_NO_OBJECT : (uint32_t)place;
}
