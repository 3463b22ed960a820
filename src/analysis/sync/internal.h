/* internal.h: what the parts of the walk over synchronisation events share. For sync_*.c only.
 *
 *     sync_events.c   threads' steps by time, and what they tell
 *     sync_held.c     objects; who has which lock
 *     sync_wait.c     waits and calls, and who ended them
 *     sync_channel.c  what is written to pipes, sockets and eventfds, and who reads it */
#ifndef HEURT_ANALYSIS_SYNC_INTERNAL_H
#define HEURT_ANALYSIS_SYNC_INTERNAL_H

#include "analysis/sync/open_waits.h"
#include "analysis/sync/sync_events.h"
#include "analysis/sync/sync_merge.h"
#include "base/map.h"

#define PENDING_AT_MOST 8
#define RECENT_OBJECTS 4096u /* a power of two */
#define NOBODY SYNC_EVENT_NOBODY

/* Who did something to an object last. */
struct act {
    uint32_t thread; /* NOBODY: nobody yet */
    uint64_t tick, site;
};

struct object_state {
    struct sync_object what;
    uint32_t owner;               /* of a lock, exclusively; NOBODY: not known */
    struct lock_holder abandoned; /* who ended with it last, since nobody got it; NOBODY */
    struct act last;              /* released, signalled, posted, woken */
    uint64_t round;               /* of a barrier */
    struct vec arrivals;          /* uint32_t: threads of that round */
};

/* What a call does with a channel. */
enum transfer {
    TRANSFER_NONE,
    TRANSFER_IN,
    TRANSFER_OUT,
    TRANSFER_READY, /* waits until something could be transferred */
};

struct channels {
    struct vec all;           /* struct channel */
    struct map by_number;     /* as CHANNEL events have it -> place in all */
    struct vec ends;          /* uint32_t: place in all, of what is read there */
    struct map by_descriptor; /* process, descriptor -> place in ends */
    struct vec waiting;       /* struct vec of uint32_t: ends whose other one did not yet come */
    struct map meetings;      /* of which meeting -> place in waiting */
};

struct thread_state {
    struct step_thread steps; /* first. Its tick: of its next step */
    uint32_t serial;          /* of the process */
    bool started, ended, end_is_open;
    struct vec held;                        /* struct held_lock */
    struct open_waits waits;                /* and, in detail, calls */
    struct sync_event wait;                 /* the outermost one's WAITS */
    uint32_t mutex;                         /* of the condition; SYNC_EVENT_NO_OBJECT: none */
    struct act ended_by;                    /* of a barrier: the last one of its round; of a join:
                                               who is joined */
    uint64_t joins;                         /* pthread_t, of a join */
    uint64_t paused, paused_before_wait;    /* ticks */
    uint32_t lock_weight, semaphore_weight; /* of the acquisition that comes; 0: one */
    uint64_t end;                           /* tick at which it ended */
    /* Of the call that it is in, the outermost: */
    enum transfer transfer;
    uint32_t channel;                 /* place in channels */
    uint64_t call_since, slept_since; /* ticks; slept_since: off the CPU last, 0: never */
    uint64_t bytes;                   /* asked for */
    struct act arrived;               /* READY: who wrote first to what it reads */
};

/* Where objects were found lately, so that most need no map. Direct-mapped. */
struct recent_object {
    uint64_t address;
    uint32_t process, kind, object_and_1;
};

/* Threads that had one pthread_t, one after the other. */
struct pthread_name {
    uint32_t thread;  /* the last one that began; NOBODY */
    int32_t to_begin; /* created and not yet begun; less than 0: the creation is told later */
    uint64_t created; /* tick of the last creation */
};

struct fork {
    uint32_t thread; /* NOBODY: none yet */
    uint64_t tick;
};

struct sync_events {
    const struct trace *trace;
    bool details, messages;
    struct channels channels;
    struct thread_state *threads; /* by trace__threads */
    size_t thread_count;
    struct steps steps;
    uint8_t wanted[STEPS_IDS]; /* by id: payload words that are needed, and 1 */
    struct vec objects;        /* struct object_state */
    struct map by_address;
    struct map by_pthread;       /* process and pthread_t -> place in pthreads */
    struct vec pthreads;         /* struct pthread_name */
    struct map forks_of_process; /* serial -> place in forks */
    struct vec forks;            /* struct fork: the last one of the process */
    struct recent_object *recent;
    struct sync_event pending[PENDING_AT_MOST];
    unsigned pending_first, pending_count;
    struct vec left; /* struct left_thread: whose end is not in the trace, by its end */
    size_t left_told;
    bool all_read;
    struct thread_state *ending; /* whose locks are released before its end is told; NULL: none */
};

struct left_thread {
    uint32_t thread;
    uint64_t tick;
};

static inline uint32_t index_of(const struct sync_events *walk, const struct thread_state *thread)
{
    return (uint32_t)(thread - walk->threads);
}

static inline struct object_state *object_at(const struct sync_events *walk, uint32_t object)
{
    return VEC_AT(&walk->objects, struct object_state, object);
}

/* sync_events.c: a synchronisation event of the thread at its tick, which the caller goes on to
 * fill. */
struct sync_event *sync_events__tell(struct sync_events *walk, const struct thread_state *thread,
                                     enum sync_event_type type, uint32_t object);

static inline void sync_event__set_by(struct sync_event *sync_event, const struct act *act)
{
    sync_event->by = act->thread;
    sync_event->by_tick = act->tick;
    sync_event->by_site = act->site;
}

/* Valid until the next call. */
struct pthread_name *pthread__of(struct sync_events *walk, const struct thread_state *thread,
                                 uint64_t pthread);

/* ---- sync_held.c ----------------------------------------------------------------------------- */

/* lock: of kind LOCK: the how of an event's site; else 0. */
uint32_t object__of(struct sync_events *walk, const struct thread_state *thread,
                    enum class_kind kind, uint32_t lock, uint64_t address);
/* NULL: it has it already. */
struct sync_event *lock__taken(struct sync_events *walk, struct thread_state *thread,
                               uint32_t object, uint32_t how, uint64_t site);
/* again: all of a recursive one, by a condition wait. */
void lock__given_up(struct sync_events *walk, struct thread_state *thread, uint32_t object,
                    uint64_t site, bool again);
/* One of the locks that a thread has at its end; false: there is none. */
bool lock__ends(struct sync_events *walk, struct thread_state *thread, uint64_t tick);
/* Releases may be among what was lost. */
void locks__lose(struct sync_events *walk, struct thread_state *thread);

static inline uint32_t how_of_lock(uint32_t lock)
{
    return lock == HEURT_LOCK_READ ? SYNC_EVENT_SHARED : SYNC_EVENT_EXCLUSIVE;
}

/* ---- sync_channel.c -------------------------------------------------------------------------- */

struct channels channels__start(void);
void channels__free(struct channels *channels);
/* A CHANNEL event. */
void channel__told(struct sync_events *walk, const struct thread_state *thread,
                   const struct step *step);
/* An outermost call. step of its end: NULL: it is not known. */
void transfer__begins(struct sync_events *walk, struct thread_state *thread,
                      const struct step *step);
void transfer__ends(struct sync_events *walk, struct thread_state *thread, const struct step *step);

/* ---- sync_wait.c ----------------------------------------------------------------------------- */

/* A wait, or a call. */
void wait__begins(struct sync_events *walk, struct thread_state *thread, const struct step *step);
void wait__ends(struct sync_events *walk, struct thread_state *thread, const struct step *step);
/* However the open waits ended, they did. is_open: the trace did before. */
void waits__forget(struct sync_events *walk, struct thread_state *thread, bool is_open);

#endif
