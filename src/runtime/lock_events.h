/* lock_events.h: how an acquisition and a release of a lock are recorded. See hook_lock.c. */
#ifndef HEURT_RUNTIME_LOCK_EVENTS_H
#define HEURT_RUNTIME_LOCK_EVENTS_H

#include "runtime/runtime.h"

/* The event of an acquisition that did not wait. No part of the hooks, which save fewer registers
 * without it when they leave something out. */
void lock__write_acquired(struct thread *thread, uint64_t site, const void *lock);

static inline void lock__acquired(struct thread *thread, uint64_t site, const void *lock)
{
    if (hook__leaves_out(thread, HEURT_EVENT_LOCK_ACQUIRED))
        lock__set_left_out(thread, lock);
    else
        lock__write_acquired(thread, site, lock);
}

/* The thread begins or ends what a recorded wait is made of. thread: may be NULL. */
static inline void wait__is_told(struct thread *thread, bool is_told)
{
    if (thread)
        thread->is_in_wait = is_told;
}

/* Returns the tick for lock__wait_ended. */
static inline uint64_t lock__wait_begins(struct thread *thread, uint64_t site, const void *lock)
{
    hook__stack(thread, site, lock);
    event__write2(thread, HEURT_EVENT_LOCK_WAIT, site, (uintptr_t)lock);
    return clock__tick();
}

static inline int lock__wait_ended(struct thread *thread, uint64_t since, const void *lock,
                                   int result)
{
    lock__was_left_out(thread, lock);
    wait__end(thread, HEURT_EVENT_LOCK_WAIT | 1, since, (uint64_t)result);
    return result;
}

static inline void lock__releasing(struct thread *thread, uint64_t site, const void *lock)
{
    if (unlikely(lock__was_left_out(thread, lock)))
        return;
    event__write2(thread, HEURT_EVENT_LOCK_RELEASED, site, (uintptr_t)lock);
}

#endif
