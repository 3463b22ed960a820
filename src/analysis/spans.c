#include "analysis/spans.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* An entered and not yet left function, region or wait. */
struct open_span {
    uint64_t start;
    struct class_entry *entry;
    uint32_t id;
    bool patched; /* a function, which an exception can leave */
    bool waited;  /* waits is valid; else all 0 */
    uint64_t waits[WAITS];
};

struct fold {
    struct class_table *table;
    const struct symbols *symbols;
    const struct trace_thread *thread;
    struct thread_result *result;
    struct function_table functions;
    struct open_span *spans;
    size_t depth, capacity;
    uint32_t index; /* of the thread */
    bool snapshot;  /* the event before was a STACK */
    uint64_t snapshot_tick;
};

/* ---- closing -------------------------------------------------------------------------------- */

/* Hands waits to what encloses the span that was just popped. */
static void pass_on(struct fold *fold, const uint64_t waits[WAITS])
{
    uint64_t *into = fold->result->waits;
    if (fold->depth) {
        struct open_span *parent = &fold->spans[fold->depth - 1];
        if (!parent->waited)
            memset(parent->waits, 0, sizeof parent->waits);
        parent->waited = true;
        into = parent->waits;
    }
    for (unsigned i = 0; i < WAITS; i++)
        into[i] += waits[i];
}

/* The parts of a function's duration. Where the clock stepped, waits that do not fit are cut. */
static void divide(uint64_t duration, const struct open_span *span, uint64_t components[COMPONENTS])
{
    uint64_t left = duration;
    for (unsigned i = 0; i < WAITS; i++) {
        uint64_t wait = span->waited ? span->waits[i] : 0;
        components[i] = wait < left ? wait : left;
        left -= components[i];
    }
    components[COMPONENT_REST] = left;
}

/* Pops the innermost span as an occurrence that ends at tick. */
static void close_finished(struct fold *fold, uint64_t tick)
{
    struct open_span *span = &fold->spans[--fold->depth];
    struct class_entry *entry = span->entry;
    uint64_t duration = tick > span->start ? tick - span->start : 0;
    uint64_t components[COMPONENTS] = {0};
    if (entry->component != COMPONENT_REST)
        components[entry->component] = duration; /* waits within it are part of it */
    else if (span->waited)
        divide(duration, span, components);
    else
        components[COMPONENT_REST] = duration;
    class_entry__add(entry, fold->index, duration, components, --entry->open > 0);
    if (entry->component != COMPONENT_REST || span->waited)
        pass_on(fold, components);
}

/* Pops the innermost span, whose end is not known. */
static void close_unfinished(struct fold *fold)
{
    struct open_span *span = &fold->spans[--fold->depth];
    span->entry->open--;
    span->entry->unfinished++;
    if (span->waited)
        pass_on(fold, span->waits);
}

/* Closes the span at place (from the bottom) at tick and what is open inside of it. */
static void close_at(struct fold *fold, size_t place, uint64_t tick)
{
    while (fold->depth > place + 1)
        close_unfinished(fold);
    close_finished(fold, tick);
}

static void leave(struct fold *fold, uint32_t id, uint64_t tick)
{
    for (size_t place = fold->depth; place-- > 0;) {
        if (fold->spans[place].id == id) {
            close_at(fold, place, tick);
            return;
        }
    }
    fold->result->unmatched++;
}

static void unwind(struct fold *fold, uint64_t tick)
{
    for (size_t place = fold->depth; place-- > 0;) {
        if (fold->spans[place].patched) {
            close_at(fold, place, tick);
            return;
        }
    }
}

/* Events are missing here: whatever is open may have ended. */
static void forget(struct fold *fold)
{
    while (fold->depth)
        close_unfinished(fold);
}

/* ---- opening -------------------------------------------------------------------------------- */

static void open_span(struct fold *fold, const struct event *event, struct class_entry *entry,
                      bool patched)
{
    if (fold->depth == fold->capacity) {
        fold->capacity = fold->capacity ? fold->capacity * 2 : 64;
        fold->spans = memory__resize(fold->spans, fold->capacity, sizeof *fold->spans);
    }
    struct open_span *span = &fold->spans[fold->depth++];
    span->start = event->tick;
    span->entry = entry;
    span->id = event->id;
    span->patched = patched;
    span->waited = false;
    entry->open++;
}

static void keep_stack(struct fold *fold, struct class_entry *entry)
{
    uint32_t process =
        VEC_AT(trace__processes(fold->table->trace), struct trace_process, fold->thread->process)
            ->serial;
    const uint64_t *frames;
    size_t count =
        symbols__get_stack(fold->symbols, fold->thread->serial, fold->snapshot_tick, &frames);
    if (!count)
        return;
    VEC_EACH(stack, &entry->stacks, struct class_stack)
    {
        if (stack->frame_count == count && !memcmp(stack->frames, frames, count * sizeof *frames)) {
            stack->snapshots++;
            return;
        }
    }
    struct class_stack stack = {frames, count, 1, process};
    vec__push(&entry->stacks, &stack);
}

/* Every event that belongs to a class comes through here. */
static void occur(struct fold *fold, struct class_entry *entry)
{
    if (fold->snapshot && fold->symbols)
        keep_stack(fold, entry);
    fold->snapshot = false;
}

static void function_event(struct fold *fold, const struct event *event)
{
    uint32_t id = event->id & ~1u;
    if (event->id & 1) {
        if (fold->depth && fold->spans[fold->depth - 1].id == id)
            close_finished(fold, event->tick);
        else
            leave(fold, id, event->tick);
        return;
    }
    size_t place = (id - HEURT_EVENT_FUNCTIONS) / 2;
    if (place >= fold->functions.count || !fold->functions.slots[place].function)
        return;
    struct function_slot *slot = &fold->functions.slots[place];
    struct class_entry *entry = slot->entry;
    if (!entry)
        entry = class_table__function(fold->table, fold->thread->process, slot, event);
    if (fold->snapshot)
        occur(fold, entry);
    open_span(fold, event, entry, slot->function->kind == HEURT_FUNCTION_PATCHED);
}

/* ---- events with fixed ids ------------------------------------------------------------------ */

static void enter_call(struct fold *fold, const struct event *event)
{
    struct class_entry *entry = class_table__call(fold->table, fold->thread->process, event);
    if (!entry)
        return;
    occur(fold, entry);
    if (event->id == HEURT_EVENT_LOCK_WAIT || event->id == HEURT_EVENT_SEMAPHORE_WAIT)
        entry->contended++;
    open_span(fold, event, entry, false);
}

/* A lock or semaphore that could be had at once. */
static void acquired_at_once(struct fold *fold, const struct event *event)
{
    static const uint64_t nothing[COMPONENTS];
    struct class_entry *entry = class_table__call(fold->table, fold->thread->process, event);
    if (!entry)
        return;
    occur(fold, entry);
    class_entry__add(entry, fold->index, 0, nothing, entry->open > 0);
}

static bool is_of_locks(uint32_t id)
{
    return (id >= HEURT_EVENT_LOCK_WAIT && id <= HEURT_EVENT_LOCK_RELEASED) ||
           id == HEURT_EVENT_CONDITION_WAIT;
}

static void point_event(struct fold *fold, const struct event *event)
{
    switch (event->id) {
    case HEURT_EVENT_LOCK_ACQUIRED:
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        acquired_at_once(fold, event);
        break;
    case HEURT_EVENT_UNWOUND:
        unwind(fold, event->tick);
        break;
    case HEURT_EVENT_LOST:
        forget(fold);
        break;
    default:
        break;
    }
}

static void fixed_event(struct fold *fold, const struct event *event)
{
    fold->result->locks |= is_of_locks(event->id);
    if (event->id & 1)
        leave(fold, event->id & ~1u, event->tick);
    else if (event__is_span(event->id))
        enter_call(fold, event);
    else
        point_event(fold, event);
}

static void one_event(struct fold *fold, const struct event *event)
{
    if (event->id >= HEURT_EVENT_FUNCTIONS) {
        function_event(fold, event);
    } else if (event->id == HEURT_EVENT_STACK) {
        fold->snapshot = true;
        fold->snapshot_tick = event->tick;
        return;
    } else {
        fixed_event(fold, event);
    }
    fold->snapshot = false;
}

/* ---- one thread ----------------------------------------------------------------------------- */

/* A thread that did not end may be in a wait for good; only the outermost one is told. */
static void find_stuck(struct fold *fold)
{
    for (size_t i = 0; i < fold->depth && !fold->thread->ended; i++) {
        struct open_span *span = &fold->spans[i];
        if (span->entry->component != COMPONENT_REST) {
            fold->result->stuck = span->entry;
            fold->result->stuck_since = span->start;
            while (fold->depth > i + 1)
                close_unfinished(fold);
            span->waited = false; /* what waited within it is part of it */
            return;
        }
    }
}

void thread__fold(struct class_table *table, const struct symbols *symbols, uint32_t thread,
                  struct thread_result *result)
{
    struct fold fold = {.table = table, .symbols = symbols, .result = result, .index = thread};
    fold.thread = VEC_AT(trace__threads(table->trace), struct trace_thread, thread);
    fold.functions = *class_table__functions(table, fold.thread->process);
    *result = (struct thread_result){.end = fold.thread->end_tick};
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, table->trace, fold.thread);
    while (trace_cursor__next(&cursor, &event)) {
        result->events++;
        one_event(&fold, &event);
    }
    find_stuck(&fold);
    forget(&fold);
    free(fold.spans);
}
