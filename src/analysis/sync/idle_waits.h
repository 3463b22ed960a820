/* idle_waits.h: at which conditions and semaphores threads wait for work, and at which a turn is
 * passed on, by the rule in blame.h. For analysis/ only. */
#ifndef HEURT_ANALYSIS_SYNC_IDLE_WAITS_H
#define HEURT_ANALYSIS_SYNC_IDLE_WAITS_H

#include "base/vec.h"
#include "fold/kinds.h"

/* What a thread has to do with a condition or semaphore. */
struct member {
    uint32_t thread;
    uint64_t waited, ended; /* ticks: that it waited, that others waited until it signalled */
    uint64_t taken, given;  /* semaphores: how often */
    uint64_t turns;         /* ticks of ended in which it passed a turn on */
};

/* A condition or semaphore; of other kinds nothing is found. */
struct turnstile {
    uint32_t process; /* serial */
    enum class_kind kind;
    uint64_t mutex;     /* that goes with the condition */
    uint64_t waited;    /* ticks, in waits that ended */
    struct vec members; /* struct member */
    bool any_wait;
    bool passes_turns; /* found: not idle */
};

struct turnstile turnstile__start(uint32_t process, enum class_kind kind);
void turnstile__free(struct turnstile *turnstile);
/* Valid until the next call. */
struct member *turnstile__member(struct turnstile *turnstile, uint32_t thread);
/* Whether waits there are for work; once it was found. */
bool turnstile__is_idle(const struct turnstile *turnstile);

/* Finds which pass turns on. turnstiles: struct turnstile *; only those at which somebody waited
 * are left, in another order. Members' threads are less than thread_count. */
void turns__find(struct vec *turnstiles, size_t thread_count);

#endif
