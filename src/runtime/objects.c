/* objects.c: drawing allocations, and the table of those that were told. */
#include "runtime/objects.h"

#define WHOLE_PORTION 64u /* so many a thread may tell whole, each time */
#define WHOLE_EVERY_NS \
    32000000u             /* so long after the last portion, when the process has none left */
#define PORTION_STACKS 16 /* so many more call stacks may be taken with each portion */
#define STACK_BYTES 1024u /* room for some ten frames: who asks for memory is near */
#define PATIENCE 256u     /* allocations that are not told until a thread looks at the clock */

/* A byte is drawn, uniformly, from each block of bytes; the first block begins with the thread. */
static void draw_byte(struct allocation_sampling *allocations, uint64_t passed)
{
    uint32_t position = random__below(&allocations->random, HEURT_ALLOCATION_EVERY);
    allocations->bytes_left = (uint32_t)(passed + position + 1);
    allocations->after = HEURT_ALLOCATION_EVERY - 1 - position;
}

static bool takes_portion(struct thread *thread)
{
    struct allocation_sampling *allocations = &thread->allocations;
    int32_t *left = &heurt_state.allocating.whole_left;
    if (__atomic_load_n(left, __ATOMIC_RELAXED) > 0) {
        __atomic_fetch_sub(left, (int32_t)WHOLE_PORTION, __ATOMIC_RELAXED);
        allocations->whole_left = WHOLE_PORTION;
        allocations->patience = 0;
        return true;
    }
    if (allocations->patience)
        return false;
    uint64_t now = clock__tick();
    allocations->patience = PATIENCE;
    if (now - allocations->tick < clock__ticks(WHOLE_EVERY_NS))
        return false;
    allocations->tick = now;
    allocations->whole_left = WHOLE_PORTION;
    int32_t *stacks = &heurt_state.allocating.stacks_left;
    if (__atomic_load_n(stacks, __ATOMIC_RELAXED) < PORTION_STACKS)
        __atomic_store_n(stacks, PORTION_STACKS, __ATOMIC_RELAXED);
    return true;
}

/* Bytes of an object that reach beyond the drawn one may hold those of the next blocks. */
static bool holds_drawn_byte(struct allocation_sampling *allocations, uint64_t bytes)
{
    if (bytes < allocations->bytes_left) {
        allocations->bytes_left -= (uint32_t)bytes;
        return false;
    }
    uint64_t beyond = bytes - allocations->bytes_left;
    if (beyond < allocations->after) {
        draw_byte(allocations, allocations->after - beyond);
        return true;
    }
    beyond = (beyond - allocations->after) % HEURT_ALLOCATION_EVERY;
    draw_byte(allocations, 0);
    if (beyond < allocations->bytes_left) {
        allocations->bytes_left -= (uint32_t)beyond;
        return true;
    }
    draw_byte(allocations, HEURT_ALLOCATION_EVERY - beyond);
    return true;
}

/* How an allocation is told that the thread may not tell whole; false: not at all. */
static bool is_drawn(struct thread *thread, size_t bytes, uint64_t *how)
{
    struct allocation_sampling *allocations = &thread->allocations;
    if (!allocations->random) {
        allocations->random = clock__tick() | 1;
        draw_byte(allocations, 0);
    }
    if (takes_portion(thread)) {
        allocations->whole_left--;
        return true;
    }
    if (allocations->patience)
        allocations->patience--;
    if (!holds_drawn_byte(allocations, bytes))
        return false;
    if (bytes < HEURT_ALLOCATION_EVERY)
        *how = HEURT_SITE(0, HEURT_ALLOCATION_DRAWN);
    return true;
}

static uint64_t *bucket_of(const void *address)
{
    uint64_t hash = (uintptr_t)address * 0x9e3779b97f4a7c15ull >> (64 - OBJECTS_BITS);
    return heurt_state.allocating.objects + hash * OBJECTS_WAYS;
}

/* False: its place in the table is taken by others. */
static bool put(const void *address)
{
    uint64_t *bucket = bucket_of(address);
    for (unsigned i = 0; i < OBJECTS_WAYS; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&bucket[i], &none, (uintptr_t)address, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            __atomic_fetch_add(object__place(address), 1, __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

static bool is_new_caller(uint64_t site, uint16_t context)
{
    uint64_t hash = class__hash(HEURT_SITE_ADDRESS(site) * 31 + context);
    uint64_t bit = 1ull << hash % 64;
    uint64_t *word = &heurt_state.allocating.callers[hash / 64 % CALLER_WORDS];
    if (likely(__atomic_load_n(word, __ATOMIC_RELAXED) & bit) || !heurt_state.settings.stack_every)
        return false;
    if (__atomic_load_n(&heurt_state.allocating.stacks_left, __ATOMIC_RELAXED) <= 0)
        return false;
    return !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) &&
           __atomic_sub_fetch(&heurt_state.allocating.stacks_left, 1, __ATOMIC_RELAXED) >= 0;
}

void object__tell(struct thread *thread, uint64_t site, const void *address, size_t bytes)
{
    uint16_t context = (uint16_t)((thread->stack_high - stack__pointer()) / 8 % 0xffff + 1);
    uint64_t tick = clock__tick();
    if (unlikely(is_new_caller(site, context))) {
        stack__take_here(thread, STACK_BYTES, tick);
        site |= HEURT_SITE(0, HEURT_ALLOCATION_STACK);
    }
    uint64_t *at = event__claim(thread, 4);
    if (unlikely(!at))
        return;
    at[1] = site;
    at[2] = (uintptr_t)address;
    at[3] = bytes | (uint64_t)context << 48;
    event__publish(at, tick, HEURT_EVENT_ALLOCATED);
}

#define UNASKED UINT32_MAX /* allocations of who is not recorded, until it is asked again */

void object__consider(struct thread *self, uint64_t site, const void *address, size_t bytes)
{
    struct allocation_sampling *allocations = &self->allocations;
    struct thread *thread = heurt_state.allocating.objects ? hook__thread() : NULL;
    uint64_t how = 0;
    if (!thread || thread->ended || !address) {
        bool is_off = heurt_state.recording && !heurt_state.allocating.objects;
        allocations->bytes_left = is_off ? UNASKED : allocations->bytes_left;
        allocations->patience = is_off ? PATIENCE : allocations->patience;
        return;
    }
    if (allocations->operator_frame - stack__pointer() < OPERATOR_STACK_BYTES)
        site = allocations->operator_site;
    if (heurt_state.allocating.counting)
        allocations->whole_left = 1; /* what is counted belongs to objects: all are told */
    else if (allocations->whole_left)
        allocations->whole_left--;
    else if (!is_drawn(thread, bytes, &how))
        return;
    counting__renew(address, bytes);
    if (put(address))
        object__tell(thread, site | how, address, bytes);
}

void object__consider_freed(const void *address)
{
    struct thread *thread = heurt_state.allocating.objects ? hook__thread() : NULL;
    if (!thread || thread->ended || !address)
        return;
    uint64_t *bucket = bucket_of(address);
    for (unsigned i = 0; i < OBJECTS_WAYS; i++)
        if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == (uintptr_t)address) {
            __atomic_store_n(&bucket[i], 0, __ATOMIC_RELEASE);
            __atomic_fetch_sub(object__place(address), 1, __ATOMIC_RELAXED);
            event__write1(thread, HEURT_EVENT_FREED, (uintptr_t)address);
            return;
        }
}
