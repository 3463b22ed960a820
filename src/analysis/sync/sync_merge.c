#include "analysis/sync/sync_merge.h"

#include "base/heap.h"
#include "base/memory.h"

#include <stdlib.h>

/* ---- one thread ------------------------------------------------------------------------------ */

/* When the phase begins. */
static uint64_t phase_tick(const struct step *step, enum off_phase phase)
{
    if (phase == OFF_BEGINS)
        return step->tick;
    bool divides =
        step->id == HEURT_EVENT_OFF_CPU && HEURT_SITE_HOW(step->payload[0]) != HEURT_OFF_PREEMPTED;
    uint64_t runnable = divides ? HEURT_SITE_ADDRESS(step->payload[1]) : HEURT_NOT_KNOWN;
    if (phase == OFF_ENDS || runnable == HEURT_NOT_KNOWN)
        return step->end;
    return step->end - step->tick > runnable ? step->end - runnable : step->tick;
}

/* Puts the last step, which began so many ticks before its end, before the ones that are later than
 * its beginning. */
static void put_back_in_time(struct step_thread *thread, uint64_t ticks)
{
    uint32_t place = thread->count - 1;
    struct step step = thread->ahead[(thread->first + place) % STEPS_AHEAD];
    step.tick = step.end > ticks ? step.end - ticks : 0;
    for (; place; place--) {
        const struct step *other = &thread->ahead[(thread->first + place - 1) % STEPS_AHEAD];
        if (other->tick <= step.tick)
            break;
        thread->ahead[(thread->first + place) % STEPS_AHEAD] = *other;
    }
    thread->ahead[(thread->first + place) % STEPS_AHEAD] = step;
}

static inline void put_ahead(struct step_thread *thread, const struct event *event)
{
    struct step *step = &thread->ahead[(thread->first + thread->count++) % STEPS_AHEAD];
    step->tick = step->end = event->tick;
    step->id = event->id;
    step->words = event->words;
    for (uint32_t i = 0; i < event->words && i < STEP_WORDS; i++)
        step->payload[i] = event->payload[i];
    if (step__is_off(step))
        put_back_in_time(thread, HEURT_SITE_ADDRESS(step->payload[0]));
    else if (step->id == HEURT_EVENT_LOCK_HELD)
        put_back_in_time(thread, step->payload[2]);
}

static bool look_ahead(struct step_thread *thread)
{
    struct event event;
    while (thread->count < STEPS_AHEAD && trace_cursor__next_fixed(&thread->cursor, &event)) {
        uint8_t words = event.id < STEPS_IDS ? thread->wanted[event.id] : 0;
        if (words && event.words + 1 >= words)
            put_ahead(thread, &event);
    }
    return thread->count > 0;
}

/* To the time of the step that is next. Whatever the kernel tells, it was over before the events
 * behind it. */
static void set_tick(struct step_thread *thread)
{
    uint64_t tick = phase_tick(step_thread__step(thread), thread->phase);
    if (step__is_off(step_thread__step(thread)) && thread->count > 1) {
        uint64_t next = thread->ahead[(thread->first + 1) % STEPS_AHEAD].tick;
        tick = next < tick ? next : tick;
    }
    if (tick > thread->tick)
        thread->tick = tick;
}

bool step_thread__start(struct step_thread *thread, const struct trace *trace, uint32_t index,
                        const uint8_t wanted[STEPS_IDS])
{
    const struct trace_thread *row = trace__thread_at(trace, index);
    *thread = (struct step_thread){.wanted = wanted, .index = index, .tick = row->start_tick};
    trace_cursor__start(&thread->cursor, trace, row);
    if (!look_ahead(thread))
        return false;
    set_tick(thread);
    return true;
}

void step_thread__stop(struct step_thread *thread)
{
    trace_cursor__stop(&thread->cursor);
}

/* Goes on to the thread's next step. */
static bool advance(struct step_thread *thread)
{
    if (step__is_off(step_thread__step(thread)) && thread->phase < OFF_ENDS) {
        thread->phase++;
    } else {
        thread->first = (thread->first + 1) % STEPS_AHEAD;
        thread->count--;
        thread->phase = OFF_BEGINS;
        if (!look_ahead(thread))
            return false;
    }
    set_tick(thread);
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_before(struct step_thread *const *left, struct step_thread *const *right)
{
    const struct step_thread *a = *left, *b = *right;
    return a->tick < b->tick || (a->tick == b->tick && a->index < b->index);
}

HEAP_OF(heap, struct step_thread *, is_before)

void steps__start(struct steps *steps, size_t threads)
{
    *steps = (struct steps){.threads = memory__zeroed(threads, sizeof(struct step_thread *))};
}

void steps__free(struct steps *steps)
{
    free(steps->threads);
}

void steps__add(struct steps *steps, struct step_thread *thread)
{
    steps->threads[steps->count++] = thread;
}

void steps__order(struct steps *steps)
{
    heap__order(steps->threads, steps->count);
}

void steps__go_on(struct steps *steps)
{
    if (!advance(steps->threads[0]))
        steps->threads[0] = steps->threads[--steps->count];
    if (steps->count)
        heap__sink(steps->threads, steps->count, 0);
}
