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
                      const struct encounter *encounter)
{
    uint64_t ticks = encounter->tick - encounter->since;
    ticks -= encounter->paused < ticks ? encounter->paused : ticks;
    turnstile->any_wait = true;
    if (turnstile->kind == CLASS_CONDITION)
        turnstile->mutex = encounters__object(walk->encounters, encounter->object)->mutex;
    turnstile->waited += ticks;
    turnstile__member(turnstile, encounter->thread)->waited += ticks;
    if (encounter->type != ENCOUNTER_GAVE_UP && encounter->by != ENCOUNTER_NOBODY)
        turnstile__member(turnstile, encounter->by)->ended += ticks;
}

void locks_idle__take(struct locks_walk *walk, struct lock_state *state,
                      const struct encounter *encounter)
{
    if (!may_be_idle(state))
        return;
    if (encounter->since)
        take_wait(walk, turnstile_of(state), encounter);
    if (state->kind != CLASS_SEMAPHORE)
        return;
    struct member *member = turnstile__member(turnstile_of(state), encounter->thread);
    member->taken += encounter->type == ENCOUNTER_ACQUIRED ? encounter->weight : 0;
    member->given += encounter->type == ENCOUNTER_SIGNALLED;
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
