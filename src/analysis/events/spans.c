#include "analysis/events/spans.h"

#include "analysis/callsite/site.h"
#include "analysis/events/resume.h"
#include "analysis/events/touched_pages.h"
#include "base/memory.h"

#include <stdlib.h>

struct thread_fold {
    struct fold fold; /* first: its keeper gets this */
    struct class_table *table;
    const struct symbols *symbols;
    const struct trace_thread *thread;
    uint64_t last_wait;             /* as in struct thread_result */
    struct callee_walk *signatures; /* NULL: nobody wants them */
    struct thread_sites sites;
    struct vec stacks; /* uint64_t: by place of the open span: tick of its call stack; 0: none. Of
                          those that are not open there is none */
    struct thread_result *result; /* when it is counted */
    struct vec rows;              /* what of it is joined, as are sites */
    /* Only when the thread is watched: */
    struct thread_watcher *watcher;
    struct fold_state state;
    size_t room;                      /* of arguments */
    struct open_arguments *arguments; /* by place of the open span */
    struct vec passed;                /* struct passed_call: those that are open */
    struct interval quiet;            /* the watcher's */
    uint8_t *passing;                 /* enum passing, by place of the function; NULL: none */
    uint32_t divided_depth; /* spans around the outermost open one of a divided site; UINT32_MAX:
                               none is open */
    uint64_t instructions;  /* told for the function's event that comes; else 0 */
    struct touched_pages *pages; /* NULL: it had no page faults */
};

/* An open call that is passed over. */
struct passed_call {
    uint32_t id, depth; /* even; the spans around it */
};

/* Whether calls of a function are passed over when nothing is wanted. */
enum passing { NOT_ASKED, TOLD, PASSED };

/* The payload of the enter event of an open span. */
struct open_arguments {
    uint64_t words[HEURT_ARGUMENTS_MAX];
    size_t count;
    uint64_t instructions; /* retired before it; 0: not recorded */
    uint64_t entered;
};

/* ---- what the fold asks for ------------------------------------------------------------------ */

static struct fold_class *occupy(struct class_table *table, struct class_entry *entry)
{
    if (!entry)
        return NULL;
    class_table__occupy(table, entry);
    return &entry->fold;
}

static struct fold_class *function_class(struct fold *fold, const struct event *event)
{
    struct thread_fold *self = (struct thread_fold *)fold;
    struct function_table *functions = class_table__functions(self->table, self->thread->process);
    struct fold_class *class =
        occupy(self->table, class_table__function(self->table, self->thread->process, event));
    size_t place = (event->id - HEURT_EVENT_FUNCTIONS) / 2;
    if (class && !functions->slots[place].key_count) {
        functions->classes[place] = class;
        vec__push(&functions->used, &place);
    }
    return class;
}

static struct class_entry *entry_of(struct fold_class *class)
{
    return (struct class_entry *)class; /* its first member */
}

/* As those know it who do not fold. */
static struct class_entry *whole_of(const struct fold_class *class)
{
    return ((const struct class_entry *)class)->whole;
}

static void mark_enclosing(const struct fold *fold)
{
    uint32_t depth = fold->state->depth;
    if (depth)
        entry_of(fold->spans[depth - 1].class)->has_calls = true;
}

static bool is_kept_by_others(uint32_t id)
{
    return id == HEURT_EVENT_LOCK_WAIT || id == HEURT_EVENT_CONDITION_WAIT ||
           id == HEURT_EVENT_BARRIER_WAIT || id == HEURT_EVENT_SEMAPHORE_WAIT ||
           id == HEURT_EVENT_FUTEX_WAIT;
}

static struct fold_class *call_class(struct fold *fold, const struct event *event)
{
    struct thread_fold *self = (struct thread_fold *)fold;
    if (is_kept_by_others(event->id))
        self->last_wait = event->tick;
    mark_enclosing(fold);
    return occupy(self->table, class_table__call(self->table, self->thread->process, event));
}

static bool is_made_again(struct thread_fold *self, const struct event *fault)
{
    if (!self->pages)
        self->pages = touched_pages__new();
    bool is_place_known = HEURT_SITE_HOW(fault->payload[0]) != HEURT_FAULT_COUNTED;
    return touched_pages__add(self->pages, fault->payload[1], is_place_known);
}

/* A page has to be made once. What it takes to have it made again, because it was given back or
 * thrown away, is lost: these faults are classes by the instruction, which is as good as called. */
static struct fold_class *fault_class(struct fold *fold, const struct event *event)
{
    struct thread_fold *self = (struct thread_fold *)fold;
    if (event->words < 3 || !event->payload[2] || !is_made_again(self, event))
        return NULL;
    uint64_t payload[] = {HEURT_SITE(event->payload[2] + 1, 0), event->payload[1]};
    const struct event call = {
        .tick = event->tick, .id = HEURT_EVENT_FAULT, .words = 2, .payload = payload};
    return occupy(self->table, class_table__call(self->table, self->thread->process, &call));
}

/* Keys of functions that a rule asks for are all there is: see class_of_keys. */
static struct fold_class *inner_class(struct fold *fold, struct fold_class *class)
{
    (void)fold;
    return class;
}

static void add_block(struct fold *fold, struct fold_class *class, unsigned block)
{
    (void)fold, (void)block;
    class_entry__add_histogram(entry_of(class));
}

static void add_spans(struct fold *fold)
{
    fold->capacity = fold->capacity ? fold->capacity * 2 : 64;
    fold->spans = memory__resize(fold->spans, fold->capacity, sizeof *fold->spans);
}

static void add_stack(struct fold *fold, struct fold_class *class, uint64_t tick)
{
    struct thread_fold *self = (struct thread_fold *)fold;
    class_table__add_stack(self->table, self->symbols, entry_of(class), self->table->thread, tick);
}

static void take_stack(struct fold *fold, struct fold_class *class)
{
    add_stack(fold, class, fold->stack.tick);
}

static const struct fold_keeper keeper = {
    .function_class = function_class,
    .call_class = call_class,
    .fault_class = fault_class,
    .inner_class = inner_class,
    .add_block = add_block,
    .add_spans = add_spans,
    .take_stack = take_stack,
};

/* ---- one thread ------------------------------------------------------------------------------ */

/* A thread that did not end may be in a wait for good; only the outermost one is told. */
static void find_stuck(struct thread_fold *self, struct thread_result *result)
{
    struct fold *fold = &self->fold;
    for (uint32_t i = 0; i < fold->state->depth && !self->thread->ended; i++) {
        struct open_span *span = &fold->spans[i];
        if (span->class->component != COMPONENT_RUNNING) {
            result->unfinished = entry_of(span->class);
            result->unfinished_since = span->start + fold->state->paused;
            fold__close(fold, i + 1);
            span->parted = 0; /* what waited within it is part of it */
            return;
        }
    }
}

static void start_fold(struct thread_fold *self, struct class_table *table,
                       const struct symbols *symbols, uint32_t thread, struct fold_state *state)
{
    *self = (struct thread_fold){.table = table, .symbols = symbols};
    self->thread = trace__thread_at(table->trace, thread);
    const struct function_table *functions = class_table__functions(table, self->thread->process);
    const struct trace_process *process = trace__process_at(table->trace, self->thread->process);
    self->fold = (struct fold){.keeper = &keeper,
                               .state = state,
                               .functions = functions->classes,
                               .function_count = functions->count,
                               .event_cost = process->event_ticks,
                               .left_out_cost = process->left_out_ticks,
                               .off_cpu_cost = process->off_cpu_ticks,
                               .fault_cost = process->fault_ticks};
    class_table__begin_thread(table, thread);
}

uint64_t thread_result__lifetime(const struct thread_result *results, const struct trace *trace,
                                 uint32_t thread)
{
    uint64_t start = trace__thread_at(trace, thread)->start_tick;
    return results[thread].end > start ? results[thread].end - start : 0;
}

bool class_entry__has_score(const struct class_entry *entry, const struct trace *trace,
                            const struct thread_result *results, double least)
{
    uint64_t minimum = entry->total.accumulator.minimum;
    VEC_EACH (cell, &entry->cells, struct class_cell) {
        double excess = (double)class_cell__excess(cell, minimum);
        double lifetime = (double)thread_result__lifetime(results, trace, cell->thread);
        if (excess > 0 && excess >= least * lifetime)
            return true;
    }
    return false;
}

/* ---- by what was inside ---------------------------------------------------------------------- */

static uint64_t stack_at(const struct thread_fold *self, uint32_t depth)
{
    return depth < self->stacks.count ? *VEC_AT(&self->stacks, uint64_t, depth) : 0;
}

/* Forgets those of spans with so many around them, or more. */
static inline void forget_stacks(struct thread_fold *self, uint32_t depth)
{
    if (self->stacks.count > depth)
        self->stacks.count = depth;
}

/* As struct fold's divide. */
static struct fold_class *class_by_nest(struct fold *fold, struct fold_class *class,
                                        uint64_t duration)
{
    struct thread_fold *self = (struct thread_fold *)fold;
    struct class_entry *entry = entry_of(class), *into;
    const struct nested nested = {
        .place = entry->place, .depth = fold->state->depth, .counts = entry->is_structural};
    const struct vec *inside;
    uint32_t signature = callee_walk__end(self->signatures, &nested, &inside);
    uint64_t stack = stack_at(self, nested.depth);
    forget_stacks(self, nested.depth);
    if (class->component != COMPONENT_RUNNING)
        return class;
    into = sites__class(&self->sites, entry, signature, inside, duration, stack > 0);
    if (stack)
        class_table__add_stack(self->table, self->symbols, site__stacked(entry, into),
                               self->table->thread, stack);
    return &into->fold;
}

static void start_nests(struct thread_fold *self)
{
    const struct class_table *whole = self->table->whole;
    if (!whole->before && __atomic_load_n(&whole->is_drawn, __ATOMIC_RELAXED))
        return;
    self->sites = (struct thread_sites){callee_signatures__new(), VEC_OF(struct site *)};
    self->signatures = callee_walk__new(self->sites.signatures);
    self->stacks = VEC_OF(uint64_t);
    self->fold.divide = class_by_nest;
}

static void end_nests(struct thread_fold *self)
{
    callee_walk__free(self->signatures);
    vec__free(&self->stacks);
    self->signatures = NULL;
    self->fold.divide = NULL;
}

/* The stack belongs to the span that the event has just opened. */
static void keep_stack(struct thread_fold *self, uint64_t stack)
{
    uint32_t place = self->fold.state->depth - 1;
    forget_stacks(self, place);
    while (stack && self->stacks.count < place)
        vec__push(&self->stacks, NULL);
    if (stack)
        vec__push(&self->stacks, &stack);
}

/* What is drawn would be in some callee signatures and not in others: of which classes that is has
 * to be known before. */
static void note_drawn(struct thread_fold *self, const struct event *event)
{
    struct class_table *whole = self->table->whole;
    if (!event->words || HEURT_SAMPLED_BLOCK(event->payload[0]) <= 1)
        return;
    __atomic_store_n(&whole->is_drawn, true, __ATOMIC_RELAXED);
    if (whole->before)
        return;
    sites__give_up(&self->sites);
    end_nests(self);
}

static void fold_by_nests(struct thread_fold *self, const struct event *event)
{
    struct fold *fold = &self->fold;
    uint32_t depth = fold->state->depth;
    uint64_t stack = fold->snapshot ? fold->stack.tick : 0;
    fold__event(fold, event);
    forget_stacks(self, fold->state->depth);
    if (fold->state->depth > depth)
        keep_stack(self, stack);
    else if (event->id == HEURT_EVENT_LOST)
        callee_walk__forget(self->signatures);
    else if (event->id == HEURT_EVENT_SAMPLED)
        note_drawn(self, event);
}

/* ---- one thread, counted --------------------------------------------------------------------- */

struct thread_fold *thread_fold__start(struct class_table *lane, const struct symbols *symbols,
                                       uint32_t thread, bool by_signature,
                                       struct thread_result *result)
{
    struct thread_fold *self = memory__zeroed(1, sizeof *self);
    *result = (struct thread_result){0};
    start_fold(self, lane, symbols, thread, &result->fold);
    self->result = result;
    result->end = self->thread->end_tick;
    if (self->thread->aggregate)
        fold__resume(&self->fold, lane, self->thread, add_stack);
    if (by_signature)
        start_nests(self);
    return self;
}

static void note_cpu(struct thread_result *result, uint16_t cpu)
{
    result->moves += result->backs && result->cpu != cpu;
    result->backs++;
    result->cpu = cpu;
}

void thread_fold__event(void *part, const struct event *event)
{
    struct thread_fold *self = part;
    if (event->id == HEURT_EVENT_OFF_CPU && event->words >= 2)
        note_cpu(self->result, (uint16_t)HEURT_SITE_HOW(event->payload[1]));
    if (self->signatures)
        fold_by_nests(self, event);
    else
        fold__event(&self->fold, event);
}

void thread_fold__functions(void *part, struct event_words *words)
{
    fold__functions(&((struct thread_fold *)part)->fold, words);
}

/* The call stacks that the thread's classes had before the part that is walked over. */
static void take_earlier_stacks(struct thread_fold *self)
{
    VEC_EACH (call, &self->thread->stacked, const struct earlier_call) {
        const struct event event = {call->tick, call->id, call->words, call->payload};
        uint32_t process = self->thread->process;
        struct class_entry *entry = call->id < HEURT_EVENT_FUNCTIONS
                                        ? class_table__call(self->table, process, &event)
                                        : class_table__function(self->table, process, &event);
        if (entry && entry->thread_and_1)
            class_table__add_stack(self->table, self->symbols, entry, self->table->thread,
                                   call->tick);
    }
}

void thread_fold__end(void *part)
{
    struct thread_fold *self = part;
    self->result->last_wait = self->last_wait;
    find_stuck(self, self->result);
    fold__close(&self->fold, 0);
    free(self->fold.spans);
    touched_pages__free(self->pages);
    if (self->signatures) {
        sites__end_thread(&self->sites);
        end_nests(self);
    }
    take_earlier_stacks(self);
    self->rows = class_table__take_thread(self->table);
}

void thread_fold__join(struct thread_fold *self, struct class_table *table, uint32_t thread)
{
    struct thread_result *result = self->result;
    class_table__join_thread(table, thread, &self->rows, &self->sites);
    free(self);
    if (result->unfinished)
        result->unfinished = result->unfinished->whole;
}

/* ---- one thread again ------------------------------------------------------------------------ */

static bool is_of_function(const struct class_entry *entry)
{
    return entry->fold.component == COMPONENT_RUNNING;
}

static void find_signature(struct thread_fold *self, struct class_entry *entry,
                           const struct fold_occurrence *occurrence)
{
    struct thread_watcher *watcher = self->watcher;
    watcher->signature = NEST_NONE;
    watcher->inside = NULL;
    if (!self->signatures)
        return;
    const struct nested nested = {
        .place = entry->place, .depth = occurrence->depth, .counts = entry->is_structural};
    uint32_t signature = callee_walk__end(self->signatures, &nested, &watcher->inside);
    if (is_of_function(entry))
        watcher->signature = signature;
}

static void watched(struct fold *fold, const struct fold_occurrence *occurrence)
{
    struct thread_fold *self = (struct thread_fold *)fold;
    find_signature(self, whole_of(occurrence->class), occurrence);
    const struct open_arguments *arguments = &self->arguments[occurrence->depth];
    uint64_t before = arguments->instructions, now = self->instructions;
    self->watcher->instructions = before && now > before ? now - before : 0;
    self->watcher->entered = arguments->entered;
    self->watcher->occurrence(self->watcher, whole_of(occurrence->class), occurrence,
                              arguments->words, arguments->count);
}

static void watched_at_once(struct fold *fold, const struct fold_occurrence *occurrence)
{
    struct thread_fold *self = (struct thread_fold *)fold;
    find_signature(self, whole_of(occurrence->class), occurrence);
    if (!self->watcher->at_once)
        return;
    self->watcher->instructions = 0;
    self->watcher->entered = occurrence->start;
    self->watcher->occurrence(self->watcher, whole_of(occurrence->class), occurrence, NULL, 0);
}

static void note_event(struct thread_fold *self, uint64_t tick)
{
    struct watched_event *now = &self->watcher->now;
    now->tick = tick;
    now->own_time = fold_state__own_time(self->fold.state, tick);
}

/* As if all that is open were left at the thread's end. */
static void leave_all(struct thread_fold *self)
{
    note_event(self, self->thread->end_tick);
    while (self->fold.state->depth) {
        uint64_t id = self->fold.spans[self->fold.state->depth - 1].id;
        struct event event = {.tick = self->thread->end_tick, .id = (uint32_t)id | 1};
        if (HEURT_IS_LOOP(id))
            event = (struct event){event.tick, HEURT_EVENT_LOOP_LEFT, 1, &id};
        fold__event(&self->fold, &event);
    }
}

static void tell_opened(struct thread_fold *self)
{
    const struct thread_watcher *watcher = self->watcher;
    if (!watcher->quiet && !watcher->opened)
        return;
    uint32_t depth = self->fold.state->depth - 1;
    struct class_entry *entry = whole_of(self->fold.spans[depth].class);
    if (depth <= self->divided_depth)
        self->divided_depth = entry->division ? depth : UINT32_MAX;
    if (watcher->opened)
        watcher->opened(self->watcher, entry, depth);
}

static void keep_arguments(struct thread_fold *self, const struct event *event)
{
    uint32_t depth = self->fold.state->depth;
    if (depth > self->room) {
        self->room = self->fold.capacity;
        self->arguments = memory__resize(self->arguments, self->room, sizeof *self->arguments);
    }
    struct open_arguments *arguments = &self->arguments[depth - 1];
    arguments->count = event->words < HEURT_ARGUMENTS_MAX ? event->words : HEURT_ARGUMENTS_MAX;
    for (size_t i = 0; i < arguments->count; i++)
        arguments->words[i] = event->payload[i];
    arguments->instructions = self->instructions;
    arguments->entered = event->tick;
}

static bool is_quiet(struct thread_fold *self, uint64_t tick)
{
    if (self->fold.state->depth > self->divided_depth)
        return false;
    if (tick < self->quiet.begin || tick >= self->quiet.end)
        self->quiet = self->watcher->quiet(self->watcher, tick);
    return tick >= self->quiet.begin && tick < self->quiet.end;
}

static inline bool may_pass(struct thread_fold *self, const struct fold_class *class, size_t place)
{
    uint8_t *passing = &self->passing[place];
    if (*passing == NOT_ASKED)
        *passing =
            !self->watcher->may_pass || self->watcher->may_pass(self->watcher, whole_of(class))
                ? PASSED
                : TOLD;
    return *passing == PASSED;
}

static inline void begin_passed(struct thread_fold *self, const struct fold_class *class,
                                uint32_t id, uint32_t depth)
{
    *(struct passed_call *)vec__extend(&self->passed, 1) = (struct passed_call){id, depth};
    if (depth)
        self->fold.spans[depth - 1].overhead += class->cost;
}

static void tell_passed(struct thread_fold *self, uint32_t depth, uint32_t count)
{
    if (count && self->watcher->passed_over)
        self->watcher->passed_over(self->watcher, depth, count);
}

/* Whether the event begins a call that is passed over. */
static bool begins_passed(struct thread_fold *self, const struct event *event)
{
    const struct fold *fold = &self->fold;
    size_t place = (event->id - HEURT_EVENT_FUNCTIONS) / 2;
    const struct fold_class *class = place < fold->function_count ? fold->functions[place] : NULL;
    bool begins = class && is_quiet(self, event->tick) && may_pass(self, class, place);
    if (begins)
        begin_passed(self, class, event->id, fold->state->depth);
    return begins;
}

/* Whether a call that was passed over ends with this event. */
static bool ends_passed(struct thread_fold *self, const struct event *event)
{
    uint32_t depth = self->fold.state->depth;
    const struct passed_call *calls = self->passed.items;
    for (size_t i = self->passed.count; i-- > 0 && calls[i].depth == depth;) {
        if (event->id != HEURT_EVENT_UNWOUND && calls[i].id != (event->id & ~1u))
            continue;
        self->passed.count = i;
        tell_passed(self, depth, 1);
        return true;
    }
    return false;
}

static bool is_at_once(uint32_t id)
{
    return id == HEURT_EVENT_LOCK_ACQUIRED || id == HEURT_EVENT_LOCK_RELEASED ||
           id == HEURT_EVENT_SEMAPHORE_ACQUIRED || id == HEURT_EVENT_SEMAPHORE_POSTED;
}

/* What takes no time is but a part of what it is in, and so are calls that are passed over. */
static bool pass_at_once(struct thread_fold *self, const struct event *event)
{
    struct fold *fold = &self->fold;
    if (self->watcher->at_once || fold->snapshot || fold->state->drawn_count ||
        !is_quiet(self, event->tick))
        return false;
    if (fold->state->depth)
        fold->spans[fold->state->depth - 1].overhead += fold->event_cost;
    return true;
}

static bool is_passed_over(struct thread_fold *self, const struct event *event)
{
    bool is_leave =
        event->id == HEURT_EVENT_UNWOUND || (event->id >= HEURT_EVENT_FUNCTIONS && event->id & 1);
    if (is_leave)
        return ends_passed(self, event);
    if (is_at_once(event->id))
        return pass_at_once(self, event);
    return event->id >= HEURT_EVENT_FUNCTIONS && begins_passed(self, event);
}

/* What was open around them has ended. */
static void forget_passed(struct thread_fold *self)
{
    const struct passed_call *calls = self->passed.items;
    while (self->passed.count && calls[self->passed.count - 1].depth > self->fold.state->depth)
        self->passed.count--;
}

/* ---- … of functions, most of which need less ------------------------------------------------- */

/* The innermost open call that was passed over just inside of what is open; NULL: there is none. */
static inline const struct passed_call *last_passed(const struct thread_fold *self, uint32_t depth)
{
    size_t count = self->passed.count;
    const struct passed_call *last =
        count ? VEC_AT(&self->passed, struct passed_call, count - 1) : NULL;
    return last && last->depth == depth ? last : NULL;
}

/* Whether the event ends that one. */
static inline bool ends_last_passed(struct thread_fold *self, uint32_t id, uint32_t depth)
{
    const struct passed_call *last = last_passed(self, depth);
    bool ends = last && last->id == (id & ~1u);
    self->passed.count -= ends;
    return ends;
}

/* Passes over calls as far as there is nothing else. */
static void pass_functions(struct thread_fold *self, struct event_words *words)
{
    uint32_t id, depth = self->fold.state->depth, ended = 0;
    uint64_t tick;
    for (const struct fold_class *class;
         (class = fold__next_function(&self->fold, words, &id, &tick));) {
        if (id & 1) {
            if (!ends_last_passed(self, id, depth))
                break;
            ended++;
        } else {
            if (!is_quiet(self, tick) || !may_pass(self, class, (id - HEURT_EVENT_FUNCTIONS) / 2))
                break;
            begin_passed(self, class, id, depth);
        }
        event_words__pass(words, tick);
    }
    tell_passed(self, depth, ended);
}

static inline bool watch_function(struct thread_fold *self, struct fold_class *class, uint32_t id,
                                  uint64_t tick)
{
    bool may_be_passed = id & 1 && last_passed(self, self->fold.state->depth);
    if (may_be_passed || !fold__function(&self->fold, class, id, tick))
        return false;
    forget_passed(self);
    if (!(id & 1)) {
        keep_arguments(self, &(struct event){.tick = tick, .id = id});
        tell_opened(self);
    }
    return true;
}

void thread_watch__functions(struct thread_fold *self, struct event_words *words)
{
    struct fold_class *class;
    uint32_t id;
    uint64_t tick;
    while (!self->instructions) {
        if (self->watcher->quiet)
            pass_functions(self, words);
        if (!(class = fold__next_function(&self->fold, words, &id, &tick)))
            return;
        if (!self->watcher->quiet)
            note_event(self, tick);
        if (!watch_function(self, class, id, tick))
            return;
        event_words__pass(words, tick);
        self->watcher->now.number++;
    }
}

/* ---- the watch ------------------------------------------------------------------------------- */

static bool is_of_kernel(uint32_t id)
{
    return id == HEURT_EVENT_OFF_CPU || id == HEURT_EVENT_FAULT || id == HEURT_EVENT_KERNEL;
}

struct class_entry *watcher__class(const struct thread_watcher *watcher, struct class_table *table,
                                   struct class_entry *entry)
{
    return class_table__part(table, entry, watcher->inside ? watcher->signature : NEST_NONE);
}

struct thread_fold *thread_watch__start(struct class_table *table, uint32_t thread,
                                        struct thread_watcher *watcher)
{
    struct thread_fold *self = memory__zeroed(1, sizeof *self);
    start_fold(self, table, NULL, thread, &self->state);
    self->watcher = watcher;
    self->fold.watch = watched;
    self->fold.watch_at_once = watcher->at_once || watcher->signatures ? watched_at_once : NULL;
    self->signatures = watcher->signatures ? callee_walk__new(table->signatures) : NULL;
    self->passed = VEC_OF(struct passed_call);
    self->divided_depth = UINT32_MAX;
    if (watcher->quiet)
        self->passing = memory__zeroed(self->fold.function_count + 1, 1);
    watcher->now = (struct watched_event){0};
    return self;
}

/* What the fold made of the event. */
static void has_folded(struct thread_fold *self, const struct event *event, uint32_t depth)
{
    if (self->signatures && event->id == HEURT_EVENT_LOST)
        callee_walk__forget(self->signatures);
    forget_passed(self);
    if (self->state.depth > depth) {
        keep_arguments(self, event);
        tell_opened(self);
    }
    if (event->id == HEURT_EVENT_INSTRUCTIONS)
        self->instructions = event->words ? event->payload[0] : 0;
    else if (event->id >= HEURT_EVENT_FUNCTIONS)
        self->instructions = 0;
}

void thread_watch__event(struct thread_fold *self, const struct event *event)
{
    struct thread_watcher *watcher = self->watcher;
    uint32_t depth = self->state.depth;
    if (!watcher->quiet)
        note_event(self, event->tick);
    if (watcher->kernel && is_of_kernel(event->id))
        watcher->kernel(watcher, event);
    if (!watcher->quiet || !is_passed_over(self, event)) {
        fold__event(&self->fold, event);
        has_folded(self, event, depth);
    } else {
        self->fold.snapshot = false; /* it was this call's */
    }
    watcher->now.number++;
}

void thread_watch__end(struct thread_fold *self)
{
    if (self->watcher->unfinished)
        leave_all(self);
    fold__close(&self->fold, 0); /* the classes' open spans are counted */
    class_table__forget_thread(self->table);
    free(self->fold.spans);
    touched_pages__free(self->pages);
    free(self->arguments);
    free(self->passing);
    vec__free(&self->passed);
    callee_walk__free(self->signatures);
    free(self);
}

void thread__watch(struct class_table *table, uint32_t thread, struct thread_watcher *watcher)
{
    struct trace_cursor cursor;
    struct event event;
    struct thread_fold *self = thread_watch__start(table, thread, watcher);
    trace_cursor__start(&cursor, table->trace, self->thread);
    do {
        struct event_words words = trace_cursor__words(&cursor);
        thread_watch__functions(self, &words);
        trace_cursor__pass(&cursor, &words);
    } while (trace_cursor__next(&cursor, &event) && (thread_watch__event(self, &event), true));
    thread_watch__end(self);
}

/* ---- parts that only listen ------------------------------------------------------------------ */

void watched_part__event(void *part, const struct event *event)
{
    thread_watch__event(((struct watched_part *)part)->watch, event);
}

void watched_part__events(void *part, struct event_words *words)
{
    thread_watch__functions(((struct watched_part *)part)->watch, words);
}

void watched_part__end(void *part)
{
    thread_watch__end(((struct watched_part *)part)->watch);
}

void watched_part__free(void *self, uint32_t thread, void *part)
{
    (void)self, (void)thread;
    free(part);
}
