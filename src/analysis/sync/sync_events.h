/* sync_events.h: what threads do to each other, in time order.
 *
 * One walk over all threads, merged by time: who waits at what, who has which lock, who ended
 * whose wait.  Locks, the critical path and the replay stand on it.  Memory is bounded by objects
 * and threads, not by events.
 *
 *     for (struct sync_events *walk = sync_events__start(trace); sync_events__next(walk, &event);)
 *
 * Which order of events makes which synchronisation events (→: then, at the same tick):
 *
 *     lock, without waiting        ACQUIRED
 *     lock, waiting                WAITS … ACQUIRED, or WAITS … GAVE_UP
 *     try that failed              BUSY
 *     unlock                       RELEASED
 *     condition wait               RELEASED (mutex) → WAITS … WOKEN or GAVE_UP → ACQUIRED (mutex)
 *     signal, broadcast, futex wake, semaphore post                        SIGNALLED
 *     semaphore                    as a lock, without RELEASED
 *     futex wait                   WAITS … WOKEN or GAVE_UP
 *     barrier                      WAITS … LEFT or GAVE_UP
 *     pthread_create               CREATED, and STARTED in the new thread
 *     join                         WAITS … JOINED or GAVE_UP
 *     the kernel's records         BACK
 *
 * for who asks for messages:
 *
 *     reading what a thread wrote, waiting for it to be readable             RECEIVED
 *
 * and, for who asks for details, what threads do apart from others:
 *
 *     I/O, sleep, memory map       CALLED … RETURNED
 *     the kernel's records         OFF (blocked), OFF (only waiting for a CPU) … BACK
 *     lost events                  LOST
 *
 * Waits callee signature only where a signal handler waits within a wait; only the outermost is
 * told. Each wait that is told ends by a synchronisation event.  Threads whose end is not in the
 * trace are told to end when all else was told, by their last event; those that were in a wait by
 * GAVE_UP, at the end of their process.  Ticks of a thread never step back.  A recursive lock is
 * acquired once and released once.  Locks that a thread has at its end are RELEASED then, at no
 * site: a robust mutex can be had by another from then on.  Who has a lock changes by ACQUIRED,
 * RELEASED and LOST alone: who acquires it exclusively ends what others had. For analysis/ only. */
#ifndef HEURT_ANALYSIS_SYNC_SYNC_EVENTS_H
#define HEURT_ANALYSIS_SYNC_SYNC_EVENTS_H

#include "base/vec.h"
#include "fold/kinds.h"
#include "format/reader.h"

#define SYNC_EVENT_NOBODY UINT32_MAX
#define SYNC_EVENT_NO_OBJECT UINT32_MAX

enum sync_event_type {
    SYNC_EVENT_STARTED, /* its first one. by: its creator, or who forked; by_tick: then */
    SYNC_EVENT_ENDED,   /* its last one */
    SYNC_EVENT_CREATED,
    SYNC_EVENT_WAITS,
    SYNC_EVENT_ACQUIRED,
    SYNC_EVENT_RELEASED,
    SYNC_EVENT_BUSY,
    SYNC_EVENT_GAVE_UP,
    SYNC_EVENT_SIGNALLED,
    SYNC_EVENT_WOKEN,
    SYNC_EVENT_LEFT,
    SYNC_EVENT_JOINED,
    SYNC_EVENT_RECEIVED, /* at the end of a call since `since` for which it needed what `by` wrote.
                            how: 1: it was off the CPU in it */
    SYNC_EVENT_BACK,     /* on a CPU again, which it was not since `since` */
    /* Details: */
    SYNC_EVENT_CALLED,   /* how: enum component, what it is in from now on */
    SYNC_EVENT_RETURNED, /* from that */
    SYNC_EVENT_OFF,      /* the CPU. how: enum component, why */
    SYNC_EVENT_LOST,     /* which locks it has is not known any more: it counts as having none */
};

/* How a thread waits or has a lock. */
enum sync_event_how {
    SYNC_EVENT_EXCLUSIVE, /* mutexes, spin locks, writers */
    SYNC_EVENT_SHARED,    /* readers */
};

struct sync_event {
    enum sync_event_type type;
    uint32_t thread; /* index into trace__threads */
    uint64_t tick;
    uint32_t object; /* see sync_events__object; SYNC_EVENT_NO_OBJECT: none */
    uint32_t how;    /* locks: enum sync_event_how. SIGNALLED: 1: a broadcast. BACK: enum component,
                        what it was */
    uint64_t site;   /* return address of the call; RELEASED: of the release */
    uint64_t site_word; /* WAITS: with what else its event tells of the call (layout.h) */
    /* ACQUIRED, GAVE_UP, WOKEN, LEFT, JOINED: when the wait began; 0: it did not wait.
     * RELEASED: when it was acquired; 0: not known. BACK: when it went off. */
    uint64_t since;
    uint64_t paused;        /* ticks of since … tick in which the recording used the thread */
    uint64_t acquired_site; /* RELEASED: where it was acquired */
    uint32_t held;          /* ACQUIRED, RELEASED: locks that the thread holds besides this one */
    uint32_t weight; /* ACQUIRED: so many it stands for (sampled locks; 0: it was left out, and
                        is told because others waited for the lock since then); else 1 */
    bool tried;      /* ACQUIRED: by a try, which would not have waited */
    bool again;      /* RELEASED, ACQUIRED: the mutex of a condition wait, by the wait */
    bool is_open;    /* GAVE_UP, ENDED: not before the trace did */
    bool unseen;     /* GAVE_UP: how it ended is not known; else it came back in vain */
    bool at_end;     /* RELEASED: the thread ended with it */
    /* Who ended the wait, and when and where: the last one that released the lock, signalled,
     * posted, arrived last, ended; after it began. SYNC_EVENT_NOBODY: not known. */
    uint32_t by;
    uint64_t by_tick, by_site;
    uint64_t asked; /* RECEIVED, of what was asked for: when by had read what this thread wrote to
                       it; 0: not known */
    uint64_t round; /* barriers: WAITS, LEFT: 0, 1, … at that barrier */
};

/* Since `since`, without what the recording took of it. */
static inline uint64_t sync_event__ticks(const struct sync_event *event)
{
    uint64_t ticks = event->tick - event->since;
    return ticks > event->paused ? ticks - event->paused : 0;
}

/* A lock, condition variable, semaphore, barrier or futex. */
struct sync_object {
    uint32_t process;     /* serial */
    enum class_kind kind; /* LOCK, CONDITION, SEMAPHORE, BARRIER, FUTEX */
    uint32_t lock;        /* LOCK: HEURT_LOCK_MUTEX, _WRITE (a reader-writer lock) or _SPIN */
    uint64_t address;
    uint64_t mutex;            /* CONDITION: address of the one it was last waited with */
    uint64_t initialised_site; /* return address of the last pthread_mutex_init and the like; 0: not
                                  seen */
    uint32_t initialised_by;   /* thread; SYNC_EVENT_NOBODY */
    uint64_t initial;          /* then: parties of a barrier, value of a semaphore; else 0 */
};

/* A lock that a thread has. */
struct held_lock {
    uint32_t object, how;
    uint32_t depth;       /* how often, of a recursive one */
    uint64_t since, site; /* of its acquisition */
    uint64_t paused;      /* ticks that the recording had used the thread until then */
};

/* Who has a lock, and where it got it. */
struct lock_holder {
    uint32_t thread;
    uint64_t site;
};

/* What of a trace is walked over. */
struct sync_scope {
    const bool *left_out; /* by thread: has nothing that others could wait for; NULL: none */
    bool no_locks;        /* only waits for locks: who has one is not asked for */
    bool messages;
    bool details;
};

struct sync_events;

struct sync_events *sync_events__start(const struct trace *trace); /* sync_events__free it */
struct sync_events *sync_events__start_for(const struct trace *trace,
                                           const struct sync_scope *scope);
bool sync_events__next(struct sync_events *walk, struct sync_event *sync_event);
void sync_events__free(struct sync_events *walk); /* NULL is allowed */

/* Objects are numbered 0, 1, 2 … as they are first met. Valid until the next synchronisation event.
 */
const struct sync_object *sync_events__object(const struct sync_events *walk, uint32_t object);
uint32_t sync_events__objects(const struct sync_events *walk);
/* As an event of the process (serial) names it; SYNC_EVENT_NO_OBJECT: not met. Not for locks. */
uint32_t sync_events__find(const struct sync_events *walk, uint32_t process, enum class_kind kind,
                           uint64_t address);

/* The locks that the thread has now (struct held_lock, in the order in which it got them): after
 * ACQUIRED with that lock, after RELEASED without it. */
const struct vec *sync_events__held(const struct sync_events *walk, uint32_t thread);

/* Adds who has the lock now (struct lock_holder): its owner, else each reader, and who ended with
 * it. Takes as long as there are threads where it has no owner. */
void sync_events__holders(const struct sync_events *walk, uint32_t object, struct vec *holders);

/* Ticks of the wait that the thread is in, in which the recording used it. */
uint64_t sync_events__paused(const struct sync_events *walk, uint32_t thread);

#endif
