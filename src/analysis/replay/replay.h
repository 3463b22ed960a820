/* replay.h: a program's dependencies run again on a model of the machine.
 *
 * A discrete-event simulation. Each thread is a row of operations: so many ticks of work on a CPU,
 * then something that may have to wait for others. Who waits for whom comes out of the simulation,
 * not out of the trace: the first to come gets the lock, a lock that is free may be taken before a
 * woken waiter runs, threads without a CPU wait for one.  What the operations are, and how a change
 * alters them, the replay does not know (see replay_program.h).
 *
 * Tokens were posted in an order that locks and changes may make impossible: who awaits one holds
 * what its poster needs. When nobody can go on, the one that was awaited first counts as posted.
 *
 * One replay belongs to one thread; several may run at a time over the same operations.  Memory:
 * threads and objects (operations are the source's). */
#ifndef HEURT_ANALYSIS_REPLAY_REPLAY_H
#define HEURT_ANALYSIS_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum replay_kind {
    REPLAY_WORK,    /* nothing but the work before it */
    REPLAY_DELAY,   /* off the CPU for delay ticks, whatever others do: sleep, disk, network */
    REPLAY_ACQUIRE, /* object: a lock */
    REPLAY_SHARE,   /* the same, as a reader */
    REPLAY_RELEASE,
    REPLAY_TAKE,  /* object: a semaphore */
    REPLAY_GIVE,  /* likewise */
    REPLAY_MEET,  /* object: a barrier */
    REPLAY_POST,  /* token `object`: from now on nobody waits for it */
    REPLAY_AWAIT, /* token `object` */
};

/* 16 bytes. */
struct replay_op {
    uint64_t ticks;  /* on a CPU, before it; DELAY: the delay, there is no work before */
    uint32_t object; /* index into objects, or a token */
    uint32_t kind;   /* enum replay_kind */
};

enum replay_object_kind { REPLAY_LOCK, REPLAY_SEMAPHORE, REPLAY_BARRIER };

struct replay_object {
    enum replay_object_kind kind;
    bool spins;          /* who waits keeps its CPU */
    uint32_t parties;    /* BARRIER: so many meet */
    uint64_t initial;    /* SEMAPHORE */
    uint64_t wake_ticks; /* from the release until who waited for it runs, given a CPU */
    /* LOCK, by mutual exclusion: who waits is asleep after so long; it sees a release before that
     * at once, and nobody has to wake it. */
    uint64_t settle_ticks;
    uint64_t release_ticks; /* LOCK, likewise: on a CPU, to wake one who is asleep */
    /* LOCK: on a CPU, in a section before which another thread had the lock, and behind it: its
     * memory is in another cache. */
    uint64_t handed_ticks, behind_ticks;
};

/* Where operations come from. Threads that are created later begin with an AWAIT.  What is done to
 * an object or token that is not there, or of another kind, is work alone. */
struct replay_source {
    /* The thread's next one; false: its end. */
    bool (*next)(struct replay_source *source, uint32_t thread, struct replay_op *op);
};

struct replay_model {
    uint32_t cpus;
    uint64_t slice_ticks;  /* a thread that others wait for gives its CPU away after so long; 0:
                              only when it waits itself */
    uint64_t switch_ticks; /* cost of it, where a CPU goes from one thread to another */
    uint64_t token_ticks;  /* from a POST until who awaited it runs, given a CPU */
    uint32_t thread_count, object_count, token_count;
    const struct replay_object *objects;
};

/* What a replay came to. Ticks. Freed by replay_result__free. */
struct replay_object_result {
    uint64_t acquisitions, contended; /* once each, however often a woken thread tries again */
    uint64_t waited;                  /* Σ over threads, until they go on */
    uint64_t held; /* LOCK: Σ of the times it was held, by each holder; acquired again: once */
};

struct replay_result {
    uint64_t wall;     /* until the last thread has ended */
    uint64_t worked;   /* Σ over threads: on a CPU, with switches and what was spun */
    uint64_t runnable; /* Σ over threads: without one, ready */
    struct replay_object_result *objects; /* as the model's */
    uint32_t unfinished; /* threads that wait for ever: then wall is of the others */
};

void replay__run(const struct replay_model *model, struct replay_source *source,
                 struct replay_result *result);
void replay_result__free(struct replay_result *result);

#endif
