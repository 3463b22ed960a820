/* locks_idle.c: at which conditions and semaphores threads wait for work (turns.h). */
#include "analysis/locks/internal.h"
#include "base/memory.h"

#include <stdlib.h>

static bool may_be_idle(const struct lock_state *state)
{
    return state->kind == CLASS_CONDITION || state->kind == CLASS_SEMAPHORE;
}

static struct turnstile *turnstile_of(struct lock_state *state)
{
    if (!state->turnstile) {
        state->turnstile = memory__zeroed(1, sizeof *state->turnstile);
        *state->turnstile = turnstile__start(state->process, state->kind);
    }
    return state->turnstile;
}

static void take_wait(const struct locks_walk *walk, struct turnstile *turnstile,
                      const struct sync_event *sync_event)
{
    uint64_t ticks = sync_event->tick - sync_event->since;
    ticks -= sync_event->paused < ticks ? sync_event->paused : ticks;
    turnstile->any_wait = true;
    if (turnstile->kind == CLASS_CONDITION)
        turnstile->mutex = sync_events__object(walk->sync_events, sync_event->object)->mutex;
    turnstile->waited += ticks;
    turnstile__member(turnstile, sync_event->thread)->waited += ticks;
    if (sync_event->type != SYNC_EVENT_GAVE_UP && sync_event->by != SYNC_EVENT_NOBODY)
        turnstile__member(turnstile, sync_event->by)->ended += ticks;
}

void locks_idle__take(struct locks_walk *walk, struct lock_state *state,
                      const struct sync_event *sync_event)
{
    if (!may_be_idle(state))
        return;
    if (sync_event->since)
        take_wait(walk, turnstile_of(state), sync_event);
    if (state->kind != CLASS_SEMAPHORE)
        return;
    struct member *member = turnstile__member(turnstile_of(state), sync_event->thread);
    member->taken += sync_event->type == SYNC_EVENT_ACQUIRED ? sync_event->weight : 0;
    member->given += sync_event->type == SYNC_EVENT_SIGNALLED;
}

void locks_idle__find(struct locks_walk *walk)
{
    struct vec turnstiles = VEC_OF(struct turnstile *);
    VEC_EACH (state, &walk->states, struct lock_state) {
        if (state->turnstile)
            vec__push(&turnstiles, &state->turnstile);
    }
    turns__find(&turnstiles, walk->thread_count);
    vec__free(&turnstiles);
}

bool lock_state__is_idle(const struct lock_state *state)
{
    return state->turnstile && turnstile__is_idle(state->turnstile);
}

void locks_idle__free(struct lock_state *state)
{
    if (state->turnstile)
        turnstile__free(state->turnstile);
    free(state->turnstile);
}
