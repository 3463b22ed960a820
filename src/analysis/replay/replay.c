#include "analysis/replay/replay.h"

#include "analysis/replay/replay_state.h"

/* The end of a thread, as its last operation. */
#define REPLAY_END (REPLAY_AWAIT + 1)

/* ---- a thread that runs ---------------------------------------------------------------------- */

/* The thread's next operation, with all work before it. */
static void fetch(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    struct replay_op op;
    thread->work = 0;
    replay->done++;
    while (replay->source->next(replay->source, index, &op)) {
        if (op.kind != REPLAY_DELAY)
            thread->work = replay__plus(thread->work, op.ticks);
        if (op.kind == REPLAY_WORK || op.kind > REPLAY_AWAIT)
            continue;
        thread->op = op;
        return;
    }
    thread->op = (struct replay_op){.kind = REPLAY_END};
}

/* Its operation is done: what it has waited for it is known. */
static void end_wait(struct replay *replay, struct replay_thread *thread)
{
    if (thread->waits_for == REPLAY_NONE)
        return;
    replay->result->objects[thread->waits_for].waited += replay->now - thread->wait_began;
    thread->waits_for = REPLAY_NONE;
}

static void end_thread(struct replay *replay, uint32_t index)
{
    replay_cpus__leave(replay, index, THREAD_ENDED);
    if (replay->now > replay->result->wall)
        replay->result->wall = replay->now;
}

/* Nothing else happens before the thread is due. */
static bool is_next(const struct replay *replay, uint64_t due, uint32_t index)
{
    struct thread_heap_entry entry = {due, index};
    if (replay->due.count && !thread_heap__before(entry, replay->due.entries[0]))
        return false;
    return due <= replay_cpus__slice_end(replay);
}

/* The thread, on a CPU and not in due, does its operation now, and goes on as far as it can. */
static void go_on(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    for (;;) {
        if (thread->op.kind == REPLAY_END) {
            end_thread(replay, index);
            return;
        }
        if (!replay_waits__act(replay, index))
            return;
        end_wait(replay, thread);
        fetch(replay, index);
        thread->work = replay__plus(thread->work, thread->charge);
        thread->charge = 0;
        uint64_t due = replay__plus(replay->now, thread->work);
        if (!is_next(replay, due, index)) {
            thread_heap__push(&replay->due, due, index);
            return;
        }
        replay->now = due;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void start_thread(struct replay *replay, uint32_t index)
{
    replay->threads[index].waits_for = REPLAY_NONE;
    replay->threads[index].has_begun = true;
    fetch(replay, index);
    if (replay_waits__begins_later(replay, index))
        return;
    if (replay_cpus__want(replay, index))
        thread_heap__push(&replay->due, replay->threads[index].work, index);
}

static void do_next(struct replay *replay)
{
    struct thread_heap_entry next = replay->due.entries[0];
    thread_heap__remove(&replay->due, next.thread);
    replay->now = next.key;
    if (replay->threads[next.thread].state == THREAD_RUNNING ||
        replay_cpus__want(replay, next.thread))
        go_on(replay, next.thread);
}

/* When nothing is due, those on a CPU spin, and a change of slices is of use only to others. */
static bool somebody_may_go_on(const struct replay *replay)
{
    if (replay->due.count)
        return true;
    for (uint32_t i = 0; i < replay->ready.count; i++)
        if (replay_waits__may_go_on(replay, replay->ready.entries[i].thread))
            return true;
    return false;
}

static void run(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->model->thread_count; i++)
        start_thread(replay, i);
    for (;;) {
        uint64_t slice_end = replay_cpus__slice_end(replay);
        if (replay->due.count && replay->due.entries[0].key <= slice_end) {
            do_next(replay);
        } else if (slice_end != REPLAY_NEVER && somebody_may_go_on(replay)) {
            replay->now = slice_end;
            replay_cpus__end_slice(replay);
        } else if (!replay_waits__post_unmet(replay)) {
            return;
        }
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void prepare_objects(struct replay *replay)
{
    uint32_t count = replay->model->object_count;
    replay->objects = memory__zeroed(count, sizeof *replay->objects);
    for (uint32_t i = 0; i < count; i++)
        replay->objects[i] = (struct replay_object_state){
            .waiting = {REPLAY_NONE, REPLAY_NONE},
            .sharing = {REPLAY_NONE, REPLAY_NONE},
            .owner = REPLAY_NONE,
            .last = REPLAY_NONE,
            .value = replay->model->objects[i].kind == REPLAY_SEMAPHORE
                         ? replay->model->objects[i].initial
                         : 0,
        };
}

/* Twice as many rows as threads that can wait in them. */
static void prepare_tokens(struct replay *replay)
{
    unsigned bits = 1;
    while (bits < 31 && (uint32_t)1 << bits < 2 * (uint64_t)replay->model->thread_count)
        bits++;
    replay->token_shift = 32 - bits;
    replay->token_rows = memory__zeroed((size_t)1 << bits, sizeof *replay->token_rows);
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        replay->token_rows[i] = REPLAY_NONE;
    replay->posted = memory__zeroed((size_t)replay->model->token_count / 64 + 1, sizeof(uint64_t));
}

/* What locks, CPUs and waits that nobody has ended come to. */
static void close_accounts(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->model->object_count; i++) {
        const struct replay_object_state *state = &replay->objects[i];
        uint64_t holders = (uint64_t)state->readers + (state->owner != REPLAY_NONE);
        replay->result->objects[i].held += holders * replay->now;
    }
    for (uint32_t i = 0; i < replay->model->thread_count; i++) {
        const struct replay_thread *thread = &replay->threads[i];
        if (thread->state == THREAD_SPINNING)
            replay->result->worked += replay->now - thread->since;
        else if (thread->state == THREAD_READY)
            replay->result->runnable += replay->now - thread->since;
        replay->result->unfinished += thread->state != THREAD_ENDED;
    }
}

static void free_replay(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->model->thread_count; i++)
        vec__free(&replay->threads[i].shares);
    thread_heap__free(&replay->due);
    thread_heap__free(&replay->on_cpu);
    thread_heap__free(&replay->ready);
    free(replay->threads);
    free(replay->objects);
    free(replay->token_rows);
    free(replay->posted);
}

void replay__run(const struct replay_model *model, struct replay_source *source,
                 struct replay_result *result)
{
    uint32_t threads = model->thread_count;
    struct replay_model sound = *model;
    sound.cpus = model->cpus ? model->cpus : 1;
    *result = (struct replay_result){
        .objects = memory__zeroed(model->object_count, sizeof(struct replay_object_result))};
    struct replay replay = {
        .model = &sound,
        .source = source,
        .result = result,
        .threads = memory__zeroed(threads, sizeof(struct replay_thread)),
        .due = thread_heap__make(threads),
        .on_cpu = thread_heap__make(threads),
        .ready = thread_heap__make(threads),
        .crowded = sound.cpus < threads,
        .slice_ticks = sound.slice_ticks,
    };
    for (uint32_t i = 0; i < threads; i++)
        replay.threads[i].shares = VEC_OF(uint32_t);
    prepare_objects(&replay);
    prepare_tokens(&replay);
    run(&replay);
    close_accounts(&replay);
    free_replay(&replay);
}

void replay_result__free(struct replay_result *result)
{
    free(result->objects);
    result->objects = NULL;
}
