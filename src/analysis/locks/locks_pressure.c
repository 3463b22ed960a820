/* locks_pressure.c: what is spent acquiring locks and running, by steps of time. */
#include "analysis/locks/internal.h"
#include "base/memory.h"

/* ---- the axis -------------------------------------------------------------------------------- */

/* The least of 1, 2, 5, 10, 20 … ns that divides the span into no more than STEPS_MOST steps, which
 * begin at its multiples. */
static uint64_t step_of(uint64_t from_ns, uint64_t to_ns)
{
    for (uint64_t power = 1;; power *= 10) {
        for (unsigned i = 0; i < 3; i++) {
            uint64_t step = power * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (power > UINT64_MAX / 100 || to_ns / step - from_ns / step < STEPS_MOST)
                return step;
        }
    }
}

static void range_of(const struct locks_walk *walk, uint64_t *from_ns, uint64_t *to_ns)
{
    const struct heurt_session *session = trace__session(walk->trace);
    uint64_t first = UINT64_MAX, last = session->end.tick;
    VEC_EACH (thread, trace__threads(walk->trace), struct trace_thread) {
        first = thread->start_tick < first ? thread->start_tick : first;
        last = thread->end_tick > last ? thread->end_tick : last;
    }
    first = first == UINT64_MAX ? session->start.tick : first;
    first = walk->from > first ? walk->from : first;
    last = walk->to < last ? walk->to : last;
    *from_ns = trace__since_start_ns(walk->trace, first);
    *to_ns = trace__since_start_ns(walk->trace, last > first ? last : first);
}

void axis__start(struct locks_walk *walk)
{
    struct axis *axis = &walk->axis;
    uint64_t from_ns, to_ns;
    range_of(walk, &from_ns, &to_ns);
    axis->step_ns = step_of(from_ns, to_ns);
    axis->from_ns = from_ns / axis->step_ns * axis->step_ns;
    axis->steps = to_ns / axis->step_ns - from_ns / axis->step_ns + 1;
    axis->bounds = memory__zeroed(axis->steps + 1, sizeof *axis->bounds);
    for (uint64_t i = 0; i <= axis->steps; i++)
        axis->bounds[i] = trace__tick(walk->trace, axis->from_ns + i * axis->step_ns);
    walk->acquiring = memory__zeroed(axis->steps, sizeof *walk->acquiring);
    walk->running = memory__zeroed(axis->steps, sizeof *walk->running);
}

/* Adds the ticks from since to until to the steps in which they were (sign −1: takes them off);
 * returns how many lay within the axis. */
static uint64_t spread_ticks(struct axis *axis, uint64_t *steps, uint64_t since, uint64_t until,
                             int sign)
{
    const uint64_t *bounds = axis->bounds;
    uint64_t spread = 0;
    if (since < bounds[0])
        since = bounds[0];
    if (until > bounds[axis->steps])
        until = bounds[axis->steps];
    while (axis->at + 1 < axis->steps && until > bounds[axis->at + 1])
        axis->at++;
    while (axis->at && until <= bounds[axis->at])
        axis->at--;
    for (uint64_t step = axis->at; until > since; step--) {
        uint64_t begin = bounds[step] > since ? bounds[step] : since;
        steps[step] += (until - begin) * (uint64_t)sign;
        spread += until - begin;
        until = begin;
    }
    return spread;
}

/* ---- waits ----------------------------------------------------------------------------------- */

void pressure__waited(struct locks_walk *walk, struct lock_state *state,
                      const struct sync_event *sync_event, uint64_t waited)
{
    uint64_t since = sync_event->since;
    if (!state->acquiring && walk->pressures < PRESSURES_MOST) {
        state->acquiring = memory__zeroed(walk->axis.steps, sizeof *state->acquiring);
        walk->pressures++;
    }
    if (state->acquiring)
        walk->spread += spread_ticks(&walk->axis, state->acquiring, since, since + waited, 1);
    if (state->kind == CLASS_LOCK)
        spread_ticks(&walk->axis, walk->acquiring, since, since + waited, 1);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Takes a time off what the thread ran, but for what is already taken off. */
static void take_off(struct locks_walk *walk, struct lock_thread *thread, uint64_t since,
                     uint64_t until)
{
    if (since < thread->away)
        since = thread->away;
    if (until <= since)
        return;
    thread->away = until;
    if (thread->passes)
        spread_ticks(&walk->axis, walk->running, since, until, -1);
}

static void ended(struct locks_walk *walk, const struct lock_thread *thread, uint64_t tick)
{
    uint64_t since = thread->started > walk->from ? thread->started : walk->from;
    uint64_t until = tick < walk->to ? tick : walk->to;
    if (!thread->passes || until <= since)
        return;
    walk->lifetimes += until - since;
    spread_ticks(&walk->axis, walk->running, since, until, 1);
}

void pressure__take(struct locks_walk *walk, const struct sync_event *sync_event)
{
    struct lock_thread *thread = &walk->threads[sync_event->thread];
    switch (sync_event->type) {
    case SYNC_EVENT_STARTED:
        thread->started = thread->away = sync_event->tick;
        break;
    case SYNC_EVENT_ENDED:
        ended(walk, thread, sync_event->tick);
        break;
    case SYNC_EVENT_WAITS:
        thread->waits = true;
        thread->since = sync_event->tick;
        break;
    case SYNC_EVENT_BACK: /* within a wait it is the wait's */
        take_off(walk, thread, sync_event->since,
                 thread->waits && thread->since < sync_event->tick ? thread->since
                                                                   : sync_event->tick);
        break;
    default:
        if (sync_event->since && sync_event->type != SYNC_EVENT_RELEASED) {
            thread->waits = false;
            take_off(walk, thread, sync_event->since, sync_event->tick);
        }
    }
}
