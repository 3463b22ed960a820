/* span_walk.h: what threads did, as spans and what belongs to them, in the order of time.
 *
 * In goes a trace, out comes, by calls of a taker: functions and known calls as they begin and end,
 * nested on each thread; who ended a wait, and at which moment of its own; which lock a thread has
 * from when to when; when it was off the CPU, and why.
 *
 *     thread 1   |--- work ------------------|          entered, left
 *                      |--- lock wait ---|              left: by thread 2
 *                                        |-- lock --|   held, released
 *     thread 2   |-- lock ---------------|              held, released
 *                     | wanted a CPU |                  state
 *
 * Two walks side by side: all events merged by time, and what threads do to each other
 * (sync_events.h), which is told first where both are at the same tick. Each enter that is told has
 * its leave, in the right order, however the trace has them: what is left without a mark of its own
 * is left with what is around it, what is open at the end is left then. Ticks that are told never
 * step back; those of a thread's own calls are as it wrote them, and times off the CPU, which the
 * kernel's clock tells, may end a microsecond behind the call that they were in. A lock that is had
 * exclusively is told of one thread at a time; of several readers the first one and the last one.
 *
 * By time, or a thread at a time; then nobody knows who ended whose wait. Memory is bounded by
 * threads, open spans and objects. For cmd/ and analysis/. */
#ifndef HEURT_ANALYSIS_EVENTS_SPAN_WALK_H
#define HEURT_ANALYSIS_EVENTS_SPAN_WALK_H

#include "analysis/sync/sync_events.h"

struct walked_span {
    uint64_t tick;      /* at which it began, */
    uint32_t id;        /* by this event */
    uint32_t weight;    /* occurrences that it stands for */
    const void *own[2]; /* the taker's: what it has put there as the span was entered */
    uint64_t result;    /* of the call, as it is left */
    bool has_result;
};

enum span_ending {
    SPAN_LEFT,
    SPAN_CUT,        /* its own end is not in the trace */
    SPAN_UNFINISHED, /* the thread was in it when it, or the trace, ended */
};

/* Who ended a wait: SYNC_EVENT_NOBODY: not known. */
struct span_cause {
    uint64_t since; /* when the wait began */
    uint32_t by;
    uint64_t by_tick, by_site; /* when, and where it was then; site 0: not known */
};

/* Each may be NULL: nobody wants that. */
struct span_taker {
    /* event and object live during the call; object: NULL: none, or not known. span: of which own
     * may be set. */
    void (*entered)(struct span_taker *taker, uint32_t thread, uint64_t tick,
                    const struct event *event, const struct sync_object *object,
                    struct walked_span *span);
    /* cause: NULL: no wait for others, or not known. */
    void (*left)(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct walked_span *span, const struct span_cause *cause,
                 enum span_ending ending);
    /* What has no length: a signal, a failed try, a thread that is created. */
    void (*point)(struct span_taker *taker, uint32_t thread, uint64_t tick,
                  const struct event *event, const struct sync_object *object);
    /* Likewise, for who wants the trace's own events: a lock is taken without waiting, released, or
     * initialised, the thread begins or ends. weight: it stands for so many. */
    void (*mark)(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct event *event, const struct sync_object *object, uint32_t weight);
    /* In what it is from now on; COMPONENT_RUNNING: on a CPU. */
    void (*state)(struct span_taker *taker, uint32_t thread, uint64_t tick, enum component state);
    /* The first event of a thread, and that it has ended. */
    void (*began)(struct span_taker *taker, uint32_t thread, uint64_t tick);
    void (*ended)(struct span_taker *taker, uint32_t thread, uint64_t tick);
    void (*held)(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct sync_object *object, uint64_t site, bool is_shared);
    void (*released)(struct span_taker *taker, uint32_t thread, uint64_t tick,
                     const struct sync_object *object, uint64_t since);
    bool is_full; /* the walk ends as soon as it can */
};

enum span_order { SPANS_BY_TIME, SPANS_BY_THREAD };

/* chosen: by thread, those that are told of; NULL: all. */
void span_walk__tell(const struct trace *trace, enum span_order order, const bool *chosen,
                     struct span_taker *taker);

#endif
