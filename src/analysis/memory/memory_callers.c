/* In which recorded calls threads were when they were sampled at memory. */
#include "analysis/events/span_walk.h"
#include "analysis/memory/memory_views.h"
#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

struct asked_sample {
    uint32_t thread;
    uint64_t tick;
    size_t place; /* in use->at_memory */
};

struct callers_walk {
    struct span_taker taker; /* first: the walk gives this */
    const struct trace *trace;
    struct memory_callers *callers;
    struct map number_of; /* of a call: the one around it, and the function */
    struct vec asked;     /* struct asked_sample, by thread, then by tick */
    size_t *next;         /* by thread: the first that is not told yet */
    uint32_t *now;        /* by thread: in which call it is */
};

static int by_thread(const void *a, const void *b)
{
    const struct asked_sample *left = a, *right = b;
    return ORDER(left->thread, right->thread) ?: ORDER(left->tick, right->tick);
}

static void tell_until(struct callers_walk *walk, uint32_t thread, uint64_t tick)
{
    for (; walk->next[thread] < walk->asked.count; walk->next[thread]++) {
        const struct asked_sample *asked =
            VEC_AT(&walk->asked, struct asked_sample, walk->next[thread]);
        if (asked->thread != thread || asked->tick >= tick)
            return;
        walk->callers->call_of[asked->place] = walk->now[thread];
    }
}

static uint32_t call_in(struct callers_walk *walk, uint32_t around,
                        const struct trace_function *function)
{
    struct {
        const struct trace_function *function;
        uint64_t around;
    } key = {function, around};
    struct vec *calls = &walk->callers->calls;
    uint64_t number = map__put(&walk->number_of, &key, sizeof key, calls->count);
    if (number == calls->count)
        vec__push(calls, &(struct memory_call){function, around});
    return (uint32_t)number;
}

static void entered(struct span_taker *taker, uint32_t thread, uint64_t tick,
                    const struct event *event, const struct sync_object *object,
                    struct walked_span *span)
{
    struct callers_walk *walk = (struct callers_walk *)taker;
    const struct trace_thread *at = trace__thread_at(walk->trace, thread);
    const struct trace_function *function =
        trace_process__function(trace__process_at(walk->trace, at->process), event->id);
    (void)object;
    tell_until(walk, thread, tick);
    span->own[0] = (const void *)(uintptr_t)walk->now[thread];
    if (function)
        walk->now[thread] = call_in(walk, walk->now[thread], function);
}

static void left(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct walked_span *span, const struct span_cause *cause,
                 enum span_ending ending)
{
    struct callers_walk *walk = (struct callers_walk *)taker;
    (void)cause, (void)ending;
    tell_until(walk, thread, tick);
    walk->now[thread] = (uint32_t)(uintptr_t)span->own[0];
}

/* Sorted; marks whose they are. */
static struct vec asked_of(const struct trace *trace, const struct memory_use *use,
                           struct memory_choice choice, bool *chosen)
{
    struct vec asked = VEC_OF(struct asked_sample);
    for (size_t i = 0; i < use->at_memory.count; i++) {
        const struct memory_sample *at = VEC_AT(&use->at_memory, struct memory_sample, i);
        if (!memory_choice__has(&choice, at))
            continue;
        chosen[at->thread] = true;
        vec__push(&asked, &(struct asked_sample){at->thread, sample__tick(trace, at->sample), i});
    }
    vec__sort(&asked, by_thread);
    return asked;
}

struct memory_callers memory_callers__of(const struct trace *trace, const struct memory_use *use,
                                         struct memory_choice choice)
{
    struct memory_callers callers = {
        .calls = VEC_OF(struct memory_call),
        .call_of = memory__zeroed(use->at_memory.count + 1, sizeof *callers.call_of)};
    size_t threads = trace__threads(trace)->count;
    bool *chosen = memory__zeroed(threads + 1, sizeof *chosen);
    struct callers_walk walk = {.taker = {.entered = entered, .left = left},
                                .trace = trace,
                                .callers = &callers,
                                .asked = asked_of(trace, use, choice, chosen),
                                .next = memory__zeroed(threads + 1, sizeof *walk.next),
                                .now = memory__zeroed(threads + 1, sizeof *walk.now)};
    vec__push(&callers.calls, &(struct memory_call){NULL, MEMORY_NO_CALL});
    for (size_t i = walk.asked.count; i > 0; i--)
        walk.next[VEC_AT(&walk.asked, struct asked_sample, i - 1)->thread] = i - 1;
    span_walk__tell(trace, SPANS_BY_THREAD, chosen, &walk.taker);
    map__free(&walk.number_of);
    vec__free(&walk.asked);
    free(walk.next);
    free(walk.now);
    free(chosen);
    return callers;
}
