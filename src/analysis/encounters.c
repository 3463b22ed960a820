#include "analysis/encounters.h"

#include "analysis/steps.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

#define WAITS_AT_MOST 4 /* of handlers that interrupted each other */
#define PENDING_AT_MOST 8
#define RECENT_OBJECTS 4096u
#define NOBODY ENCOUNTER_NOBODY

/* Who did something to an object last. */
struct act {
    uint32_t thread; /* NOBODY: nobody yet */
    uint64_t tick, site;
};

struct object_state {
    struct encounter_object what;
    uint32_t owner;      /* of a lock, exclusively; NOBODY: not known */
    struct act last;     /* released, signalled, posted, woken */
    uint64_t round;      /* of a barrier */
    struct vec arrivals; /* uint32_t: threads of that round */
};

struct thread_state {
    struct step_thread steps; /* first. Its tick: of its next step */
    uint32_t serial;          /* of the process */
    bool started, ended;
    struct vec held;                        /* struct held_lock */
    uint32_t waits[WAITS_AT_MOST];          /* ids of their enter events */
    uint32_t depth;                         /* of waits */
    struct encounter wait;                  /* the outermost one's WAITS */
    uint32_t mutex;                         /* of the condition; ENCOUNTER_NO_OBJECT: none */
    struct act ended_by;                    /* of a barrier: the last one of its round */
    uint64_t paused, paused_before_wait;    /* ticks */
    uint32_t lock_weight, semaphore_weight; /* of the acquisition that comes; 0: one */
    uint64_t end;                           /* tick at which it ended */
};

/* Where objects were found lately, so that most need no map. Direct-mapped. */
struct recent_object {
    uint64_t address;
    uint32_t process, kind, object_and_1;
};

struct fork {
    uint32_t thread; /* NOBODY: none yet */
    uint64_t tick;
};

struct encounters {
    const struct trace *trace;
    struct thread_state *threads; /* by trace__threads */
    size_t thread_count;
    struct steps steps;
    struct vec objects; /* struct object_state */
    struct map by_address;
    struct map by_pthread;       /* process and pthread_t -> place in pthreads */
    struct vec pthreads;         /* uint32_t: the last thread of that name */
    struct map forks_of_process; /* serial -> place in forks */
    struct vec forks;            /* struct fork: the last one of the process */
    struct recent_object *recent;
    struct encounter pending[PENDING_AT_MOST];
    unsigned pending_first, pending_count;
    struct vec left; /* struct left_thread: whose end is not in the trace, by its end */
    size_t left_told;
    bool all_read;
};

struct left_thread {
    uint32_t thread;
    uint64_t tick;
};

static uint32_t index_of(const struct encounters *walk, const struct thread_state *thread)
{
    return (uint32_t)(thread - walk->threads);
}

static struct object_state *object_at(const struct encounters *walk, uint32_t object)
{
    return VEC_AT(&walk->objects, struct object_state, object);
}

/* ---- what is told --------------------------------------------------------------------------- */

static struct encounter *tell(struct encounters *walk, const struct thread_state *thread,
                              enum encounter_type type, uint32_t object)
{
    unsigned place = (walk->pending_first + walk->pending_count++) % PENDING_AT_MOST;
    walk->pending[place] = (struct encounter){.type = type,
                                              .thread = index_of(walk, thread),
                                              .tick = thread->steps.tick,
                                              .object = object,
                                              .weight = 1,
                                              .by = NOBODY};
    return &walk->pending[place];
}

static void set_by(struct encounter *encounter, const struct act *act)
{
    encounter->by = act->thread;
    encounter->by_tick = act->tick;
    encounter->by_site = act->site;
}

/* ---- objects -------------------------------------------------------------------------------- */

static uint32_t kind_of_lock(uint32_t how)
{
    return how == HEURT_LOCK_MUTEX || how == HEURT_LOCK_SPIN ? how : HEURT_LOCK_WRITE;
}

static uint32_t new_object(struct encounters *walk, uint32_t process, enum class_kind kind,
                           uint32_t lock, uint64_t address)
{
    struct object_state fresh = {
        .what = {process, kind, lock, address, .initialised_by = NOBODY},
        .owner = NOBODY,
        .last = {.thread = NOBODY},
        .arrivals = VEC_OF(uint32_t),
    };
    vec__push(&walk->objects, &fresh);
    return (uint32_t)walk->objects.count - 1;
}

/* lock: of kind LOCK; else 0. */
static uint32_t object_of(struct encounters *walk, const struct thread_state *thread,
                          enum class_kind kind, uint32_t lock, uint64_t address)
{
    uint32_t process = thread->serial, both = (uint32_t)kind << 8 | lock;
    uint64_t hash = (address + both + ((uint64_t)process << 7)) * 0x9e3779b97f4a7c15ull;
    struct recent_object *recent = &walk->recent[hash >> 40 & (RECENT_OBJECTS - 1)];
    if (recent->object_and_1 && recent->address == address && recent->process == process &&
        recent->kind == both)
        return recent->object_and_1 - 1;
    uint64_t key[2] = {(uint64_t)process << 32 | both, address};
    uint64_t place = map__put(&walk->by_address, key, sizeof key, walk->objects.count);
    if (place == walk->objects.count)
        new_object(walk, process, kind, lock, address);
    *recent = (struct recent_object){address, process, both, (uint32_t)place + 1};
    return (uint32_t)place;
}

/* ---- who has what --------------------------------------------------------------------------- */

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

/* by: whose step it is that tells of it. */
static void tell_release(struct encounters *walk, struct thread_state *thread,
                         struct held_lock *held, uint64_t tick, uint64_t site, bool again)
{
    struct object_state *object = object_at(walk, held->object);
    struct encounter *encounter = tell(walk, thread, ENCOUNTER_RELEASED, held->object);
    encounter->tick = tick;
    encounter->site = site;
    encounter->how = held->how;
    encounter->since = held->since;
    encounter->acquired_site = held->site;
    encounter->again = again;
    drop_held(thread, held);
    encounter->held = (uint32_t)thread->held.count;
    if (object->owner == encounter->thread)
        object->owner = NOBODY;
    object->last = (struct act){encounter->thread, tick, site};
}

/* A release by a thread that has not got it is passed over when another has: it may be the one
 * before an acquisition that clocks of two CPUs put before it. */
static void release(struct encounters *walk, struct thread_state *thread, uint32_t object,
                    uint64_t site, bool again)
{
    struct held_lock *held = held_of(thread, object);
    struct object_state *state = object_at(walk, object);
    if (held && (again || --held->depth == 0)) {
        tell_release(walk, thread, held, thread->steps.tick, site, again);
    } else if (!held && state->owner == NOBODY) {
        struct encounter *encounter = tell(walk, thread, ENCOUNTER_RELEASED, object);
        encounter->site = site;
        encounter->held = (uint32_t)thread->held.count;
        state->last = (struct act){encounter->thread, encounter->tick, site};
    }
}

/* Another thread has it: that its owner released it is not in the trace, or comes late. */
static void end_ownership(struct encounters *walk, struct object_state *state, uint32_t object,
                          uint64_t tick)
{
    struct thread_state *owner = &walk->threads[state->owner];
    struct held_lock *held = held_of(owner, object);
    if (held)
        tell_release(walk, owner, held, tick, 0, false);
    state->owner = NOBODY;
}

static struct encounter *acquire(struct encounters *walk, struct thread_state *thread,
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
    if (how == ENCOUNTER_EXCLUSIVE)
        state->owner = self;
    struct encounter *encounter = tell(walk, thread, ENCOUNTER_ACQUIRED, object);
    encounter->how = how;
    encounter->site = site;
    encounter->held = (uint32_t)thread->held.count;
    struct held_lock fresh = {object, how, 1, encounter->tick, site};
    vec__push(&thread->held, &fresh);
    return encounter;
}

static uint32_t how_of_lock(uint32_t lock)
{
    return lock == HEURT_LOCK_READ ? ENCOUNTER_SHARED : ENCOUNTER_EXCLUSIVE;
}

/* ---- waits begin ---------------------------------------------------------------------------- */

static bool is_wait(uint32_t id)
{
    return id == HEURT_EVENT_LOCK_WAIT || id == HEURT_EVENT_CONDITION_WAIT ||
           id == HEURT_EVENT_BARRIER_WAIT || id == HEURT_EVENT_SEMAPHORE_WAIT ||
           id == HEURT_EVENT_JOIN || id == HEURT_EVENT_FUTEX_WAIT;
}

static uint32_t object_of_wait(struct encounters *walk, const struct thread_state *thread,
                               const struct step *step)
{
    uint64_t address = step->payload[1];
    switch (step->id) {
    case HEURT_EVENT_LOCK_WAIT:
        return object_of(walk, thread, CLASS_LOCK, kind_of_lock(HEURT_SITE_HOW(step->payload[0])),
                         address);
    case HEURT_EVENT_CONDITION_WAIT:
        return object_of(walk, thread, CLASS_CONDITION, 0, address);
    case HEURT_EVENT_BARRIER_WAIT:
        return object_of(walk, thread, CLASS_BARRIER, 0, address);
    case HEURT_EVENT_SEMAPHORE_WAIT:
        return object_of(walk, thread, CLASS_SEMAPHORE, 0, address);
    case HEURT_EVENT_FUTEX_WAIT:
        return object_of(walk, thread, CLASS_FUTEX, 0, address);
    default:
        return ENCOUNTER_NO_OBJECT;
    }
}

static void arrive(struct encounters *walk, struct thread_state *thread)
{
    struct object_state *barrier = object_at(walk, thread->wait.object);
    uint32_t self = index_of(walk, thread);
    vec__push(&barrier->arrivals, &self);
    thread->wait.round = barrier->round;
    thread->ended_by = (struct act){.thread = NOBODY};
}

/* The thread that a join waits for. */
static uint32_t joined_thread(const struct encounters *walk, const struct thread_state *thread,
                              uint64_t pthread)
{
    uint64_t key[2] = {thread->serial, pthread};
    uint64_t place = map__get(&walk->by_pthread, key, sizeof key);
    return place == MAP_ABSENT ? NOBODY : *VEC_AT(&walk->pthreads, uint32_t, place);
}

static void outermost_begins(struct encounters *walk, struct thread_state *thread,
                             const struct step *step)
{
    uint64_t site = HEURT_SITE_ADDRESS(step->payload[0]);
    uint32_t object = object_of_wait(walk, thread, step);
    thread->mutex = ENCOUNTER_NO_OBJECT;
    if (step->id == HEURT_EVENT_CONDITION_WAIT && step->words > 2 && step->payload[2]) {
        object_at(walk, object)->what.mutex = step->payload[2];
        thread->mutex = object_of(walk, thread, CLASS_LOCK, HEURT_LOCK_MUTEX, step->payload[2]);
        release(walk, thread, thread->mutex, site, true);
    }
    struct encounter *encounter = tell(walk, thread, ENCOUNTER_WAITS, object);
    encounter->site = site;
    if (step->id == HEURT_EVENT_LOCK_WAIT)
        encounter->how = how_of_lock(HEURT_SITE_HOW(step->payload[0]));
    if (step->id == HEURT_EVENT_JOIN)
        thread->ended_by.thread = joined_thread(walk, thread, step->payload[1]);
    thread->wait = *encounter;
    thread->paused_before_wait = thread->paused;
    if (step->id == HEURT_EVENT_BARRIER_WAIT)
        arrive(walk, thread);
    encounter->round = thread->wait.round;
}

/* ---- waits end ------------------------------------------------------------------------------ */

static struct encounter *tell_end(struct encounters *walk, struct thread_state *thread,
                                  enum encounter_type type)
{
    struct encounter *encounter = tell(walk, thread, type, thread->wait.object);
    encounter->site = thread->wait.site;
    encounter->how = thread->wait.how;
    encounter->since = thread->wait.tick;
    encounter->round = thread->wait.round;
    encounter->paused = thread->paused - thread->paused_before_wait;
    return encounter;
}

/* Of an acquisition that waited. */
static void fill_wait(struct encounter *encounter, const struct thread_state *thread,
                      const struct act *last)
{
    encounter->since = thread->wait.tick;
    encounter->paused = thread->paused - thread->paused_before_wait;
    if (last->thread != NOBODY && last->thread != encounter->thread &&
        last->tick > encounter->since)
        set_by(encounter, last);
}

static void lock_wait_ended(struct encounters *walk, struct thread_state *thread)
{
    struct act last = object_at(walk, thread->wait.object)->last;
    struct encounter *encounter =
        acquire(walk, thread, thread->wait.object, thread->wait.how, thread->wait.site);
    if (encounter)
        fill_wait(encounter, thread, &object_at(walk, thread->wait.object)->last);
    else /* recursive: the wait was none */
        fill_wait(tell_end(walk, thread, ENCOUNTER_GAVE_UP), thread, &last);
}

static void semaphore_wait_ended(struct encounters *walk, struct thread_state *thread)
{
    struct encounter *encounter = tell_end(walk, thread, ENCOUNTER_ACQUIRED);
    encounter->held = (uint32_t)thread->held.count;
    fill_wait(encounter, thread, &object_at(walk, thread->wait.object)->last);
}

static void end_round(struct encounters *walk, struct object_state *barrier)
{
    uint32_t last = *VEC_AT(&barrier->arrivals, uint32_t, barrier->arrivals.count - 1);
    const struct encounter *arrival = &walk->threads[last].wait;
    VEC_EACH(thread, &barrier->arrivals, uint32_t)
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

static void barrier_wait_ended(struct encounters *walk, struct thread_state *thread)
{
    struct object_state *barrier = object_at(walk, thread->wait.object);
    if (thread->wait.round == barrier->round)
        end_round(walk, barrier);
    set_by(tell_end(walk, thread, ENCOUNTER_LEFT), &thread->ended_by);
}

static void join_ended(struct encounters *walk, struct thread_state *thread)
{
    struct encounter *encounter = tell_end(walk, thread, ENCOUNTER_JOINED);
    uint32_t joined = thread->ended_by.thread;
    if (joined == NOBODY || joined == encounter->thread)
        return;
    const struct thread_state *other = &walk->threads[joined];
    encounter->by = joined;
    encounter->by_tick = other->ended ? other->end : encounter->tick;
}

/* It ended without what was waited for, or nobody knows how. */
static struct encounter *gave_up(struct encounters *walk, struct thread_state *thread)
{
    if (thread->waits[0] == HEURT_EVENT_BARRIER_WAIT) {
        struct object_state *barrier = object_at(walk, thread->wait.object);
        if (thread->wait.round == barrier->round)
            forget_arrival(barrier, index_of(walk, thread));
    }
    return tell_end(walk, thread, ENCOUNTER_GAVE_UP);
}

static bool is_good(const struct step *step, uint32_t id)
{
    if (!step->words)
        return false;
    int64_t result = (int64_t)step->payload[0];
    switch (id) {
    case HEURT_EVENT_LOCK_WAIT:
        return result == 0 || result == 130; /* EOWNERDEAD */
    case HEURT_EVENT_BARRIER_WAIT:
        return result == 0 || result == -1; /* PTHREAD_BARRIER_SERIAL_THREAD */
    default:
        return result == 0;
    }
}

static void good_end(struct encounters *walk, struct thread_state *thread)
{
    switch (thread->waits[0]) {
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
        fill_wait(tell_end(walk, thread, ENCOUNTER_WOKEN), thread,
                  &object_at(walk, thread->wait.object)->last);
        break;
    }
}

static void outermost_ends(struct encounters *walk, struct thread_state *thread,
                           const struct step *step)
{
    if (is_good(step, thread->waits[0]))
        good_end(walk, thread);
    else
        gave_up(walk, thread);
    if (thread->waits[0] != HEURT_EVENT_CONDITION_WAIT || thread->mutex == ENCOUNTER_NO_OBJECT)
        return;
    struct encounter *encounter =
        acquire(walk, thread, thread->mutex, ENCOUNTER_EXCLUSIVE, thread->wait.site);
    if (encounter)
        encounter->again = true;
}

static void forget_waits(struct encounters *walk, struct thread_state *thread)
{
    if (thread->depth)
        gave_up(walk, thread);
    thread->depth = 0;
}

static void wait_begins(struct encounters *walk, struct thread_state *thread,
                        const struct step *step)
{
    if (thread->depth == WAITS_AT_MOST)
        forget_waits(walk, thread); /* handlers left them by longjmp */
    thread->waits[thread->depth++] = step->id;
    if (thread->depth == 1)
        outermost_begins(walk, thread, step);
}

static void wait_ends(struct encounters *walk, struct thread_state *thread, const struct step *step)
{
    uint32_t place = thread->depth;
    while (place && thread->waits[place - 1] != (step->id & ~1u))
        place--;
    if (!place)
        return;
    if (place == 1)
        outermost_ends(walk, thread, step);
    thread->depth = place - 1;
}

/* ---- threads -------------------------------------------------------------------------------- */

static int by_serial(const void *key, const void *thread)
{
    uint32_t left = *(const uint32_t *)key, right = ((const struct trace_thread *)thread)->serial;
    return left < right ? -1 : left > right;
}

static uint32_t thread_of_serial(const struct encounters *walk, uint64_t serial)
{
    const struct vec *threads = trace__threads(walk->trace);
    uint32_t wanted = (uint32_t)serial;
    const struct trace_thread *found =
        bsearch(&wanted, threads->items, threads->count, sizeof *found, by_serial);
    return found ? (uint32_t)(found - (const struct trace_thread *)threads->items) : NOBODY;
}

/* Who forked the process whose first thread this is. */
static struct act forker_of(const struct encounters *walk, const struct thread_state *thread)
{
    struct act nobody = {.thread = NOBODY};
    const struct trace_process *process = trace__process_of(walk->trace, thread->serial);
    if (!process || process->parent_serial == HEURT_NO_SERIAL)
        return nobody;
    uint64_t key = process->parent_serial;
    uint64_t place = map__get(&walk->forks_of_process, &key, sizeof key);
    if (place == MAP_ABSENT)
        return nobody;
    const struct fork *fork = VEC_AT(&walk->forks, struct fork, place);
    return (struct act){fork->thread, fork->tick, 0};
}

/* step: its first one, a THREAD_START unless that was lost. */
static void start(struct encounters *walk, struct thread_state *thread, const struct step *step)
{
    struct encounter *encounter = tell(walk, thread, ENCOUNTER_STARTED, ENCOUNTER_NO_OBJECT);
    thread->started = true;
    if (step->id != HEURT_EVENT_THREAD_START)
        return;
    struct act creator = {thread_of_serial(walk, step->payload[1]), encounter->tick, 0};
    if (step->payload[1] == HEURT_NO_SERIAL)
        creator = forker_of(walk, thread);
    if (creator.thread != NOBODY && creator.thread != encounter->thread)
        set_by(encounter, &creator);
    uint64_t key[2] = {thread->serial, step->payload[0]};
    uint64_t place = map__put(&walk->by_pthread, key, sizeof key, walk->pthreads.count);
    if (place == walk->pthreads.count)
        vec__push(&walk->pthreads, &encounter->thread);
    *VEC_AT(&walk->pthreads, uint32_t, place) = encounter->thread;
}

static void end(struct encounters *walk, struct thread_state *thread)
{
    forget_waits(walk, thread);
    thread->ended = true;
    thread->end = tell(walk, thread, ENCOUNTER_ENDED, ENCOUNTER_NO_OBJECT)->tick;
}

static void forked(struct encounters *walk, const struct thread_state *thread)
{
    uint64_t key = thread->serial;
    struct fork fork = {index_of(walk, thread), thread->steps.tick};
    uint64_t place = map__put(&walk->forks_of_process, &key, sizeof key, walk->forks.count);
    if (place == walk->forks.count)
        vec__push(&walk->forks, &fork);
    *VEC_AT(&walk->forks, struct fork, place) = fork;
}

/* ---- points --------------------------------------------------------------------------------- */

static void signalled(struct encounters *walk, struct thread_state *thread, enum class_kind kind,
                      const struct step *step)
{
    uint32_t object = object_of(walk, thread, kind, 0, step->payload[1]);
    struct encounter *encounter = tell(walk, thread, ENCOUNTER_SIGNALLED, object);
    encounter->site = HEURT_SITE_ADDRESS(step->payload[0]);
    encounter->how = kind == CLASS_CONDITION ? HEURT_SITE_HOW(step->payload[0]) : 0;
    object_at(walk, object)->last =
        (struct act){encounter->thread, encounter->tick, encounter->site};
}

static void take_weight(struct thread_state *thread, const struct step *step)
{
    uint32_t block = HEURT_SAMPLED_BLOCK(step->payload[0]);
    if (HEURT_SAMPLED_ID(step->payload[0]) == HEURT_EVENT_LOCK_ACQUIRED)
        thread->lock_weight = block;
    else if (HEURT_SAMPLED_ID(step->payload[0]) == HEURT_EVENT_SEMAPHORE_ACQUIRED)
        thread->semaphore_weight = block;
}

static void give_weight(struct encounter *encounter, uint32_t *weight)
{
    if (encounter && *weight)
        encounter->weight = *weight;
    *weight = 0;
}

static uint32_t lock_of(struct encounters *walk, const struct thread_state *thread,
                        const struct step *step)
{
    return object_of(walk, thread, CLASS_LOCK, kind_of_lock(HEURT_SITE_HOW(step->payload[0])),
                     step->payload[1]);
}

static void semaphore_acquired(struct encounters *walk, struct thread_state *thread,
                               const struct step *step)
{
    uint32_t object = object_of(walk, thread, CLASS_SEMAPHORE, 0, step->payload[1]);
    struct encounter *encounter = tell(walk, thread, ENCOUNTER_ACQUIRED, object);
    encounter->site = HEURT_SITE_ADDRESS(step->payload[0]);
    encounter->held = (uint32_t)thread->held.count;
    give_weight(encounter, &thread->semaphore_weight);
}

static void point(struct encounters *walk, struct thread_state *thread, const struct step *step)
{
    uint64_t site = HEURT_SITE_ADDRESS(step->payload[0]);
    uint32_t how = HEURT_SITE_HOW(step->payload[0]);
    switch (step->id) {
    case HEURT_EVENT_LOCK_ACQUIRED:
        give_weight(acquire(walk, thread, lock_of(walk, thread, step), how_of_lock(how), site),
                    &thread->lock_weight);
        break;
    case HEURT_EVENT_LOCK_RELEASED:
        release(walk, thread, lock_of(walk, thread, step), site, false);
        break;
    case HEURT_EVENT_LOCK_BUSY: {
        struct encounter *encounter =
            tell(walk, thread, ENCOUNTER_BUSY, lock_of(walk, thread, step));
        encounter->site = site;
        encounter->how = how_of_lock(how);
        break;
    }
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        semaphore_acquired(walk, thread, step);
        break;
    case HEURT_EVENT_CONDITION_SIGNALLED:
        signalled(walk, thread, CLASS_CONDITION, step);
        break;
    case HEURT_EVENT_SEMAPHORE_POSTED:
        signalled(walk, thread, CLASS_SEMAPHORE, step);
        break;
    case HEURT_EVENT_FUTEX_WOKEN:
        signalled(walk, thread, CLASS_FUTEX, step);
        break;
    default:
        break;
    }
}

static void change(struct encounters *walk, struct thread_state *thread, const struct step *step)
{
    switch (step->id) {
    case HEURT_EVENT_THREAD_END:
        end(walk, thread);
        break;
    case HEURT_EVENT_THREAD_CREATED:
        tell(walk, thread, ENCOUNTER_CREATED, ENCOUNTER_NO_OBJECT)->site =
            HEURT_SITE_ADDRESS(step->payload[0]);
        break;
    case HEURT_EVENT_FORKED:
        forked(walk, thread);
        break;
    case HEURT_EVENT_SAMPLED:
        take_weight(thread, step);
        break;
    case HEURT_EVENT_PAUSED:
        thread->paused += step->payload[0];
        break;
    case HEURT_EVENT_LOST: /* releases may be among what was lost */
        VEC_EACH(held, &thread->held, struct held_lock)
        object_at(walk, held->object)->owner = NOBODY;
        thread->held.count = 0;
        forget_waits(walk, thread);
        break;
    case HEURT_EVENT_UNWOUND: /* the wait it was in is gone */
        forget_waits(walk, thread);
        break;
    default:
        point(walk, thread, step);
    }
}

static void tell_back(struct encounters *walk, const struct thread_state *thread,
                      const struct step *step)
{
    struct encounter *encounter = tell(walk, thread, ENCOUNTER_BACK, ENCOUNTER_NO_OBJECT);
    encounter->since = step->tick < encounter->tick ? step->tick : encounter->tick;
    encounter->how = step->id == HEURT_EVENT_FAULT
                         ? COMPONENT_PAGE_FAULT
                         : off__component(HEURT_SITE_HOW(step->payload[0]));
}

static void take_step(struct encounters *walk, struct thread_state *thread)
{
    const struct step *step = step_thread__step(&thread->steps);
    if (!thread->started)
        start(walk, thread, step);
    if (thread->ended)
        return;
    if (step__is_off(step)) {
        if (thread->steps.phase == OFF_ENDS)
            tell_back(walk, thread, step);
    } else if (step->id & 1) {
        wait_ends(walk, thread, step);
    } else if (is_wait(step->id)) {
        wait_begins(walk, thread, step);
    } else {
        change(walk, thread, step);
    }
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* By id: payload words that are needed, and 1. */
static const uint8_t wanted_words[STEPS_IDS] = {
    [HEURT_EVENT_THREAD_START] = 3,
    [HEURT_EVENT_THREAD_END] = 1,
    [HEURT_EVENT_THREAD_CREATED] = 3,
    [HEURT_EVENT_LOCK_WAIT] = 3,
    [HEURT_EVENT_LOCK_WAIT | 1] = 1,
    [HEURT_EVENT_LOCK_ACQUIRED] = 3,
    [HEURT_EVENT_LOCK_BUSY] = 3,
    [HEURT_EVENT_LOCK_RELEASED] = 3,
    [HEURT_EVENT_CONDITION_WAIT] = 3,
    [HEURT_EVENT_CONDITION_WAIT | 1] = 1,
    [HEURT_EVENT_CONDITION_SIGNALLED] = 3,
    [HEURT_EVENT_BARRIER_WAIT] = 3,
    [HEURT_EVENT_BARRIER_WAIT | 1] = 1,
    [HEURT_EVENT_SEMAPHORE_WAIT] = 3,
    [HEURT_EVENT_SEMAPHORE_WAIT | 1] = 1,
    [HEURT_EVENT_SEMAPHORE_ACQUIRED] = 3,
    [HEURT_EVENT_SEMAPHORE_POSTED] = 3,
    [HEURT_EVENT_JOIN] = 3,
    [HEURT_EVENT_JOIN | 1] = 1,
    [HEURT_EVENT_FUTEX_WAIT] = 3,
    [HEURT_EVENT_FUTEX_WAIT | 1] = 1,
    [HEURT_EVENT_FUTEX_WOKEN] = 3,
    [HEURT_EVENT_FORKED] = 1,
    [HEURT_EVENT_UNWOUND] = 1,
    [HEURT_EVENT_LOST] = 1,
    [HEURT_EVENT_SAMPLED] = 2,
    [HEURT_EVENT_PAUSED] = 2,
    [HEURT_EVENT_OFF_CPU] = 3,
    [HEURT_EVENT_FAULT] = 2,
};

static int by_tick(const void *a, const void *b)
{
    const struct left_thread *left = a, *right = b;
    if (left->tick != right->tick)
        return left->tick < right->tick ? -1 : 1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

/* When the last thread of the process ended. */
static uint64_t end_of_process(const struct encounters *walk, uint32_t serial)
{
    uint64_t last = 0;
    for (size_t i = 0; i < walk->thread_count; i++) {
        uint64_t tick = VEC_AT(trace__threads(walk->trace), struct trace_thread, i)->end_tick;
        if (walk->threads[i].serial == serial && tick > last)
            last = tick;
    }
    return last;
}

static void find_left(struct encounters *walk)
{
    uint64_t last = 0;
    uint32_t of_process = HEURT_NO_SERIAL;
    for (uint32_t i = 0; i < walk->thread_count; i++) {
        const struct thread_state *thread = &walk->threads[i];
        if (!thread->started || thread->ended)
            continue;
        uint64_t tick = VEC_AT(trace__threads(walk->trace), struct trace_thread, i)->end_tick;
        if (thread->depth && thread->serial != of_process) {
            of_process = thread->serial;
            last = end_of_process(walk, of_process);
        }
        tick = thread->depth ? last : tick;
        struct left_thread row = {i, tick > thread->steps.tick ? tick : thread->steps.tick};
        vec__push(&walk->left, &row);
    }
    if (walk->left.count)
        qsort(walk->left.items, walk->left.count, sizeof(struct left_thread), by_tick);
}

static void tell_left(struct encounters *walk, const struct left_thread *left)
{
    struct thread_state *thread = &walk->threads[left->thread];
    thread->steps.tick = left->tick;
    if (thread->depth)
        gave_up(walk, thread)->is_open = true;
    thread->depth = 0;
    end(walk, thread);
}

static bool go_on(struct encounters *walk)
{
    struct step_thread *earliest = steps__earliest(&walk->steps);
    if (earliest) {
        take_step(walk, (struct thread_state *)earliest);
        steps__go_on(&walk->steps);
        return true;
    }
    if (!walk->all_read)
        find_left(walk);
    walk->all_read = true;
    if (walk->left_told == walk->left.count)
        return false;
    tell_left(walk, VEC_AT(&walk->left, struct left_thread, walk->left_told++));
    return true;
}

bool encounters__next(struct encounters *walk, struct encounter *encounter)
{
    while (!walk->pending_count) {
        if (!go_on(walk))
            return false;
    }
    *encounter = walk->pending[walk->pending_first];
    walk->pending_first = (walk->pending_first + 1) % PENDING_AT_MOST;
    walk->pending_count--;
    return true;
}

struct encounters *encounters__start(const struct trace *trace)
{
    struct encounters *walk = memory__zeroed(1, sizeof *walk);
    bool has_kernel = trace__session(trace)->flags & HEURT_SESSION_KERNEL;
    walk->trace = trace;
    walk->thread_count = trace__threads(trace)->count;
    walk->threads = memory__zeroed(walk->thread_count, sizeof *walk->threads);
    walk->objects = VEC_OF(struct object_state);
    walk->forks = VEC_OF(struct fork);
    walk->pthreads = VEC_OF(uint32_t);
    walk->left = VEC_OF(struct left_thread);
    walk->recent = memory__zeroed(RECENT_OBJECTS, sizeof *walk->recent);
    steps__start(&walk->steps, walk->thread_count);
    for (uint32_t i = 0; i < walk->thread_count; i++) {
        const struct trace_thread *row = VEC_AT(trace__threads(trace), struct trace_thread, i);
        struct thread_state *thread = &walk->threads[i];
        thread->serial =
            VEC_AT(trace__processes(trace), struct trace_process, row->process)->serial;
        thread->held = VEC_OF(struct held_lock);
        if (step_thread__start(&thread->steps, trace, i, wanted_words, has_kernel))
            steps__add(&walk->steps, &thread->steps);
    }
    steps__order(&walk->steps);
    return walk;
}

void encounters__free(struct encounters *walk)
{
    if (!walk)
        return;
    for (size_t i = 0; i < walk->thread_count; i++) {
        step_thread__stop(&walk->threads[i].steps);
        vec__free(&walk->threads[i].held);
    }
    VEC_EACH(object, &walk->objects, struct object_state)
    vec__free(&object->arrivals);
    vec__free(&walk->objects);
    vec__free(&walk->forks);
    vec__free(&walk->pthreads);
    vec__free(&walk->left);
    map__free(&walk->by_address);
    map__free(&walk->by_pthread);
    map__free(&walk->forks_of_process);
    steps__free(&walk->steps);
    free(walk->threads);
    free(walk->recent);
    free(walk);
}

const struct encounter_object *encounters__object(const struct encounters *walk, uint32_t object)
{
    return &object_at(walk, object)->what;
}

uint32_t encounters__objects(const struct encounters *walk)
{
    return (uint32_t)walk->objects.count;
}

const struct vec *encounters__held(const struct encounters *walk, uint32_t thread)
{
    return &walk->threads[thread].held;
}
