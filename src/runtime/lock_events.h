/* lock_events.h: how an acquisition and a release of a lock are recorded.
 *
 * Of acquisitions that do not wait, one in so many is recorded where they are frequent (budget.c);
 * of the others the thread keeps the lock and the place. Who waits says so in a table that all
 * threads read (waited_locks): an acquisition at which somebody waits is recorded in any case, and
 * a release at which somebody waits is, too, with the place of its acquisition. So all that kept
 * another thread is in the trace, and what kept nobody costs no look at a clock.
 *
 *   what                     who writes                       how
 *   left_out_locks           its thread, and handlers         a place that a handler takes costs
 *                                                             one event more
 *   waited_locks[].waits     who waits                        compare and exchange of one word
 *
 * A release that reads the table just before somebody begins to wait is not recorded: that wait is
 * over as soon as it began, but for who else got the lock, and that one's acquisition is. */
#ifndef HEURT_RUNTIME_LOCK_EVENTS_H
#define HEURT_RUNTIME_LOCK_EVENTS_H

#include "runtime/longer_holds.h"
#include "runtime/runtime.h"

#include <errno.h>

/* The event of an acquisition that did not wait. No part of the hooks, which save fewer registers
 * without it when they leave something out. */
void lock__write_acquired(struct thread *thread, uint64_t site, const void *lock);
/* The event that comes before a release for which somebody waits, of a lock whose acquisition was
 * left out. */
void lock__write_held(struct thread *thread, uint64_t acquired_site, const void *lock);
void lock__write_released(struct thread *thread, uint64_t site, const void *lock);
void lock__add_waiter(const void *lock);
void lock__drop_waiter(const void *lock);

/* A try of the program's own found it taken. */
static inline void lock__refused(struct thread *thread, uint64_t site, uint64_t lock)
{
    event__write2(thread, HEURT_EVENT_LOCK_BUSY, site, lock);
    thread->refused = clock__tick();
}

static inline uint64_t lock__hash(const void *lock)
{
    return (uintptr_t)lock * 0x9e3779b97f4a7c15ull;
}

static inline struct waited_lock *lock__waited(const void *lock)
{
    return &heurt_state.waited_locks[lock__hash(lock) >> 54];
}

/* Also true where somebody waits for another one that has the same place. */
static inline bool lock__is_waited_for(const void *lock)
{
    return __atomic_load_n(&lock__waited(lock)->waits, __ATOMIC_RELAXED);
}

static inline struct left_out_lock *lock__left_out(struct countdowns *countdowns, const void *lock)
{
    return &countdowns->left_out_locks[lock__hash(lock) >> 58];
}

/* Forgets that the lock's acquisition was left out, because it is released or acquired anew.
 * Returns whether it was, and where: NULL is allowed. */
static inline bool lock__was_left_out(struct thread *thread, const void *lock, uint64_t *site)
{
    struct countdowns *countdowns = thread->countdowns;
    struct left_out_lock *left_out = likely(countdowns) ? lock__left_out(countdowns, lock) : NULL;
    if (likely(!left_out || left_out->lock != lock))
        return false;
    left_out->lock = NULL;
    if (site)
        *site = left_out->site;
    return true;
}

/* is_shared: by processes. */
static inline void lock__acquired(struct thread *thread, uint64_t site, const void *lock,
                                  bool is_shared)
{
    if (unlikely(heurt_state.settings.hold_permille))
        longer_hold__begins(thread, site, lock);
    if (is_shared || lock__is_waited_for(lock) ||
        !hook__leaves_out(thread, HEURT_EVENT_LOCK_ACQUIRED)) {
        lock__write_acquired(thread, site, lock);
        return;
    }
    struct left_out_lock *left_out = lock__left_out(thread->countdowns, lock);
    left_out->site = site;
    left_out->lock = lock;
}

/* The thread begins or ends what a recorded wait is made of. thread: may be NULL. */
static inline void wait__is_told(struct thread *thread, bool is_told)
{
    if (thread)
        thread->is_in_wait = is_told;
}

/* Returns the tick for lock__write_wait_ended. */
static inline uint64_t lock__write_wait_begins(struct thread *thread, uint64_t site,
                                               const void *lock)
{
    hook__stack(thread, site, lock);
    event__write2(thread, HEURT_EVENT_LOCK_WAIT, site, (uintptr_t)lock);
    return clock__tick();
}

/* The same, known to the program's other threads. */
static inline uint64_t lock__wait_begins(struct thread *thread, uint64_t site, const void *lock)
{
    lock__add_waiter(lock);
    return lock__write_wait_begins(thread, site, lock);
}

static inline void lock__write_wait_ended(struct thread *thread, uint64_t since, const void *lock,
                                          int result)
{
    lock__was_left_out(thread, lock, NULL);
    wait__end(thread, HEURT_EVENT_LOCK_WAIT | 1, since, (uint64_t)result);
}

static inline int lock__wait_ended(struct thread *thread, uint64_t site, uint64_t since,
                                   const void *lock, int result)
{
    lock__drop_waiter(lock);
    lock__write_wait_ended(thread, since, lock, result);
    if (unlikely(heurt_state.settings.hold_permille) && (result == 0 || result == EOWNERDEAD))
        longer_hold__begins(thread, site, lock);
    return result;
}

/* The thread gives up a lock, by a release or by a condition wait. Returns whether the trace knows
 * that it has it. */
static inline bool lock__gives_up(struct thread *thread, const void *lock)
{
    uint64_t acquired_site;
    if (unlikely(heurt_state.settings.hold_permille))
        longer_hold__ends(thread, lock);
    if (!lock__was_left_out(thread, lock, &acquired_site))
        return true;
    if (likely(!lock__is_waited_for(lock)))
        return false;
    lock__write_held(thread, acquired_site, lock);
    return true;
}

static inline void lock__releasing(struct thread *thread, uint64_t site, const void *lock)
{
    if (unlikely(lock__gives_up(thread, lock)))
        lock__write_released(thread, site, lock);
}

#endif
