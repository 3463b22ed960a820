#include "symbol/resolve.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/access_counts.h"
#include "format/allocations.h"
#include "format/sampled_lines.h"
#include "symbol/address_space.h"
#include "symbol/heap_objects.h"
#include "symbol/image.h"
#include "symbol/interval.h"
#include "symbol/lookup.h"
#include "symbol/stack_objects.h"
#include "symbol/unwind.h"

#include <stdlib.h>
#include <string.h>

/* How an address is looked up and who asks for it. */
enum address_use {
    ADDRESS_ENTRY, /* of a function, or a marker's */
    ADDRESS_CALL,  /* a return address that was recorded as a site */
    ADDRESS_FRAME_EXACT,
    ADDRESS_FRAME_CALL,
    ADDRESS_SAMPLE, /* one of many: nobody misses its name */
};

struct resolver {
    const struct trace *trace;
    struct symbols *symbols;
    struct images images;
    struct space *spaces; /* one a process, as trace__processes */
    struct vec *modules;  /* likewise: struct address_interval, where modules are or were */
    bool *reuses;         /* likewise: files lay at one address, one after the other */
    struct map known;     /* struct address_key: looked up already */
    struct map variables; /* likewise, as data */
    struct stack_objects on_stacks;
    struct heap_objects on_heaps;
    struct allocations *allocations; /* that samples found threads at */
    struct map callers;              /* struct stack_key: of their stacks */
};

struct stack_key {
    uint64_t thread, tick; /* serial */
};

/* The stack that a thread has taken; it belongs to the event that follows. */
struct taken_stack {
    bool is_open; /* it is not unwound yet: whose it is is not known */
    uint64_t tick;
    uint64_t registers[HEURT_STACK_REGISTERS];
    struct unwound_frame frames[UNWIND_FRAMES_MAX];
    size_t count; /* 0: the event before was no stack */
    struct vec words;
    struct stack_memory memory;
};

/* module: where one of several lay there then; 0: whichever it is, it is the only one. */
struct address_key {
    uint64_t process, address, module;
};

/* Most locks are on the heap; that they are in no module is found out by these alone. */
static struct vec modules_of(const struct space *space)
{
    struct vec modules = INTERVALS;
    for (; space; space = space->parent)
        for (size_t i = 0; i < space->module_count; i++)
            intervals__add(&modules, space->modules[i].start, space->modules[i].end, 0, 0);
    intervals__sort(&modules);
    return modules;
}

/* One file may be loaded again where it was before. */
static bool is_other_file(const struct trace_module *one, const struct trace_module *other)
{
    return one->bias != other->bias || strcmp(one->path, other->path) != 0 ||
           one->build_id_bytes != other->build_id_bytes ||
           (one->build_id_bytes &&
            memcmp(one->build_id, other->build_id, one->build_id_bytes) != 0);
}

static bool reuses_addresses(const struct space *space)
{
    for (size_t i = 0; i < space->module_count; i++)
        for (size_t k = 0; space->modules[i].gone_tick != UINT64_MAX && k < space->module_count;
             k++)
            if (space->modules[k].start < space->modules[i].end &&
                space->modules[i].start < space->modules[k].end &&
                is_other_file(&space->modules[i], &space->modules[k]))
                return true;
    return false;
}

static void start_spaces(struct resolver *resolver)
{
    const struct vec *processes = trace__processes(resolver->trace);
    resolver->spaces = memory__zeroed(processes->count, sizeof *resolver->spaces);
    resolver->modules = memory__zeroed(processes->count, sizeof *resolver->modules);
    resolver->reuses = memory__zeroed(processes->count, sizeof *resolver->reuses);
    struct space *space = resolver->spaces;
    VEC_EACH (process, processes, const struct trace_process) {
        const struct trace_process *parent =
            trace__process_of(resolver->trace, process->parent_serial);
        space__start(space++, &resolver->images, process->modules.items, process->modules.count,
                     parent ? &resolver->spaces[parent - (struct trace_process *)processes->items]
                            : NULL);
    }
    for (size_t i = 0; i < processes->count; i++) {
        resolver->modules[i] = modules_of(&resolver->spaces[i]);
        resolver->reuses[i] = reuses_addresses(&resolver->spaces[i]);
    }
}

static void end(struct resolver *resolver)
{
    for (size_t i = 0; i < trace__processes(resolver->trace)->count; i++) {
        space__end(&resolver->spaces[i]);
        vec__free(&resolver->modules[i]);
    }
    free(resolver->spaces);
    free(resolver->modules);
    free(resolver->reuses);
    images__free(&resolver->images);
    map__free(&resolver->known);
    map__free(&resolver->callers);
    allocations__free(resolver->allocations);
    map__free(&resolver->variables);
    stack_objects__free(&resolver->on_stacks);
    heap_objects__free(&resolver->on_heaps);
}

#define NAMES_BYTES 256 /* no more are put together */

/* An address that was several things, one after the other, has all their names; free() them. NULL:
 * it has that one already, or too many. before: NULL is allowed. */
static char *joined_names(const struct symbol *before, const char *name)
{
    if (before && (strstr(before->function, name) || strlen(before->function) > NAMES_BYTES))
        return NULL;
    return memory__format("%s%s%s", before ? before->function : "", before ? SYMBOL_LATER : "",
                          name);
}

/* "work (first.so), later work (second.so)"; free() it. */
static char *names_of_files(const struct symbol *before, const struct symbol *after)
{
    const char *file = path__name(before->module);
    bool is_joined = !before->file && strstr(before->function, SYMBOL_LATER);
    char *first = is_joined ? memory__format("%s", before->function)
                            : memory__format("%s (%s)", before->function, file);
    char *second = memory__format("%s (%s)", after->function, path__name(after->module));
    const struct symbol joined = {.function = first};
    char *names = joined_names(&joined, second);
    free(second);
    if (names)
        free(first);
    return names ? names : first;
}

/* before: its name, when other things lay there. */
static void join_symbols(struct resolver *resolver, uint32_t process, uint64_t address,
                         const struct symbol *before, const struct symbol *after,
                         void (*put)(struct symbols *, uint32_t, uint64_t, const struct symbol *))
{
    if (!before || !after || before == after)
        return;
    char *names = names_of_files(before, after);
    const struct symbol symbol = {
        .function = names, .module = before->module, .named = before->named && after->named};
    put(resolver->symbols, process, address, &symbol);
    free(names);
}

static struct address_key key_of(struct resolver *resolver, size_t process, uint64_t address,
                                 uint64_t tick)
{
    struct address_key key = {trace__process_at(resolver->trace, process)->serial, address, 0};
    if (resolver->reuses[process])
        key.module = (uintptr_t)space__find(&resolver->spaces[process], address, tick).module;
    return key;
}

static void add_address(struct resolver *resolver, size_t process, uint64_t address, uint64_t tick,
                        enum address_use use)
{
    const struct trace_process *owner = trace__process_at(resolver->trace, process);
    bool is_return = use == ADDRESS_CALL || use == ADDRESS_FRAME_CALL;
    struct address_key key = key_of(resolver, process, address, tick);
    size_t count = resolver->known.count;
    if (address == 0 || map__put(&resolver->known, &key, sizeof key, count) != count)
        return;
    struct space *space = &resolver->spaces[process];
    const struct symbol *before =
        key.module ? symbols__get(resolver->symbols, owner->serial, address) : NULL;
    bool is_named = lookup__put(resolver->symbols, owner->serial, space, address, tick, is_return);
    join_symbols(resolver, owner->serial, address, before,
                 symbols__get(resolver->symbols, owner->serial, address), symbols__put);
    if (is_named)
        return;
    struct address_place place = space__find(space, address - is_return, tick);
    bool is_frame = use == ADDRESS_FRAME_EXACT || use == ADDRESS_FRAME_CALL;
    /* Every stack ends there; that private functions have no names is nothing to warn about. */
    if (place.image && use != ADDRESS_SAMPLE && !(is_frame && image__is_c_library(place.image)))
        lookup__warn(resolver->symbols, place.image);
}

/* taken: at this call, if it has any; NULL: it is no call's. */
static void add_object(struct resolver *resolver, const struct named_object *object,
                       const struct taken_stack *taken)
{
    size_t process = object->process, count = resolver->variables.count;
    uint64_t address = object->address, tick = object->tick;
    if (!intervals__find(&resolver->modules[process], address)) {
        stack_objects__add(&resolver->on_stacks, process, object->serial, address, tick);
        if (object->site)
            heap_objects__add(&resolver->on_heaps, object);
        if (taken && taken->count)
            heap_objects__learn(&resolver->on_heaps, object, &resolver->spaces[process],
                                taken->frames, taken->count, &taken->memory);
        return;
    }
    struct address_key key = key_of(resolver, process, address, tick);
    if (map__put(&resolver->variables, &key, sizeof key, count) != count)
        return;
    const struct symbol *before =
        key.module ? symbols__variable(resolver->symbols, object->serial, address) : NULL;
    bool is_named = lookup__put_variable(resolver->symbols, object->serial,
                                         &resolver->spaces[process], address, tick);
    join_symbols(resolver, object->serial, address, before,
                 symbols__variable(resolver->symbols, object->serial, address),
                 symbols__put_variable);
    if (!is_named && object->site)
        heap_objects__add(&resolver->on_heaps, object);
}

static void add_named_object(struct symbols *symbols, uint32_t process,
                             const struct trace_object *object)
{
    char *names = joined_names(symbols__variable(symbols, process, object->address), object->name);
    if (!names)
        return;
    const struct symbol symbol = {.function = names, .module = "", .named = true};
    symbols__put_variable(symbols, process, object->address, &symbol);
    free(names);
}

static void add_named_objects(struct resolver *resolver)
{
    const struct vec *processes = trace__processes(resolver->trace);
    VEC_EACH (process, processes, const struct trace_process)
        VEC_EACH (object, &process->objects, const struct trace_object)
            if (object->address < HEURT_SHARED_OBJECT)
                add_named_object(resolver->symbols, process->serial, object);
            else
                VEC_EACH (other, processes, const struct trace_process)
                    add_named_object(resolver->symbols, other->serial, object);
}

/* Entries come first: an address that is both an entry and a return address (behind a call that
 * does not return) is shown as the entry. */
static void add_functions(struct resolver *resolver)
{
    const struct vec *processes = trace__processes(resolver->trace);
    for (size_t i = 0; i < processes->count; i++) {
        const struct trace_process *process = VEC_AT(processes, struct trace_process, i);
        VEC_EACH (function, &process->functions, const struct trace_function)
            add_address(resolver, i, function->address, process->tick, ADDRESS_ENTRY);
    }
}

/* Whether it is the enter of a wait. */
static bool is_wait(uint32_t id)
{
    return id == HEURT_EVENT_LOCK_WAIT || id == HEURT_EVENT_CONDITION_WAIT ||
           id == HEURT_EVENT_BARRIER_WAIT || id == HEURT_EVENT_SEMAPHORE_WAIT ||
           id == HEURT_EVENT_FUTEX_WAIT;
}

/* A stack belongs to the event that follows it. Who looks for a wait's knows when it began. */
struct wait_stacks {
    uint64_t stack;                                 /* tick of the STACK just before; 0: none */
    uint64_t begin[HEURT_EVENT_FUTEX_WAIT / 2 + 1]; /* by id / 2: of the wait that is open */
};

static void keep_stack_of_wait(struct resolver *resolver, const struct trace_thread *thread,
                               struct wait_stacks *waits, const struct event *event)
{
    uint32_t wait = event->id & ~1u;
    const uint64_t *frames;
    uint64_t stack = waits->stack;
    waits->stack = 0;
    if (!is_wait(wait))
        return;
    uint64_t *begin = &waits->begin[wait / 2];
    if (event->id == wait)
        *begin = event->tick;
    size_t count =
        stack ? symbols__get_stack(resolver->symbols, thread->serial, stack, &frames) : 0;
    if (count && *begin)
        symbols__put_stack(resolver->symbols, thread->serial, *begin, frames, count);
    if (event->id != wait)
        *begin = 0;
}

/* The event's words are valid until the next one. */
static void keep_words(struct taken_stack *taken, const struct event *event)
{
    const uint64_t *registers = event->payload + 1;
    if (!taken->words.item_bytes)
        taken->words = VEC_OF(uint64_t);
    taken->words.count = 0;
    memcpy(taken->registers, registers, sizeof taken->registers);
    for (uint32_t i = HEURT_STACK_REGISTERS; i + 1 < event->words; i++)
        vec__push(&taken->words, &registers[i]);
    taken->memory = (struct stack_memory){
        .start = registers[1], .memory = taken->words.items, .words = taken->words.count};
}

static void take_stack(const struct event *event, struct taken_stack *taken)
{
    taken->count = 0;
    taken->is_open = event->words >= 1 + HEURT_STACK_REGISTERS;
    taken->tick = event->tick;
    if (taken->is_open)
        keep_words(taken, event);
}

static void unwind(struct resolver *resolver, const struct trace_thread *thread,
                   struct taken_stack *taken)
{
    struct unwound_frame *frames = taken->frames;
    uint64_t addresses[UNWIND_FRAMES_MAX];
    struct snapshot snapshot = {
        .tick = taken->tick, .registers = taken->registers, .memory = taken->memory};
    taken->is_open = false;
    size_t count = taken->count =
        unwind__frames(&resolver->spaces[thread->process], &snapshot, frames);
    for (size_t i = 0; i < count; i++) {
        addresses[i] = frames[i].address;
        stack_objects__add_frame(&resolver->on_stacks, thread->process, &frames[i], taken->tick);
        add_address(resolver, thread->process, frames[i].address, taken->tick,
                    frames[i].is_exact ? ADDRESS_FRAME_EXACT : ADDRESS_FRAME_CALL);
    }
    if (count)
        symbols__put_stack(resolver->symbols, thread->serial, taken->tick, addresses, count);
}

/* The event that comes behind a stack. Most of those that allocations take are never asked for. */
static void settle_stack(struct resolver *resolver, const struct trace_thread *thread,
                         const struct event *event, struct taken_stack *taken)
{
    struct stack_key key = {thread->serial, taken->tick};
    if (taken->is_open && (event->id != HEURT_EVENT_ALLOCATED ||
                           map__get(&resolver->callers, &key, sizeof key) != MAP_ABSENT))
        unwind(resolver, thread, taken);
    taken->is_open = false;
}

/* Events whose first payload word is a SITE (see HEURT_EVENT_TABLE). */
static bool has_site(uint32_t id)
{
    return (id >= HEURT_EVENT_LOCK_WAIT && id <= HEURT_EVENT_FUTEX_WOKEN && id % 2 == 0) ||
           id == HEURT_EVENT_INITIALISED || id == HEURT_EVENT_MEMORY_MAP ||
           id == HEURT_EVENT_OPENMP_BEGIN || id == HEURT_EVENT_OPENMP_END ||
           id == HEURT_EVENT_MESSAGE_CALL;
}

/* How many of the words behind the site are addresses of locks and their kin. */
static uint32_t objects_of(uint32_t id)
{
    if (id == HEURT_EVENT_CONDITION_WAIT)
        return 2;
    return (id >= HEURT_EVENT_LOCK_WAIT && id <= HEURT_EVENT_SEMAPHORE_POSTED) ||
           id == HEURT_EVENT_FUTEX_WAIT || id == HEURT_EVENT_FUTEX_WOKEN ||
           id == HEURT_EVENT_INITIALISED;
}

enum { RECENT = 256 };

/* Addresses that were met last: most events are of a few. */
struct recent {
    uint64_t sites[RECENT], objects[RECENT];
};

static bool is_recent(uint64_t recent[RECENT], uint64_t address)
{
    uint64_t *last = &recent[(address ^ address >> 8) % RECENT];
    bool same = *last == address;
    *last = address;
    return same;
}

static uint32_t serial_of(const struct resolver *resolver, const struct trace_thread *thread)
{
    return trace__process_at(resolver->trace, thread->process)->serial;
}

static void add_call(struct resolver *resolver, const struct trace_thread *thread,
                     const struct event *event, struct recent *recent,
                     const struct taken_stack *taken)
{
    struct named_object object = {
        .process = thread->process, .serial = serial_of(resolver, thread), .tick = event->tick};
    uint64_t site = HEURT_SITE_ADDRESS(event->payload[0]);
    bool reuses = resolver->reuses[thread->process];
    if (!is_recent(recent->sites, site) || reuses) {
        add_address(resolver, thread->process, site, event->tick, ADDRESS_CALL);
        if (event->id == HEURT_EVENT_SLEEP)
            symbols__put_sleep(resolver->symbols, object.serial, site, false);
    }
    uint32_t objects = objects_of(event->id);
    object.site = site;
    for (object.word = 1; object.word <= objects && object.word < event->words; object.word++) {
        object.address = event->payload[object.word];
        if (!is_recent(recent->objects, object.address + site) || reuses || taken->count)
            add_object(resolver, &object, taken);
    }
}

/* What an aggregated run has kept of the thread's events. */
static void add_aggregate(struct resolver *resolver, const struct trace_thread *thread)
{
    struct recent recent = {0};
    struct taken_stack taken = {.count = 0};
    VEC_EACH (place, &thread->aggregate->classes, const struct heurt_class_record *) {
        const struct heurt_class_record *class = *place;
        struct event event = {class->tick, class->id, class->words, class->payload};
        if (has_site(class->id) && class->words > 0)
            add_call(resolver, thread, &event, &recent, &taken);
    }
    VEC_EACH (place, &thread->aggregate->stacks, const struct heurt_stack_record *) {
        const struct heurt_stack_record *stack = *place;
        const uint64_t *words = (const uint64_t *)(stack + 1);
        struct event event = {stack->tick, HEURT_EVENT_STACK, stack->words, words};
        take_stack(&event, &taken);
        if (taken.is_open)
            unwind(resolver, thread, &taken);
    }
    vec__free(&taken.words);
}

static void add_thread(struct resolver *resolver, const struct trace_thread *thread)
{
    struct recent recent = {0};
    struct wait_stacks waits = {0};
    struct taken_stack taken = {.count = 0};
    struct trace_cursor cursor;
    struct event event;
    if (thread->aggregate)
        add_aggregate(resolver, thread);
    trace_cursor__start(&cursor, resolver->trace, thread);
    while (trace_cursor__next(&cursor, &event)) {
        if (event.id == HEURT_EVENT_STACK) {
            take_stack(&event, &taken);
            waits.stack = event.tick;
            continue;
        }
        settle_stack(resolver, thread, &event, &taken);
        keep_stack_of_wait(resolver, thread, &waits, &event);
        if (has_site(event.id) && event.words > 0) {
            add_call(resolver, thread, &event, &recent, &taken);
        } else if (event.id == HEURT_EVENT_FAULT && event.words >= 3 && event.payload[2]) {
            if (!is_recent(recent.sites, event.payload[2] + 1))
                add_address(resolver, thread->process, event.payload[2] + 1, event.tick,
                            ADDRESS_CALL);
        } else if (event.id == HEURT_EVENT_THREAD_START && event.words >= 3) {
            add_address(resolver, thread->process, event.payload[2], event.tick, ADDRESS_ENTRY);
        }
        taken.count = 0;
    }
    if (taken.is_open)
        unwind(resolver, thread, &taken);
    vec__free(&taken.words);
}

/* Where threads were on a CPU. */
static void add_samples(struct resolver *resolver)
{
    struct sample_threads *known = sample_threads__new(resolver->trace);
    VEC_EACH (sample, trace__samples(resolver->trace), const struct heurt_sample) {
        uint32_t index = sample_threads__of(known, sample);
        if (index >= trace__threads(resolver->trace)->count)
            continue;
        const struct trace_thread *thread = trace__thread_at(resolver->trace, index);
        add_address(resolver, thread->process, sample->instruction,
                    sample__tick(resolver->trace, sample), ADDRESS_SAMPLE);
    }
    sample_threads__free(known);
}

/* What lies at memory that several threads use. */
static void add_sampled_lines(struct resolver *resolver)
{
    struct sampled_lines found = sampled_lines__find(resolver->trace);
    VEC_EACH (line, &found.lines, const struct sampled_line) {
        for (size_t i = 0; i < line->count; i++) {
            const struct line_sample *at =
                VEC_AT(&found.samples, struct line_sample, line->first + i);
            const struct trace_thread *thread = trace__thread_at(resolver->trace, at->thread);
            struct named_object object = {.process = line->process,
                                          .serial = serial_of(resolver, thread),
                                          .address = at->address,
                                          .tick = sample__tick(resolver->trace, at->sample)};
            add_object(resolver, &object, NULL);
        }
    }
    sampled_lines__free(&found);
}

#define NAMED_MOST 4096u /* places in static data: each of them costs a search, and room */

/* Variables that samples found threads at. */
static void add_sampled_variables(struct resolver *resolver)
{
    struct sample_threads *threads = sample_threads__new(resolver->trace);
    struct map known = {0};
    VEC_EACH (sample, trace__samples(resolver->trace), const struct heurt_sample) {
        bool may_be = sample->address && sample->region != HEURT_REGION_STACK;
        uint32_t index = may_be ? sample_threads__of(threads, sample) : UINT32_MAX;
        struct address_key key = {sample->pid, sample->address, 0};
        size_t before = known.count;
        if (index == UINT32_MAX || before >= NAMED_MOST)
            continue;
        const struct trace_thread *thread = trace__thread_at(resolver->trace, index);
        if (!intervals__find(&resolver->modules[thread->process], sample->address))
            continue;
        uint64_t tick = sample__tick(resolver->trace, sample);
        key.module = key_of(resolver, thread->process, sample->address, tick).module;
        map__put(&known, &key, sizeof key, 1);
        struct named_object object = {.process = thread->process,
                                      .serial = serial_of(resolver, thread),
                                      .address = sample->address,
                                      .tick = tick};
        if (known.count > before)
            add_object(resolver, &object, NULL);
    }
    map__free(&known);
    sample_threads__free(threads);
}

static void add_counted_addresses(const struct trace *trace, struct vec *addresses)
{
    struct access_counts counts = access_counts__of(trace);
    VEC_EACH (counted, &counts.all, const struct counted_access) {
        uint64_t address = access_count__address(counted->count);
        vec__push(addresses, &address);
    }
    access_counts__free(&counts);
}

static void find_allocations(struct resolver *resolver)
{
    const struct trace *trace = resolver->trace;
    struct vec addresses = VEC_OF(uint64_t);
    if (trace__session(trace)->flags & HEURT_SESSION_OBJECTS)
        VEC_EACH (sample, trace__samples(trace), const struct heurt_sample)
            if (sample->address) /* a stack may be one mapping with what was allocated beside it */
                vec__push(&addresses, &sample->address);
    add_counted_addresses(trace, &addresses);
    resolver->allocations = allocations__find(trace, &addresses);
    vec__free(&addresses);
    VEC_EACH (allocation, allocations__all(resolver->allocations), const struct allocation) {
        uint32_t thread;
        struct stack_key key;
        if (!allocations__stack(resolver->allocations, allocation, &thread, &key.tick))
            continue;
        key.thread = thread;
        map__put(&resolver->callers, &key, sizeof key, 1);
    }
}

/* Of which objects several threads use a line, by its number; free() it. */
static bool *shared_of(const struct resolver *resolver, const struct allocations *found)
{
    struct sampled_lines lines = sampled_lines__find(resolver->trace);
    bool *shared = memory__zeroed(allocations__all(found)->count + 1, sizeof *shared);
    VEC_EACH (at, &lines.samples, const struct line_sample) {
        const struct allocation *object =
            allocations__at(found, trace__thread_at(resolver->trace, at->thread)->process,
                            at->address, sample__tick(resolver->trace, at->sample));
        if (object)
            shared[object->number] = true;
    }
    sampled_lines__free(&lines);
    return shared;
}

#define CALLERS_ASKED 4 /* what wraps an allocator is not deeper, mostly */

/* At the site, or where what calls it uses what it gets. */
static void ask_made_type(struct resolver *resolver, uint32_t process,
                          const struct allocation *allocation)
{
    const uint64_t *frames;
    uint32_t thread;
    uint64_t tick;
    symbols__ask_made_type(resolver->symbols, process, allocation->site);
    if (!allocations__stack(resolver->allocations, allocation, &thread, &tick))
        return;
    size_t count = symbols__get_stack(resolver->symbols, thread, tick, &frames), at = 0;
    while (at < count && frames[at] != allocation->site)
        at++;
    for (size_t i = at + 1; i < count && i <= at + CALLERS_ASKED; i++)
        symbols__ask_made_type(resolver->symbols, process, frames[i]);
}

/* In a forked process, what was allocated before the fork is the parent's call. */
static void add_inherited_site(struct resolver *resolver, const struct heurt_sample *sample,
                               uint32_t index)
{
    const struct trace_thread *thread = trace__thread_at(resolver->trace, index);
    uint64_t tick = sample__tick(resolver->trace, sample);
    const struct allocation *allocation =
        allocations__at(resolver->allocations, thread->process, sample->address, tick);
    if (allocation)
        add_address(resolver, thread->process, allocation->site, tick, ADDRESS_CALL);
}

static void add_inherited_sites(struct resolver *resolver)
{
    if (trace__processes(resolver->trace)->count < 2)
        return;
    struct sample_threads *known = sample_threads__new(resolver->trace);
    VEC_EACH (sample, trace__samples(resolver->trace), const struct heurt_sample) {
        uint32_t thread = sample->address ? sample_threads__of(known, sample) : UINT32_MAX;
        if (thread != UINT32_MAX)
            add_inherited_site(resolver, sample, thread);
    }
    sample_threads__free(known);
}

/* Where objects were allocated that samples found threads at; of what they are only where threads
 * share them, since types are dear to find. */
static void add_sampled_objects(struct resolver *resolver)
{
    struct allocations *found = resolver->allocations;
    bool *shared = shared_of(resolver, found);
    VEC_EACH (allocation, allocations__all(found), const struct allocation) {
        const struct trace_thread *thread = trace__thread_at(resolver->trace, allocation->thread);
        add_address(resolver, thread->process, allocation->site, allocation->tick, ADDRESS_CALL);
        if (shared[allocation->number])
            ask_made_type(resolver, serial_of(resolver, thread), allocation);
    }
    add_inherited_sites(resolver);
    free(shared);
}

/* ---- accesses that were counted ---------------------------------------------------------------
 */

/* A place in static data at which accesses were counted. */
struct counted_place {
    size_t process;
    uint32_t serial;
    uint64_t address, tick;
};

static int by_counted_address(const void *a, const void *b)
{
    const struct counted_place *left = a, *right = b;
    return ORDER(left->process, right->process) ?: ORDER(left->address, right->address);
}

static const struct symbol *name_place(struct resolver *resolver, const struct counted_place *place)
{
    struct named_object object = {.process = place->process,
                                  .serial = place->serial,
                                  .address = place->address,
                                  .tick = place->tick};
    if (resolver->variables.count < 2 * NAMED_MOST)
        add_object(resolver, &object, NULL);
    return symbols__variable(resolver->symbols, place->serial, place->address);
}

/* What lies between two places of one variable is of that variable, too: so a large array needs but
 * two names (symbols__is_same_variable). */
static void name_between(struct resolver *resolver, const struct counted_place *places,
                         size_t first, size_t last)
{
    if (last - first < 2)
        return;
    const struct symbol *low =
        symbols__variable(resolver->symbols, places[first].serial, places[first].address);
    const struct symbol *high =
        symbols__variable(resolver->symbols, places[last].serial, places[last].address);
    if (places[first].process == places[last].process && symbol__is_same_variable(low, high))
        return;
    size_t middle = first + (last - first) / 2;
    name_place(resolver, &places[middle]);
    name_between(resolver, places, first, middle);
    name_between(resolver, places, middle, last);
}

static void name_places(struct resolver *resolver, struct vec *places)
{
    if (!places->count)
        return;
    vec__sort(places, by_counted_address);
    name_place(resolver, places->items);
    name_place(resolver, VEC_AT(places, struct counted_place, places->count - 1));
    name_between(resolver, places->items, 0, places->count - 1);
}

/* The code that counts, and the variables that it counts at. */
static void add_counts(struct resolver *resolver)
{
    struct access_counts counts = access_counts__of(resolver->trace);
    struct vec places = VEC_OF(struct counted_place);
    VEC_EACH (counted, &counts.all, const struct counted_access) {
        const struct trace_thread *thread = trace__thread_at(resolver->trace, counted->thread);
        uint64_t address = access_count__address(counted->count), tick = counted->count->tick;
        add_address(resolver, thread->process, access_count__site(counted->count), tick,
                    ADDRESS_SAMPLE);
        if (intervals__find(&resolver->modules[thread->process], address))
            vec__push(&places, &(struct counted_place){thread->process, serial_of(resolver, thread),
                                                       address, tick});
    }
    name_places(resolver, &places);
    vec__free(&places);
    access_counts__free(&counts);
}

int symbols__resolve(const struct trace *trace, const char *cache, struct symbols **symbols,
                     struct error *error)
{
    (void)error;
    struct resolver resolver = {.trace = trace, .symbols = symbols__new(), .images = IMAGES};
    resolver.images.cache = cache;
    start_spaces(&resolver);
    find_allocations(&resolver);
    add_functions(&resolver);
    add_named_objects(&resolver);
    size_t processes = trace__processes(trace)->count;
    VEC_EACH (thread, trace__threads(trace), const struct trace_thread)
        if (thread->process < processes)
            add_thread(&resolver, thread);
    add_samples(&resolver);
    add_sampled_lines(&resolver);
    add_sampled_variables(&resolver);
    add_sampled_objects(&resolver);
    if (trace__counts_accesses(trace))
        add_counts(&resolver);
    stack_objects__resolve(&resolver.on_stacks, resolver.spaces, resolver.symbols);
    heap_objects__resolve(&resolver.on_heaps, resolver.symbols);
    end(&resolver);
    *symbols = resolver.symbols;
    return 0;
}
