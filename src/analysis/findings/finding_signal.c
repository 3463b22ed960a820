#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Handlers of signals interrupt what their threads do: what runs in them is known by the call
 * stacks, in which the handler returns to where the kernel has it return. */

/* The frame of the handler in which the class mostly runs; 0: in none. */
static uint64_t handler_of(const struct finder *finder, const struct profile_class *class)
{
    const struct vec *stacks = &class->what.stacks;
    const struct profile_stack *stack = stacks->count ? stacks->items : NULL;
    for (size_t i = 0; stack && i < stack->frame_count; i++) {
        const struct symbol *symbol =
            symbols__get(finder->symbols, stack->process, stack->frames[i]);
        if (symbol && strcmp(symbol->function, SYMBOL_SIGNAL_RETURN) == 0)
            return i ? stack->frames[i - 1] : class->what.at.address;
    }
    return 0;
}

static uint64_t sum_of(const struct finder *finder, const struct profile_class *class)
{
    uint64_t ns = 0;
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        ns += finder->findings->had_work[row->thread] ? row->sum_ns : 0;
    return ns;
}

/* Of the classes that run in one handler one has all the others in it. */
static bool is_outermost(const struct finder *finder, uint32_t place, uint64_t handler)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    uint64_t own_ns = sum_of(finder, class);
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *other = profile_class_at(finder->profile, i);
        uint64_t other_ns = sum_of(finder, other);
        if (i == place || other->what.is_aside != class->what.is_aside ||
            other->what.at.kind != CLASS_CALL || other->what.at.process != class->what.at.process ||
            other_ns < own_ns || (other_ns == own_ns && i > place))
            continue;
        if (handler_of(finder, other) == handler)
            return false;
    }
    return true;
}

static void add(struct finder *finder, uint32_t place)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    uint64_t *lost = memory__zeroed(finder->profile->threads.count, sizeof *lost);
    struct finding *finding = finder__add(finder, FINDING_SIGNAL);
    vec__push(&finding->classes, &place);
    finding->leader = place;
    finding->lost_ns = sum_of(finder, class);
    finding->place = program_frame__of_class(finder->symbols, &class->what);
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        lost[row->thread] = finder->findings->had_work[row->thread] ? row->sum_ns : 0;
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding__set_estimate(finder, finding, lost);
    finding->is_assumed = true; /* that it may be done elsewhere */
    finding__forget_gain_of_half(finder, finding);
    free(lost);
}

void finder__add_signals(struct finder *finder)
{
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        uint64_t handler = class->what.at.kind == CLASS_CALL ? handler_of(finder, class) : 0;
        if (handler && sum_of(finder, class) && is_outermost(finder, i, handler))
            add(finder, i);
    }
}
