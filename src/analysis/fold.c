#include "analysis/fold.h"

#include "analysis/kinds.h"

/* Also compiled into the recorded program: see accumulate.c. */
#define KEEP_LOOP() __asm__ volatile("")

/* ---- closing -------------------------------------------------------------------------------- */

static void clear_waits(uint64_t waits[WAITS])
{
    for (unsigned i = 0; i < WAITS; i++) {
        KEEP_LOOP();
        waits[i] = 0;
    }
}

/* The waits of what encloses the span that was just popped. */
static uint64_t *enclosing_waits(struct fold *fold)
{
    if (!fold->state->depth)
        return fold->state->waits;
    struct open_span *parent = &fold->spans[fold->state->depth - 1];
    if (!parent->waited)
        clear_waits(parent->waits);
    parent->waited = 1;
    return parent->waits;
}

static void pass_on(struct fold *fold, const uint64_t waits[WAITS])
{
    uint64_t *into = enclosing_waits(fold);
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

static inline void count_duration(struct fold *fold, struct fold_class *class, uint64_t duration,
                                  uint64_t weight)
{
    unsigned bucket = histogram__bucket(duration), block = bucket / HISTOGRAM_BLOCK_BUCKETS;
    if (!class->histogram[block])
        fold->keeper->add_block(fold, class, block);
    if (class->histogram[block])
        class->histogram[block][bucket % HISTOGRAM_BLOCK_BUCKETS] += weight;
}

/* An occurrence that waited for something and is no wait itself. */
static void add_divided(struct fold *fold, struct fold_class *class, const struct open_span *span,
                        uint64_t duration)
{
    struct accumulator *accumulator = &class->sums->accumulator;
    uint64_t components[COMPONENTS];
    divide(duration, span, components);
    if (class->open)
        accumulator__add_nested(accumulator, duration, components, span->weight);
    else
        accumulator__add(accumulator, duration, components, span->weight);
    pass_on(fold, components);
}

/* An occurrence that is of one component. */
static void add_whole(struct fold_class *class, uint64_t duration, uint64_t weight)
{
    struct accumulator *accumulator = &class->sums->accumulator;
    if (!class->open) {
        accumulator__add_whole(accumulator, duration, class->component, weight);
        return;
    }
    uint64_t components[COMPONENTS] = {0};
    components[class->component] = duration;
    accumulator__add_nested(accumulator, duration, components, weight);
}

/* The class in which an occurrence of class is counted whose span was just popped. */
static inline struct fold_class *counting_class(struct fold *fold, struct fold_class *class)
{
    class->open--;
    if (!class->outer)
        return class;
    class->outer->open--;
    return class->outer->open && !class->open ? fold->keeper->inner_class(fold, class) : class;
}

/* Pops the innermost span as an occurrence that ends at tick. */
static inline void close_finished(struct fold *fold, uint64_t tick)
{
    const struct open_span *span = &fold->spans[--fold->state->depth];
    struct fold_class *class = counting_class(fold, span->class);
    uint64_t now = fold_state__own_time(fold->state, tick), start = span->start + class->bias;
    uint64_t duration = now > start ? now - start : 0;
    if (duration)
        count_duration(fold, class, duration, span->weight);
    if (class->component != COMPONENT_REST) {
        add_whole(class, duration, span->weight); /* waits within it are part of it */
        enclosing_waits(fold)[class->component] += duration;
    } else if (span->waited) {
        add_divided(fold, class, span, duration);
    } else {
        add_whole(class, duration, span->weight);
    }
}

/* Pops the innermost span, whose end is not known. */
static void close_unfinished(struct fold *fold)
{
    struct open_span *span = &fold->spans[--fold->state->depth];
    counting_class(fold, span->class)->sums->unfinished += span->weight;
    if (span->waited)
        pass_on(fold, span->waits);
}

/* Closes the span at place (from the bottom) at tick and what is open inside of it. */
static void close_at(struct fold *fold, uint32_t place, uint64_t tick)
{
    fold__close(fold, place + 1);
    close_finished(fold, tick);
}

static void leave(struct fold *fold, uint32_t id, uint64_t tick)
{
    for (uint32_t place = fold->state->depth; place-- > 0;) {
        if (fold->spans[place].id == id) {
            close_at(fold, place, tick);
            return;
        }
    }
    fold->state->unmatched++;
}

static void unwind(struct fold *fold, uint64_t tick)
{
    for (uint32_t place = fold->state->depth; place-- > 0;) {
        if (fold->spans[place].class->patched) {
            close_at(fold, place, tick);
            return;
        }
    }
}

void fold__close(struct fold *fold, uint32_t keep)
{
    while (fold->state->depth > keep)
        close_unfinished(fold);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The outer half of the open spans becomes unfinished: what is so deep was most often left by a
 * longjmp, and its end will not come. */
static void drop_outermost(struct fold *fold)
{
    struct fold_state *state = fold->state;
    uint32_t dropped = (state->depth + 1) / 2;
    for (uint32_t i = 0; i < dropped; i++) {
        const struct open_span *span = &fold->spans[i];
        counting_class(fold, span->class)->sums->unfinished += span->weight;
        for (unsigned wait = 0; span->waited && wait < WAITS; wait++)
            state->waits[wait] += span->waits[wait];
    }
    for (uint32_t i = dropped; i < state->depth; i++) {
        KEEP_LOOP();
        fold->spans[i - dropped] = fold->spans[i];
    }
    state->depth -= dropped;
    state->dropped += dropped;
}

static void open_span(struct fold *fold, const struct event *event, struct fold_class *class,
                      uint32_t weight)
{
    struct fold_state *state = fold->state;
    if (state->depth == fold->capacity)
        fold->keeper->add_spans(fold);
    if (state->depth == fold->capacity)
        drop_outermost(fold);
    if (state->depth == fold->capacity) { /* no room for any */
        class->sums->unfinished += weight;
        return;
    }
    struct open_span *span = &fold->spans[state->depth++];
    span->start = fold_state__own_time(state, event->tick);
    span->class = class;
    span->number = class->number;
    span->id = event->id;
    span->weight = weight;
    span->waited = 0;
    class->open++;
    if (class->outer)
        class->outer->open++;
}

/* What SAMPLED said: the next occurrence of that function stands for so many. Should too many of
 * these wait for theirs, the oldest is forgotten. */
static void keep_weight(struct fold *fold, const struct event *event)
{
    if (!event->words || !HEURT_SAMPLED_BLOCK(event->payload[0]))
        return;
    if (fold->state->drawn_count == DRAWN_AT_MOST) {
        for (unsigned i = 1; i < DRAWN_AT_MOST; i++) {
            KEEP_LOOP();
            fold->state->drawn[i - 1] = fold->state->drawn[i];
        }
        fold->state->drawn_count--;
    }
    struct drawn *drawn = &fold->state->drawn[fold->state->drawn_count++];
    drawn->id = HEURT_SAMPLED_ID(event->payload[0]);
    drawn->weight = HEURT_SAMPLED_BLOCK(event->payload[0]);
}

static uint32_t take_weight(struct fold *fold, uint32_t id)
{
    unsigned place = fold->state->drawn_count;
    while (place && fold->state->drawn[place - 1].id != id)
        place--;
    if (!place)
        return 1;
    uint32_t weight = fold->state->drawn[place - 1].weight;
    for (fold->state->drawn_count--; place <= fold->state->drawn_count; place++) {
        KEEP_LOOP();
        fold->state->drawn[place - 1] = fold->state->drawn[place];
    }
    return weight;
}

static void function_event(struct fold *fold, const struct event *event)
{
    uint32_t id = event->id & ~1u;
    const struct fold_state *state = fold->state;
    if (event->id & 1) {
        if (state->depth && fold->spans[state->depth - 1].id == id)
            close_finished(fold, event->tick);
        else
            leave(fold, id, event->tick);
        return;
    }
    size_t place = (id - HEURT_EVENT_FUNCTIONS) / 2;
    struct fold_class *class = place < fold->function_count ? fold->functions[place] : NULL;
    if (!class && !(class = fold->keeper->function_class(fold, event)))
        return;
    if (fold->snapshot)
        fold->keeper->take_stack(fold, class);
    uint32_t weight = fold->state->drawn_count ? take_weight(fold, id) : 1;
    fold->state->overhead += class->cost + (uint64_t)(weight - 1) * fold->left_out_cost;
    open_span(fold, event, class, weight);
}

/* ---- events with fixed ids ------------------------------------------------------------------ */

static struct fold_class *class_of_call(struct fold *fold, const struct event *event)
{
    struct fold_class *class = fold->keeper->call_class(fold, event);
    if (class && fold->snapshot)
        fold->keeper->take_stack(fold, class);
    return class;
}

static void enter_call(struct fold *fold, const struct event *event)
{
    struct fold_class *class = class_of_call(fold, event);
    if (!class)
        return;
    if (event->id == HEURT_EVENT_LOCK_WAIT || event->id == HEURT_EVENT_SEMAPHORE_WAIT)
        class->sums->contended++;
    open_span(fold, event, class, 1);
}

/* A lock or semaphore that could be had at once. */
static void acquired_at_once(struct fold *fold, const struct event *event)
{
    struct fold_class *class = class_of_call(fold, event);
    uint32_t weight = fold->state->drawn_count ? take_weight(fold, event->id) : 1;
    fold->state->overhead += (uint64_t)(weight - 1) * fold->left_out_cost;
    if (class)
        add_whole(class, 0, weight);
}

static bool is_of_locks(uint32_t id)
{
    return (id >= HEURT_EVENT_LOCK_WAIT && id <= HEURT_EVENT_LOCK_RELEASED) ||
           id == HEURT_EVENT_CONDITION_WAIT;
}

static void pause(struct fold_state *state, const struct event *event)
{
    state->events--; /* none of the program's */
    if (!event->words)
        return;
    state->overhead += event->payload[0];
    state->paused += event->payload[0];
    state->pause_length = event->payload[0];
    state->pause_end = event->tick;
}

static void fixed_event(struct fold *fold, const struct event *event)
{
    fold->state->locks |= is_of_locks(event->id);
    if (event->id != HEURT_EVENT_PAUSED)
        fold->state->overhead += fold->event_cost;
    if (event->id & 1) {
        leave(fold, event->id & ~1u, event->tick);
        return;
    }
    switch (event->id) {
#define POINT_EVENT(name, id, words)
#define SPAN_EVENT(name, id, enter_words, leave_words) case HEURT_EVENT_##name:
        HEURT_EVENT_TABLE(POINT_EVENT, SPAN_EVENT)
#undef POINT_EVENT
#undef SPAN_EVENT
        enter_call(fold, event);
        break;
    case HEURT_EVENT_LOCK_ACQUIRED:
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        acquired_at_once(fold, event);
        break;
    case HEURT_EVENT_PAUSED:
        pause(fold->state, event);
        break;
    case HEURT_EVENT_UNWOUND:
        unwind(fold, event->tick);
        break;
    case HEURT_EVENT_SAMPLED:
        keep_weight(fold, event);
        break;
    case HEURT_EVENT_LOST:
        fold->state->drawn_count = 0;
        fold__close(fold, 0); /* whatever is open may have ended */
        break;
    default:
        break;
    }
}

void fold__event(struct fold *fold, const struct event *event)
{
    fold->state->events++;
    if (event->id >= HEURT_EVENT_FUNCTIONS) {
        function_event(fold, event);
    } else if (event->id == HEURT_EVENT_STACK) {
        fold->snapshot = true;
        fold->stack = *event;
        return;
    } else {
        fixed_event(fold, event);
    }
    fold->snapshot = false;
}
