/* replay_program_links.c: one walk over all threads: who ends whose wait, objects, latencies. */
#include "analysis/analysis.h"
#include "analysis/replay/internal.h"
#include "base/memory.h"

#include <stdlib.h>

/* A wait and what ended it. */
struct link {
    uint64_t by_tick;
    uint32_t by, waiter;
    size_t place; /* in the waiter's awaits */
};

#define SETTLE_NS 700       /* from the hook until futex(2) has seen that the lock is held, about */
#define PLACES_AT_MOST 1024 /* where locks are released; 24 KiB each and more */
#define SPELLS_ENOUGH 30
#define SHORTER 0.5 /* of spells: the longer ones may have met something else */
#define SAMPLES_ENOUGH 5

struct spell_bucket {
    uint32_t count;
    double sum, squares;
};

/* Durations of one kind. */
struct spells {
    uint64_t count;
    struct spell_bucket *buckets; /* HISTOGRAM_BUCKETS; NULL: none */
};

/* What the shorter ones of them come to. */
struct spell_sums {
    double count, mean, variance; /* of the mean */
};

/* A lock for which somebody waited. */
struct contended {
    struct vec waiters;  /* uint32_t: threads, the first to come first */
    uint32_t *woken;     /* from the release until who slept was on a CPU: a histogram */
    uint32_t *sleepless; /* waits without sleep: likewise */
};

/* Where a thread is. */
struct walk_thread {
    uint32_t waits_for;   /* lock; SYNC_EVENT_NO_OBJECT */
    uint64_t waits_since; /* or since it was last on a CPU in that wait */
    uint64_t back;        /* on a CPU, last */
    uint64_t woken;       /* the release that woke it since; 0: none */
    bool slept;           /* in that wait */
    uint32_t released;    /* the lock that it released last, nothing happened since */
    uint64_t release;     /* when */
    bool handed;          /* another one had it before */
    uint64_t acquired;    /* when it got the lock that it got last, nothing happened since */
    uint64_t release_site;
    bool has_woken; /* then */
};

/* Where a lock is released: sections before which the same thread had it, and another one had; what
 * follows them, unless the release woke somebody; what follows a release that did. */
struct lock_place {
    uint64_t site;
    struct spells sections[2], behind[2], waking;
};

/* What is found out about an object. */
struct object_info {
    struct contended *contended; /* locks; NULL: nobody ever waited */
    struct vec places;           /* struct lock_place; of locks */
    bool is_shared;              /* several threads had it */
    uint32_t last;               /* thread that had it, plus 1; 0: none yet */
    uint32_t *latency;           /* a histogram of wake-ups, HISTOGRAM_BUCKETS; NULL: none */
    int64_t level, least;        /* semaphores: posts less acquisitions, and the least of it */
    uint64_t round;              /* barriers: the one that is counted */
    uint32_t arrivals;           /* in it */
    uint32_t parties;            /* of the largest whole round */
};

struct link_walk {
    struct replay_program *program;
    struct sync_events *sync_events;
    struct vec links; /* struct link */
    struct vec info;  /* struct object_info, by the synchronisation events' objects */
    struct walk_thread *threads;
    uint32_t place_count;        /* of all locks */
    uint32_t *signalled;         /* latency of conditions and futexes: one histogram for all */
    uint32_t *woken, *sleepless; /* as of a lock, of all */
    uint64_t settle_ticks;
};

/* ---- latencies ------------------------------------------------------------------------------- */

static void count_latency(uint32_t **histogram, uint64_t ticks)
{
    if (!*histogram)
        *histogram = memory__zeroed(HISTOGRAM_BUCKETS, sizeof **histogram);
    (*histogram)[histogram__bucket(ticks)]++;
}

static uint64_t middle_of(unsigned bucket)
{
    uint64_t lower = histogram__lower(bucket);
    if (bucket + 1 == HISTOGRAM_BUCKETS)
        return lower;
    return lower + (histogram__lower(bucket + 1) - lower) / 2;
}

static uint64_t count_of(const uint32_t *histogram)
{
    uint64_t count = 0;
    for (unsigned i = 0; histogram && i < HISTOGRAM_BUCKETS; i++)
        count += histogram[i];
    return count;
}

/* The mean without the longest tenth, which had other reasons; 0: there is none. */
static uint64_t mean_of(const uint32_t *histogram)
{
    uint64_t count = count_of(histogram), left = count - (count + 7) / 10;
    double sum = 0;
    for (unsigned i = 0; left && i < HISTOGRAM_BUCKETS; i++) {
        uint64_t taken = histogram[i] < left ? histogram[i] : left;
        sum += (double)taken * (double)middle_of(i);
        left -= taken;
    }
    return count ? (uint64_t)(sum / (double)(count - (count + 7) / 10)) : 0;
}

/* ---- synchronisation events
 * ------------------------------------------------------------------------------ */

static struct object_info *info_of(struct link_walk *walk, uint32_t object)
{
    return VEC_REACH(&walk->info, struct object_info, object);
}

/* ---- locks: how long sleeping and waking take ------------------------------------------------ */

static struct contended *contended_of(struct link_walk *walk, uint32_t object)
{
    struct object_info *info = info_of(walk, object);
    if (!info->contended) {
        info->contended = memory__zeroed(1, sizeof *info->contended);
        info->contended->waiters = VEC_OF(uint32_t);
    }
    return info->contended;
}

static bool is_lock(const struct link_walk *walk, uint32_t object)
{
    return object != SYNC_EVENT_NO_OBJECT &&
           sync_events__object(walk->sync_events, object)->kind == CLASS_LOCK;
}

static void lock_wait_begins(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct walk_thread *thread = &walk->threads[sync_event->thread];
    thread->waits_for = sync_event->object;
    thread->waits_since = sync_event->tick;
    thread->woken = 0;
    thread->slept = false;
    vec__push(&contended_of(walk, sync_event->object)->waiters, &sync_event->thread);
}

static void lock_wait_ends(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct walk_thread *thread = &walk->threads[sync_event->thread];
    if (thread->waits_for == SYNC_EVENT_NO_OBJECT)
        return;
    struct contended *lock = contended_of(walk, thread->waits_for);
    size_t kept = 0;
    for (size_t i = 0; i < lock->waiters.count; i++) {
        uint32_t waiter = *VEC_AT(&lock->waiters, uint32_t, i);
        if (waiter != sync_event->thread)
            *VEC_AT(&lock->waiters, uint32_t, kept++) = waiter;
    }
    lock->waiters.count = kept;
    if (!thread->slept && sync_event->type == SYNC_EVENT_ACQUIRED) {
        count_latency(&lock->sleepless, sync_event->tick - thread->waits_since);
        count_latency(&walk->sleepless, sync_event->tick - thread->waits_since);
    }
    thread->waits_for = SYNC_EVENT_NO_OBJECT;
}

/* A release wakes the first one that had the time to fall asleep. */
static bool wakes(struct link_walk *walk, const struct contended *lock, uint64_t tick)
{
    VEC_EACH (index, &lock->waiters, uint32_t) {
        struct walk_thread *waiter = &walk->threads[*index];
        if (waiter->woken || tick < waiter->waits_since + walk->settle_ticks)
            continue;
        waiter->woken = tick;
        return true;
    }
    return false;
}

static void lock_released(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct walk_thread *thread = &walk->threads[sync_event->thread];
    struct contended *lock = info_of(walk, sync_event->object)->contended;
    bool has_woken = lock && wakes(walk, lock, sync_event->tick);
    if (sync_event->again)
        return;
    thread->released = sync_event->object;
    thread->release = sync_event->tick;
    thread->release_site = sync_event->site;
    thread->has_woken = has_woken;
    if (has_woken)
        vec__push(&walk->program->links[sync_event->thread].wakes, &sync_event->tick);
}

static void back(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct walk_thread *thread = &walk->threads[sync_event->thread];
    thread->released = SYNC_EVENT_NO_OBJECT;
    thread->acquired = 0;
    thread->back = sync_event->tick;
    if (thread->waits_for == SYNC_EVENT_NO_OBJECT || sync_event->how == COMPONENT_RUNNABLE ||
        sync_event->how == COMPONENT_PAGE_FAULT || sync_event->since < thread->waits_since)
        return;
    if (thread->woken && thread->woken < sync_event->tick) {
        struct contended *lock = contended_of(walk, thread->waits_for);
        count_latency(&lock->woken, sync_event->tick - thread->woken);
        count_latency(&walk->woken, sync_event->tick - thread->woken);
    }
    thread->slept = true;
    thread->waits_since = sync_event->tick;
    thread->woken = 0;
}

static void add_spell(struct spells *spells, uint64_t from, uint64_t to)
{
    double ticks = (double)(to - from);
    if (!spells->buckets)
        spells->buckets = memory__zeroed(HISTOGRAM_BUCKETS, sizeof *spells->buckets);
    struct spell_bucket *bucket = &spells->buckets[histogram__bucket(to - from)];
    spells->count++;
    bucket->count++;
    bucket->sum += ticks;
    bucket->squares += ticks * ticks;
}

/* NULL: nobody else had the lock yet, or there are too many places to look at. */
static struct lock_place *place_of(struct link_walk *walk, uint32_t object, uint64_t site)
{
    struct object_info *info = info_of(walk, object);
    struct vec *places = &info->places;
    if (!info->is_shared)
        return NULL;
    VEC_EACH (place, places, struct lock_place) {
        if (place->site == site)
            return place;
    }
    if (walk->place_count++ >= PLACES_AT_MOST)
        return NULL;
    *places = places->item_bytes ? *places : VEC_OF(struct lock_place);
    struct lock_place fresh = {.site = site};
    return vec__push(places, &fresh);
}

/* Something else happens on the thread: its work since it got or released a lock is known. */
static void spell_ends(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct walk_thread *thread = &walk->threads[sync_event->thread];
    struct lock_place *place = NULL;
    if (thread->acquired && sync_event->type == SYNC_EVENT_RELEASED)
        place = place_of(walk, sync_event->object, sync_event->site);
    if (place)
        add_spell(&place->sections[thread->handed], thread->acquired, sync_event->tick);
    thread->acquired = 0;
    if (thread->released == SYNC_EVENT_NO_OBJECT)
        return;
    place = place_of(walk, thread->released, thread->release_site);
    if (place)
        add_spell(thread->has_woken ? &place->waking : &place->behind[thread->handed],
                  thread->release, sync_event->tick);
    thread->released = SYNC_EVENT_NO_OBJECT;
}

static void lock_acquired(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct object_info *info = info_of(walk, sync_event->object);
    struct walk_thread *thread = &walk->threads[sync_event->thread];
    thread->handed = info->last && info->last != sync_event->thread + 1;
    thread->acquired = sync_event->tick;
    info->last = sync_event->thread + 1;
    info->is_shared |= thread->handed;
    if (thread->handed)
        vec__push(&walk->program->links[sync_event->thread].handed, &sync_event->tick);
}

/* Of the shortest, as large a part as is told. */
static struct spell_sums sums_of(const struct spells *spells, double part)
{
    double left = part * (double)spells->count, sum = 0, squares = 0, count = left;
    for (unsigned i = 0; left > 0 && i < HISTOGRAM_BUCKETS; i++) {
        const struct spell_bucket *bucket = &spells->buckets[i];
        double taken = left < bucket->count ? left / bucket->count : 1;
        sum += taken * bucket->sum;
        squares += taken * bucket->squares;
        left -= bucket->count;
    }
    double mean = sum / count;
    return (struct spell_sums){count, mean, (squares / count - mean * mean) / count};
}

/* How much longer some take, on average; 0: not certain. part: of the shortest of both. */
static double longer(const struct spells *some, const struct spells *others, double part)
{
    if (some->count < SPELLS_ENOUGH || others->count < SPELLS_ENOUGH)
        return 0;
    struct spell_sums first = sums_of(some, part), second = sums_of(others, part);
    double more = first.mean - second.mean, doubt = first.variance + second.variance;
    return more > 0 && more * more > 9 * doubt ? more : 0;
}

/* The mean over the places where it is released, by how often it is. */
static void model_costs(const struct object_info *info, struct replay_object *model)
{
    double handed = 0, behind = 0, waking = 0, handed_count = 0, waking_count = 0;
    VEC_EACH (place, &info->places, struct lock_place) {
        const struct spells *quiet = &place->behind[place->behind[0].count < SPELLS_ENOUGH];
        double count = (double)place->sections[1].count, woken = (double)place->waking.count;
        handed += count * longer(&place->sections[1], &place->sections[0], SHORTER);
        behind += count * longer(&place->behind[1], &place->behind[0], SHORTER);
        waking += woken * longer(&place->waking, quiet, 1);
        handed_count += count;
        waking_count += woken;
    }
    model->handed_ticks = handed_count > 0 ? (uint64_t)(handed / handed_count) : 0;
    model->behind_ticks = handed_count > 0 ? (uint64_t)(behind / handed_count) : 0;
    model->release_ticks = waking_count > 0 ? (uint64_t)(waking / waking_count) : 0;
}

/* ---- what threads do to each other ----------------------------------------------------------- */

static uint64_t latency_of(const struct sync_event *sync_event)
{
    return sync_event->tick > sync_event->by_tick ? sync_event->tick - sync_event->by_tick : 0;
}

/* The waiter waited for what the other one did at by_tick. */
static void add_link(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct vec *awaits = &walk->program->links[sync_event->thread].awaits;
    struct thread_link await = {.tick = sync_event->tick, .token = UINT32_MAX};
    if (sync_event->by != SYNC_EVENT_NOBODY && sync_event->by != sync_event->thread) {
        struct link link = {sync_event->by_tick, sync_event->by, sync_event->thread, awaits->count};
        vec__push(&walk->links, &link);
        count_latency(&walk->signalled, latency_of(sync_event));
    }
    vec__push(awaits, &await);
}

/* Only who sleeps in the call waits for it; the time from then on until it was on a CPU is known.
 */
static void received(struct link_walk *walk, const struct sync_event *event)
{
    struct vec *awaits = &walk->program->links[event->thread].awaits;
    const struct walk_thread *thread = &walk->threads[event->thread];
    struct thread_link await = {
        .tick = event->tick, .token = UINT32_MAX, .was_there = event->by_tick <= event->since};
    struct link link = {event->by_tick, event->by, event->thread, awaits->count};
    if (event->how && thread->back > event->by_tick)
        count_latency(&walk->signalled, thread->back - event->by_tick);
    vec__push(&walk->links, &link);
    vec__push(awaits, &await);
}

static void started(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct replay_program *program = walk->program;
    if (sync_event->by == SYNC_EVENT_NOBODY || sync_event->by == sync_event->thread)
        return;
    uint64_t tick = sync_event->by_tick < sync_event->tick ? sync_event->by_tick : sync_event->tick;
    struct thread_link post = {.tick = tick,
                               .token = (uint32_t)program->thread_count + sync_event->thread};
    vec__push(&program->links[sync_event->by].posts, &post);
    program->links[sync_event->thread].is_created = true;
}

static void joined(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct thread_link await = {.tick = sync_event->tick,
                                .token = sync_event->by}; /* its end is that token */
    vec__push(&walk->program->links[sync_event->thread].awaits, &await);
    if (sync_event->by != SYNC_EVENT_NOBODY)
        program__was_joined(walk->program, sync_event->by, sync_event->thread, sync_event->since);
}

static void acquired(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct object_info *info = info_of(walk, sync_event->object);
    if (sync_events__object(walk->sync_events, sync_event->object)->kind == CLASS_SEMAPHORE)
        info->level -= (int64_t)sync_event->weight;
    info->least = info->level < info->least ? info->level : info->least;
    if (sync_event->since && !sync_event->again && sync_event->by != SYNC_EVENT_NOBODY)
        count_latency(&info->latency, latency_of(sync_event));
}

static void left_barrier(struct link_walk *walk, const struct sync_event *sync_event)
{
    struct object_info *info = info_of(walk, sync_event->object);
    if (sync_event->round != info->round)
        info->arrivals = 0;
    info->round = sync_event->round;
    info->arrivals++;
    info->parties = info->arrivals > info->parties ? info->arrivals : info->parties;
    if (sync_event->by != SYNC_EVENT_NOBODY && sync_event->by != sync_event->thread)
        count_latency(&info->latency, latency_of(sync_event));
}

/* Its waits for locks and what it does after releasing them. */
static void take_timing(struct link_walk *walk, const struct sync_event *sync_event)
{
    if (sync_event->type == SYNC_EVENT_BACK) {
        back(walk, sync_event);
        return;
    }
    spell_ends(walk, sync_event);
    if (sync_event->type == SYNC_EVENT_WAITS && is_lock(walk, sync_event->object))
        lock_wait_begins(walk, sync_event);
    else if (sync_event->type == SYNC_EVENT_ACQUIRED || sync_event->type == SYNC_EVENT_GAVE_UP)
        lock_wait_ends(walk, sync_event);
    if (sync_event->type == SYNC_EVENT_ACQUIRED && is_lock(walk, sync_event->object))
        lock_acquired(walk, sync_event);
    else if (sync_event->type == SYNC_EVENT_RELEASED)
        lock_released(walk, sync_event);
}

static void take(struct link_walk *walk, const struct sync_event *sync_event)
{
    take_timing(walk, sync_event);
    switch (sync_event->type) {
    case SYNC_EVENT_STARTED:
        started(walk, sync_event);
        break;
    case SYNC_EVENT_WOKEN:
        add_link(walk, sync_event);
        break;
    case SYNC_EVENT_RECEIVED:
        received(walk, sync_event);
        break;
    case SYNC_EVENT_JOINED:
        joined(walk, sync_event);
        break;
    case SYNC_EVENT_ACQUIRED:
        acquired(walk, sync_event);
        break;
    case SYNC_EVENT_LEFT:
        left_barrier(walk, sync_event);
        break;
    case SYNC_EVENT_SIGNALLED:
        info_of(walk, sync_event->object)->level++;
        break;
    default:
        break;
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int by_act(const void *a, const void *b)
{
    const struct link *left = a, *right = b;
    if (left->by != right->by)
        return left->by < right->by ? -1 : 1;
    return left->by_tick < right->by_tick ? -1 : left->by_tick > right->by_tick;
}

static int by_tick(const void *a, const void *b)
{
    const struct thread_link *left = a, *right = b;
    return left->tick < right->tick ? -1 : left->tick > right->tick;
}

/* All that one act ended wait for one token. */
static void give_tokens(struct link_walk *walk)
{
    struct replay_program *program = walk->program;
    const struct link *before = NULL;
    uint32_t token = 2 * (uint32_t)program->thread_count;
    if (walk->links.count)
        qsort(walk->links.items, walk->links.count, sizeof(struct link), by_act);
    VEC_EACH (link, &walk->links, struct link) {
        if (!before || by_act(before, link) != 0) {
            struct thread_link post = {.tick = link->by_tick, .token = token++};
            vec__push(&program->links[link->by].posts, &post);
        }
        VEC_AT(&program->links[link->waiter].awaits, struct thread_link, link->place)->token =
            token - 1;
        before = link;
    }
    for (size_t i = 0; i < program->thread_count; i++) {
        struct vec *posts = &program->links[i].posts;
        if (posts->count)
            qsort(posts->items, posts->count, sizeof(struct thread_link), by_tick);
    }
    program->model.token_count = token;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Of the lock where it is known well enough, else of all. */
static uint64_t mean_or(const uint32_t *own, const uint32_t *all)
{
    return mean_of(count_of(own) >= SAMPLES_ENOUGH ? own : all);
}

/* Where the kernel told when waiters slept, how long they need to fall asleep and to be woken; else
 * what is known is only from the last release until the acquisition. */
static void model_lock(const struct link_walk *walk, const struct object_info *info,
                       struct replay_object *model)
{
    const struct contended *lock = info->contended;
    model_costs(info, model);
    if (model->spins || !lock || !walk->woken) {
        model->release_ticks = 0;
        return;
    }
    model->wake_ticks = mean_or(lock->woken, walk->woken);
    model->settle_ticks = mean_or(lock->sleepless, walk->sleepless);
    if (!model->settle_ticks)
        model->settle_ticks = walk->settle_ticks;
}

static bool model_of(const struct link_walk *walk, const struct sync_object *object,
                     const struct object_info *info, struct replay_object *model)
{
    *model = (struct replay_object){.wake_ticks = mean_of(info->latency)};
    switch (object->kind) {
    case CLASS_LOCK:
        model->kind = REPLAY_LOCK;
        model->spins = object->lock == HEURT_LOCK_SPIN;
        model_lock(walk, info, model);
        return true;
    case CLASS_SEMAPHORE:
        model->kind = REPLAY_SEMAPHORE;
        model->initial = (uint64_t)-info->least;
        return true;
    case CLASS_BARRIER:
        model->kind = REPLAY_BARRIER;
        model->parties = info->parties ? info->parties : 1;
        return true;
    default:
        return false;
    }
}

static void add_objects(struct link_walk *walk)
{
    struct replay_program *program = walk->program;
    for (uint32_t i = 0; i < sync_events__objects(walk->sync_events); i++) {
        const struct sync_object *object = sync_events__object(walk->sync_events, i);
        uint64_t key[3] = {object->process, object->kind, object->address};
        struct replay_object model;
        struct program_object row = {object->process, object->kind, object->address};
        if (!model_of(walk, object, info_of(walk, i), &model))
            continue;
        map__put(&program->places, key, sizeof key, program->objects.count);
        vec__push(&program->objects, &row);
        vec__push(&program->models, &model);
    }
    program->model.object_count = (uint32_t)program->objects.count;
    program->model.objects = program->models.items;
}

static void free_facts(struct object_info *info)
{
    free(info->latency);
    VEC_EACH (place, &info->places, struct lock_place) {
        for (unsigned i = 0; i < 2; i++) {
            free(place->sections[i].buckets);
            free(place->behind[i].buckets);
        }
        free(place->waking.buckets);
    }
    vec__free(&info->places);
    if (info->contended) {
        free(info->contended->woken);
        free(info->contended->sleepless);
        vec__free(&info->contended->waiters);
    }
    free(info->contended);
}

static void *start(struct run *run)
{
    struct replay_program *program = (void *)run__options(run, &rows_analysis);
    struct link_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct link_walk){.program = program,
                               .sync_events = run->sync_events,
                               .links = VEC_OF(struct link),
                               .info = VEC_OF(struct object_info)};
    walk->settle_ticks = program__ticks_of_ns(program, SETTLE_NS);
    walk->threads = memory__zeroed(program->thread_count, sizeof *walk->threads);
    for (size_t i = 0; i < program->thread_count; i++)
        walk->threads[i].waits_for = walk->threads[i].released = SYNC_EVENT_NO_OBJECT;
    return walk;
}

static bool take_event(void *self, const struct sync_event *sync_event)
{
    take(self, sync_event);
    return true;
}

static void *finish(void *self)
{
    struct link_walk *walk = self;
    give_tokens(walk);
    add_objects(walk);
    walk->program->model.token_ticks = mean_of(walk->signalled);
    VEC_EACH (info, &walk->info, struct object_info)
        free_facts(info);
    vec__free(&walk->info);
    vec__free(&walk->links);
    free(walk->signalled);
    free(walk->woken);
    free(walk->sleepless);
    free(walk->threads);
    free(walk);
    return NULL;
}

const struct analysis links_analysis = {.name = "links",
                                        .walk = WALK_TIME_MESSAGES,
                                        .start = start,
                                        .sync = take_event,
                                        .finish = finish};
