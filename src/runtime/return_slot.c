/* relocated return address.c: calls whose return address is put aside while they last (stub.S,
 * "relocated return address").
 *
 * Calls end in any order or never: coroutines, longjmp, exceptions, threads that end.  So each has
 * a record of its own, not a place in a shadow stack.
 *
 *   what                      who writes                  how
 *   struct return_slot        the thread that took it     slot is stored last, and cleared before
 *   in use                    off a list, or to which     it goes to the list of the thread that it
 *                             its coroutine has moved     ends in
 *   a thread's list           that thread and its         cmpxchg on the head (stub.S); here with
 *                             handlers                    signals blocked
 *   blocks, spare ones        any thread, under           blocks are never unmapped; their count
 *                             state.return_slot_lock           is stored last
 *
 * Records of calls that never end come back by a sweep: a place for a return address belongs to one
 * call, the latest, and what that one returns to; so older records with the same place are dead.
 * Each thread looks at places on its own stack alone.  Programs that copy pieces of their stacks
 * away and back (greenlets) break this rule, which is why a sweep waits until a thread has
 * thousands of records. */
#include "runtime/runtime.h"

#include <sys/mman.h>

#define BLOCK_CALLS(index) ((size_t)1024 << (index))
#define BATCH 32
#define SWEEP_FIRST 4096

/* stub.S knows the offsets. */
struct return_slot {
    uint64_t caller;  /* return address */
    uint64_t rbx;     /* the caller's */
    uint64_t next;    /* in a list, as its head is: address << 16 | a number (stub.S) */
    uint64_t slot;    /* where the return address stood; 0: not in use */
    const void *body; /* the moved code */
    uint64_t tick;    /* of its enter event */
    uint32_t id;
    uint32_t live; /* scratch of a sweep */
    uint64_t reserved;
};
_Static_assert(sizeof(struct return_slot) == 64, "a cache line, and block sizes");

extern const char heurt_return_slot_first[], heurt_return_slot_last[]; /* the stubs' code */

static bool is_return_slot_stub(uint64_t address)
{
    return address - (uint64_t)heurt_return_slot_first <
           (uint64_t)(heurt_return_slot_last - heurt_return_slot_first);
}

static struct return_slot *call_of(uint64_t head)
{
    return (struct return_slot *)(head >> 16);
}

/* With signals blocked. */
static void push(struct thread *thread, struct return_slot *call)
{
    call->next = thread->return_slot;
    thread->return_slot = (uint64_t)call << 16 | ((thread->return_slot + 1) & 0xffff);
}

/* ---- all records ----------------------------------------------------------------------------- */

/* One more block. Called under the lock. A child that is forked in between finds all valid. */
static bool grow(void)
{
    struct state *state = &heurt_state;
    unsigned index = state->return_slot_blocks;
    if (index == RETURN_SLOT_BLOCKS_MAX)
        return false;
    size_t bytes = BLOCK_CALLS(index) * sizeof(struct return_slot);
    long memory = RAW6(mmap, 0, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory < 0 && memory > -4096)
        return false;
    state->return_slot_block[index] = (struct return_slot *)memory;
    __atomic_store_n(&state->return_slot_blocks, index + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&state->return_slot_used, 0, __ATOMIC_RELEASE);
    return true;
}

/* Called under the lock. */
static struct return_slot *allocate(void)
{
    struct state *state = &heurt_state;
    struct return_slot *call = state->return_slot_spare;
    if (call) {
        state->return_slot_spare = call_of(call->next);
        return call;
    }
    if ((!state->return_slot_blocks ||
         state->return_slot_used == BLOCK_CALLS(state->return_slot_blocks - 1)) &&
        !grow())
        return NULL;
    return &state->return_slot_block[state->return_slot_blocks - 1][state->return_slot_used++];
}

/* For all records ever handed out; each is a struct return_slot *. */
#define EACH_CALL(call)                                                                          \
    for (unsigned block__ = 0,                                                                   \
                  blocks__ = __atomic_load_n(&heurt_state.return_slot_blocks, __ATOMIC_ACQUIRE); \
         block__ < blocks__; block__++)                                                          \
        for (struct return_slot *call = heurt_state.return_slot_block[block__],                  \
                                *end__ = call + BLOCK_CALLS(block__);                            \
             call < end__; call++)

/* The record that begins at address, or NULL. */
static struct return_slot *call_at(uint64_t address)
{
    unsigned blocks = __atomic_load_n(&heurt_state.return_slot_blocks, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < blocks; i++) {
        uint64_t offset = address - (uint64_t)heurt_state.return_slot_block[i];
        if (offset < BLOCK_CALLS(i) * sizeof(struct return_slot))
            return offset % sizeof(struct return_slot) == 0 ? (void *)address : NULL;
    }
    return NULL;
}

/* The record of the call that this one returns to, when it was jumped to at that one's end. */
static struct return_slot *call__outer(const struct return_slot *call)
{
    return is_return_slot_stub(call->caller) ? call_at(call->rbx) : NULL;
}

/* ---- sweeping -------------------------------------------------------------------------------- */

static bool is_on_stack(const struct thread *thread, const struct return_slot *call)
{
    return call->slot >= thread->stack_low && call->slot < thread->stack_high;
}

/* The latest call at each place: a table that is searched from the place's hash on. */
struct latest {
    struct return_slot **calls;
    size_t mask;
};

static void latest__note(struct latest *latest, struct return_slot *call)
{
    size_t at = call->slot * 0x9e3779b97f4a7c15ull >> 32;
    struct return_slot **place;
    do
        place = &latest->calls[at++ & latest->mask];
    while (*place && (*place)->slot != call->slot);
    if (!*place || (int64_t)(call->tick - (*place)->tick) >= 0)
        *place = call;
}

static void latest__mark_live(const struct latest *latest)
{
    for (size_t i = 0; i <= latest->mask; i++)
        for (struct return_slot *call = latest->calls[i]; call && !call->live;
             call = call__outer(call))
            call->live = 1;
}

/* Gives the thread back what is dead on its stack; returns how many. With signals blocked. */
static size_t sweep(struct thread *thread)
{
    size_t used = 0, size = 1024, found = 0;
    EACH_CALL(call)
    used += is_on_stack(thread, call);
    while (size < 2 * used)
        size *= 2;
    long memory = RAW6(mmap, 0, size * sizeof(void *), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0 && memory > -4096)
        return 0;
    struct latest latest = {(struct return_slot **)memory, size - 1};
    EACH_CALL(call)
    if (is_on_stack(thread, call))
        latest__note(&latest, call);
    latest__mark_live(&latest);
    EACH_CALL(call)
    {
        if (!is_on_stack(thread, call))
            continue;
        if (!call->live) {
            call->slot = 0;
            push(thread, call);
            found++;
        }
        call->live = 0;
    }
    RAW2(munmap, memory, size * sizeof(void *));
    return found;
}

/* ---- a thread's list ------------------------------------------------------------------------- */

void return_slot__prepare(struct thread *thread)
{
    if (thread->return_slot_taken >= SWEEP_FIRST &&
        thread->return_slot_taken >= thread->return_slot_sweep_at) {
        size_t found = sweep(thread);
        /* What it costs is spread over as many calls. */
        thread->return_slot_sweep_at =
            thread->return_slot_taken +
            (found < thread->return_slot_taken / 2 ? thread->return_slot_taken : 0);
        if (found)
            return;
    }
    spin__lock(&heurt_state.return_slot_lock);
    /* A thread that has ended calls little more, and what it has then never comes back. */
    for (unsigned i = 0; i < (thread->ended ? 1 : BATCH); i++) {
        struct return_slot *call = allocate();
        if (!call)
            break;
        push(thread, call);
        thread->return_slot_taken++;
    }
    spin__unlock(&heurt_state.return_slot_lock);
}

struct return_slot *return_slot__take(struct thread *thread)
{
    if (!heurt_state.recording)
        return NULL;
    struct return_slot *call = NULL;
    if (!thread__in_seccomp(thread)) {
        uint64_t mask = signals__block();
        if (!call_of(thread->return_slot))
            return_slot__prepare(thread);
        call = call_of(thread->return_slot);
        if (call)
            thread->return_slot = (call->next & ~0xffffull) | (thread->return_slot & 0xffff);
        signals__restore(mask);
    }
    if (!call)
        event__count_lost(thread);
    return call;
}

void return_slot__pass_on(struct thread *thread)
{
    uint64_t mask = signals__block();
    struct return_slot *first = call_of(thread->return_slot), *last = first;
    while (last && call_of(last->next))
        last = call_of(last->next);
    thread->return_slot = thread->return_slot_taken = 0;
    if (last) {
        spin__lock(&heurt_state.return_slot_lock);
        last->next = (uint64_t)heurt_state.return_slot_spare << 16;
        heurt_state.return_slot_spare = first;
        spin__unlock(&heurt_state.return_slot_lock);
    }
    signals__restore(mask);
}

void return_slot__begin(struct return_slot *call, uint64_t tick)
{
    call->tick = tick;
}

uint64_t return_slot__caller_rbx(const struct return_slot *call)
{
    return call->rbx;
}

/* ---- call stacks ----------------------------------------------------------------------------- */

static struct return_slot *later(struct return_slot *a, struct return_slot *b)
{
    return !a || (int64_t)(b->tick - a->tick) >= 0 ? b : a;
}

/* What a way from record to record comes by again (Brent 1980): words that functions have left on
 * the stack lead to records that were put to other uses since, and these may lead in a circle. */
struct circle {
    uint64_t mark;
    unsigned steps, steps_to_mark;
};

static bool circle__is_closed(struct circle *circle, uint64_t place)
{
    if (place == circle->mark)
        return true;
    if (circle->steps++ >= circle->steps_to_mark)
        *circle = (struct circle){.mark = place, .steps_to_mark = 2 * circle->steps_to_mark + 1};
    return false;
}

/* What a return address, or rbx, would be without the stubs; 0: nobody knows. */
static uint64_t true_caller(const struct return_slot *call)
{
    struct circle circle = {0};
    const struct return_slot *outer;
    while ((outer = call__outer(call))) {
        if (circle__is_closed(&circle, (uint64_t)outer))
            return 0;
        call = outer;
    }
    return call->caller;
}

static uint64_t true_rbx(uint64_t rbx)
{
    struct circle circle = {0};
    const struct return_slot *call;
    while ((call = call_at(rbx))) {
        if (circle__is_closed(&circle, rbx))
            return 0;
        rbx = call->rbx;
    }
    return rbx;
}

/* First the latest record of each place takes the place of its return address; then every word that
 * leads to a record, there or where rbx was saved, is replaced by what is aside. */
void return_slot__translate(uint64_t registers[HEURT_STACK_REGISTERS], uint64_t *words,
                            size_t count)
{
    enum { RIP, RSP, RBP, RBX };
    if (!__atomic_load_n(&heurt_state.return_slot_blocks, __ATOMIC_ACQUIRE))
        return;
    const uint64_t from = registers[RSP];
    EACH_CALL(call)
    {
        uint64_t slot = call->slot, index = (slot - from) / 8;
        if (slot >= from && index < count &&
            (is_return_slot_stub(words[index]) || call_at(words[index])))
            words[index] = (uint64_t)later(call_at(words[index]), call);
    }
    for (size_t i = 0; i < count; i++) {
        const struct return_slot *call = call_at(words[i]);
        if (call)
            words[i] = call->slot == from + 8 * i ? true_caller(call) : true_rbx(words[i]);
    }
    const struct return_slot *outer = call_at(registers[RBX]);
    if (is_return_slot_stub(registers[RIP]) && outer)
        registers[RIP] = true_caller(outer);
    registers[RBX] = true_rbx(registers[RBX]);
}
