/* loop_mark.c: what a marked loop comes to when its thread's counter has run out (stub.S,
 * heurt_loop).
 *
 * A mark ends the occurrence that began at the last mark of the loop in this frame, and begins the
 * next one, of so many iterations as the loop's marks are now apart. These are as many that marks
 * stay rare (MARK_NS), in all threads the same, so that their occurrences can be compared; a loop
 * whose iterations are too short to be counted is unmarked by the recorder.
 *
 * Loops that a thread goes through one after another, as an interpreter does, leave each other
 * before one of them has come to a second mark; theirs are made rare, too.
 *
 * Nobody tells when a loop is left. What is open is therefore kept with the stack pointer of its
 * frame: a mark in a frame further out, or of a loop that is not around it in the same one, says
 * that those inside were left; their last iterations are no occurrence. */
#include "runtime/runtime.h"

#define MARK_NS 20000u  /* marks are not to be nearer than this, */
#define BRIEF_PS 12000u /* nor iterations shorter than this */
#define EVERY_FACTOR 4u
#define EVERY_MOST (1u << 20)
#define BRIEF_MARKS 16u  /* in a row, after which a loop is unmarked */
#define ALONE_MARKS 16u  /* in a row, after which they are made rarer */
#define BRIEF_EVERY 256u /* of fewer iterations the mark itself may be most of the time */

uint64_t loop__mark_ticks(void)
{
    return clock__ticks(MARK_NS);
}

static uint32_t id_of(uint32_t number)
{
    return HEURT_EVENT_LOOPS + 2 * number;
}

static void left(struct thread *thread, const struct open_loop *open, uint64_t tick)
{
    uint64_t *at = event__claim(thread, 2);
    if (!at)
        return;
    at[1] = id_of(open->number);
    event__publish(at, tick, HEURT_EVENT_LOOP_LEFT);
}

static bool is_around(uint32_t outer, uint32_t number)
{
    for (uint32_t i = 0; i < HEURT_LOOPS_MAX; i++) {
        uint32_t parent = heurt_state.loops[number].parent;
        if (!parent || parent > HEURT_LOOPS_MAX)
            return false;
        number = parent - 1;
        if (number == outer)
            return true;
    }
    return false;
}

/* Those that were left; what stays on top is the loop itself or around it. */
static void leave_others(struct thread *thread, uint32_t number, uint64_t frame, uint64_t tick)
{
    while (thread->open_loop_count) {
        const struct open_loop *top = &thread->open_loops[thread->open_loop_count - 1];
        if (top->frame > frame ||
            (top->frame == frame && (top->number == number || is_around(top->number, number))))
            return;
        left(thread, top, tick);
        thread->open_loop_count--;
    }
}

/* The outermost one is forgotten when there is no room. */
static struct open_loop *open(struct thread *thread, uint32_t number, uint64_t frame)
{
    if (thread->open_loop_count == OPEN_LOOPS) {
        for (unsigned i = 1; i < OPEN_LOOPS; i++)
            thread->open_loops[i - 1] = thread->open_loops[i];
        thread->open_loop_count--;
    }
    struct open_loop *loop = &thread->open_loops[thread->open_loop_count++];
    *loop = (struct open_loop){.number = number, .frame = frame};
    return loop;
}

static void wish_unmarked(uint32_t number)
{
    uint64_t wish = (uint64_t)(heurt_state.process + 1) << 32 | id_of(number);
    uint64_t *slots = heurt_state.session->too_frequent;
    for (unsigned i = 0; i < HEURT_TOO_FREQUENT_SLOTS; i++) {
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&slots[i], &there, wish, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            there == wish)
            return;
    }
}

static void make_rarer(struct heurt_loop *loop, uint32_t every)
{
    if (every < EVERY_MOST)
        __atomic_compare_exchange_n(&loop->every, &every, every * EVERY_FACTOR, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* The same of marks that end no occurrence: one of them may come soon after a loop was left. */
static void settle_alone(struct heurt_loop *loop, uint64_t ticks)
{
    if (ticks >= heurt_state.loop_mark_ticks)
        __atomic_store_n(&loop->alone, 0, __ATOMIC_RELAXED);
    else if (__atomic_add_fetch(&loop->alone, 1, __ATOMIC_RELAXED) % ALONE_MARKS == 0)
        make_rarer(loop, __atomic_load_n(&loop->every, __ATOMIC_RELAXED));
}

/* How far apart marks are to be, after one that took so many ticks since the last one. */
static void settle(struct heurt_loop *loop, uint32_t number, uint32_t every, uint64_t ticks)
{
    uint64_t brief_ticks = heurt_state.loop_mark_ticks * BRIEF_PS / MARK_NS / 1000 * every;
    if (ticks < heurt_state.loop_mark_ticks)
        make_rarer(loop, every);
    if (every < BRIEF_EVERY || ticks >= brief_ticks)
        __atomic_store_n(&loop->brief, 0, __ATOMIC_RELAXED);
    else if (__atomic_add_fetch(&loop->brief, 1, __ATOMIC_RELAXED) == BRIEF_MARKS)
        wish_unmarked(number);
}

static void mark(struct thread *thread, uint32_t number, uint64_t frame)
{
    struct heurt_loop *loop = &heurt_state.loops[number];
    uint64_t drained = event__begin(thread, id_of(number) | 1);
    uint64_t tick = drained ? drained : clock__tick();
    leave_others(thread, number, frame, tick);
    struct open_loop *open_loop =
        thread->open_loop_count ? &thread->open_loops[thread->open_loop_count - 1] : NULL;
    if (open_loop && open_loop->number == number && open_loop->frame == frame) {
        uint64_t *at = event__claim(thread, 1);
        if (at)
            event__publish(at, tick, id_of(number) | 1);
        settle(loop, number, open_loop->every, tick - open_loop->tick);
    } else {
        settle_alone(loop, tick - thread->marked_at[number]);
        open_loop = open(thread, number, frame);
    }
    thread->marked_at[number] = tick;
    open_loop->every = __atomic_load_n(&loop->every, __ATOMIC_RELAXED);
    uint64_t *at = event__claim(thread, 2);
    if (at) {
        at[1] = open_loop->every;
        open_loop->tick = drained ? clock__tick() : tick;
        event__publish(at, open_loop->tick, id_of(number));
    }
    thread->loops[number] = (int32_t)open_loop->every;
    event__end(thread, drained);
}

void heurt_loop_mark(uint32_t id, uint64_t frame);
void heurt_loop_mark(uint32_t id, uint64_t frame)
{
    struct thread *thread = &heurt_thread;
    uint32_t number = (id - HEURT_EVENT_LOOPS) / 2, none = 0;
    struct heurt_loop *loop = &heurt_state.loops[number];
    __atomic_compare_exchange_n(&loop->every, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    thread->loops[number] = (int32_t)__atomic_load_n(&loop->every, __ATOMIC_RELAXED);
    if (!heurt_state.recording || thread->inside || thread->ended || thread->marks)
        return;
    thread->marks = true; /* what a handler's loops do meanwhile is not marked */
    mark(thread, number, frame);
    thread->marks = false;
}
