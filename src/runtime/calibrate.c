/* calibrate.c: what recording costs on this machine, measured before it begins.
 *
 * An empty function is called through each stub, its events go to memory that nobody reads.
 *
 *     bias = mean of (leave's tick − enter's tick) − the bare call        of a batch of calls,
 *     cost = mean of the call's whole time − the bare call                the least of all batches
 *
 * A reader takes the bias from each duration, and estimates by the costs what recording took.
 * Means, since a counter may advance in steps that are longer than what is measured; the least
 * batch is one that nobody interrupted.  All of it takes less than 100 µs. */
#include "runtime/runtime.h"

/* Other clocks are system calls, and take long. */
enum { CALLS = 32, BATCHES = 6, BATCHES_OF_CALLS = 2, EVENT_WORDS = 6 };

/* stub.S */
void heurt_calibrate_call(const void *stub, uint64_t id);
void heurt_calibrate_body(void);

#define ID HEURT_EVENT_FUNCTIONS /* no function has it yet */

/* What is measured: once a call. */
struct measured {
    void (*once)(struct thread *thread, const void *stub);
    const void *stub;
};

static __attribute__((noinline)) void call_stub(struct thread *thread, const void *stub)
{
    (void)thread;
    heurt_calibrate_call(stub, ID);
}

static __attribute__((noinline)) void call_nothing(struct thread *thread, const void *stub)
{
    (void)thread;
    ((void (*)(void))stub)();
}

static __attribute__((noinline)) void mark(struct thread *thread, const void *unused)
{
    (void)unused;
    instructions__tell(thread);
    function__write(thread, ID);
    clock__settle();
    instructions__tell(thread);
    function__write(thread, ID | 1);
}

static __attribute__((noinline)) void write_event(struct thread *thread, const void *unused)
{
    event__write2(thread, HEURT_EVENT_LOCK_ACQUIRED, (uintptr_t)unused, (uintptr_t)thread);
}

/* One batch: its ticks, and those between each enter and its leave, the words of room. */
static struct calibration batch(struct thread *thread, const struct measured *measured,
                                uint64_t *room)
{
    struct calibration sums = {0};
    thread->next = room;
    thread->limit = room + CALLS * EVENT_WORDS;
    uint64_t before = clock__tick();
    for (unsigned i = 0; i < CALLS; i++)
        measured->once(thread, measured->stub);
    sums.cost_ticks = (uint32_t)(clock__tick() - before);
    const unsigned words = thread->instructions ? EVENT_WORDS / 2 : 1; /* of each of the two */
    for (const uint64_t *enter = room + words - 1; enter < room + CALLS * 2 * words;
         enter += 2 * words)
        sums.bias_ticks += (uint32_t)((enter[words] >> HEURT_ID_BITS) - (*enter >> HEURT_ID_BITS));
    return sums;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static struct calibration least_batch(struct thread *thread, const struct measured *measured)
{
    uint64_t room[CALLS * EVENT_WORDS];
    struct calibration least = {UINT32_MAX, UINT32_MAX};
    for (unsigned i = 0; i < (heurt_state.uses_tsc ? BATCHES : BATCHES_OF_CALLS); i++) {
        struct calibration sums = batch(thread, measured, room);
        least.bias_ticks = lesser(least.bias_ticks, sums.bias_ticks);
        least.cost_ticks = lesser(least.cost_ticks, sums.cost_ticks);
    }
    thread->next = thread->limit = NULL;
    return least;
}

static uint32_t per_call(uint32_t ticks, uint32_t bare)
{
    return ticks > bare ? (ticks - bare + CALLS / 2) / CALLS : 0;
}

static struct calibration calibrate(struct thread *thread, const struct measured *measured,
                                    uint32_t bare)
{
    struct calibration least = least_batch(thread, measured);
    return (struct calibration){per_call(least.bias_ticks, bare), per_call(least.cost_ticks, bare)};
}

static void calibrate_stubs(struct thread *thread, uint32_t bare)
{
    struct state *state = &heurt_state;
    if (!patch__make_tables() || !(thread->countdowns = countdowns__get()))
        return;
    state->bodies[ID / 2] = heurt_calibrate_body;
    thread->countdowns->function[ID / 2].stack = INT32_MAX; /* no call stack is due */
    return_slot__prepare(thread);
    for (unsigned mechanism = 0; mechanism < 2; mechanism++)
        for (unsigned kind = 0; kind < STUB_KINDS; kind++) {
            const struct measured measured = {
                call_stub, patch__stub(mechanism, false, kind == STUB_ORDERED, kind == STUB_FULL)};
            if (state->uses_tsc || kind == STUB_FULL)
                state->stubs[mechanism][kind] = calibrate(thread, &measured, bare);
        }
    thread->countdowns->function[ID / 2].gap = INT32_MAX;
    state->left_out_ticks =
        calibrate(thread, &(struct measured){call_stub, patch__stub(0, false, false, false)}, bare)
            .cost_ticks;
    thread->countdowns->function[ID / 2] = (struct function_countdown){0};
    state->bodies[ID / 2] = NULL;
}

void calibrate__all(void)
{
    struct thread *thread = &heurt_thread;
    uint64_t mask = signals__block();
    uint32_t bare =
        least_batch(thread, &(struct measured){call_nothing, heurt_calibrate_body}).cost_ticks;
    heurt_state.marker = calibrate(thread, &(struct measured){mark, NULL}, 0);
    heurt_state.event_ticks =
        calibrate(thread, &(struct measured){write_event, NULL}, 0).cost_ticks;
    heurt_state.left_out_ticks =
        heurt_state.event_ticks / 3; /* of a lock, as measured (budget.c) */
    if (heurt_state.session->flags & (HEURT_SESSION_PLANS | HEURT_SESSION_LIVE))
        calibrate_stubs(thread, bare);
    signals__restore(mask);
}
