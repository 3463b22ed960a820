#include "format/allocations.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

/* An object that lay at asked addresses. These are the leaves of a binary tree, by size: leaf i of
 * n is node n + i, a node's parent is half of it; an object is at the fewest nodes whose leaves are
 * its addresses (a segment tree: de Berg et al., Computational Geometry, chapter 10.3), so that a
 * large one with many of them costs little more than a small one. */
struct asked_place {
    uint64_t node;
    uint64_t tick;    /* when the object was allocated, */
    uint32_t process; /* in which (index) */
    uint32_t allocation;
};

struct freed {
    uint64_t address, tick;
    uint32_t process; /* index */
};

struct allocations {
    const struct trace *trace;
    struct vec all;      /* struct allocation */
    struct map leaf_of;  /* an address → its place among all that were asked for */
    size_t leaves;       /* how many */
    struct vec places;   /* struct asked_place, by node, process, tick */
    uint32_t *first_at;  /* by node: its first place; one more */
    struct vec freed;    /* struct freed, by process, address, tick */
    struct map stack_of; /* struct caller -> place in stacks */
    struct vec stacks;   /* struct caller_stack */
    uint64_t count;
};

/* Allocations that were called alike. */
struct caller {
    uint64_t process, site, context;
};

struct caller_stack {
    uint64_t tick;
    uint32_t thread; /* serial */
};

static void sort_addresses(struct vec *addresses)
{
    size_t kept = 0;
    vec__sort_numbers(addresses);
    VEC_EACH (address, addresses, uint64_t)
        if (!kept || *VEC_AT(addresses, uint64_t, kept - 1) != *address)
            *VEC_AT(addresses, uint64_t, kept++) = *address;
    addresses->count = kept;
}

/* The number of the first that is not below it. */
static size_t first_from(const struct vec *addresses, uint64_t address)
{
    size_t low = 0, high = addresses->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (*VEC_AT(addresses, uint64_t, middle) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- what the trace tells -------------------------------------------------------------------- */

static void take_stack(struct allocations *self, uint32_t index, const struct event *event)
{
    const struct trace_thread *thread = trace__thread_at(self->trace, index);
    struct caller caller = {thread->process, HEURT_SITE_ADDRESS(event->payload[0]),
                            HEURT_ALLOCATION_CONTEXT(event->payload[2])};
    struct caller_stack stack = {event->tick, thread->serial};
    uint64_t next = self->stacks.count;
    if (map__put(&self->stack_of, &caller, sizeof caller, next) == next)
        vec__push(&self->stacks, &stack);
}

/* At the addresses from first on, up to end. */
static void add_places(struct allocations *self, size_t first, size_t end, struct asked_place place)
{
    for (first += self->leaves, end += self->leaves; first < end; first /= 2, end /= 2) {
        if (first & 1) {
            place.node = first++;
            vec__push(&self->places, &place);
        }
        if (end & 1) {
            place.node = --end;
            vec__push(&self->places, &place);
        }
    }
}

static void take_allocated(struct allocations *self, const struct vec *addresses, uint32_t thread,
                           const struct event *event)
{
    uint32_t process = trace__thread_at(self->trace, thread)->process;
    uint64_t address = event->payload[1], bytes = HEURT_ALLOCATION_BYTES(event->payload[2]);
    size_t first = first_from(addresses, address);
    uint32_t number = (uint32_t)self->all.count;
    self->count++;
    if (HEURT_SITE_HOW(event->payload[0]) & HEURT_ALLOCATION_STACK)
        take_stack(self, thread, event);
    if (first == addresses->count || *VEC_AT(addresses, uint64_t, first) - address >= bytes)
        return;
    size_t more = FIRST_WHERE(i, addresses->count - first,
                              *VEC_AT(addresses, uint64_t, first + i) - address >= bytes);
    add_places(self, first, first + more, (struct asked_place){0, event->tick, process, number});
    struct allocation allocation = {
        .thread = thread,
        .call = HEURT_ALLOCATION_KIND(event->payload[0]),
        .is_drawn = HEURT_SITE_HOW(event->payload[0]) & HEURT_ALLOCATION_DRAWN,
        .site = HEURT_SITE_ADDRESS(event->payload[0]),
        .born = HEURT_SITE_ADDRESS(event->payload[0]),
        .context = HEURT_ALLOCATION_CONTEXT(event->payload[2]),
        .address = address,
        .bytes = bytes,
        .tick = event->tick,
        .freed_tick = UINT64_MAX,
        .number = number,
    };
    vec__push(&self->all, &allocation);
}

static void take_thread(struct allocations *self, const struct vec *addresses, uint32_t index)
{
    const struct trace_thread *thread = trace__thread_at(self->trace, index);
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, self->trace, thread);
    while (trace_cursor__next_fixed(&cursor, &event)) {
        if (event.id == HEURT_EVENT_ALLOCATED && event.words >= 3) {
            take_allocated(self, addresses, index, &event);
        } else if (event.id == HEURT_EVENT_FREED && event.words >= 1) {
            struct freed freed = {event.payload[0], event.tick, thread->process};
            vec__push(&self->freed, &freed);
        }
    }
}

/* ---- lives ----------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct freed *left = a, *right = b;
    if (left->process != right->process)
        return ORDER(left->process, right->process);
    return left->address != right->address ? ORDER(left->address, right->address)
                                           : ORDER(left->tick, right->tick);
}

/* The first time that the address was freed behind that tick. */
static uint64_t freed_behind(const struct allocations *self, uint32_t process, uint64_t address,
                             uint64_t tick)
{
    struct freed asked = {address, tick + 1, process};
    size_t low = 0, high = self->freed.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_place(VEC_AT(&self->freed, struct freed, middle), &asked) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == self->freed.count)
        return UINT64_MAX;
    const struct freed *freed = VEC_AT(&self->freed, struct freed, low);
    return freed->process == process && freed->address == address ? freed->tick : UINT64_MAX;
}

/* Most of what is freed lay at no asked address. */
static void keep_freed(struct allocations *self)
{
    struct map known = {0};
    size_t kept = 0;
    VEC_EACH (allocation, &self->all, const struct allocation)
        map__put(&known, &allocation->address, sizeof allocation->address, 1);
    VEC_EACH (freed, &self->freed, const struct freed)
        if (map__get(&known, &freed->address, sizeof freed->address) != MAP_ABSENT)
            *VEC_AT(&self->freed, struct freed, kept++) = *freed;
    self->freed.count = kept;
    map__free(&known);
}

static void end_lives(struct allocations *self)
{
    keep_freed(self);
    vec__sort(&self->freed, by_place);
    VEC_EACH (allocation, &self->all, struct allocation) {
        uint32_t process = trace__thread_at(self->trace, allocation->thread)->process;
        allocation->freed_tick = freed_behind(self, process, allocation->address, allocation->tick);
    }
    vec__free(&self->freed);
}

static int by_node(const void *a, const void *b)
{
    const struct asked_place *left = a, *right = b;
    return ORDER(left->node, right->node)
               ?: ORDER(left->process, right->process)
               ?: ORDER(left->tick, right->tick)
               ?: ORDER(left->allocation, right->allocation);
}

static void sort_places(struct allocations *self)
{
    vec__sort(&self->places, by_node);
    self->first_at = memory__zeroed(2 * self->leaves + 1, sizeof *self->first_at);
    VEC_EACH (place, &self->places, const struct asked_place)
        self->first_at[place->node + 1]++;
    for (size_t node = 0; node < 2 * self->leaves; node++)
        self->first_at[node + 1] += self->first_at[node];
}

struct allocations *allocations__find(const struct trace *trace, struct vec *addresses)
{
    struct allocations *self = memory__zeroed(1, sizeof *self);
    *self = (struct allocations){.trace = trace,
                                 .all = VEC_OF(struct allocation),
                                 .places = VEC_OF(struct asked_place),
                                 .stacks = VEC_OF(struct caller_stack),
                                 .freed = VEC_OF(struct freed)};
    sort_addresses(addresses);
    self->leaves = addresses->count;
    for (uint64_t i = 0; i < addresses->count; i++)
        map__put(&self->leaf_of, VEC_AT(addresses, uint64_t, i), sizeof(uint64_t), i);
    for (uint32_t i = 0; addresses->count && i < trace__threads(trace)->count; i++)
        take_thread(self, addresses, i);
    end_lives(self);
    sort_places(self);
    return self;
}

void allocations__free(struct allocations *self)
{
    if (!self)
        return;
    vec__free(&self->all);
    vec__free(&self->places);
    vec__free(&self->freed);
    vec__free(&self->stacks);
    map__free(&self->leaf_of);
    free(self->first_at);
    map__free(&self->stack_of);
    free(self);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_behind(const struct asked_place *place, uint32_t process, uint64_t tick)
{
    return place->process != process ? place->process > process : place->tick > tick;
}

/* The one of the process that was allocated last of those at a node and that is there at that tick;
 * NULL: none. *until: it is that one up to this tick at most; only ever lowered. */
static const struct allocation *lying_at_node(const struct allocations *self, size_t node,
                                              uint32_t process, uint64_t tick, uint64_t *until)
{
    const struct asked_place *places =
        VEC_AT(&self->places, struct asked_place, self->first_at[node]);
    size_t count = self->first_at[node + 1] - self->first_at[node];
    size_t i = FIRST_WHERE(k, count, is_behind(&places[k], process, tick));
    if (i < count && places[i].process == process && places[i].tick < *until)
        *until = places[i].tick;
    while (i-- > 0 && places[i].process == process) {
        const struct allocation *allocation =
            VEC_AT(&self->all, struct allocation, places[i].allocation);
        if (allocation->freed_tick > tick)
            return allocation;
    }
    return NULL;
}

static bool is_later(const struct allocation *one, const struct allocation *other)
{
    return one->tick != other->tick ? one->tick > other->tick : one->number > other->number;
}

/* The one of that process that was allocated last: a smaller one may lie in one that is larger, and
 * what was freed unseen is no more when something else lies there. *until: it is that one up to
 * this tick. */
static const struct allocation *lying_at(const struct allocations *self, uint32_t process,
                                         uint64_t address, uint64_t tick, uint64_t *until)
{
    const struct allocation *found = NULL;
    uint64_t leaf = map__get(&self->leaf_of, &address, sizeof address);
    *until = UINT64_MAX;
    for (size_t node = leaf == MAP_ABSENT ? 0 : self->leaves + leaf; node; node /= 2) {
        if (self->first_at[node] == self->first_at[node + 1])
            continue;
        const struct allocation *here = lying_at_node(self, node, process, tick, until);
        found = here && (!found || is_later(here, found)) ? here : found;
    }
    if (found && found->freed_tick < *until)
        *until = found->freed_tick;
    return found;
}

const struct allocation *allocations__at(const struct allocations *self, size_t process,
                                         uint64_t address, uint64_t tick)
{
    uint64_t until;
    return allocations__at_until(self, process, address, tick, &until);
}

const struct allocation *allocations__at_until(const struct allocations *self, size_t process,
                                               uint64_t address, uint64_t tick, uint64_t *until)
{
    const struct trace_process *processes = trace__processes(self->trace)->items;
    const struct allocation *found = lying_at(self, (uint32_t)process, address, tick, until);
    for (size_t depth = trace__processes(self->trace)->count; depth-- > 0 && !found;) {
        uint64_t parents;
        const struct trace_process *parent =
            trace__process_of(self->trace, processes[process].parent_serial);
        if (!parent)
            break;
        /* It has what lay there when it was forked, whatever becomes of that afterwards. */
        if (processes[process].tick > tick)
            *until = tick;
        tick = processes[process].tick < tick ? processes[process].tick : tick;
        process = (size_t)(parent - processes);
        found = lying_at(self, (uint32_t)process, address, tick, &parents);
    }
    return found;
}

struct vec *allocations__all(const struct allocations *self)
{
    return &((struct allocations *)self)->all;
}

bool allocations__stack(const struct allocations *self, const struct allocation *allocation,
                        uint32_t *thread, uint64_t *tick)
{
    struct caller caller = {trace__thread_at(self->trace, allocation->thread)->process,
                            allocation->site, allocation->context};
    uint64_t place = map__get(&self->stack_of, &caller, sizeof caller);
    if (place == MAP_ABSENT || !allocation->context)
        return false;
    const struct caller_stack *stack = VEC_AT(&self->stacks, struct caller_stack, place);
    *thread = stack->thread;
    *tick = stack->tick;
    return true;
}

uint64_t allocations__count(const struct allocations *self)
{
    return self->count;
}
