/* kernel_cursor.c: a thread's own events, and between them what the kernel told of it, by time. */
#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>

/* ---- the events of a life -------------------------------------------------------------------- */

void life_cursor__start(struct life_cursor *cursor, const struct trace *trace,
                        const struct trace_life *life)
{
    *cursor = (struct life_cursor){
        .words = {.trace = trace,
                  .payload_words = event_payload_words,
                  .payload_ids = HEURT_EVENT_FUNCTIONS},
        .life = life,
    };
}

static bool go_to_part(struct life_cursor *cursor)
{
    struct trace_cursor *words = &cursor->words;
    if (cursor->next_part >= cursor->life->parts.count)
        return false;
    const struct life_part *part =
        VEC_AT(&cursor->life->parts, struct life_part, cursor->next_part++);
    if (!part->run) {
        trace_cursor__go_to(words, part->chunk);
        return true;
    }
    words->chunk = part->chunk;
    words->tick = part->run->tick;
    words->at = (const uint64_t *)(part->run + 1);
    words->end = (const uint64_t *)((const char *)part->run + part->run->bytes);
    return true;
}

bool life_cursor__next(struct life_cursor *cursor, struct event *event)
{
    while (!trace_cursor__next_in_chunk(&cursor->words, event))
        if (!go_to_part(cursor)) {
            trace_cursor__stop(&cursor->words);
            return false;
        }
    return true;
}

void life_cursor__stop(struct life_cursor *cursor)
{
    trace_cursor__stop(&cursor->words);
}

/* ---- the part of them that is the thread's --------------------------------------------------- */

enum { OFF_CPU_WORDS = CUT_WORDS, FAULT_WORDS = CUT_WORDS };

struct kernel_cursor {
    struct life_cursor life;
    uint64_t start, end; /* of the thread, ticks */
    uint64_t behind;     /* the trace's, which may be a part */
    uint64_t slack;      /* ticks that both clocks may differ by */
    /* The kernel's next event; given: it was handed out, and the one behind it is to be read. */
    struct event event;
    uint64_t begin; /* tick at which what it tells began */
    bool has, given;
    uint64_t first[1]; /* payload of KERNEL: the CPU */
    uint64_t clipped[CUT_WORDS];
    uint64_t parted[CUT_WORDS]; /* of what comes before a leave that was told late */
    struct event recorded;      /* the thread's own next event */
    bool has_recorded;
};

/* The clocks were read side by side, which is right to less than that. */
#define CLOCKS_DIFFER_NS 1000u

static bool is_known(const struct event *event)
{
    return (event->id == HEURT_EVENT_OFF_CPU && event->words == OFF_CPU_WORDS) ||
           (event->id == HEURT_EVENT_FAULT && event->words == FAULT_WORDS) ||
           event->id == HEURT_EVENT_KERNEL_LOST;
}

static uint64_t ticks_of(const struct event *event)
{
    uint64_t ticks =
        event->id == HEURT_EVENT_KERNEL_LOST ? 0 : HEURT_SITE_ADDRESS(event->payload[0]);
    return ticks < event->tick ? ticks : event->tick;
}

uint64_t event__cut(struct event *event, uint64_t start, uint64_t end, uint64_t words[CUT_WORDS])
{
    uint64_t begin = event->tick - ticks_of(event);
    if (event->id == HEURT_EVENT_KERNEL_LOST || (begin >= start && event->tick <= end))
        return begin;
    begin = begin > start ? begin : start;
    event->tick = event->tick < end ? event->tick : end;
    uint64_t ticks = event->tick > begin ? event->tick - begin : 0;
    for (uint32_t i = 0; i < event->words; i++)
        words[i] = event->payload[i];
    words[0] = HEURT_OFF(ticks, HEURT_SITE_HOW(event->payload[0]));
    uint64_t runnable = HEURT_SITE_ADDRESS(event->payload[1]);
    if (event->id == HEURT_EVENT_OFF_CPU && runnable != HEURT_NOT_KNOWN && runnable > ticks)
        words[1] = HEURT_BACK(ticks, HEURT_SITE_HOW(event->payload[1]));
    event->payload = words;
    return begin;
}

static void read_next(struct kernel_cursor *cursor)
{
    cursor->given = cursor->has = false;
    while (life_cursor__next(&cursor->life, &cursor->event)) {
        if (!is_known(&cursor->event))
            continue;
        cursor->begin = cursor->event.tick - ticks_of(&cursor->event);
        if (cursor->event.id == HEURT_EVENT_OFF_CPU && cursor->event.tick <= cursor->start)
            cursor->first[0] = HEURT_SITE_HOW(cursor->event.payload[1]);
        if (cursor->event.tick <= cursor->start)
            continue;
        if (cursor->begin >= cursor->end && cursor->event.tick > cursor->end)
            return;
        cursor->begin = event__cut(&cursor->event, cursor->start, cursor->end, cursor->clipped);
        cursor->has = true;
        return;
    }
}

struct kernel_cursor *kernel_cursor__new(const struct trace *trace,
                                         const struct trace_thread *thread)
{
    struct kernel_cursor *cursor = memory__zeroed(1, sizeof *cursor);
    life_cursor__start(&cursor->life, trace, thread->life);
    cursor->start = thread->start_tick;
    cursor->end = thread->end_tick;
    cursor->behind = trace->behind_tick;
    cursor->slack = trace__ticks(trace, CLOCKS_DIFFER_NS);
    /* Reading it twice is cheap, and tells the CPU on which the thread is when it starts. */
    read_next(cursor);
    life_cursor__stop(&cursor->life);
    life_cursor__start(&cursor->life, trace, thread->life);
    cursor->event = (struct event){
        .tick = cursor->start, .id = HEURT_EVENT_KERNEL, .words = 1, .payload = cursor->first};
    cursor->begin = cursor->start;
    cursor->has = true;
    return cursor;
}

void kernel_cursor__free(struct kernel_cursor *cursor)
{
    if (cursor)
        life_cursor__stop(&cursor->life);
    free(cursor);
}

/* ---- by time --------------------------------------------------------------------------------- */

/* Whether the kernel's event is the next one. Beside a span's leave at the same time, to the
 * exactness of the clocks, it comes first: it happened within the span. What happened in a pause of
 * the recording comes behind it: it is in no span. */
static bool is_kernels_turn(const struct kernel_cursor *cursor)
{
    const struct event *kernel = &cursor->event, *recorded = &cursor->recorded;
    if (!cursor->has || !cursor->has_recorded)
        return cursor->has;
    if (kernel->id != HEURT_EVENT_KERNEL && recorded->id == HEURT_EVENT_PAUSED && recorded->words &&
        recorded->payload[0] < recorded->tick)
        return kernel->tick <= recorded->tick - recorded->payload[0];
    if (recorded->id & 1)
        return cursor->begin < recorded->tick && kernel->tick <= recorded->tick + cursor->slack;
    return kernel->tick < recorded->tick;
}

/* Whether the thread's next event is a leave at a time at which it was off the CPU: it was told
 * when the thread was back, and what is off is of two waits, one after the other. */
static bool is_cut_by_leave(const struct kernel_cursor *cursor)
{
    const struct event *recorded = &cursor->recorded;
    return cursor->has && cursor->has_recorded && cursor->event.id == HEURT_EVENT_OFF_CPU &&
           recorded->id & 1 && recorded->tick > cursor->begin + cursor->slack &&
           recorded->tick + cursor->slack < cursor->event.tick;
}

/* The part of what is off that is before the leave; what is left is behind it. A thread that was
 * blocked wanted a CPU at the end of it. */
static struct event part_before_leave(struct kernel_cursor *cursor)
{
    struct event first = cursor->event;
    uint64_t how = HEURT_SITE_HOW(first.payload[0]), cpu = HEURT_SITE_HOW(first.payload[1]);
    uint64_t runnable = HEURT_SITE_ADDRESS(first.payload[1]), until = cursor->recorded.tick;
    uint64_t ticks = until - cursor->begin, left = first.tick - until;
    uint64_t wanted = runnable == HEURT_NOT_KNOWN || runnable < left ? runnable : left;
    uint64_t before = runnable == HEURT_NOT_KNOWN ? runnable : runnable - wanted;
    for (uint32_t i = 0; i < first.words; i++)
        cursor->parted[i] = cursor->clipped[i] = first.payload[i];
    cursor->parted[0] = HEURT_OFF(ticks, how);
    cursor->parted[1] = HEURT_BACK(before, cpu);
    cursor->clipped[0] = HEURT_OFF(left, how);
    cursor->clipped[1] = HEURT_BACK(wanted, cpu);
    cursor->event.payload = cursor->clipped;
    cursor->begin = first.tick = until;
    first.payload = cursor->parted;
    return first;
}

/* Before this tick is_kernels_turn is true of no recorded event. 0: it has to be asked. */
static uint64_t recorded_until(const struct kernel_cursor *cursor)
{
    if (cursor->given || cursor->has_recorded)
        return 0;
    if (!cursor->has)
        return cursor->behind;
    return cursor->begin > cursor->slack ? cursor->begin - cursor->slack : 0;
}

bool kernel_cursor__next(struct kernel_cursor *cursor, struct trace_cursor *recorded, bool taken,
                         struct event *event)
{
    if (cursor->given)
        read_next(cursor);
    if (taken)
        cursor->recorded = *event;
    else if (!cursor->has_recorded)
        taken = trace_cursor__next_recorded(recorded, &cursor->recorded);
    cursor->has_recorded |= taken;
    if (is_cut_by_leave(cursor)) {
        *event = part_before_leave(cursor);
        recorded->recorded_until = 0;
        return true;
    }
    bool is_kernels = is_kernels_turn(cursor), has = is_kernels || cursor->has_recorded;
    *event = is_kernels ? cursor->event : cursor->recorded;
    cursor->given = is_kernels;
    cursor->has_recorded &= is_kernels;
    recorded->recorded_until = recorded_until(cursor);
    return has;
}
