/* internal.h: what the parts of the analysis of blame share. For blame*.c only.
 *
 *     blame.c        synchronisation events, what they make threads do, and the waits that are
 * blamed blame_lock.c   what holders of locks did; what threads do blame_sync.c   barriers and
 * signals
 *
 * Time goes on only: whatever is brought forward to a tick was at an earlier one. */
#ifndef HEURT_ANALYSIS_CAUSE_INTERNAL_H
#define HEURT_ANALYSIS_CAUSE_INTERNAL_H

#include "analysis/cause/blame.h"
#include "analysis/sync/idle_waits.h"
#include "analysis/sync/sync_events.h"

#define NOBODY SYNC_EVENT_NOBODY
#define WATCHED 4

/* Ticks by what was done in them. */
struct activity {
    uint64_t ticks[COMPONENTS];
    uint64_t changes; /* of a thread: how often it began to do something else */
};

/* A thread and what it had done when somebody began to wait. */
struct watched {
    uint32_t thread;
    struct activity before;
};

/* One thread in the walk. */
struct blame_thread {
    uint32_t serial; /* of the process */
    /* What it did until a tick. */
    struct activity did;
    uint64_t did_until;
    enum component doing;
    enum component in;  /* the wait or call that it is in; COMPONENT_RUNNING: none */
    enum component off; /* while it is off the CPU; COMPONENT_RUNNING: it is not */
    bool asked;         /* it is being found out what it did */
    bool ended;
    /* The wait that it is in: */
    struct class_entry *entry; /* NULL: of no class that is blamed */
    uint32_t lock;             /* object */
    struct activity lock_did;  /* what the lock's holders had done when doing was last looked at */
    struct vec before;         /* struct activity: of the lock's holder_sites when the wait began */
    struct watched watched[WATCHED];
    uint32_t watched_count;
};

struct contention_site {
    uint64_t site;
    uint32_t thread; /* NOBODY: several */
    struct activity doing;
};

struct holder {
    struct lock_holder is;
    struct activity before; /* what it had done at contention.tick */
};

/* What is kept of a lock while threads wait for it. */
struct contention {
    uint64_t waiters;
    uint64_t tick;       /* up to which it is brought forward */
    struct activity all; /* what the holders did; what is missing: there was none */
    struct vec sites;    /* struct contention_site, since there are waiters */
    struct vec holders;  /* struct holder */
};

struct arrival {
    uint32_t thread;
    uint64_t tick, site;
    struct activity did;
};

/* A condition, semaphore or futex, or a barrier. */
struct blamed_object {
    uint32_t recent[WATCHED]; /* who signalled lately, the last first */
    uint32_t recent_count;
    /* A barrier's round: */
    uint64_t round;
    struct vec arrivals; /* struct arrival */
    struct vec parties;  /* struct watched: of the last round, at the first arrival of this one */
};

struct blame_walk {
    struct class_table *table;
    const struct thread_result *results;
    struct blame_thread *threads; /* by trace__threads */
    size_t thread_count;
    struct sync_events *sync_events;
    uint64_t last_wait;        /* tick */
    size_t waiting;            /* threads that are in a wait that may be blamed on somebody */
    struct vec contentions;    /* struct contention *, by object; NULL: nobody ever waited */
    struct vec blamed_objects; /* struct blamed_object *, likewise; NULL: not met */
    struct idle_waits idle;
};

/* ---- blame.c --------------------------------------------------------------------------------- */

struct blocker {
    uint32_t process; /* serial */
    uint32_t thread;  /* NOBODY: several */
    bool apart;       /* each thread is blamed apart */
    uint64_t site;
};

/* Blames it for a wait of the class; doing adds up to the time. */
void entry__blame(struct class_entry *entry, const struct blocker *blocker,
                  const struct activity *doing);

/* Takes from *left at most what is wanted. */
static inline uint64_t take_ticks(uint64_t *left, uint64_t wanted)
{
    uint64_t taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

/* ---- blame_lock.c ---------------------------------------------------------------------------- */

/* What the thread did until tick. */
const struct activity *thread__did(struct blame_walk *walk, struct blame_thread *thread,
                                   uint64_t tick);
/* What it is in, or its being off the CPU, may have changed at the tick. */
void thread__does_else(struct blame_walk *walk, struct blame_thread *thread, uint64_t tick);

void lock__acquired(struct blame_walk *walk, const struct sync_event *event);
void lock__released(struct blame_walk *walk, const struct sync_event *event);
/* Releases may be among what was lost. */
void locks__forget(struct blame_walk *walk, const struct sync_event *event);
void lock__wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                       const struct sync_event *event);
/* Blames the holders for the wait until the tick. */
void lock__blame(struct blame_walk *walk, struct blame_thread *thread,
                 const struct sync_event *event, uint64_t tick);
void lock__wait_ends(struct blame_walk *walk, struct blame_thread *thread, uint64_t tick);
void contentions__free(struct blame_walk *walk);

/* ---- blame_sync.c ---------------------------------------------------------------------------- */

void barrier__wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                          const struct sync_event *event);
void barrier__wait_ends(struct blame_walk *walk, const struct sync_event *event);
void signal__given(struct blame_walk *walk, const struct sync_event *event);
void signal__wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                         const struct sync_event *event);
/* It ended by a signal. */
void signal__blame(struct blame_walk *walk, struct blame_thread *thread,
                   const struct sync_event *event);
void blamed_objects__free(struct blame_walk *walk);

#endif
