#include "analysis/sync/sync_events.h"

#include "analysis/sync/internal.h"
#include "base/memory.h"

#include <stdlib.h>

struct sync_event *sync_events__tell(struct sync_events *walk, const struct thread_state *thread,
                                     enum sync_event_type type, uint32_t object)
{
    unsigned place = (walk->pending_first + walk->pending_count++) % PENDING_AT_MOST;
    walk->pending[place] = (struct sync_event){.type = type,
                                               .thread = index_of(walk, thread),
                                               .tick = thread->steps.tick,
                                               .object = object,
                                               .weight = 1,
                                               .by = NOBODY};
    return &walk->pending[place];
}

/* ---- threads --------------------------------------------------------------------------------- */

static uint32_t thread_of_serial(const struct sync_events *walk, uint64_t serial)
{
    const struct vec *threads = trace__threads(walk->trace);
    const struct trace_thread *found =
        VEC_FIND(threads, const struct trace_thread, serial, (uint32_t)serial);
    return found ? (uint32_t)(found - (const struct trace_thread *)threads->items) : NOBODY;
}

/* Who forked the process whose first thread this is. */
static struct act forker_of(const struct sync_events *walk, const struct thread_state *thread)
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

struct pthread_name *pthread__of(struct sync_events *walk, const struct thread_state *thread,
                                 uint64_t pthread)
{
    uint64_t key[2] = {thread->serial, pthread};
    uint64_t place = map__put(&walk->by_pthread, key, sizeof key, walk->pthreads.count);
    struct pthread_name fresh = {.thread = NOBODY};
    if (place == walk->pthreads.count)
        vec__push(&walk->pthreads, &fresh);
    return VEC_AT(&walk->pthreads, struct pthread_name, place);
}

/* step: its first one, a THREAD_START unless that was lost. */
static void start(struct sync_events *walk, struct thread_state *thread, const struct step *step)
{
    struct sync_event *sync_event =
        sync_events__tell(walk, thread, SYNC_EVENT_STARTED, SYNC_EVENT_NO_OBJECT);
    thread->started = true;
    if (step->id != HEURT_EVENT_THREAD_START)
        return;
    struct pthread_name *name = pthread__of(walk, thread, step->payload[0]);
    name->thread = sync_event->thread;
    struct act creator = {thread_of_serial(walk, step->payload[1]), sync_event->tick, 0};
    if (step->payload[1] == HEURT_NO_SERIAL)
        creator = forker_of(walk, thread);
    else if (name->to_begin-- > 0)
        creator.tick = name->created;
    if (creator.thread != NOBODY && creator.thread != sync_event->thread)
        sync_event__set_by(sync_event, &creator);
}

/* Mostly the new thread has begun before. */
static void created(struct sync_events *walk, const struct thread_state *thread,
                    const struct step *step)
{
    struct sync_event *sync_event =
        sync_events__tell(walk, thread, SYNC_EVENT_CREATED, SYNC_EVENT_NO_OBJECT);
    struct pthread_name *name = pthread__of(walk, thread, step->payload[1]);
    sync_event->site = HEURT_SITE_ADDRESS(step->payload[0]);
    name->to_begin++;
    name->created = sync_event->tick;
}

/* is_open: its end is not in the trace. */
static void end(struct sync_events *walk, struct thread_state *thread, bool is_open)
{
    waits__forget(walk, thread, is_open);
    thread->ended = true;
    thread->end_is_open = is_open;
    thread->end = thread->steps.tick;
    walk->ending = thread;
}

static void end_on(struct sync_events *walk)
{
    struct thread_state *thread = walk->ending;
    if (lock__ends(walk, thread, thread->end))
        return;
    struct sync_event *ended =
        sync_events__tell(walk, thread, SYNC_EVENT_ENDED, SYNC_EVENT_NO_OBJECT);
    ended->tick = thread->end;
    ended->is_open = thread->end_is_open;
    walk->ending = NULL;
}

static void forked(struct sync_events *walk, const struct thread_state *thread)
{
    uint64_t key = thread->serial;
    struct fork fork = {index_of(walk, thread), thread->steps.tick};
    uint64_t place = map__put(&walk->forks_of_process, &key, sizeof key, walk->forks.count);
    if (place == walk->forks.count)
        vec__push(&walk->forks, &fork);
    *VEC_AT(&walk->forks, struct fork, place) = fork;
}

/* ---- points ---------------------------------------------------------------------------------- */

static void signalled(struct sync_events *walk, struct thread_state *thread, enum class_kind kind,
                      const struct step *step)
{
    uint32_t object = object__of(walk, thread, kind, 0, step->payload[1]);
    struct sync_event *sync_event = sync_events__tell(walk, thread, SYNC_EVENT_SIGNALLED, object);
    sync_event->site = HEURT_SITE_ADDRESS(step->payload[0]);
    sync_event->how = kind == CLASS_CONDITION ? HEURT_SITE_HOW(step->payload[0]) : 0;
    object_at(walk, object)->last =
        (struct act){sync_event->thread, sync_event->tick, sync_event->site};
}

static void initialised(struct sync_events *walk, const struct thread_state *thread,
                        const struct step *step)
{
    static const struct {
        enum class_kind kind;
        uint32_t lock;
    } made[] = {
        [HEURT_OBJECT_MUTEX] = {CLASS_LOCK, HEURT_LOCK_MUTEX},
        [HEURT_OBJECT_RWLOCK] = {CLASS_LOCK, HEURT_LOCK_WRITE},
        [HEURT_OBJECT_SPIN] = {CLASS_LOCK, HEURT_LOCK_SPIN},
        [HEURT_OBJECT_CONDITION] = {CLASS_CONDITION, 0},
        [HEURT_OBJECT_SEMAPHORE] = {CLASS_SEMAPHORE, 0},
        [HEURT_OBJECT_BARRIER] = {CLASS_BARRIER, 0},
    };
    uint32_t what = HEURT_SITE_HOW(step->payload[0]);
    if (what >= sizeof made / sizeof made[0])
        return;
    uint32_t object = object__of(walk, thread, made[what].kind, made[what].lock, step->payload[1]);
    struct sync_object *known = &object_at(walk, object)->what;
    known->initialised_site = HEURT_SITE_ADDRESS(step->payload[0]);
    known->initialised_by = index_of(walk, thread);
    known->initial = step->payload[2];
}

static void take_weight(struct thread_state *thread, const struct step *step)
{
    uint32_t block = HEURT_SAMPLED_BLOCK(step->payload[0]);
    if (HEURT_SAMPLED_ID(step->payload[0]) == HEURT_EVENT_LOCK_ACQUIRED)
        thread->lock_weight = block;
    else if (HEURT_SAMPLED_ID(step->payload[0]) == HEURT_EVENT_SEMAPHORE_ACQUIRED)
        thread->semaphore_weight = block;
}

static void give_weight(struct sync_event *sync_event, uint32_t *weight)
{
    if (sync_event && *weight)
        sync_event->weight = *weight;
    *weight = 0;
}

static uint32_t lock_of(struct sync_events *walk, const struct thread_state *thread,
                        const struct step *step)
{
    return object__of(walk, thread, CLASS_LOCK, HEURT_LOCK_KIND(step->payload[0]),
                      step->payload[1]);
}

static void semaphore_acquired(struct sync_events *walk, struct thread_state *thread,
                               const struct step *step)
{
    uint32_t object = object__of(walk, thread, CLASS_SEMAPHORE, 0, step->payload[1]);
    struct sync_event *sync_event = sync_events__tell(walk, thread, SYNC_EVENT_ACQUIRED, object);
    sync_event->site = HEURT_SITE_ADDRESS(step->payload[0]);
    sync_event->held = (uint32_t)thread->held.count;
    give_weight(sync_event, &thread->semaphore_weight);
}

static void acquired(struct sync_events *walk, struct thread_state *thread, const struct step *step)
{
    uint32_t how = how_of_lock(HEURT_LOCK_KIND(step->payload[0]));
    struct sync_event *sync_event = lock__taken(walk, thread, lock_of(walk, thread, step), how,
                                                HEURT_SITE_ADDRESS(step->payload[0]));
    if (sync_event)
        sync_event->tried = HEURT_SITE_HOW(step->payload[0]) & HEURT_LOCK_TRIED;
    give_weight(sync_event, &thread->lock_weight);
}

/* It stands for none: those that were drawn stand for it, too. */
static void held(struct sync_events *walk, struct thread_state *thread, const struct step *step)
{
    uint32_t how = how_of_lock(HEURT_LOCK_KIND(step->payload[0]));
    struct sync_event *sync_event = lock__taken(walk, thread, lock_of(walk, thread, step), how,
                                                HEURT_SITE_ADDRESS(step->payload[0]));
    if (sync_event)
        sync_event->weight = 0;
}

static void take_point_at_site(struct sync_events *walk, struct thread_state *thread,
                               const struct step *step)
{
    uint64_t site = HEURT_SITE_ADDRESS(step->payload[0]);
    switch (step->id) {
    case HEURT_EVENT_LOCK_ACQUIRED:
        acquired(walk, thread, step);
        break;
    case HEURT_EVENT_LOCK_HELD:
        held(walk, thread, step);
        break;
    case HEURT_EVENT_LOCK_RELEASED:
        lock__given_up(walk, thread, lock_of(walk, thread, step), site, false);
        break;
    case HEURT_EVENT_LOCK_BUSY: {
        struct sync_event *sync_event =
            sync_events__tell(walk, thread, SYNC_EVENT_BUSY, lock_of(walk, thread, step));
        sync_event->site = site;
        sync_event->how = how_of_lock(HEURT_LOCK_KIND(step->payload[0]));
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

static void take_point(struct sync_events *walk, struct thread_state *thread,
                       const struct step *step)
{
    switch (step->id) {
    case HEURT_EVENT_THREAD_END:
        end(walk, thread, false);
        break;
    case HEURT_EVENT_THREAD_CREATED:
        created(walk, thread, step);
        break;
    case HEURT_EVENT_INITIALISED:
        initialised(walk, thread, step);
        break;
    case HEURT_EVENT_FORKED:
        forked(walk, thread);
        break;
    case HEURT_EVENT_CHANNEL:
        channel__told(walk, thread, step);
        break;
    case HEURT_EVENT_SAMPLED:
        take_weight(thread, step);
        break;
    case HEURT_EVENT_PAUSED:
        thread->paused += step->payload[0];
        break;
    case HEURT_EVENT_LOST:
        locks__lose(walk, thread);
        waits__forget(walk, thread, false);
        if (walk->details)
            sync_events__tell(walk, thread, SYNC_EVENT_LOST, SYNC_EVENT_NO_OBJECT);
        break;
    case HEURT_EVENT_UNWOUND: /* the wait it was in is gone */
        waits__forget(walk, thread, false);
        break;
    default:
        take_point_at_site(walk, thread, step);
    }
}

static enum component why_off(const struct step *step, enum off_phase phase)
{
    if (phase == OFF_RUNNABLE)
        return COMPONENT_RUNNABLE;
    return step->id == HEURT_EVENT_FAULT ? COMPONENT_PAGE_FAULT
                                         : off__component(HEURT_SITE_HOW(step->payload[0]));
}

static void off_step(struct sync_events *walk, struct thread_state *thread, const struct step *step)
{
    bool is_back = thread->steps.phase == OFF_ENDS;
    if (is_back && why_off(step, thread->steps.phase) != COMPONENT_RUNNABLE)
        thread->slept_since = step->tick;
    if (!is_back && !walk->details)
        return;
    struct sync_event *sync_event = sync_events__tell(
        walk, thread, is_back ? SYNC_EVENT_BACK : SYNC_EVENT_OFF, SYNC_EVENT_NO_OBJECT);
    sync_event->since = step->tick < sync_event->tick ? step->tick : sync_event->tick;
    sync_event->how = why_off(step, thread->steps.phase);
}

static void take_step(struct sync_events *walk, struct thread_state *thread)
{
    const struct step *step = step_thread__step(&thread->steps);
    if (!thread->started)
        start(walk, thread, step);
    if (thread->ended)
        return;
    if (step__is_off(step)) {
        off_step(walk, thread, step);
    } else if (step->id & 1) {
        wait__ends(walk, thread, step);
    } else if (wait__is_begun_by(step->id)) {
        wait__begins(walk, thread, step);
    } else {
        take_point(walk, thread, step);
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

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
    [HEURT_EVENT_LOCK_HELD] = 4,
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
    [HEURT_EVENT_INITIALISED] = 4,
    [HEURT_EVENT_FORKED] = 1,
    [HEURT_EVENT_UNWOUND] = 1,
    [HEURT_EVENT_LOST] = 1,
    [HEURT_EVENT_SAMPLED] = 2,
    [HEURT_EVENT_PAUSED] = 2,
    [HEURT_EVENT_OFF_CPU] = 3,
    [HEURT_EVENT_FAULT] = 2,
};

static const uint8_t wanted_details[STEPS_IDS] = {
    [HEURT_EVENT_IO] = 4,        [HEURT_EVENT_IO | 1] = 1,     [HEURT_EVENT_SLEEP] = 3,
    [HEURT_EVENT_SLEEP | 1] = 1, [HEURT_EVENT_MEMORY_MAP] = 4, [HEURT_EVENT_MEMORY_MAP | 1] = 1,
};

static const uint8_t wanted_messages[STEPS_IDS] = {
    [HEURT_EVENT_IO] = 4,
    [HEURT_EVENT_IO | 1] = 2,
    [HEURT_EVENT_CHANNEL] = 4,
};

static void choose_events(struct sync_events *walk, const struct sync_scope *scope)
{
    walk->details = scope->details;
    walk->messages = scope->messages;
    for (unsigned i = 0; i < STEPS_IDS; i++) {
        walk->wanted[i] = wanted_words[i] || !scope->details ? wanted_words[i] : wanted_details[i];
        if (scope->messages && wanted_messages[i])
            walk->wanted[i] = wanted_messages[i];
    }
    if (scope->no_locks)
        walk->wanted[HEURT_EVENT_LOCK_ACQUIRED] = walk->wanted[HEURT_EVENT_LOCK_RELEASED] =
            walk->wanted[HEURT_EVENT_LOCK_HELD] = 0;
}

static int by_tick(const void *a, const void *b)
{
    const struct left_thread *left = a, *right = b;
    return ORDER(left->tick, right->tick) ?: ORDER(left->thread, right->thread);
}

/* When the last thread of the process ended. */
static uint64_t end_of_process(const struct sync_events *walk, uint32_t serial)
{
    uint64_t last = 0;
    for (size_t i = 0; i < walk->thread_count; i++) {
        uint64_t tick = trace__thread_at(walk->trace, i)->end_tick;
        if (walk->threads[i].serial == serial && tick > last)
            last = tick;
    }
    return last;
}

static void find_left(struct sync_events *walk)
{
    uint64_t last = 0;
    uint32_t of_process = HEURT_NO_SERIAL;
    for (uint32_t i = 0; i < walk->thread_count; i++) {
        const struct thread_state *thread = &walk->threads[i];
        if (!thread->started || thread->ended)
            continue;
        uint64_t tick = trace__thread_at(walk->trace, i)->end_tick;
        if (thread->waits.depth && thread->serial != of_process) {
            of_process = thread->serial;
            last = end_of_process(walk, of_process);
        }
        tick = thread->waits.depth ? last : tick;
        struct left_thread row = {i, tick > thread->steps.tick ? tick : thread->steps.tick};
        vec__push(&walk->left, &row);
    }
    vec__sort(&walk->left, by_tick);
}

static void tell_left(struct sync_events *walk, const struct left_thread *left)
{
    struct thread_state *thread = &walk->threads[left->thread];
    thread->steps.tick = left->tick;
    end(walk, thread, true);
}

static bool go_on(struct sync_events *walk)
{
    if (walk->ending) {
        end_on(walk);
        return true;
    }
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

bool sync_events__next(struct sync_events *walk, struct sync_event *sync_event)
{
    while (!walk->pending_count) {
        if (!go_on(walk))
            return false;
    }
    *sync_event = walk->pending[walk->pending_first];
    walk->pending_first = (walk->pending_first + 1) % PENDING_AT_MOST;
    walk->pending_count--;
    return true;
}

struct sync_events *sync_events__start(const struct trace *trace)
{
    return sync_events__start_for(trace, &(struct sync_scope){0});
}

struct sync_events *sync_events__start_for(const struct trace *trace,
                                           const struct sync_scope *scope)
{
    struct sync_events *walk = memory__zeroed(1, sizeof *walk);
    choose_events(walk, scope);
    walk->trace = trace;
    walk->thread_count = trace__threads(trace)->count;
    walk->threads = memory__zeroed(walk->thread_count, sizeof *walk->threads);
    walk->objects = VEC_OF(struct object_state);
    walk->forks = VEC_OF(struct fork);
    walk->pthreads = VEC_OF(struct pthread_name);
    walk->left = VEC_OF(struct left_thread);
    walk->channels = channels__start();
    walk->recent = memory__zeroed(RECENT_OBJECTS, sizeof *walk->recent);
    steps__start(&walk->steps, walk->thread_count);
    for (uint32_t i = 0; i < walk->thread_count; i++) {
        struct thread_state *thread = &walk->threads[i];
        thread->serial = trace__serial_of(trace, i);
        thread->held = VEC_OF(struct held_lock);
        if ((!scope->left_out || !scope->left_out[i]) &&
            step_thread__start(&thread->steps, trace, i, walk->wanted))
            steps__add(&walk->steps, &thread->steps);
    }
    steps__order(&walk->steps);
    return walk;
}

void sync_events__free(struct sync_events *walk)
{
    if (!walk)
        return;
    for (size_t i = 0; i < walk->thread_count; i++) {
        step_thread__stop(&walk->threads[i].steps);
        vec__free(&walk->threads[i].held);
    }
    VEC_EACH (object, &walk->objects, struct object_state)
        vec__free(&object->arrivals);
    vec__free(&walk->objects);
    vec__free(&walk->forks);
    vec__free(&walk->pthreads);
    vec__free(&walk->left);
    map__free(&walk->by_address);
    map__free(&walk->by_pthread);
    map__free(&walk->forks_of_process);
    channels__free(&walk->channels);
    steps__free(&walk->steps);
    free(walk->threads);
    free(walk->recent);
    free(walk);
}

const struct sync_object *sync_events__object(const struct sync_events *walk, uint32_t object)
{
    return &object_at(walk, object)->what;
}

uint32_t sync_events__objects(const struct sync_events *walk)
{
    return (uint32_t)walk->objects.count;
}

const struct vec *sync_events__held(const struct sync_events *walk, uint32_t thread)
{
    return &walk->threads[thread].held;
}

uint64_t sync_events__paused(const struct sync_events *walk, uint32_t thread)
{
    return walk->threads[thread].paused - walk->threads[thread].paused_before_wait;
}
