#include "kernel/wake_log.h"

#define DONE_TO_WAKE_NS 100000   /* a device's interrupt wakes who waits within this time */
#define DONE_TO_WORK_NS 10000000 /* and a thread of the kernel within this */
#define EARLY_NS 10000           /* a thread may be woken so long before it has left its CPU */
#define LATE_NS 1000             /* the clocks' difference */

static struct wake_thread *thread_of(struct wake_log *log, uint32_t number)
{
    uint64_t index = map__get(&log->numbers, &number, sizeof number);
    if (index != MAP_ABSENT)
        return VEC_AT(&log->threads, struct wake_thread, index);
    map__put(&log->numbers, &number, sizeof number, log->threads.count);
    struct wake_thread *thread = vec__push(&log->threads, NULL);
    thread->wakes = VEC_OF(struct wake);
    return thread;
}

/* When a block device was last done on that CPU. */
static uint64_t *done_on(struct wake_log *log, uint32_t cpu)
{
    return VEC_REACH(&log->done_ns, uint64_t, cpu);
}

/* In another namespace than the first one, current tells both of its numbers. */
static void learn_tid(struct wake_log *log, const struct wake_record *record)
{
    if (!log->other_namespace || record->current_tid == 0 || record->current == 0)
        return;
    thread_of(log, record->current);
    uint64_t index = map__get(&log->numbers, &record->current, sizeof record->current);
    map__put(&log->tids, &record->current_tid, sizeof record->current_tid, index);
}

static bool is_ours(const struct wake_log *log, uint32_t tid)
{
    return map__get(&log->ours, &tid, sizeof tid) != MAP_ABSENT;
}

/* In another namespace this is known only in the end, when find is told its tid. */
static bool may_be_ours(const struct wake_log *log, uint32_t number)
{
    return log->other_namespace || is_ours(log, number);
}

static bool is_by_ours(const struct wake_log *log, const struct wake_record *record)
{
    return is_ours(log, record->current_tid);
}

/* The device's interrupt wakes the thread, or a thread of the kernel does to which it has left
 * the rest: nobody of the program, soon after a device was done. */
static bool is_from_disk(struct wake_log *log, const struct wake_thread *thread,
                         const struct wake_record *record)
{
    if (!thread->queued_ns || (!record->in_interrupt && is_by_ours(log, record)))
        return false;
    uint64_t done_ns = record->in_interrupt ? *done_on(log, record->cpu) : log->newest_done_ns;
    uint64_t most_ns = record->in_interrupt ? DONE_TO_WAKE_NS : DONE_TO_WORK_NS;
    return done_ns >= thread->queued_ns && record->time_ns - done_ns <= most_ns;
}

static void add_waking(struct wake_log *log, const struct wake_record *record)
{
    struct wake wake = {.time_ns = record->time_ns};
    if (!may_be_ours(log, record->wakee))
        return;
    struct wake_thread *thread = thread_of(log, record->wakee);
    if (!record->in_interrupt)
        wake.waker = record->current_tid;
    if (log->kept == WAKES_MAX) {
        log->dropped++;
        return;
    }
    if (thread->in_futex)
        wake.reason = WAKE_FROM_FUTEX;
    else if (is_from_disk(log, thread, record))
        wake.reason = WAKE_FROM_DISK;
    if (wake.reason == WAKE_FROM_DISK)
        thread->queued_ns = 0;
    log->kept++;
    vec__push(&thread->wakes, &wake);
}

void wake_log__add(struct wake_log *log, const struct wake_record *record)
{
    learn_tid(log, record);
    switch (record->kind) {
    case WAKE_WAKING:
        add_waking(log, record);
        break;
    case WAKE_FUTEX_BEGIN:
    case WAKE_FUTEX_END:
        if (is_by_ours(log, record))
            thread_of(log, record->current)->in_futex = record->kind == WAKE_FUTEX_BEGIN;
        break;
    case WAKE_BLOCK_QUEUED:
        if (is_by_ours(log, record))
            thread_of(log, record->current)->queued_ns = record->time_ns;
        break;
    case WAKE_BLOCK_DONE:
        *done_on(log, record->cpu) = record->time_ns;
        log->newest_done_ns = record->time_ns;
        break;
    case WAKE_THREAD_BEGAN:
        if (!log->ours.count || is_ours(log, record->parent_tid))
            map__put(&log->ours, &record->current_tid, sizeof record->current_tid, 1);
        break;
    case WAKE_LOST:
        log->lost += record->count;
        break;
    case WAKE_OTHER:
        break;
    }
}

void wake_log__forget_futexes(struct wake_log *log)
{
    VEC_EACH (thread, &log->threads, struct wake_thread)
        thread->in_futex = false;
}

void wake_log__free(struct wake_log *log)
{
    VEC_EACH (thread, &log->threads, struct wake_thread)
        vec__free(&thread->wakes);
    vec__free(&log->threads);
    vec__free(&log->done_ns);
    map__free(&log->numbers);
    map__free(&log->ours);
    map__free(&log->tids);
}

static struct wake_thread *known_thread(struct wake_log *log, uint32_t tid)
{
    struct map *map = log->other_namespace ? &log->tids : &log->numbers;
    uint64_t index = map__get(map, &tid, sizeof tid);
    return index == MAP_ABSENT ? NULL : VEC_AT(&log->threads, struct wake_thread, index);
}

/* How many of the thread's wakes are before that time. */
static size_t count_before(const struct wake_thread *thread, uint64_t time_ns)
{
    return VEC_FIRST(wake, &thread->wakes, struct wake, wake->time_ns >= time_ns);
}

bool wake_log__find(struct wake_log *log, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
                    struct wake *wake)
{
    struct wake_thread *thread = known_thread(log, tid);
    if (!thread || to_ns < from_ns)
        return false;
    size_t index = count_before(thread, from_ns);
    if (index < thread->used)
        index = thread->used;
    bool is_inside = index < thread->wakes.count &&
                     VEC_AT(&thread->wakes, struct wake, index)->time_ns <= to_ns + LATE_NS;
    if (!is_inside) { /* then the last one before it */
        if (index <= thread->used)
            return false;
        index--;
        if (VEC_AT(&thread->wakes, struct wake, index)->time_ns + EARLY_NS < from_ns)
            return false;
    }
    *wake = *VEC_AT(&thread->wakes, struct wake, index);
    thread->used = index + 1;
    return true;
}
