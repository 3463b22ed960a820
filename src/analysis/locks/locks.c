#include "analysis/locks/locks.h"

#include "analysis/analysis.h"
#include "analysis/locks/internal.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the walk -------------------------------------------------------------------------------- */

static void find_buckets(struct locks_walk *walk)
{
    unsigned bucket = 0;
    for (unsigned i = 1; i < LOCKS_BUCKETS; i++)
        walk->bucket_ticks[i] = trace__ticks(walk->trace, 1ull << i);
    for (unsigned i = 0; i < 64; i++) {
        while (bucket + 1 < LOCKS_BUCKETS && walk->bucket_ticks[bucket + 1] <= 1ull << i)
            bucket++;
        walk->first_bucket[i] = (uint8_t)(i ? bucket : 0);
    }
}

static struct lock_state *new_state(struct locks_walk *walk, uint32_t number)
{
    const struct sync_object *object = sync_events__object(walk->sync_events, number);
    struct lock_state fresh = {.kind = object->kind,
                               .process = object->process,
                               .passes = locks_filter__wants_object(walk, object),
                               .sites = VEC_OF(struct site_sums),
                               .pairs = VEC_OF(struct pair_sums),
                               .longest = VEC_OF(struct long_wait),
                               .releaser = SYNC_EVENT_NOBODY};
    walk->matched_locks += fresh.passes;
    return vec__push(&walk->states, &fresh);
}

static struct lock_state *state_of(struct locks_walk *walk, uint32_t object)
{
    while (object >= walk->states.count)
        new_state(walk, (uint32_t)walk->states.count);
    return VEC_AT(&walk->states, struct lock_state, object);
}

static void take_of_object(struct locks_walk *walk, const struct sync_event *sync_event)
{
    struct lock_state *state = state_of(walk, sync_event->object);
    switch (sync_event->type) {
    case SYNC_EVENT_ACQUIRED:
        lock_state__acquired(walk, state, sync_event);
        break;
    case SYNC_EVENT_RELEASED:
        lock_state__released(walk, state, sync_event);
        break;
    case SYNC_EVENT_WAITS:
        lock_state__awaited(state, sync_event);
        break;
    case SYNC_EVENT_BUSY:
        lock_state__busy(walk, state, sync_event);
        break;
    case SYNC_EVENT_SIGNALLED:
        lock_state__signalled(walk, state, sync_event);
        break;
    case SYNC_EVENT_GAVE_UP:
    case SYNC_EVENT_WOKEN:
    case SYNC_EVENT_LEFT:
        lock_state__wait_ended(walk, state, sync_event);
        break;
    default:
        break;
    }
}

static bool take(void *self, const struct sync_event *sync_event)
{
    struct locks_walk *walk = self;
    path__take(walk->path, sync_event);
    idle_waits__take(&walk->idle, walk->sync_events, sync_event);
    pressure__take(walk, sync_event);
    if (sync_event->object != SYNC_EVENT_NO_OBJECT)
        take_of_object(walk, sync_event);
    return true;
}

static void start(struct locks_walk *walk)
{
    walk->path = path__start(walk->trace, walk->sync_events, false);
    walk->idle = idle_waits__start();
    walk->states = VEC_OF(struct lock_state);
    walk->sites = memory__zeroed(CACHE_PLACES, sizeof *walk->sites);
    walk->pairs = memory__zeroed(CACHE_PLACES, sizeof *walk->pairs);
    lock_order__start(&walk->order);
    find_buckets(walk);
    axis__start(walk);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void free_state(struct lock_state *state)
{
    for (int i = 0; i < 2; i++) {
        free(state->sides[i].wait.buckets);
        free(state->sides[i].hold.buckets);
    }
    free(state->wake.buckets);
    free(state->spread.buckets);
    free(state->acquiring);
    vec__free(&state->sites);
    vec__free(&state->pairs);
    vec__free(&state->longest);
    if (state->round)
        vec__free(&state->round->arrivers);
    free(state->round);
}

static void free_walk(struct locks_walk *walk)
{
    for (size_t i = 0; i < walk->thread_count; i++)
        vec__free(&walk->threads[i].sections);
    VEC_EACH (state, &walk->states, struct lock_state)
        free_state(state);
    vec__free(&walk->states);
    lock_order__free(&walk->order);
    path__free(walk->path);
    idle_waits__free(&walk->idle);
    free(walk->threads);
    free(walk->sites);
    free(walk->pairs);
    free(walk->functions);
    free(walk->axis.bounds);
    free(walk->acquiring);
    free(walk->running);
    free(walk);
}

static void free_row(struct lock_row *row)
{
    vec__free(&row->sites);
    vec__free(&row->pairs);
    vec__free(&row->longest);
    free(row->acquiring_ns);
}

void locks__free(struct locks_result *result)
{
    if (!result)
        return;
    VEC_EACH (row, &result->rows, struct lock_row)
        free_row(row);
    VEC_EACH (inversion, &result->inversions, struct lock_inversion) {
        vec__free(&inversion->objects);
        vec__free(&inversion->sites);
        vec__free(&inversion->times);
    }
    VEC_EACH (warning, &result->warnings, char *)
        free(*warning);
    vec__free(&result->rows);
    vec__free(&result->inversions);
    vec__free(&result->checks);
    vec__free(&result->warnings);
    free(result->acquiring_ns);
    free(result->running_ns);
    free(result);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct locks_result *new_result(void)
{
    struct locks_result *result = memory__zeroed(1, sizeof *result);
    result->rows = VEC_OF(struct lock_row);
    result->inversions = VEC_OF(struct lock_inversion);
    result->checks = VEC_OF(struct locks_check);
    result->warnings = VEC_OF(char *);
    return result;
}

static void *start_walk(struct run *run)
{
    if (trace__is_aggregated(run->trace)) {
        run->code = error__set(&run->error, -ENOTSUP,
                               "the run was recorded with --aggregate, which keeps no single "
                               "events; record it without to see its locks");
        return NULL;
    }
    struct locks_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct locks_walk){.run = run,
                                .trace = run->trace,
                                .symbols = run->symbols,
                                .filter = run->options,
                                .sync_events = run->sync_events,
                                .thread_count = trace__threads(run->trace)->count};
    walk->threads = memory__zeroed(walk->thread_count + 1, sizeof *walk->threads);
    for (size_t i = 0; i < walk->thread_count; i++)
        walk->threads[i].sections = VEC_OF(struct section);
    run->code = locks_filter__start(walk, &run->error);
    if (run->code == 0) {
        start(walk);
        return walk;
    }
    free_walk(walk);
    return NULL;
}

static void *finish_walk(void *self)
{
    struct locks_walk *walk = self;
    struct locks_result *result = NULL;
    walk->run->code = locks_filter__check(walk, &walk->run->error);
    if (walk->run->code == 0) {
        idle_waits__find(&walk->idle, walk->thread_count);
        result = new_result();
        locks_audit__ticks(walk, result);
        locks_result__fill(walk, result);
    }
    free_walk(walk);
    return result;
}

static void free_result(void *result)
{
    locks__free(result);
}

const struct analysis locks_analysis = {.name = "locks",
                                        .walk = WALK_TIME,
                                        .start = start_walk,
                                        .sync = take,
                                        .finish = finish_walk,
                                        .free = free_result};
