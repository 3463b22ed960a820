#include "analysis/events/thread_acts.h"

static struct thread_act *tell(struct thread_acts *self, enum thread_act_type type)
{
    struct thread_act *act = &self->ahead[self->count++];
    *act = (struct thread_act){.type = type, .tick = self->tick, .event = self->event};
    return act;
}

/* ---- waits and calls ------------------------------------------------------------------------- */

static enum wait_type type_of_wait(uint32_t id)
{
    switch (id) {
    case HEURT_EVENT_LOCK_WAIT:
        return WAITS_FOR_LOCK;
    case HEURT_EVENT_CONDITION_WAIT:
        return WAITS_FOR_CONDITION;
    case HEURT_EVENT_BARRIER_WAIT:
        return WAITS_FOR_BARRIER;
    case HEURT_EVENT_SEMAPHORE_WAIT:
        return WAITS_FOR_SEMAPHORE;
    case HEURT_EVENT_SLEEP:
        return WAITS_IN_SLEEP;
    default:
        return wait__is_call(id) ? WAITS_IN_CALL : WAITS_FOR_OTHER;
    }
}

static bool is_shared(const struct event *event)
{
    return HEURT_SITE_HOW(event->payload[0]) == HEURT_LOCK_READ;
}

static void tell_site(struct thread_act *act, const struct event *event)
{
    act->site = HEURT_SITE_ADDRESS(event->payload[0]);
    act->how = HEURT_SITE_HOW(event->payload[0]);
}

static void forget_waits(struct thread_acts *self)
{
    if (self->waits.depth)
        tell(self, ACT_WAIT_UNSEEN);
    self->waits.depth = 0;
}

static void wait_begins(struct thread_acts *self)
{
    const struct event *event = self->event;
    if (self->waits.depth == OPEN_WAITS_MOST)
        forget_waits(self);
    if (!open_waits__begin(&self->waits, event->id))
        return;
    struct thread_act *act = tell(self, ACT_WAITS);
    act->wait = type_of_wait(event->id);
    act->shared = is_shared(event);
    act->object = event->words > 1 ? event->payload[1] : 0;
    tell_site(act, event);
    if (event->id == HEURT_EVENT_CONDITION_WAIT && event->words > 2)
        act->mutex = event->payload[2];
}

static void wait_ends(struct thread_acts *self)
{
    const struct event *event = self->event;
    uint32_t place = open_waits__find(&self->waits, event->id), id = self->waits.ids[0];
    if (!place)
        return;
    self->waits.depth = place - 1;
    if (place > 1)
        return;
    bool is_good = !wait__is_call(id) && wait__is_good(id, event->words, event->payload);
    tell(self, is_good ? ACT_GOT : ACT_CAME_BACK)->cost = COST_EVENT;
}

/* ---- points ---------------------------------------------------------------------------------- */

static void object_event(struct thread_acts *self, enum thread_act_type type)
{
    if (self->event->words < 2)
        return;
    struct thread_act *act = tell(self, type);
    act->object = self->event->payload[1];
    tell_site(act, self->event);
    act->shared = is_shared(self->event);
}

static void thread_starts(struct thread_acts *self)
{
    if (self->event->words < 3)
        return;
    struct thread_act *act = tell(self, ACT_STARTED);
    act->by = self->event->payload[1];
    act->routine = self->event->payload[2];
}

static void fixed_event(struct thread_acts *self)
{
    const struct event *event = self->event;
    switch (event->id) {
    case HEURT_EVENT_LOCK_ACQUIRED:
        object_event(self, ACT_ACQUIRED);
        break;
    case HEURT_EVENT_LOCK_HELD:
        object_event(self, ACT_HELD);
        if (event->words > 2 && self->count)
            self->ahead[self->count - 1].ticks = event->payload[2];
        break;
    case HEURT_EVENT_LOCK_RELEASED:
        object_event(self, ACT_RELEASED);
        break;
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        object_event(self, ACT_TOOK);
        break;
    case HEURT_EVENT_SEMAPHORE_POSTED:
        object_event(self, ACT_GAVE);
        break;
    case HEURT_EVENT_SAMPLED:
        tell(self, ACT_DRAWN)->weight = event->words ? HEURT_SAMPLED_BLOCK(event->payload[0]) : 0;
        break;
    case HEURT_EVENT_UNWOUND:
        forget_waits(self);
        tell(self, ACT_UNWOUND);
        break;
    case HEURT_EVENT_LOOP_LEFT:
        if (event->words)
            tell(self, ACT_LEFT)->id = (uint32_t)event->payload[0];
        break;
    case HEURT_EVENT_LOST:
        forget_waits(self);
        tell(self, ACT_LOST);
        break;
    case HEURT_EVENT_THREAD_START:
        thread_starts(self);
        break;
    case HEURT_EVENT_THREAD_END:
        self->ended = true;
        tell(self, ACT_ENDED);
        break;
    default:
        break;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* In a handler that interrupted a wait nothing is told of functions. */
static void function_event(struct thread_acts *self)
{
    if (self->waits.depth)
        return;
    if (self->event->id & 1)
        tell(self, ACT_LEFT)->id = self->event->id & ~1u;
    else
        tell(self, ACT_ENTERED);
}

/* What is told of times, or of no act. */
static bool is_record(uint32_t id)
{
    switch (id) {
    case HEURT_EVENT_OFF_CPU:
    case HEURT_EVENT_FAULT:
    case HEURT_EVENT_KERNEL:
    case HEURT_EVENT_KERNEL_LOST:
    case HEURT_EVENT_INSTRUCTIONS:
    case HEURT_EVENT_STACK:
    case HEURT_EVENT_PAUSED:
        return true;
    default:
        return false;
    }
}

/* In a wait, nobody is kept by what the kernel's records cost. */
static void take_record(struct thread_acts *self)
{
    uint32_t id = self->event->id;
    bool costs = id == HEURT_EVENT_OFF_CPU ||
                 (id == HEURT_EVENT_FAULT && self->event->words &&
                  HEURT_SITE_HOW(self->event->payload[0]) != HEURT_FAULT_COUNTED);
    if (costs && !self->waits.depth)
        tell(self, ACT_NOTHING)->cost = id == HEURT_EVENT_OFF_CPU ? COST_OFF_CPU : COST_FAULT;
}

static void take_event(struct thread_acts *self)
{
    const struct event *event = self->event;
    if (self->ended || is_record(event->id)) {
        take_record(self);
        return;
    }
    self->tick = event->tick > self->tick ? event->tick : self->tick;
    bool is_in_wait = self->waits.depth, ends = event->id & 1 && is_in_wait;
    bool is_of_wait = wait__is_begun_by(event->id & ~1u);
    bool is_function = event->id >= HEURT_EVENT_FUNCTIONS;
    if (is_function)
        function_event(self);
    else if (is_of_wait && ends)
        wait_ends(self);
    else if (is_of_wait && !(event->id & 1) && event->words)
        wait_begins(self);
    else
        fixed_event(self);
    bool costs = !is_function && !ends && !self->waits.depth;
    if (!self->count && (!is_in_wait || costs))
        tell(self, ACT_NOTHING);
    if (self->count)
        self->ahead[0].passes_time = !is_in_wait;
    if (costs)
        self->ahead[self->count - 1].cost = COST_EVENT;
}

void thread_acts__start(struct thread_acts *self, const struct trace_thread *thread)
{
    *self = (struct thread_acts){.tick = thread->start_tick};
}

void thread_acts__put(struct thread_acts *self, const struct event *event)
{
    self->event = event;
    self->first = self->count = 0;
    take_event(self);
}

bool thread_acts__next(struct thread_acts *self, struct thread_act *act)
{
    if (self->first == self->count)
        return false;
    *act = self->ahead[self->first++];
    return true;
}
