/* thread_acts.h: one thread's events as what it does: enters functions, takes locks, waits.
 *
 * Of waits that lie in one another only the outermost is told, of functions only those outside of
 * waits: what is in a wait is of handlers. How a wait ended is told, or that nobody knows.
 *
 *     for (thread_acts__put(&acts, event); thread_acts__next(&acts, &act);)
 *
 * It stands on sync/open_waits.h. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_THREAD_ACTS_H
#define HEURT_ANALYSIS_EVENTS_THREAD_ACTS_H

#include "analysis/sync/open_waits.h"
#include "format/reader.h"

enum thread_act_type {
    ACT_NOTHING, /* that matters to others or to its classes */
    ACT_STARTED, /* by: serial of its creator; routine */
    ACT_ENDED,
    ACT_ENTERED,  /* a function, region or loop: event */
    ACT_LEFT,     /* the innermost one of that id, and what is in it */
    ACT_UNWOUND,  /* the innermost one */
    ACT_ACQUIRED, /* a lock (object, shared), which it did not wait for */
    ACT_HELD,     /* what it releases next, which others have waited for so many ticks */
    ACT_RELEASED,
    ACT_TOOK, /* of a semaphore, likewise */
    ACT_GAVE,
    ACT_WAITS,       /* or begins a call: wait, object, mutex, shared */
    ACT_GOT,         /* what it waited for */
    ACT_CAME_BACK,   /* from a call, or in vain */
    ACT_WAIT_UNSEEN, /* it is in no wait any more; how it ended is not known */
    ACT_DRAWN,       /* the next occurrence stands for so many: weight */
    ACT_LOST,        /* what it did: which locks and functions it is in is not known any more */
};

enum wait_type {
    WAITS_FOR_LOCK,
    WAITS_FOR_CONDITION,
    WAITS_FOR_BARRIER,
    WAITS_FOR_SEMAPHORE,
    WAITS_FOR_OTHER, /* a futex, the end of a thread */
    WAITS_IN_CALL,
    WAITS_IN_SLEEP,
};

/* What recording its event cost, which comes behind it. */
enum act_cost { COST_NONE, COST_EVENT, COST_OFF_CPU, COST_FAULT };

struct thread_act {
    enum thread_act_type type;
    enum act_cost cost;
    bool passes_time;          /* the thread's time until tick was spent in no wait */
    uint64_t tick;             /* never stepping back */
    const struct event *event; /* of whose class it is; until the next act is asked for */
    uint32_t id;               /* LEFT: of the enter event */
    uint64_t object, mutex, ticks;
    uint64_t site; /* of a wait, or an object's: the call that it is in, and which kind it is */
    uint32_t how;
    bool shared; /* as a reader */
    enum wait_type wait;
    uint64_t by, routine;
    uint32_t weight;
};

#define ACTS_AHEAD 3

struct thread_acts {
    const struct event *event;
    struct open_waits waits;
    uint64_t tick;
    bool ended;
    struct thread_act ahead[ACTS_AHEAD];
    uint32_t first, count; /* of ahead */
};

void thread_acts__start(struct thread_acts *acts, const struct trace_thread *thread);
/* All acts of the event before were asked for. It lives until its acts were. */
void thread_acts__put(struct thread_acts *acts, const struct event *event);
/* False: the event makes none any more. */
bool thread_acts__next(struct thread_acts *acts, struct thread_act *act);

#endif
