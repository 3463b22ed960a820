/* replay_state.h: what a replay under way consists of. For replay*.c only.
 *
 *   READY --- gets a CPU ---> RUNNING --- has to wait ---> WAITING --- is woken ---> AWAY
 *     ^ ^--- displaced ---------'  |                                                  |
 *     |                            `--- waits on its CPU ---> SPINNING (to RUNNING)   |
 *     `----------------------- the delay is over, no CPU is idle --------------------'
 *
 * A thread has an entry in `due` when it is RUNNING (its work is done, the operation comes) or AWAY
 * (it wants a CPU), an entry in `ready` when it is READY, and one in `on_cpu` when it is RUNNING or
 * SPINNING and there are fewer CPUs than threads. */
#ifndef HEURT_ANALYSIS_REPLAY_REPLAY_STATE_H
#define HEURT_ANALYSIS_REPLAY_REPLAY_STATE_H

#include "analysis/replay/replay.h"
#include "analysis/replay/replay_heap.h"
#include "base/vec.h"

#define REPLAY_NONE UINT32_MAX
#define REPLAY_NEVER UINT64_MAX

enum replay_state {
    THREAD_READY, /* wants a CPU */
    THREAD_RUNNING,
    THREAD_SPINNING, /* waits on its CPU */
    THREAD_WAITING,  /* until another thread ends it */
    THREAD_AWAY,     /* until a time that is known: a delay, a wake-up under way */
    THREAD_ENDED,
};

struct replay_thread {
    struct replay_op op;  /* what it does once its work is done; WORK: it goes on */
    uint64_t work;        /* READY, AWAY: ticks on a CPU until then */
    uint64_t since;       /* RUNNING, SPINNING: on its CPU; READY: without one */
    uint64_t virtual_run; /* what it has run, as the scheduler counts: up to `since` */
    uint64_t wait_began;
    uint64_t waits_since;    /* in the row that it is in */
    uint64_t charge;         /* work that it has besides, for what it just did */
    uint32_t waits_for;      /* object, or REPLAY_NONE; also while it is woken and tries again */
    uint32_t next, previous; /* in the row of those that wait for the same */
    enum replay_state state;
    bool has_begun;    /* it waits for no creator */
    struct vec shares; /* uint32_t: objects that it holds as a reader, once for each time */
};

/* Threads that wait, first come first. */
struct replay_row {
    uint32_t first, last;
};

struct replay_object_state {
    struct replay_row waiting, sharing; /* sharing: readers */
    uint64_t value;                     /* SEMAPHORE: free; BARRIER: have come */
    uint32_t owner, depth;              /* LOCK: who holds it exclusively, how often */
    uint32_t last;                      /* LOCK: who owned it last, or does */
    bool handed;                        /* LOCK: another one did before */
    uint32_t readers;
    bool contended; /* LOCK: its release has to wake */
};

struct replay {
    const struct replay_model *model;
    struct replay_source *source;
    struct replay_result *result;
    struct replay_thread *threads;
    struct replay_object_state *objects;
    uint64_t now;
    struct thread_heap due; /* by time */

    struct thread_heap on_cpu; /* by the end of the slice */
    struct thread_heap ready;  /* by virtual_run */
    uint32_t running;          /* CPUs that are taken */
    bool crowded;              /* fewer CPUs than threads */
    uint64_t run_sum; /* Σ virtual_run of READY, Σ virtual_run − since of those on a CPU */
    uint64_t average_run_max; /* see replay_cpus.c */
    uint64_t slice_ticks;  /* the model's; more, when there have been too many for what is done */
    uint64_t slices, done; /* that ended; operations of threads */

    uint64_t *posted;     /* a bit a token */
    uint32_t *token_rows; /* first thread that awaits a token of this hash; then `next` */
    unsigned token_shift; /* hash: the upper bits */
};

static inline uint64_t replay__plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* ---- replay_cpus.c: who has a CPU ------------------------------------------------------------ */

/* The thread wants a CPU. True: it has one from now on, and is RUNNING without an entry in due. */
bool replay_cpus__want(struct replay *replay, uint32_t thread);
/* The thread, on a CPU and not in due, gives it away and is in that state now. */
void replay_cpus__leave(struct replay *replay, uint32_t thread, enum replay_state state);
/* When the next slice ends that somebody waits for; REPLAY_NEVER: none. */
uint64_t replay_cpus__slice_end(const struct replay *replay);
void replay_cpus__end_slice(struct replay *replay); /* at this time */

/* ---- replay_waits.c: who waits for whom ------------------------------------------------------ */

/* The thread's operation, now. False: it waits, and is no longer RUNNING. */
bool replay_waits__act(struct replay *replay, uint32_t thread);
/* The thread, in no state yet, awaits the token of its operation: true when it has to. */
bool replay_waits__begins_later(struct replay *replay, uint32_t thread);
/* Nobody can go on: the token that has been awaited longest counts as posted. False: none is. */
bool replay_waits__post_unmet(struct replay *replay);
/* A spinning thread loses its CPU. */
void replay_waits__displaced(struct replay *replay, uint32_t thread);
/* Whether a thread that spun would go on if it had a CPU. */
bool replay_waits__may_go_on(const struct replay *replay, uint32_t thread);

#endif
