/* The scheduler: CPUs that are all alike, one queue of threads that are ready.
 *
 * As Linux's fair scheduler, reduced to what a program's wall time feels.  A thread's virtual run
 * is the time that it has had a CPU.  A CPU that gets free takes the ready thread of the least
 * virtual run.  After its slice a thread gives its CPU away to one that has run no more than it.
 * Who wakes up has run less than the others, for it slept, and keeps at most one slice of that;
 * when the one that has been on its CPU for longest has run more by over half a slice, it has to
 * make room at once.  So threads of a convoy, who sleep for a moment, wait for a CPU, while one
 * that sleeps most of its time gets one when it wakes.  A switch costs time where a CPU goes from
 * one thread to another without having been idle.
 *
 * There is work in proportion to the operations, not to the time: after SLICES_ALIKE slices and 8
 * for each operation (at 3 ms each that is 100 minutes of CPU time), they get twice as long after
 * each SLICES_MORE of them. */
#include "analysis/replay/replay_state.h"

#define SLICES_ALIKE (1u << 21)
#define SLICES_MORE (1u << 16)

static uint64_t run_of(const struct replay *replay, const struct replay_thread *thread)
{
    return replay__plus(thread->virtual_run, replay->now - thread->since);
}

/* Of the threads that are ready or on a CPU, the mean of what they have run. It never falls. */
static uint64_t average_run(struct replay *replay)
{
    uint64_t threads = (uint64_t)replay->running + replay->ready.count;
    if (threads) {
        uint64_t mean = (replay->run_sum + replay->running * replay->now) / threads;
        if (mean > replay->average_run_max)
            replay->average_run_max = mean;
    }
    return replay->average_run_max;
}

/* What a thread that wakes up has run: of those that never ran no less than the others. */
static void place(struct replay *replay, struct replay_thread *thread)
{
    uint64_t average = average_run(replay), credit = replay->slice_ticks;
    uint64_t least = average > credit ? average - credit : 0;
    if (thread->virtual_run == 0)
        thread->virtual_run = average;
    else if (thread->virtual_run < least)
        thread->virtual_run = least;
}

static void enqueue(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    thread->state = THREAD_READY;
    thread->since = replay->now;
    thread_heap__push(&replay->ready, thread->virtual_run, index);
    replay->run_sum += thread->virtual_run;
}

/* The thread of the least virtual run leaves the queue. */
static uint32_t dequeue(struct replay *replay)
{
    uint32_t index = replay->ready.entries[0].thread;
    struct replay_thread *thread = &replay->threads[index];
    thread_heap__remove(&replay->ready, index);
    replay->run_sum -= thread->virtual_run;
    replay->result->runnable += replay->now - thread->since;
    return index;
}

static void take_cpu(struct replay *replay, uint32_t index, uint64_t switch_ticks)
{
    struct replay_thread *thread = &replay->threads[index];
    uint64_t begin = replay__plus(replay->now, switch_ticks);
    thread->state = THREAD_RUNNING;
    thread->since = replay->now;
    if (!replay->crowded)
        return;
    replay->running++;
    replay->run_sum += thread->virtual_run - thread->since;
    thread_heap__push(&replay->on_cpu, replay__plus(begin, replay->slice_ticks), index);
}

/* In the place of another one. */
static void take_over(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    uint64_t switch_ticks = replay->model->switch_ticks;
    take_cpu(replay, index, switch_ticks);
    thread_heap__push(&replay->due,
                      replay__plus(replay->now, replay__plus(switch_ticks, thread->work)), index);
}

static void give_cpu(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    replay->result->worked += replay->now - thread->since;
    if (!replay->crowded)
        return;
    replay->running--;
    replay->run_sum -= thread->virtual_run - thread->since;
    thread->virtual_run = run_of(replay, thread);
    thread_heap__remove(&replay->on_cpu, index);
}

/* On a CPU, it has to go on later. */
static void displace(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    thread->work = 0;
    if (thread->state == THREAD_SPINNING) {
        replay_waits__displaced(replay, index);
    } else {
        thread->work = thread_heap__key(&replay->due, index) - replay->now;
        thread_heap__remove(&replay->due, index);
    }
    give_cpu(replay, index);
    enqueue(replay, index);
}

bool replay_cpus__want(struct replay *replay, uint32_t index)
{
    struct replay_thread *thread = &replay->threads[index];
    if (!replay->crowded) {
        take_cpu(replay, index, 0);
        return true;
    }
    place(replay, thread);
    if (replay->running < replay->model->cpus) {
        take_cpu(replay, index, 0);
        return true;
    }
    uint64_t slice_ticks = replay->slice_ticks;
    uint32_t longest = replay->on_cpu.entries[0].thread;
    if (slice_ticks && run_of(replay, &replay->threads[longest]) >
                           replay__plus(thread->virtual_run, slice_ticks / 2)) {
        displace(replay, longest);
        take_over(replay, index);
    } else {
        enqueue(replay, index);
    }
    return false;
}

void replay_cpus__leave(struct replay *replay, uint32_t thread, enum replay_state state)
{
    give_cpu(replay, thread);
    replay->threads[thread].state = state;
    if (replay->ready.count)
        take_over(replay, dequeue(replay));
}

uint64_t replay_cpus__slice_end(const struct replay *replay)
{
    if (replay->ready.count == 0 || replay->slice_ticks == 0)
        return REPLAY_NEVER;
    uint64_t end = replay->on_cpu.entries[0].key;
    return end > replay->now ? end : replay->now;
}

static void count_slice(struct replay *replay)
{
    if (++replay->slices < SLICES_ALIKE + 8 * replay->done)
        return;
    replay->slices -= SLICES_MORE;
    replay->slice_ticks = replay__plus(replay->slice_ticks, replay->slice_ticks);
}

void replay_cpus__end_slice(struct replay *replay)
{
    count_slice(replay);
    uint32_t index = replay->on_cpu.entries[0].thread;
    if (replay->ready.entries[0].key > run_of(replay, &replay->threads[index])) {
        thread_heap__put_off(&replay->on_cpu, index,
                             replay__plus(replay->now, replay->slice_ticks));
        return;
    }
    uint32_t successor = dequeue(replay);
    displace(replay, index);
    take_over(replay, successor);
}
