/* idle_waits.h: at which conditions and semaphores threads wait for work, and at which a turn is
 * passed on, by the rule in blame.h. A fold over synchronisation events. For analysis/ only. */
#ifndef HEURT_ANALYSIS_SYNC_IDLE_WAITS_H
#define HEURT_ANALYSIS_SYNC_IDLE_WAITS_H

#include "analysis/sync/parking.h"
#include "analysis/sync/sync_events.h"

/* Waits in a row for one object, of which none was ended by anybody: the time ran out. */
struct vain_wait {
    uint32_t object;
    uint64_t tick, ticks; /* when the last one ended, and how long all of them were; 0: none */
};

/* Waits of a thread for one object that nobody ended, since it last ended one of another thread. */
struct timed_out {
    uint32_t object;
    uint64_t since, ticks; /* when the first one began, and how long all of them were; 0: none */
};

struct idle_waits {
    struct vec turnstiles;  /* struct turnstile *, by object; NULL: nothing is known of it */
    struct parking parking; /* conditions of one thread each */
    struct vec creators;    /* uint32_t by thread: who created it; SYNC_EVENT_NOBODY: not known */
    struct vec vain;        /* struct vain_wait, by thread: the last one, if nobody ended it */
    struct vec timed_out;   /* struct timed_out, by thread */
};

struct idle_waits idle_waits__start(void);
void idle_waits__free(struct idle_waits *idle);

/* Of all events, each once, in their order. Of whom, where and when does not matter to it. */
void idle_waits__take(struct idle_waits *idle, const struct sync_events *walk,
                      const struct sync_event *event);

/* Once all are taken; threads: as many as the trace has. */
void idle_waits__find(struct idle_waits *idle, size_t threads);

/* Whether waits there are for work; once that was found. */
bool idle_waits__at(const struct idle_waits *idle, uint32_t object);
/* Whether waits there are mostly for the ends of threads that those who wait have created. */
bool idle_waits__join_at(const struct idle_waits *idle, uint32_t object);

#endif
