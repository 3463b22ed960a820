/* longer_holds.h: a lock is held longer than the program holds it, on purpose: heurt induce lock.
 *
 *     acquired at one of the session's places ──► the thread notes the lock and the time
 *     given back ──► it computes for so many thousandths of the time since, then it is recorded
 *                    and given back
 *
 * What a condition wait gives back and takes again are two holds. Of locks that a thread has at a
 * time, LONGER_HOLDS are known; of more the oldest ones are not made longer. A handler that comes
 * between may make one hold of its thread's longer or not; nothing else hangs on it. */
#ifndef HEURT_RUNTIME_LONGER_HOLDS_H
#define HEURT_RUNTIME_LONGER_HOLDS_H

#include <stdint.h>

struct thread;

/* A lock that is held longer on purpose. */
#define LONGER_HOLDS 8
struct longer_hold {
    const void *lock; /* NULL: none */
    uint64_t since;   /* tick */
};

/* Nothing, where the lock is not taken at one of the session's places. The thread's own; any signal
 * handler. */
void longer_hold__begins(struct thread *thread, uint64_t site, const void *lock);
void longer_hold__ends(struct thread *thread, const void *lock);

#endif
