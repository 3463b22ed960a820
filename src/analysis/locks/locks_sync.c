/* locks_sync.c: signals and barriers' rounds. */
#include "analysis/locks/internal.h"
#include "base/memory.h"

/* ---- signals --------------------------------------------------------------------------------- */

/* A signal is for nobody when all that wait have been signalled already. */
void lock_state__signalled(struct locks_walk *walk, struct lock_state *state,
                           const struct encounter *encounter)
{
    bool is_broadcast = encounter->how == 1;
    bool for_nobody = state->waiting == state->woken;
    if (!for_nobody)
        state->woken = is_broadcast ? state->waiting : state->woken + 1;
    if (!is_in_time(walk, encounter->tick) ||
        !locks_filter__counts(walk, state, encounter->thread, encounter->site, UINT64_MAX))
        return;
    state->signals++;
    state->broadcasts += is_broadcast;
    state->signals_for_nobody += for_nobody && state->kind == CLASS_CONDITION;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void count_arriver(struct barrier_round *round)
{
    VEC_EACH (arriver, &round->arrivers, struct arriver) {
        if (arriver->thread == round->last_arriver) {
            arriver->rounds++;
            return;
        }
    }
    struct arriver fresh = {round->last_arriver, 1};
    vec__push(&round->arrivers, &fresh);
}

static void end_round(struct locks_walk *walk, struct lock_state *state)
{
    struct barrier_round *round = state->round;
    round->any = false;
    if (!is_in_time(walk, round->last) || !state->passes)
        return;
    state->rounds++;
    times__add(walk, &state->spread, round->last - round->first, 1);
    count_arriver(round);
}

static void arrive(struct lock_state *state, const struct encounter *encounter)
{
    if (!state->round) {
        state->round = memory__zeroed(1, sizeof *state->round);
        state->round->arrivers = VEC_OF(struct arriver);
    }
    struct barrier_round *round = state->round;
    if (!round->any || round->number != encounter->round) {
        round->any = true;
        round->number = encounter->round;
        round->first = encounter->tick;
    }
    round->last = encounter->tick;
    round->last_arriver = encounter->thread;
}

/* ---- waits ----------------------------------------------------------------------------------- */

void lock_state__awaited(struct lock_state *state, const struct encounter *encounter)
{
    state->waiting++;
    if (state->kind == CLASS_BARRIER)
        arrive(state, encounter);
}

void lock_state__left(struct locks_walk *walk, struct lock_state *state,
                      const struct encounter *encounter)
{
    if (state->waiting)
        state->waiting--;
    if (encounter->type != ENCOUNTER_GAVE_UP && state->woken)
        state->woken--;
    if (state->woken > state->waiting)
        state->woken = state->waiting;
    if (encounter->type == ENCOUNTER_LEFT && state->round && state->round->any &&
        state->round->number == encounter->round)
        end_round(walk, state);
}
