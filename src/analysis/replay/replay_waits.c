/* Locks, semaphores, barriers and tokens, as glibc makes them of futexes.
 *
 * A lock that is released is free: its first waiter is woken and tries again once it has a CPU, and
 * may find that another one was quicker; then it waits again, behind the others.  Who takes a lock
 * that is free without having waited wakes nobody at its release unless somebody came meanwhile,
 * for the one that was woken before is still under way.  Of locks with readers: they come in as
 * long as no writer holds it, also before writers that wait. A writer that releases it hands it to
 * all readers that wait, the last reader to the first writer; nobody comes in between then.  Who
 * spins is given the lock at its release, if it is on a CPU then. */
#include "analysis/replay/replay_state.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static void row__append(struct replay *replay, struct replay_row *row, uint32_t thread)
{
    replay->threads[thread].next = REPLAY_NONE;
    replay->threads[thread].previous = row->last;
    if (row->last == REPLAY_NONE)
        row->first = thread;
    else
        replay->threads[row->last].next = thread;
    row->last = thread;
}

static void row__remove(struct replay *replay, struct replay_row *row, uint32_t thread)
{
    uint32_t next = replay->threads[thread].next, previous = replay->threads[thread].previous;
    if (previous == REPLAY_NONE)
        row->first = next;
    else
        replay->threads[previous].next = next;
    if (next == REPLAY_NONE)
        row->last = previous;
    else
        replay->threads[next].previous = previous;
}

/* ---- waiting and its end --------------------------------------------------------------------- */

static struct replay_row *row_of(struct replay_object_state *state, enum replay_kind kind)
{
    return kind == REPLAY_SHARE ? &state->sharing : &state->waiting;
}

/* The thread's operation cannot be done now. */
static bool wait_for_it(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    uint32_t object = thread->op.object;
    if (thread->waits_for == REPLAY_NONE) {
        thread->waits_for = object;
        thread->wait_began = replay->now;
        replay->result->objects[object].contended++;
    }
    thread->waits_since = replay->now;
    row__append(replay, row_of(&replay->objects[object], thread->op.kind), index);
    if (replay->model->objects[object].spins)
        thread->state = THREAD_SPINNING;
    else
        replay_cpus__leave(replay, index, THREAD_WAITING);
    return false;
}

static void wake(struct replay *replay, uint32_t index, uint64_t ticks)
{
    struct replay_thread *thread = &replay->threads[index];
    thread->work = 0;
    thread->state = THREAD_AWAY;
    thread_heap__push(&replay->due, replay__plus(replay->now, ticks), index);
}

/* The first one of the row is woken and tries again. */
static void wake_first(struct replay *replay, struct replay_row *row, uint64_t ticks)
{
    uint32_t first = row->first;
    if (first == REPLAY_NONE)
        return;
    row__remove(replay, row, first);
    wake(replay, first, ticks);
}

/* What the first one of the row waits for is done: it goes on, as soon as it can. */
static uint32_t release_first(struct replay *replay, struct replay_row *row, uint64_t ticks)
{
    uint32_t index = row->first;
    struct replay_thread *thread = &replay->threads[index];
    row__remove(replay, row, index);
    thread->op = (struct replay_op){.kind = REPLAY_WORK};
    if (thread->state == THREAD_WAITING) {
        wake(replay, index, ticks);
    } else if (thread->state == THREAD_SPINNING) {
        thread->state = THREAD_RUNNING;
        thread_heap__push(&replay->due, replay->now, index);
    }
    return index;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* held is Σ of the ends − Σ of the beginnings. */
static void count_holder(struct replay *replay, uint32_t object)
{
    replay->result->objects[object].acquisitions++;
    replay->result->objects[object].held -= replay->now;
}

static void own(struct replay *replay, uint32_t object, uint32_t thread)
{
    struct replay_object_state *lock = &replay->objects[object];
    lock->handed = lock->last != thread && lock->last != REPLAY_NONE;
    if (lock->handed)
        replay->threads[thread].charge += replay->model->objects[object].handed_ticks;
    lock->last = lock->owner = thread;
    lock->depth = 1;
    count_holder(replay, object);
}

static void begin_share(struct replay *replay, uint32_t object, uint32_t thread)
{
    replay->objects[object].readers++;
    vec__push(&replay->threads[thread].shares, &object);
    count_holder(replay, object);
}

/* False: the thread does not hold it as a reader. */
static bool end_share(struct replay *replay, uint32_t object, uint32_t thread)
{
    struct vec *shares = &replay->threads[thread].shares;
    for (size_t i = shares->count; i-- > 0;) {
        if (*VEC_AT(shares, uint32_t, i) != object)
            continue;
        *VEC_AT(shares, uint32_t, i) = *VEC_AT(shares, uint32_t, shares->count - 1);
        shares->count--;
        replay->objects[object].readers--;
        replay->result->objects[object].held += replay->now;
        return true;
    }
    return false;
}

static bool acquire(struct replay *replay, uint32_t thread, uint32_t object)
{
    struct replay_object_state *lock = &replay->objects[object];
    if (lock->owner == thread) {
        lock->depth += lock->depth < UINT32_MAX;
        return true;
    }
    /* Who holds it as a reader could never get it; that it did tells that a release was lost. */
    while (lock->readers && end_share(replay, object, thread))
        ;
    bool has_waited = replay->threads[thread].waits_for != REPLAY_NONE;
    bool is_free = lock->owner == REPLAY_NONE && lock->readers == 0;
    if (has_waited || !is_free)
        lock->contended = true;
    if (!is_free)
        return wait_for_it(replay, thread);
    own(replay, object, thread);
    return true;
}

static bool share(struct replay *replay, uint32_t thread, uint32_t object)
{
    struct replay_object_state *lock = &replay->objects[object];
    if (lock->owner == thread) {
        lock->depth += lock->depth < UINT32_MAX;
        return true;
    }
    if (lock->owner != REPLAY_NONE)
        return wait_for_it(replay, thread);
    begin_share(replay, object, thread);
    return true;
}

static void hand_to_writer(struct replay *replay, uint32_t object)
{
    struct replay_object_state *lock = &replay->objects[object];
    if (lock->waiting.first == REPLAY_NONE)
        return;
    own(replay, object,
        release_first(replay, &lock->waiting, replay->model->objects[object].wake_ticks));
}

/* The first one that waits tries again: woken, or not yet asleep. */
static void wake_waiter(struct replay *replay, uint32_t object, uint32_t by)
{
    const struct replay_object *what = &replay->model->objects[object];
    struct replay_row *row = &replay->objects[object].waiting;
    if (row->first == REPLAY_NONE)
        return;
    bool asleep = replay->now - replay->threads[row->first].waits_since >= what->settle_ticks;
    replay->threads[by].charge += asleep ? what->release_ticks : 0;
    wake_first(replay, row, asleep ? what->wake_ticks : 0);
}

static void hand_on(struct replay *replay, uint32_t object, uint32_t by)
{
    struct replay_object_state *lock = &replay->objects[object];
    const struct replay_object *what = &replay->model->objects[object];
    if (lock->sharing.first != REPLAY_NONE) {
        while (lock->sharing.first != REPLAY_NONE)
            begin_share(replay, object, release_first(replay, &lock->sharing, what->wake_ticks));
    } else if (what->spins) {
        hand_to_writer(replay, object);
    } else if (lock->contended) {
        lock->contended = false;
        wake_waiter(replay, object, by);
    }
}

static bool release(struct replay *replay, uint32_t thread, uint32_t object)
{
    struct replay_object_state *lock = &replay->objects[object];
    if (lock->owner == thread) {
        if (--lock->depth)
            return true;
        lock->owner = REPLAY_NONE;
        replay->result->objects[object].held += replay->now;
        if (lock->handed)
            replay->threads[thread].charge += replay->model->objects[object].behind_ticks;
        hand_on(replay, object, thread);
    } else if (lock->readers && end_share(replay, object, thread) && lock->readers == 0) {
        hand_to_writer(replay, object);
    }
    return true;
}

/* ---- semaphores and barriers ----------------------------------------------------------------- */

static bool take(struct replay *replay, uint32_t thread, uint32_t object)
{
    struct replay_object_state *semaphore = &replay->objects[object];
    if (semaphore->value == 0)
        return wait_for_it(replay, thread);
    semaphore->value--;
    replay->result->objects[object].acquisitions++;
    return true;
}

static bool give(struct replay *replay, uint32_t object)
{
    struct replay_object_state *semaphore = &replay->objects[object];
    const struct replay_object *what = &replay->model->objects[object];
    if (what->spins && semaphore->waiting.first != REPLAY_NONE) {
        replay->result->objects[object].acquisitions++;
        release_first(replay, &semaphore->waiting, 0);
        return true;
    }
    semaphore->value += semaphore->value < UINT64_MAX;
    wake_first(replay, &semaphore->waiting, what->wake_ticks);
    return true;
}

static bool meet(struct replay *replay, uint32_t index, uint32_t object)
{
    struct replay_object_state *barrier = &replay->objects[object];
    const struct replay_object *what = &replay->model->objects[object];
    struct replay_thread *thread = &replay->threads[index];
    if (thread->waits_for == object) { /* it spun, lost its CPU, and is back */
        thread->state = THREAD_SPINNING;
        return false;
    }
    replay->result->objects[object].acquisitions++;
    if (++barrier->value < what->parties)
        return wait_for_it(replay, index);
    barrier->value = 0;
    while (barrier->waiting.first != REPLAY_NONE)
        release_first(replay, &barrier->waiting, what->wake_ticks);
    return true;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static uint32_t *token_row(struct replay *replay, uint32_t token)
{
    return &replay->token_rows[(token * 0x9e3779b1u) >> replay->token_shift];
}

static bool has_to_await(const struct replay *replay, uint32_t token)
{
    return token < replay->model->token_count && !(replay->posted[token / 64] >> token % 64 & 1);
}

static void enter_token_row(struct replay *replay, uint32_t thread, uint32_t token)
{
    uint32_t *row = token_row(replay, token);
    replay->threads[thread].next = *row;
    *row = thread;
}

static bool await(struct replay *replay, uint32_t thread, uint32_t token)
{
    if (!has_to_await(replay, token))
        return true;
    enter_token_row(replay, thread, token);
    replay->threads[thread].waits_since = replay->now;
    replay_cpus__leave(replay, thread, THREAD_WAITING);
    return false;
}

static bool post(struct replay *replay, uint32_t token)
{
    if (!has_to_await(replay, token))
        return true;
    replay->posted[token / 64] |= (uint64_t)1 << token % 64;
    for (uint32_t *link = token_row(replay, token); *link != REPLAY_NONE;) {
        uint32_t index = *link;
        struct replay_thread *thread = &replay->threads[index];
        if (thread->op.object != token) {
            link = &thread->next;
            continue;
        }
        *link = thread->next;
        thread->has_begun = true;
        wake(replay, index, replay->model->token_ticks);
    }
    return true;
}

bool replay_waits__begins_later(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    if (thread->work || thread->op.kind != REPLAY_AWAIT || !has_to_await(replay, thread->op.object))
        return false;
    enter_token_row(replay, index, thread->op.object);
    thread->state = THREAD_WAITING;
    thread->has_begun = false;
    return true;
}

static bool awaits(const struct replay_thread *thread)
{
    return thread->state == THREAD_WAITING && thread->op.kind == REPLAY_AWAIT && thread->has_begun;
}

bool replay_waits__post_unmet(struct replay *replay)
{
    uint32_t first = REPLAY_NONE;
    for (uint32_t i = 0; i < replay->model->thread_count; i++) {
        const struct replay_thread *thread = &replay->threads[i];
        if (awaits(thread) &&
            (first == REPLAY_NONE || thread->waits_since < replay->threads[first].waits_since))
            first = i;
    }
    return first != REPLAY_NONE && post(replay, replay->threads[first].op.object);
}

/* ---- what a thread does ---------------------------------------------------------------------- */

static bool sleep_for(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    uint64_t ticks = thread->op.ticks;
    if (ticks == 0)
        return true;
    thread->op = (struct replay_op){.kind = REPLAY_WORK};
    replay_cpus__leave(replay, index, THREAD_AWAY);
    wake(replay, index, ticks);
    return false;
}

/* Operations on what is not there, or on something of another kind, are none. */
static bool is_one(const struct replay *replay, const struct replay_op *op,
                   enum replay_object_kind kind)
{
    return op->object < replay->model->object_count &&
           replay->model->objects[op->object].kind == kind;
}

bool replay_waits__act(struct replay *replay, uint32_t thread)
{
    const struct replay_op *op = &replay->threads[thread].op;
    switch (op->kind) {
    case REPLAY_DELAY:
        return sleep_for(replay, thread);
    case REPLAY_ACQUIRE:
        return !is_one(replay, op, REPLAY_LOCK) || acquire(replay, thread, op->object);
    case REPLAY_SHARE:
        return !is_one(replay, op, REPLAY_LOCK) || share(replay, thread, op->object);
    case REPLAY_RELEASE:
        return !is_one(replay, op, REPLAY_LOCK) || release(replay, thread, op->object);
    case REPLAY_TAKE:
        return !is_one(replay, op, REPLAY_SEMAPHORE) || take(replay, thread, op->object);
    case REPLAY_GIVE:
        return !is_one(replay, op, REPLAY_SEMAPHORE) || give(replay, op->object);
    case REPLAY_MEET:
        return !is_one(replay, op, REPLAY_BARRIER) || meet(replay, thread, op->object);
    case REPLAY_POST:
        return post(replay, op->object);
    case REPLAY_AWAIT:
        return await(replay, thread, op->object);
    default:
        return true;
    }
}

/* ---- spinning threads that lose their CPU ---------------------------------------------------- */

void replay_waits__displaced(struct replay *replay, uint32_t index)
{
    const struct replay_op *op = &replay->threads[index].op;
    struct replay_object_state *state = &replay->objects[op->object];
    if (replay->model->objects[op->object].kind != REPLAY_BARRIER) /* which stays reached */
        row__remove(replay, row_of(state, op->kind), index);
}

bool replay_waits__may_go_on(const struct replay *replay, uint32_t index)
{
    const struct replay_thread *thread = &replay->threads[index];
    if (thread->op.kind == REPLAY_WORK || thread->waits_for == REPLAY_NONE)
        return true;
    const struct replay_object_state *state = &replay->objects[thread->waits_for];
    switch (replay->model->objects[thread->waits_for].kind) {
    case REPLAY_LOCK:
        return state->owner == REPLAY_NONE &&
               (state->readers == 0 || thread->op.kind == REPLAY_SHARE);
    case REPLAY_SEMAPHORE:
        return state->value > 0;
    default:
        return false;
    }
}
