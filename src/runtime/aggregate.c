#include "runtime/aggregate.h"

#include "fold/fold.h"
#include "fold/kinds.h"
#include "runtime/arena.h"

#include <sys/mman.h>

/* A class of the thread. */
struct own_class {
    struct fold_class fold; /* first: the fold gives it back */
    struct own_class *next; /* in the same place of the table */
    struct own_class *inner;
    struct heurt_class_record *record; /* NULL: it only counts open spans */
    uint32_t id, flags;
    uint64_t age; /* of the code at its site */
    uint64_t key[HEURT_ARGUMENTS_MAX];
};

#define CLASSES_MAX 8192u
#define CLASS_PLACES 2048u
#define SPANS_LEAST 16u
#define SPANS_MOST 65536u
#define FUNCTION_PLACES ((HEURT_EVENT_LAST - HEURT_EVENT_FUNCTIONS) / 2 + 1)
#define THREADS_KEPT_MAX 1024u

/* What is no class in a file: counts the open spans of a function whose arguments are recorded. */
#define FLAG_OUTER (1u << 31)

/* A part of a chunk that an interrupted writer has still to write. */
struct aside {
    struct heurt_chunk *chunk; /* NULL: there is none */
    uint64_t *hole;            /* the first word of the event that is missing */
    uint64_t *end;             /* of what was claimed */
};

struct aggregate {
    struct fold fold; /* first: its keeper gets this */
    struct heurt_thread_record *record;
    struct arena arena;
    struct aside aside;
    uint64_t tick; /* of the last event */
    uint32_t class_count;
    struct own_class *others[CLASS_KINDS];
    struct own_class *places[CLASS_PLACES];
    struct fold_class *functions[FUNCTION_PLACES];
};

/* ---- classes --------------------------------------------------------------------------------- */

/* What makes a class, besides its thread. */
struct aggregate_identity {
    uint32_t id, flags;
    uint64_t age;
    const uint64_t *key; /* HEURT_ARGUMENTS_MAX of them */
};

static struct own_class **place_of(struct aggregate *aggregate,
                                   const struct aggregate_identity *identity)
{
    uint64_t hash = identity->id + identity->age + ((uint64_t)identity->flags << 32);
    for (unsigned i = 0; i < HEURT_ARGUMENTS_MAX; i++)
        hash = (hash ^ identity->key[i]) * 0x9e3779b97f4a7c15ull;
    return &aggregate->places[hash >> 32 & (CLASS_PLACES - 1)];
}

static bool is(const struct own_class *class, const struct aggregate_identity *identity)
{
    bool same =
        class->id == identity->id && class->flags == identity->flags && class->age == identity->age;
    for (unsigned i = 0; i < HEURT_ARGUMENTS_MAX && same; i++)
        same = class->key[i] == identity->key[i];
    return same;
}

static struct own_class *find(struct aggregate *aggregate,
                              const struct aggregate_identity *identity)
{
    struct own_class *class = *place_of(aggregate, identity);
    while (class && !is(class, identity))
        class = class->next;
    return class;
}

static struct own_class *new_class(struct aggregate *aggregate,
                                   const struct aggregate_identity *identity)
{
    struct own_class *class = arena__own(&aggregate->arena, sizeof *class);
    if (!class)
        return NULL;
    struct own_class **place = place_of(aggregate, identity);
    class->id = identity->id;
    class->flags = identity->flags;
    class->age = identity->age;
    for (unsigned i = 0; i < HEURT_ARGUMENTS_MAX; i++)
        class->key[i] = identity->key[i];
    class->next = *place;
    *place = class;
    return class;
}

static void fill_record(struct heurt_class_record *record, const struct own_class *class,
                        const struct event *event)
{
    record->number = class->fold.number;
    record->flags = class->flags;
    record->tick = event->tick;
    record->id = class->id;
    record->words = event->words < HEURT_ARGUMENTS_MAX ? event->words : HEURT_ARGUMENTS_MAX;
    for (unsigned i = 0; i < record->words; i++)
        record->payload[i] = event->payload[i];
    record__publish(record, sizeof *record, HEURT_RECORD_CLASS);
}

/* A class with a record, told by event; NULL: there is no room. */
static struct own_class *new_recorded(struct aggregate *aggregate,
                                      const struct aggregate_identity *identity,
                                      const struct event *event, enum quota quota)
{
    struct heurt_class_record *record = NULL;
    if (aggregate->class_count < CLASSES_MAX || quota != QUOTA_CLASSES)
        record = arena__record(&aggregate->arena, sizeof *record, quota);
    struct own_class *class = record ? new_class(aggregate, identity) : NULL;
    if (!class)
        return NULL;
    class->record = record;
    class->fold.sums = (struct class_sums *)record->sums;
    class->fold.number = aggregate->class_count++;
    fill_record(record, class, event);
    return class;
}

/* The class of all that found no room. */
static struct own_class *other(struct aggregate *aggregate, enum class_kind kind, uint64_t tick)
{
    struct own_class *class = aggregate->others[kind];
    if (!class) {
        const uint64_t key[HEURT_ARGUMENTS_MAX] = {kind};
        struct aggregate_identity identity = {.flags = HEURT_CLASS_OTHER, .key = key};
        struct event event = {.tick = tick, .words = 1, .payload = key};
        class = new_recorded(aggregate, &identity, &event, QUOTA_ALL);
        if (!class) {
            aggregate->record->refused++;
            return NULL;
        }
        class->fold.component = class_kind__component(kind);
        class->fold.patched = kind == CLASS_CALL;
        aggregate->others[kind] = class;
    }
    return class;
}

/* ---- hooked calls ---------------------------------------------------------------------------- */

/* Where a module has gone, another one may come to lie: the same address is other code. */
static uint64_t age_of(uint64_t site, uint64_t tick)
{
    const struct gone_code *gone = &heurt_state.gone;
    if (likely(site < gone->low || site >= gone->high))
        return 0;
    return gone->times - (tick < gone->tick);
}

static struct fold_class *call_class(struct fold *fold, const struct event *event)
{
    struct aggregate *aggregate = (struct aggregate *)fold;
    uint64_t key[HEURT_ARGUMENTS_MAX] = {0};
    enum class_kind kind = call__kind(event);
    if (kind == CLASS_KINDS || !call__key(event, key))
        return NULL;
    struct aggregate_identity identity = {.id = call__class_id(event->id),
                                          .age = age_of(HEURT_SITE_ADDRESS(key[0]), event->tick),
                                          .key = key};
    struct own_class *class = find(aggregate, &identity);
    if (!class && (class = new_recorded(aggregate, &identity, event, QUOTA_CLASSES)))
        class->fold.component = class_kind__component(kind);
    if (!class)
        class = other(aggregate, kind, event->tick);
    return class ? &class->fold : NULL;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool is_patched(uint32_t id)
{
    return id <= HEURT_FUNCTION_LAST && heurt_state.bodies[id / 2] != NULL;
}

static enum class_kind kind_of_function(uint32_t id)
{
    return HEURT_IS_LOOP(id) ? CLASS_LOOP : is_patched(id) ? CLASS_CALL : CLASS_REGION;
}

/* Counts the function's open spans, whatever their arguments. */
static struct own_class *outer_of(struct aggregate *aggregate, uint32_t id)
{
    const uint64_t key[HEURT_ARGUMENTS_MAX] = {0};
    struct aggregate_identity identity = {.id = id, .flags = FLAG_OUTER, .key = key};
    struct own_class *outer = find(aggregate, &identity);
    return outer ? outer : new_class(aggregate, &identity);
}

static void set_function(struct own_class *class)
{
    class->fold.component = COMPONENT_RUNNING;
    class->fold.patched = is_patched(class->id);
    const struct calibration *costs =
        class->fold.patched ? patch__costs(class->id) : &heurt_state.marker;
    class->fold.bias = costs->bias_ticks;
    class->fold.cost = costs->cost_ticks;
}

static struct own_class *new_function(struct aggregate *aggregate,
                                      const struct aggregate_identity *identity,
                                      const struct event *event)
{
    struct own_class *class = new_recorded(aggregate, identity, event, QUOTA_CLASSES);
    if (!class)
        return NULL;
    set_function(class);
    struct own_class *outer =
        arguments__count(identity->id) ? outer_of(aggregate, identity->id) : NULL;
    class->fold.outer = outer ? &outer->fold : NULL;
    return class;
}

static struct own_class *class_of_words(struct aggregate *aggregate, const struct event *event,
                                        unsigned words)
{
    uint64_t key[HEURT_ARGUMENTS_MAX] = {0};
    for (unsigned i = 0; i < words && i < HEURT_ARGUMENTS_MAX; i++)
        key[i] = event->payload[i];
    struct aggregate_identity identity = {.id = event->id, .key = key, .age = words};
    struct own_class *class = find(aggregate, &identity);
    struct event told = {event->tick, event->id, words, event->payload};
    return class ? class : new_function(aggregate, &identity, &told);
}

static struct fold_class *function_class(struct fold *fold, const struct event *event)
{
    struct aggregate *aggregate = (struct aggregate *)fold;
    struct own_class *class = class_of_words(aggregate, event, event->words);
    if (!class && event->words) /* too many values of the arguments */
        class = class_of_words(aggregate, event, 0);
    if (!class)
        class = other(aggregate, kind_of_function(event->id), event->tick);
    if (!class)
        return NULL;
    size_t place = (event->id - HEURT_EVENT_FUNCTIONS) / 2;
    if (!event->words && place < FUNCTION_PLACES)
        aggregate->functions[place] = &class->fold;
    return &class->fold;
}

static struct fold_class *inner_class(struct fold *fold, struct fold_class *of)
{
    struct aggregate *aggregate = (struct aggregate *)fold;
    struct own_class *class = (struct own_class *)of;
    if (!class->inner) {
        const struct heurt_class_record *record = class->record;
        struct aggregate_identity identity = {class->id, HEURT_CLASS_INNER, class->age, class->key};
        struct event event = {record->tick, record->id, record->words, record->payload};
        class->inner = new_recorded(aggregate, &identity, &event, QUOTA_ALL);
        if (class->inner)
            set_function(class->inner);
    }
    return class->inner ? &class->inner->fold : of;
}

/* ---- what else the fold asks for ------------------------------------------------------------- */

static void add_block(struct fold *fold, struct fold_class *class, unsigned block)
{
    struct aggregate *aggregate = (struct aggregate *)fold;
    struct heurt_histogram_record *record =
        arena__record(&aggregate->arena, sizeof *record, QUOTA_ALL);
    if (!record)
        return;
    record->number = class->number;
    record->block = block;
    class->histogram[block] = record->counts;
    record__publish(record, sizeof *record, HEURT_RECORD_HISTOGRAM);
}

static void add_spans(struct fold *fold)
{
    struct aggregate *aggregate = (struct aggregate *)fold;
    uint32_t capacity = fold->capacity ? fold->capacity * 2 : SPANS_LEAST;
    uint32_t bytes =
        (uint32_t)(sizeof(struct heurt_spans_record) + capacity * sizeof(struct open_span));
    struct heurt_spans_record *record =
        capacity > SPANS_MOST ? NULL : arena__record(&aggregate->arena, bytes, QUOTA_ALL);
    if (!record)
        return;
    struct open_span *spans = (struct open_span *)(record + 1);
    bytes__copy(spans, fold->spans, fold->capacity * sizeof *spans);
    record->capacity = capacity;
    fold->spans = spans;
    fold->capacity = capacity;
    record__publish(record, bytes, HEURT_RECORD_SPANS);
}

/* The first call stack of a class in the process is kept, as long as there is much room. */
static bool is_first_stack(const struct own_class *class)
{
    uint64_t hash = (class->id * 31ull + class->key[0]) * 31 + class->key[1];
    hash = hash * 0x9e3779b97f4a7c15ull >> 48;
    uint64_t *word = &heurt_state.stacks_kept[hash / 64 % STACKS_KEPT_WORDS];
    uint64_t bit = 1ull << hash % 64;
    return !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

static void take_stack(struct fold *fold, struct fold_class *of)
{
    struct aggregate *aggregate = (struct aggregate *)fold;
    const struct own_class *class = (const struct own_class *)of;
    const struct event *stack = &fold->stack;
    uint32_t bytes = (uint32_t)sizeof(struct heurt_stack_record) + stack->words * 8;
    if (class->flags || !quota__has(QUOTA_STACKS, 1) || !is_first_stack(class))
        return;
    struct heurt_stack_record *record = arena__record(&aggregate->arena, bytes, QUOTA_STACKS);
    if (!record)
        return;
    record->number = of->number;
    record->words = stack->words;
    record->tick = stack->tick;
    bytes__copy(record + 1, stack->payload, stack->words * 8);
    record__publish(record, bytes, HEURT_RECORD_STACK);
}

static const struct fold_keeper keeper = {
    .function_class = function_class,
    .call_class = call_class,
    .inner_class = inner_class,
    .add_block = add_block,
    .add_spans = add_spans,
    .take_stack = take_stack,
};

/* ---- events ---------------------------------------------------------------------------------- */

static size_t fixed_words(const uint64_t *at)
{
    switch (event__id(*at)) {
#define POINT_WORDS(name, id, words) \
    case id:                         \
        return words == HEURT_WORDS_VARIABLE ? 1 + at[1] : words;
#define SPAN_WORDS(name, id, enter_words, leave_words) \
    case id:                                           \
        return enter_words;                            \
    case id | 1:                                       \
        return leave_words;
        HEURT_EVENT_TABLE(POINT_WORDS, SPAN_WORDS)
#undef POINT_WORDS
#undef SPAN_WORDS
    default:
        return 0;
    }
}

static void note_bounds(struct heurt_thread_record *record, const struct event *event)
{
    if (event->id == HEURT_EVENT_THREAD_START) {
        record->start_tick = event->tick;
    } else if (event->id == HEURT_EVENT_THREAD_END) {
        record->cpu_ns = event->payload[0];
        record->runnable_ns = event->payload[1];
        record->end_tick = event->tick;
        record->ended = 1;
    }
}

/* The event at at, whose tick is known; returns its words behind the first. */
static inline size_t read_event(const uint64_t *at, struct event *event)
{
    uint32_t id = event__id(*at);
    event->payload = at + 1;
    if (likely(id >= HEURT_EVENT_FUNCTIONS)) {
        event->id = id;
        event->words = id & 1 ? 0 : arguments__count(id);
        return event->words;
    }
    if (unlikely((id & ~1u) == HEURT_EVENT_FUNCTION)) {
        event->id = (uint32_t)at[1] | (id & 1);
        event->words = id & 1 ? 0 : arguments__count(event->id);
        event->payload = at + 2;
        return event->words + 1;
    }
    event->id = id;
    event->words = (uint32_t)fixed_words(at);
    return event->words;
}

/* Folds one event; returns its words behind the first. */
static inline size_t fold_one(struct aggregate *aggregate, const uint64_t *at)
{
    struct heurt_thread_record *record = aggregate->record;
    struct event event = {.tick = event__whole_tick(aggregate->tick, *at)};
    size_t words = read_event(at, &event);
    uint32_t id = event.id;
    aggregate->tick = event.tick;
    fold__event(&aggregate->fold, &event);
    if (unlikely(id <= HEURT_EVENT_THREAD_END))
        note_bounds(record, &event);
    else if (!record->ended)
        record->end_tick = event.tick;
    return words;
}

/* Folds what stands between from and end; returns the first word that was not written yet, or end.
 * After each event the record tells how far it is. */
static uint64_t *fold_words(struct aggregate *aggregate, const struct heurt_chunk *chunk,
                            uint64_t *from, uint64_t *end)
{
    const uint64_t *data = (const uint64_t *)(chunk + 1);
    while (from < end && *(volatile uint64_t *)from) {
        __asm__ volatile("" : : : "memory");
        from += 1 + fold_one(aggregate, from);
        aggregate->record->folded_words = (uint64_t)(from - data);
    }
    aggregate->fold.snapshot = false; /* its words will be gone */
    return from;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

void aggregate__not_claimed(struct aggregate *aggregate, const uint64_t *at)
{
    if (aggregate && aggregate->aside.chunk && at == aggregate->aside.hole)
        aggregate->aside.end = aggregate->aside.hole;
}

static uint64_t *limit_of(struct heurt_chunk *chunk)
{
    return (uint64_t *)((char *)chunk + (size_t)chunk__units(chunk) * HEURT_UNIT_BYTES);
}

static bool is_known(uint32_t id)
{
    if (id >= HEURT_EVENT_FUNCTIONS)
        return id < heurt_state.next_function || heurt_state.bodies[id / 2];
    switch (id) {
#define POINT_ID(name, id, words) case id:
#define SPAN_ID(name, id, enter_words, leave_words) \
    case id | 1:                                    \
    case id:
        HEURT_EVENT_TABLE(POINT_ID, SPAN_ID)
#undef POINT_ID
#undef SPAN_ID
        return true;
    default:
        return false;
    }
}

/* The first event behind words that were not written, as readers find it (cursor.c), or end. */
static uint64_t *behind_hole(const struct aggregate *aggregate, uint64_t *from, uint64_t *end)
{
    while (from < end &&
           (!*from || !event__follows(aggregate->tick, *from) || !is_known(event__id(*from))))
        from++;
    return from;
}

/* What an interrupted writer left out has been written when its handler has returned. If it has not
 * (the handler never returned, or filled a chunk by itself), it is passed over, and the chunk is
 * not used again, because its writer may still come. */
static void fold_aside(struct aggregate *aggregate)
{
    struct aside *aside = &aggregate->aside;
    uint64_t *at = aside->hole;
    bool whole = true;
    if (!aside->chunk)
        return;
    while ((at = fold_words(aggregate, aside->chunk, at, aside->end)) < aside->end) {
        whole = false;
        at = behind_hole(aggregate, at, aside->end);
    }
    if (whole)
        chunk__give_back(aside->chunk);
    aside->chunk = NULL;
}

/* Folds the chunk up to end. False: it is put aside. */
static bool fold_chunk(struct aggregate *aggregate, struct heurt_chunk *chunk, uint64_t *end)
{
    struct heurt_thread_record *record = aggregate->record;
    uint64_t *from = (uint64_t *)(chunk + 1);
    if (record->folded_sequence == chunk->sequence)
        from += record->folded_words;
    fold_aside(aggregate);
    record->folded_words = (uint64_t)(from - (uint64_t *)(chunk + 1));
    record->folded_sequence = chunk->sequence;
    uint64_t *stop = fold_words(aggregate, chunk, from, end);
    if (stop >= end)
        return true;
    aggregate->aside = (struct aside){chunk, stop, end};
    return false;
}

static void start_chunk(struct thread *thread, struct heurt_chunk *chunk)
{
    thread->chunk = chunk;
    thread->next = (uint64_t *)(chunk + 1);
    thread->limit = limit_of(chunk);
}

static void restart_chunk(struct aggregate *aggregate, struct heurt_chunk *chunk,
                          const uint64_t *end)
{
    uint64_t *data = (uint64_t *)(chunk + 1);
    words__clear(data, (size_t)(end - data));
    chunk->start = clock__pair();
    aggregate->record->folded_words = 0;
}

static bool new_chunk(struct thread *thread, uint32_t units)
{
    if (!quota__has(QUOTA_ALL, units) && !(units == ARENA_UNITS && heurt_state.chunks_free))
        return false;
    struct heurt_chunk *chunk =
        chunk__take(units, HEURT_CHUNK_EVENTS, thread->serial, thread->sequence);
    if (!chunk)
        return false;
    thread->sequence++;
    start_chunk(thread, chunk);
    return true;
}

static void write_pause(struct thread *thread, uint64_t began)
{
    uint64_t *at = thread->next, now = clock__tick();
    thread->next += 2;
    at[1] = now - began;
    event__publish(at, now, HEURT_EVENT_PAUSED);
}

bool aggregate__renew(struct thread *thread, uint64_t *end, uint32_t units)
{
    struct aggregate *aggregate = thread->aggregate;
    struct heurt_chunk *chunk = thread->chunk;
    uint64_t began = clock__tick();
    thread->next = thread->limit = NULL;
    thread->chunk = NULL;
    if (!aggregate)
        return false;
    bool folded = chunk && fold_chunk(aggregate, chunk, end);
    if (folded && chunk__units(chunk) >= units) {
        restart_chunk(aggregate, chunk, end);
        start_chunk(thread, chunk);
    } else {
        if (folded)
            chunk__give_back(chunk);
        if (!new_chunk(thread, units))
            return false;
    }
    if (chunk)
        write_pause(thread, began);
    return true;
}

/* ---- threads --------------------------------------------------------------------------------- */

static struct aggregate *new_aggregate(uint32_t thread, enum quota quota)
{
    struct aggregate *aggregate = pages__map(sizeof *aggregate);
    if (!aggregate)
        return NULL;
    aggregate->arena.thread = thread;
    struct heurt_thread_record *record = arena__record(&aggregate->arena, sizeof *record, quota);
    if (!record) {
        RAW2(munmap, aggregate, sizeof *aggregate);
        return NULL;
    }
    aggregate->record = record;
    aggregate->tick = record->start_tick = record->end_tick = clock__tick();
    record->cpu_ns = record->runnable_ns = ~0ull;
    aggregate->fold.keeper = &keeper;
    aggregate->fold.state = (struct fold_state *)record->state;
    aggregate->fold.functions = aggregate->functions;
    aggregate->fold.function_count = FUNCTION_PLACES;
    aggregate->fold.event_cost = heurt_state.event_ticks;
    aggregate->fold.left_out_cost = heurt_state.left_out_ticks;
    aggregate->fold.off_cpu_cost = heurt_state.off_cpu_ticks;
    aggregate->fold.fault_cost = heurt_state.fault_ticks;
    record__publish(record, sizeof *record, HEURT_RECORD_THREAD);
    return aggregate;
}

bool aggregate__may_begin(void)
{
    return heurt_state.chunks_free || quota__has(QUOTA_THREADS, 2);
}

bool aggregate__begin(struct thread *thread)
{
    thread->aggregate = new_aggregate(thread->serial, QUOTA_THREADS);
    return thread->aggregate != NULL;
}

void aggregate__forget(struct thread *thread)
{
    if (!thread->aggregate)
        return;
    arena__forget(&thread->aggregate->arena);
    RAW2(munmap, thread->aggregate, sizeof *thread->aggregate);
    thread->aggregate = NULL;
}

/* ---- threads that have ended ----------------------------------------------------------------- */

static void merge_histogram(struct aggregate *into, struct fold_class *to,
                            const struct fold_class *from)
{
    for (unsigned block = 0; block < HISTOGRAM_BLOCKS; block++) {
        if (!from->histogram[block])
            continue;
        if (!to->histogram[block])
            add_block(&into->fold, to, block);
        for (unsigned i = 0; to->histogram[block] && i < HISTOGRAM_BLOCK_BUCKETS; i++)
            to->histogram[block][i] += from->histogram[block][i];
    }
}

static enum class_kind kind_of(const struct own_class *class, const struct event *event)
{
    if (class->flags & HEURT_CLASS_OTHER)
        return (enum class_kind) class->key[0];
    if (class->id >= HEURT_EVENT_FUNCTIONS)
        return kind_of_function(class->id);
    return call__kind(event);
}

static void merge_class(struct aggregate *into, const struct own_class *class)
{
    const struct heurt_class_record *record = class->record;
    struct aggregate_identity identity = {class->id, class->flags, class->age, class->key};
    struct event event = {record->tick, record->id, record->words, record->payload};
    struct own_class *to = find(into, &identity);
    if (!to)
        to = new_recorded(into, &identity, &event, QUOTA_CLASSES);
    if (!to)
        to = other(into, kind_of(class, &event), record->tick);
    if (!to) {
        into->record->refused += class->fold.sums->accumulator.count;
        return;
    }
    const struct class_sums *from = class->fold.sums;
    accumulator__merge(&to->fold.sums->accumulator, &from->accumulator);
    to->fold.sums->contended += from->contended;
    to->fold.sums->unfinished += from->unfinished;
    merge_histogram(into, &to->fold, &class->fold);
}

static void merge_state(struct aggregate *into, const struct aggregate *from)
{
    struct heurt_thread_record *to = into->record;
    const struct heurt_thread_record *ended = from->record;
    for (unsigned i = 0; i < PARTS; i++)
        into->fold.state->parts[i] += from->fold.state->parts[i];
    into->fold.state->covered += from->fold.state->covered;
    into->fold.state->kernel_lost += from->fold.state->kernel_lost;
    into->fold.state->off_cpu_count += from->fold.state->off_cpu_count;
    into->fold.state->fault_count += from->fold.state->fault_count;
    into->fold.state->fault_off += from->fold.state->fault_off;
    into->fold.state->counted_faults += from->fold.state->counted_faults;
    into->fold.state->creating += from->fold.state->creating;
    into->fold.state->events += from->fold.state->events;
    into->fold.state->overhead += from->fold.state->overhead + from->fold.state->paused;
    into->fold.state->paused_off += from->fold.state->paused_off;
    into->fold.state->unmatched += from->fold.state->unmatched;
    into->fold.state->dropped += from->fold.state->dropped;
    to->refused += ended->refused;
    to->cpu_ns = (to->merged_threads ? to->cpu_ns : 0) + ended->cpu_ns;
    to->start_tick = to->start_tick < ended->start_tick ? to->start_tick : ended->start_tick;
    to->end_tick = to->end_tick > ended->end_tick ? to->end_tick : ended->end_tick;
    to->ended = 1;
    to->merged_threads++;
    to->merged_ticks += ended->end_tick - ended->start_tick;
}

/* Since when the kernel's records are complete of all that are merged. */
static void merge_kernel(struct aggregate *into, const struct aggregate *from)
{
    uint64_t *all = &into->fold.state->kernel_since, since = from->fold.state->kernel_since;
    if (!into->record->merged_threads || !since || (*all && since < *all))
        *all = since;
}

/* Under ended_lock. */
static bool merge(struct aggregate *from)
{
    struct aggregate *into = heurt_state.ended;
    if (!into) {
        uint32_t serial =
            __atomic_fetch_add(&heurt_state.session->next_thread, 1, __ATOMIC_RELAXED);
        into = heurt_state.ended = new_aggregate(serial, QUOTA_ALL);
        if (!into)
            return false;
    }
    for (unsigned place = 0; place < CLASS_PLACES; place++)
        for (const struct own_class *class = from->places[place]; class; class = class->next)
            if (class->record)
                merge_class(into, class);
    merge_kernel(into, from);
    merge_state(into, from);
    return true;
}

/* The records of the first threads that end stay; what later ones did is counted together, so that
 * a program that starts threads for ever needs no more room. */
static bool may_keep(void)
{
    return heurt_state.threads_kept < THREADS_KEPT_MAX && quota__has(QUOTA_KEPT_THREADS, 1);
}

void aggregate__end(struct thread *thread)
{
    struct aggregate *aggregate = thread->aggregate;
    struct heurt_chunk *chunk = thread->chunk;
    if (!aggregate || !chunk)
        return;
    uint64_t *end = thread->next < thread->limit ? thread->next : thread->limit;
    thread->next = thread->limit = NULL;
    thread->chunk = NULL;
    if (fold_chunk(aggregate, chunk, end)) {
        aggregate->record->folded_sequence = chunk->sequence + 1;
        aggregate->record->folded_words = 0;
        chunk__give_back(chunk);
    }
    fold__close(&aggregate->fold, 0);
    spin__lock(&heurt_state.ended_lock);
    bool keep = may_keep();
    heurt_state.threads_kept += keep;
    bool merged = !keep && merge(aggregate);
    spin__unlock(&heurt_state.ended_lock);
    if (merged)
        arena__free(&aggregate->arena);
    aggregate__forget(thread);
    thread->started = thread->ended = false;
    thread->countdowns = NULL;
}
