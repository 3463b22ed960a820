/* replay_program_links.c: one walk over all threads: who ends whose wait, objects, latencies. */
#include "analysis/replay_rows.h"
#include "base/memory.h"

#include <stdlib.h>

/* A wait and what ended it. */
struct link {
    uint64_t by_tick;
    uint32_t by, waiter;
    size_t place; /* in the waiter's awaits */
};

/* What is found out about an object. */
struct object_facts {
    uint32_t *latency;    /* a histogram of wake-ups, HISTOGRAM_BUCKETS; NULL: none */
    int64_t level, least; /* semaphores: posts less acquisitions, and the least of it */
    uint64_t round;       /* barriers: the one that is counted */
    uint32_t arrivals;    /* in it */
    uint32_t parties;     /* of the largest whole round */
};

struct link_walk {
    struct replay_program *program;
    struct encounters *encounters;
    struct vec links;    /* struct link */
    struct vec facts;    /* struct object_facts, by the encounters' objects */
    uint32_t *signalled; /* latency of conditions and futexes: one histogram for all */
};

/* ---- latencies ------------------------------------------------------------------------------ */

static void count_latency(uint32_t **histogram, uint64_t ticks)
{
    if (!*histogram)
        *histogram = memory__zeroed(HISTOGRAM_BUCKETS, sizeof **histogram);
    (*histogram)[histogram__bucket(ticks)]++;
}

/* 0 when there is none. */
static uint64_t median_of(const uint32_t *histogram)
{
    uint64_t count = 0, seen = 0;
    for (unsigned i = 0; histogram && i < HISTOGRAM_BUCKETS; i++)
        count += histogram[i];
    for (unsigned i = 0; count && i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram[i];
        if (seen * 2 >= count)
            return i + 1 < HISTOGRAM_BUCKETS
                       ? histogram__lower(i) + (histogram__lower(i + 1) - histogram__lower(i)) / 2
                       : histogram__lower(i);
    }
    return 0;
}

/* ---- encounters ------------------------------------------------------------------------------ */

static struct object_facts *facts_of(struct link_walk *walk, uint32_t object)
{
    while (walk->facts.count <= object)
        vec__push(&walk->facts, NULL);
    return VEC_AT(&walk->facts, struct object_facts, object);
}

static uint64_t latency_of(const struct encounter *encounter)
{
    return encounter->tick > encounter->by_tick ? encounter->tick - encounter->by_tick : 0;
}

/* The waiter waited for what the other one did at by_tick. */
static void add_link(struct link_walk *walk, const struct encounter *encounter)
{
    struct vec *awaits = &walk->program->links[encounter->thread].awaits;
    struct thread_link await = {encounter->tick, UINT32_MAX};
    if (encounter->by != ENCOUNTER_NOBODY && encounter->by != encounter->thread) {
        struct link link = {encounter->by_tick, encounter->by, encounter->thread, awaits->count};
        vec__push(&walk->links, &link);
        count_latency(&walk->signalled, latency_of(encounter));
    }
    vec__push(awaits, &await);
}

static void started(struct link_walk *walk, const struct encounter *encounter)
{
    struct replay_program *program = walk->program;
    if (encounter->by == ENCOUNTER_NOBODY || encounter->by == encounter->thread)
        return;
    uint64_t tick = encounter->by_tick < encounter->tick ? encounter->by_tick : encounter->tick;
    struct thread_link post = {tick, (uint32_t)program->thread_count + encounter->thread};
    vec__push(&program->links[encounter->by].posts, &post);
    program->links[encounter->thread].is_created = true;
}

static void joined(struct link_walk *walk, const struct encounter *encounter)
{
    struct thread_link await = {encounter->tick, encounter->by}; /* its end is that token */
    vec__push(&walk->program->links[encounter->thread].awaits, &await);
}

static void acquired(struct link_walk *walk, const struct encounter *encounter)
{
    struct object_facts *facts = facts_of(walk, encounter->object);
    if (encounters__object(walk->encounters, encounter->object)->kind == CLASS_SEMAPHORE)
        facts->level -= (int64_t)encounter->weight;
    facts->least = facts->level < facts->least ? facts->level : facts->least;
    if (encounter->since && !encounter->again && encounter->by != ENCOUNTER_NOBODY)
        count_latency(&facts->latency, latency_of(encounter));
}

static void left_barrier(struct link_walk *walk, const struct encounter *encounter)
{
    struct object_facts *facts = facts_of(walk, encounter->object);
    if (encounter->round != facts->round)
        facts->arrivals = 0;
    facts->round = encounter->round;
    facts->arrivals++;
    facts->parties = facts->arrivals > facts->parties ? facts->arrivals : facts->parties;
    if (encounter->by != ENCOUNTER_NOBODY && encounter->by != encounter->thread)
        count_latency(&facts->latency, latency_of(encounter));
}

static void take(struct link_walk *walk, const struct encounter *encounter)
{
    switch (encounter->type) {
    case ENCOUNTER_STARTED:
        started(walk, encounter);
        break;
    case ENCOUNTER_WOKEN:
        add_link(walk, encounter);
        break;
    case ENCOUNTER_JOINED:
        joined(walk, encounter);
        break;
    case ENCOUNTER_ACQUIRED:
        acquired(walk, encounter);
        break;
    case ENCOUNTER_LEFT:
        left_barrier(walk, encounter);
        break;
    case ENCOUNTER_SIGNALLED:
        facts_of(walk, encounter->object)->level++;
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
    VEC_EACH(link, &walk->links, struct link)
    {
        if (!before || by_act(before, link) != 0) {
            struct thread_link post = {link->by_tick, token++};
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

static bool model_of(const struct encounter_object *object, const struct object_facts *facts,
                     struct replay_object *model)
{
    *model = (struct replay_object){.wake_ticks = median_of(facts->latency)};
    switch (object->kind) {
    case CLASS_LOCK:
        model->kind = REPLAY_LOCK;
        model->spins = object->lock == HEURT_LOCK_SPIN;
        return true;
    case CLASS_SEMAPHORE:
        model->kind = REPLAY_SEMAPHORE;
        model->initial = (uint64_t)-facts->least;
        return true;
    case CLASS_BARRIER:
        model->kind = REPLAY_BARRIER;
        model->parties = facts->parties ? facts->parties : 1;
        return true;
    default:
        return false;
    }
}

static void add_objects(struct link_walk *walk)
{
    struct replay_program *program = walk->program;
    for (uint32_t i = 0; i < encounters__objects(walk->encounters); i++) {
        const struct encounter_object *object = encounters__object(walk->encounters, i);
        uint64_t key[3] = {object->process, object->kind, object->address};
        struct replay_object model;
        struct program_object row = {object->process, object->kind, object->address};
        if (!model_of(object, facts_of(walk, i), &model))
            continue;
        map__put(&program->places, key, sizeof key, program->objects.count);
        vec__push(&program->objects, &row);
        vec__push(&program->models, &model);
    }
    program->model.object_count = (uint32_t)program->objects.count;
    program->model.objects = program->models.items;
}

void program__find_links(struct replay_program *program)
{
    struct link_walk walk = {.program = program,
                             .encounters = encounters__start(program->trace),
                             .links = VEC_OF(struct link),
                             .facts = VEC_OF(struct object_facts)};
    struct encounter encounter;
    while (encounters__next(walk.encounters, &encounter))
        take(&walk, &encounter);
    give_tokens(&walk);
    add_objects(&walk);
    program->model.token_ticks = median_of(walk.signalled);
    VEC_EACH(facts, &walk.facts, struct object_facts)
    free(facts->latency);
    vec__free(&walk.facts);
    vec__free(&walk.links);
    free(walk.signalled);
    encounters__free(walk.encounters);
}
