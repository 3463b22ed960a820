/* internal.h: what the parts of the analysis of blame share. For blame*.c only.
 *
 *     blame.c          the threads' events by time, and the waits they are in
 *     blame_lock.c     who holds what; what threads do
 *     blame_meeting.c  barriers and signals
 *     turns.c          which waits are for work
 *
 * Time goes on only: whatever is brought forward to a tick was at an earlier one. */
#ifndef HEURT_ANALYSIS_CAUSE_INTERNAL_H
#define HEURT_ANALYSIS_CAUSE_INTERNAL_H

#include "analysis/cause/blame.h"
#include "analysis/sync/idle_waits.h"
#include "analysis/sync/sync_merge.h"

#define NOBODY UINT32_MAX
#define WAITS_AT_MOST 4 /* of handlers that interrupted each other */
#define WATCHED 4

/* Ticks by what was done in them. */
struct doing {
    uint64_t ticks[COMPONENTS];
    uint64_t changes; /* of a thread: how often it began to do something else */
};

struct open_wait {
    uint32_t id;
    enum component component;
    uint64_t site, object, mutex; /* payload of its enter event */
};

/* A thread and what it had done when somebody began to wait. */
struct watched {
    uint32_t thread;
    struct doing before;
};

/* One thread in the walk. */
struct blame_thread {
    struct step_thread steps; /* first. Its tick: of its next step */
    uint32_t index;
    uint32_t serial; /* of the process */
    uint32_t drawn;  /* how many the next SEMAPHORE_ACQUIRED stands for; 0: one */
    uint64_t paused; /* until now, by the recording */
    /* What it did until a tick. */
    struct doing did;
    uint64_t did_until;
    enum component doing;
    enum component off; /* while it is off the CPU; COMPONENT_RUNNING: it is not */
    bool off_is_known;  /* off says more than the wait that it is in */
    bool asked;         /* it is being found out what it did */
    bool ended;
    /* Waits that are open. All but the outermost are a signal handler's. */
    struct open_wait waits[WAITS_AT_MOST];
    uint32_t depth;
    /* The outermost one: */
    struct class_entry *entry; /* NULL: of no class that is blamed */
    uint64_t began, paused_before;
    uint64_t place;        /* of the lock or meeting */
    uint64_t number;       /* of the barrier's round, or of signals until then */
    struct doing lock_did; /* what the lock's holders had done when doing was last looked at */
    struct vec before;     /* struct doing: of the lock's holder_sites when the wait began */
    struct watched watched[WATCHED];
    uint32_t watched_count;
};

struct lock_holder {
    uint32_t thread; /* index */
    uint32_t depth;  /* of a recursive lock */
    uint64_t site;
};

struct holder_site {
    uint64_t site;
    uint32_t thread; /* NOBODY: several */
    struct doing doing;
};

/* What is kept of a lock while threads wait for it. */
struct contention {
    uint64_t waiters;
    uint64_t tick;     /* up to which it is brought forward */
    struct doing all;  /* what the holders did; what is missing: there was none */
    struct vec sites;  /* struct holder_site, since there are waiters */
    struct vec before; /* struct doing, by lock_state.holders: what they had done at tick */
};

struct lock_state {
    uint32_t process; /* serial */
    uint64_t address;
    struct vec holders;            /* struct lock_holder */
    struct contention *contention; /* NULL: nobody ever waited */
};

/* Where locks were found lately, so that most need no map. Direct-mapped. */
struct recent_lock {
    uint64_t process_and_1, address;
    uint64_t place; /* in locks */
};

struct arrival {
    uint32_t thread;
    uint64_t tick, site;
    struct doing did;
};

/* A condition, semaphore or futex, or a barrier. */
struct meeting {
    struct turnstile turnstile; /* process and kind of it; waits */
    uint64_t object;
    /* Signals: how many until now, and the last one. */
    uint64_t signals, site;
    uint32_t signaller;
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
    struct steps steps;
    uint8_t wanted[STEPS_IDS]; /* by id: see wanted_words */
    uint64_t last_wait;        /* tick at which the last one begins that is blamed on anybody */
    size_t waiting;            /* threads that are in such a one */
    struct map lock_places;    /* process and address -> place in locks */
    struct vec locks;          /* struct lock_state */
    struct recent_lock *recent;
    struct map meeting_places; /* process, kind and address -> place in meetings */
    struct vec meetings;       /* struct meeting */
};

/* ---- blame.c --------------------------------------------------------------------------------- */

/* Of the outermost wait, until the thread's tick. */
uint64_t wait__ticks(const struct blame_thread *thread);

struct blocker {
    uint32_t process; /* serial */
    uint32_t thread;  /* NOBODY: several */
    bool apart;       /* each thread is blamed apart */
    uint64_t site;
};

/* Blames it for a wait of the class; doing adds up to the time. */
void entry__blame(struct class_entry *entry, const struct blocker *blocker,
                  const struct doing *doing);

/* Takes from *left at most what is wanted. */
static inline uint64_t take_ticks(uint64_t *left, uint64_t wanted)
{
    uint64_t taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

/* ---- blame_lock.c ---------------------------------------------------------------------------- */

/* What the thread did until tick. */
const struct doing *thread__did(struct blame_walk *walk, struct blame_thread *thread,
                                uint64_t tick);
/* Its waits, or its being off the CPU, have changed at its tick. */
void thread__does_else(struct blame_walk *walk, struct blame_thread *thread);

void lock__acquired(struct blame_walk *walk, struct blame_thread *thread, uint64_t site_word,
                    uint64_t address);
void lock__released(struct blame_walk *walk, struct blame_thread *thread, uint64_t address);
/* Releases may be among what was lost. */
void locks__forget(struct blame_walk *walk, struct blame_thread *thread);
void lock__wait_begins(struct blame_walk *walk, struct blame_thread *thread);
/* Blames the holders for the wait until the thread's tick. */
void lock__blame(struct blame_walk *walk, struct blame_thread *thread);
void lock__wait_ends(struct blame_walk *walk, struct blame_thread *thread);
void held_locks__free(struct blame_walk *walk);

/* ---- blame_meeting.c ------------------------------------------------------------------------- */

void barrier__wait_begins(struct blame_walk *walk, struct blame_thread *thread);
/* round: all of it have arrived; else the thread alone goes away. */
void barrier__wait_ends(struct blame_walk *walk, struct blame_thread *thread, bool round);
void signal__given(struct blame_walk *walk, struct blame_thread *thread, enum class_kind kind,
                   uint64_t site, uint64_t object);
void signal__wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                         enum class_kind kind);
/* blame: it ended by a signal, not by time. */
void signal__wait_ends(struct blame_walk *walk, struct blame_thread *thread, bool blame);
void semaphore__taken(struct blame_walk *walk, const struct blame_thread *thread, uint64_t object,
                      uint64_t times);
void meetings__free(struct blame_walk *walk);

/* Says of the table's classes which are idle. */
void meetings__find_idle(struct blame_walk *walk);

#endif
