#include "fold/fold.h"

#include "fold/kinds.h"

/* Also compiled into the recorded program: see accumulate.c. */
#define KEEP_LOOP() __asm__ volatile("")

/* ---- closing --------------------------------------------------------------------------------- */

static void clear_parts(uint64_t parts[PARTS])
{
    for (unsigned i = 0; i < PARTS; i++) {
        KEEP_LOOP();
        parts[i] = 0;
    }
}

/* The parts of the span that is so deep (1: the outermost), or of the thread outside of all. */
static uint64_t *parts_at(struct fold *fold, uint32_t depth)
{
    if (!depth)
        return fold->state->parts;
    struct open_span *span = &fold->spans[depth - 1];
    if (!span->parted)
        clear_parts(span->parts);
    span->parted = 1;
    return span->parts;
}

/* To what encloses the span that was just relocated return address. */
static void pass_on(struct fold *fold, const uint64_t parts[PARTS])
{
    uint64_t *into = parts_at(fold, fold->state->depth);
    for (unsigned i = 0; i < PARTS; i++)
        into[i] += parts[i];
}

static void pass_on_time(struct fold *fold, uint64_t nested, uint64_t overhead)
{
    if (fold->state->depth) {
        fold->spans[fold->state->depth - 1].nested += nested;
        fold->spans[fold->state->depth - 1].overhead += overhead;
    } else {
        fold->state->covered += nested;
    }
}

static void count_overhead(struct fold *fold, uint64_t ticks)
{
    fold->state->overhead += ticks;
    if (fold->state->depth)
        fold->spans[fold->state->depth - 1].overhead += ticks;
}

static inline uint64_t least(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static uint64_t take(uint64_t *left, uint64_t wanted)
{
    uint64_t taken = least(wanted, *left);
    *left -= taken;
    return taken;
}

/* The parts of a duration. Where the clock stepped, what does not fit is cut. */
static void divide(uint64_t duration, const struct open_span *span, enum component component,
                   uint64_t components[COMPONENTS])
{
    uint64_t left = duration;
    bool waits = component != COMPONENT_RUNNING;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        KEEP_LOOP();
        /* Waits within a wait are part of it. Who asks again and again for a message, as MPI does,
         * misses nothing while it has no CPU. */
        bool is_told = i < PARTS && span->parted &&
                       (!waits || i == COMPONENT_PAGE_FAULT ||
                        (i == COMPONENT_RUNNABLE && component != COMPONENT_MESSAGE));
        components[i] = is_told ? take(&left, span->parts[i]) : 0;
    }
    components[COMPONENT_OVERHEAD] = take(&left, span->overhead);
    components[component] += left;
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

/* An occurrence in which something happened that is told apart. */
static void add_divided(struct fold_class *into, bool is_inner, uint64_t duration, uint64_t own,
                        const uint64_t components[COMPONENTS], uint64_t weight)
{
    struct accumulator *accumulator = &into->sums->accumulator;
    if (is_inner)
        accumulator__add_nested(accumulator, duration, own, components, weight);
    else
        accumulator__add(accumulator, duration, own, components, weight);
}

/* An occurrence that is of one component. */
static void add_whole(struct fold_class *into, bool is_inner, uint64_t duration, uint64_t own,
                      uint64_t weight)
{
    struct accumulator *accumulator = &into->sums->accumulator;
    if (!is_inner) {
        accumulator__add_whole(accumulator, duration, own, into->component, weight);
        return;
    }
    uint64_t components[COMPONENTS] = {0};
    components[into->component] = duration;
    accumulator__add_nested(accumulator, duration, own, components, weight);
}

/* An occurrence that ran, but for what recording took. */
static inline void add_running(struct fold_class *into, bool is_inner, uint64_t duration,
                               uint64_t own, uint64_t overhead, uint64_t weight)
{
    struct accumulator *accumulator = &into->sums->accumulator;
    if (!is_inner) {
        accumulator__add_running(accumulator, duration, own, overhead, weight);
        return;
    }
    uint64_t components[COMPONENTS] = {0};
    components[COMPONENT_OVERHEAD] = overhead;
    components[COMPONENT_RUNNING] = duration - overhead;
    accumulator__add_nested(accumulator, duration, own, components, weight);
}

/* The class in which an occurrence of class is counted whose span was just relocated return
 * address. */
static inline struct fold_class *counting_class(struct fold *fold, struct fold_class *class)
{
    class->open--;
    if (!class->outer)
        return class;
    class->outer->open--;
    return class->outer->open && !class->open ? fold->keeper->inner_class(fold, class) : class;
}

static void tell(struct fold *fold, struct fold_class *class, const struct open_span *span,
                 uint64_t duration, uint64_t own, uint64_t tick)
{
    struct fold_occurrence occurrence = {
        .class = class,
        .start = tick - (fold_state__own_time(fold->state, tick) - span->start),
        .end = tick,
        .duration = duration,
        .own = own,
        .weight = span->weight,
        .depth = fold->state->depth,
        .inner = class->open > 0,
    };
    if (span->parted) {
        divide(duration, span, class->component, occurrence.components);
        pass_on(fold, occurrence.components);
    } else if (class->component == COMPONENT_RUNNING) {
        occurrence.components[COMPONENT_OVERHEAD] = least(span->overhead, duration);
        occurrence.components[COMPONENT_RUNNING] = duration - least(span->overhead, duration);
    } else {
        occurrence.components[class->component] = duration;
        parts_at(fold, fold->state->depth)[class->component] += duration;
    }
    fold->watch(fold, &occurrence);
}

/* Pops the innermost span as an occurrence that ends at tick. */
static inline void close_finished(struct fold *fold, uint64_t tick)
{
    const struct open_span *span = &fold->spans[--fold->state->depth];
    struct fold_class *class = counting_class(fold, span->class);
    uint64_t now = fold_state__own_time(fold->state, tick), start = span->start + class->bias;
    uint64_t duration = now > start ? now - start : 0;
    /* What is taken off a duration may make it less than what is nested in it. */
    uint64_t own = duration > span->nested ? duration - span->nested : 0;
    if (fold->watch) {
        tell(fold, class, span, duration, own, tick);
        pass_on_time(fold, span->nested + own, span->overhead);
        return;
    }
    struct fold_class *into = fold->divide ? fold->divide(fold, class, duration) : class;
    if (duration)
        count_duration(fold, into, duration, span->weight);
    if (span->parted) {
        uint64_t components[COMPONENTS];
        divide(duration, span, class->component, components);
        add_divided(into, class->open > 0, duration, own, components, span->weight);
        pass_on(fold, components);
    } else if (class->component == COMPONENT_RUNNING) {
        add_running(into, class->open > 0, duration, own, least(span->overhead, duration),
                    span->weight);
    } else {
        add_whole(into, class->open > 0, duration, own, span->weight);
        parts_at(fold, fold->state->depth)[class->component] += duration;
    }
    pass_on_time(fold, span->nested + own, span->overhead);
}

/* The last iterations of a loop have no mark at their end. */
static uint64_t unfinished_in(const struct open_span *span)
{
    return HEURT_IS_LOOP(span->id) ? 0 : span->weight;
}

/* Pops the innermost span, whose end is not known. */
static void close_unfinished(struct fold *fold)
{
    struct open_span *span = &fold->spans[--fold->state->depth];
    counting_class(fold, span->class)->sums->unfinished += unfinished_in(span);
    if (span->parted)
        pass_on(fold, span->parts);
    pass_on_time(fold, span->nested, span->overhead);
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
    if (!HEURT_IS_LOOP(id)) /* it may have ended with its function */
        fold->state->unmatched++;
}

static void leave_loop(struct fold *fold, uint64_t id)
{
    for (uint32_t place = fold->state->depth; place-- > 0;) {
        if (fold->spans[place].id == id) {
            fold__close(fold, place);
            return;
        }
    }
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

/* ---- opening --------------------------------------------------------------------------------- */

/* The outer half of the open spans becomes unfinished: what is so deep was most often left by a
 * longjmp, and its end will not come. */
static void drop_outermost(struct fold *fold)
{
    struct fold_state *state = fold->state;
    uint32_t dropped = (state->depth + 1) / 2;
    for (uint32_t i = 0; i < dropped; i++) {
        const struct open_span *span = &fold->spans[i];
        counting_class(fold, span->class)->sums->unfinished += unfinished_in(span);
        for (unsigned part = 0; span->parted && part < PARTS; part++)
            state->parts[part] += span->parts[part];
        state->covered += span->nested;
    }
    for (uint32_t i = dropped; i < state->depth; i++) {
        KEEP_LOOP();
        fold->spans[i - dropped] = fold->spans[i];
    }
    state->depth -= dropped;
    state->dropped += dropped;
}

/* There is room for it. */
static inline void push_span(struct fold *fold, uint64_t tick, uint32_t id,
                             struct fold_class *class, uint32_t weight)
{
    struct open_span *span = &fold->spans[fold->state->depth++];
    span->start = fold_state__own_time(fold->state, tick);
    span->class = class;
    span->number = class->number;
    span->id = id;
    span->weight = weight;
    span->parted = 0;
    span->nested = span->overhead = 0;
    class->open++;
    if (class->outer)
        class->outer->open++;
}

static void open_span(struct fold *fold, const struct event *event, struct fold_class *class,
                      uint32_t weight)
{
    struct fold_state *state = fold->state;
    if (state->depth == fold->capacity)
        fold->keeper->add_spans(fold);
    if (state->depth == fold->capacity)
        drop_outermost(fold);
    if (state->depth == fold->capacity) /* no room for any */
        class->sums->unfinished += weight;
    else
        push_span(fold, event->tick, event->id, class, weight);
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
    size_t place = (id - HEURT_EVENT_FUNCTIONS) / 2;
    struct fold_class *class = place < fold->function_count ? fold->functions[place] : NULL;
    if (event->id & 1) {
        if (state->depth && fold->spans[state->depth - 1].id == id)
            close_finished(fold, event->tick);
        else if (class && !class->open) /* no need to look for it among thousands */
            fold->state->unmatched += !HEURT_IS_LOOP(id);
        else
            leave(fold, id, event->tick);
        return;
    }
    if (!class && !(class = fold->keeper->function_class(fold, event)))
        return;
    if (fold->snapshot)
        fold->keeper->take_stack(fold, class);
    uint32_t weight = fold->state->drawn_count ? take_weight(fold, id) : 1;
    count_overhead(fold, class->cost + (uint64_t)(weight - 1) * fold->left_out_cost);
    open_span(fold, event, class, weight);
}

/* ---- events with fixed ids ------------------------------------------------------------------- */

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
    count_overhead(fold, (uint64_t)(weight - 1) * fold->left_out_cost);
    if (!class)
        return;
    if (fold->watch_at_once) {
        const struct fold_occurrence occurrence = {.class = class,
                                                   .start = event->tick,
                                                   .end = event->tick,
                                                   .weight = weight,
                                                   .depth = fold->state->depth};
        fold->watch_at_once(fold, &occurrence);
    } else {
        if (fold->divide)
            fold->divide(fold, class, 0);
        add_whole(class, class->open > 0, 0, 0, weight);
    }
}

static bool is_of_meeting(uint32_t id)
{
    return (id >= HEURT_EVENT_LOCK_WAIT && id <= HEURT_EVENT_SEMAPHORE_POSTED) ||
           id == HEURT_EVENT_FUTEX_WAIT || id == HEURT_EVENT_FUTEX_WOKEN ||
           id == HEURT_EVENT_INITIALISED;
}

static void pause(struct fold_state *state, const struct event *event)
{
    state->events--; /* none of the program's */
    if (!event->words)
        return;
    state->paused += event->payload[0];
    state->pause_length = event->payload[0];
    state->pause_end = event->tick;
}

/* ---- what the kernel tells ------------------------------------------------------------------- */

/* How many of the open spans were open at a time since which none was closed. They may be thousands
 * that were jumped out of, and their beginnings follow one another. */
static uint32_t depth_at(const struct fold *fold, uint64_t own_time)
{
    uint32_t open = 0, later = fold->state->depth;
    if (later && fold->spans[later - 1].start <= own_time)
        return later;
    while (open < later) {
        uint32_t middle = open + (later - open) / 2;
        if (fold->spans[middle].start <= own_time)
            open = middle + 1;
        else
            later = middle;
    }
    return open;
}

/* Who yields gives the CPU away: it is the wait's own, whoever has it. */
static bool yields(const struct open_span *span)
{
    return span->id == HEURT_EVENT_SLEEP && span->class->component == COMPONENT_OTHER_BLOCKED;
}

/* At so many open spans the innermost is no wait. */
static bool is_work(const struct fold *fold, uint32_t depth)
{
    return !depth || fold->spans[depth - 1].class->component == COMPONENT_RUNNING;
}

static void off_cpu(struct fold *fold, const struct event *event)
{
    if (event->words < 2)
        return;
    struct fold_state *state = fold->state;
    uint64_t off = HEURT_SITE_ADDRESS(event->payload[0]);
    uint64_t back = fold_state__own_time(state, event->tick);
    uint64_t left = fold_state__own_time(state, event->tick > off ? event->tick - off : 0);
    uint64_t ticks = back > left ? back - left : 0;
    state->paused_off += (uint32_t)((off - least(off, ticks) + 512) / 1024);
    uint64_t runnable = HEURT_SITE_ADDRESS(event->payload[1]);
    uint32_t how = HEURT_SITE_HOW(event->payload[0]), depth = depth_at(fold, left);
    state->off_cpu_count++;
    if (depth && yields(&fold->spans[depth - 1]))
        return;
    uint64_t *parts = parts_at(fold, depth);
    if (how != HEURT_OFF_PREEMPTED && runnable != HEURT_NOT_KNOWN)
        parts[COMPONENT_RUNNABLE] += take(&ticks, runnable);
    if (how == HEURT_OFF_STOPPED && is_work(fold, depth)) {
        fold->state->overhead += ticks;
        if (depth)
            fold->spans[depth - 1].overhead += ticks;
        return;
    }
    /* What a known wait waits for, its kind tells. */
    if (how == HEURT_OFF_PREEMPTED || how == HEURT_OFF_FAULT || is_work(fold, depth))
        parts[off__component(how)] += ticks;
    state->fault_off += how == HEURT_OFF_FAULT ? ticks : 0;
}

/* It is nested in the span that is so deep. */
static void count_fault(struct fold *fold, struct fold_class *class, uint32_t depth, uint64_t ticks)
{
    if (!class)
        return;
    if (depth)
        fold->spans[depth - 1].nested += ticks;
    else
        fold->state->covered += ticks;
    if (fold->watch)
        return;
    count_duration(fold, class, ticks, 1);
    add_whole(class, class->open > 0, ticks, ticks, 1);
}

static void page_fault(struct fold *fold, const struct event *event)
{
    if (!event->words)
        return;
    uint64_t ticks = HEURT_SITE_ADDRESS(event->payload[0]);
    uint64_t begin = event->tick > ticks ? event->tick - ticks : 0;
    uint32_t depth = depth_at(fold, fold_state__own_time(fold->state, begin));
    parts_at(fold, depth)[COMPONENT_PAGE_FAULT] += ticks;
    if (fold->keeper->fault_class)
        count_fault(fold, fold->keeper->fault_class(fold, event), depth, ticks);
    fold->state->fault_count++;
    if (HEURT_SITE_HOW(event->payload[0]) == HEURT_FAULT_COUNTED)
        fold->state->counted_faults++;
    else
        count_overhead(fold, fold->fault_cost);
}

/* False: not such an event. */
static bool kernel_event(struct fold *fold, const struct event *event)
{
    switch (event->id) {
    case HEURT_EVENT_OFF_CPU:
        count_overhead(fold, fold->off_cpu_cost);
        off_cpu(fold, event);
        return true;
    case HEURT_EVENT_FAULT:
        page_fault(fold, event);
        return true;
    case HEURT_EVENT_KERNEL:
        fold->state->kernel_since = event->tick;
        return true;
    case HEURT_EVENT_KERNEL_LOST:
        fold->state->kernel_lost += event->words ? event->payload[0] : 0;
        return true;
    case HEURT_EVENT_INSTRUCTIONS: /* what it costs is in that of the function */
        return true;
    default:
        return false;
    }
}

static void fixed_event(struct fold *fold, const struct event *event)
{
    fold->state->meets |= is_of_meeting(event->id);
    if (event->id != HEURT_EVENT_PAUSED)
        count_overhead(fold, fold->event_cost);
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
    case HEURT_EVENT_THREAD_CREATED:
        fold->state->creating += event->words >= 3 ? event->payload[2] : 0;
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
    case HEURT_EVENT_LOOP_LEFT:
        if (event->words)
            leave_loop(fold, event->payload[0]);
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
    } else if (kernel_event(fold, event)) {
        return; /* it may come between a call stack and what that was taken for */
    } else {
        fixed_event(fold, event);
    }
    fold->snapshot &= event->id == HEURT_EVENT_PAUSED; /* so may this */
}

static inline bool take_function(struct fold *fold, struct fold_class *class, uint32_t id,
                                 uint64_t tick)
{
    struct fold_state *state = fold->state;
    if (id & 1) {
        if (!state->depth || fold->spans[state->depth - 1].id != (id & ~1u))
            return false;
        close_finished(fold, tick);
    } else {
        if (state->depth == fold->capacity)
            return false;
        count_overhead(fold, class->cost);
        push_span(fold, tick, id, class, 1);
    }
    state->events++;
    return true;
}

bool fold__function(struct fold *fold, struct fold_class *class, uint32_t id, uint64_t tick)
{
    return take_function(fold, class, id, tick);
}

void fold__functions(struct fold *fold, struct event_words *words)
{
    struct fold_class *class;
    uint32_t id;
    uint64_t tick;
    while ((class = fold__next_function(fold, words, &id, &tick)) &&
           take_function(fold, class, id, tick))
        event_words__pass(words, tick);
}
