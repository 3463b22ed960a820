/* locks_sync.c: signals and barriers' rounds. */
#include "analysis/locks/internal.h"
#include "base/memory.h"

/* ---- signals --------------------------------------------------------------------------------- */

/* A signal is for nobody when all that wait have been signalled already. */
void lock_state__signalled(struct locks_walk *walk, struct lock_state *state,
                           const struct sync_event *sync_event)
{
    bool is_broadcast = sync_event->how == 1;
    bool for_nobody = state->waiting == state->woken;
    if (!for_nobody)
        state->woken = is_broadcast ? state->waiting : state->woken + 1;
    if (!is_in_time(walk, sync_event->tick) ||
        !locks_filter__counts(walk, state, sync_event->thread, sync_event->site, UINT64_MAX))
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

static void arrive(struct lock_state *state, const struct sync_event *sync_event)
{
    if (!state->round) {
        state->round = memory__zeroed(1, sizeof *state->round);
        state->round->arrivers = VEC_OF(struct arriver);
    }
    struct barrier_round *round = state->round;
    if (!round->any || round->number != sync_event->round) {
        round->any = true;
        round->number = sync_event->round;
        round->first = sync_event->tick;
    }
    round->last = sync_event->tick;
    round->last_arriver = sync_event->thread;
}

/* ---- waits ----------------------------------------------------------------------------------- */

void lock_state__awaited(struct lock_state *state, const struct sync_event *sync_event)
{
    state->waiting++;
    if (state->kind == CLASS_BARRIER)
        arrive(state, sync_event);
}

void lock_state__left(struct locks_walk *walk, struct lock_state *state,
                      const struct sync_event *sync_event)
{
    if (state->waiting)
        state->waiting--;
    if (sync_event->type != SYNC_EVENT_GAVE_UP && state->woken)
        state->woken--;
    if (state->woken > state->waiting)
        state->woken = state->waiting;
    if (sync_event->type == SYNC_EVENT_LEFT && state->round && state->round->any &&
        state->round->number == sync_event->round)
        end_round(walk, state);
}
