/* sync_merge.h: the events of threads by which they meet, merged by time. For analysis/ only.
 *
 * What the kernel tells is told late (layout.h): events that happened after the thread was back may
 * stand in front of it. A few events are looked at ahead, so that steps come in their own order.
 *
 * OFF_CPU and FAULT are three steps: off, only waiting for a CPU from here on, and back. LOCK_HELD
 * is a step when others began to wait for the lock. */
#ifndef HEURT_ANALYSIS_SYNC_SYNC_MERGE_H
#define HEURT_ANALYSIS_SYNC_SYNC_MERGE_H

#include "format/reader.h"

#define STEPS_IDS (HEURT_EVENT_LOCK_HELD + 2) /* events above are of functions */
#define STEP_WORDS 3
#define STEPS_AHEAD 4

/* An event of a thread, or a time of which an event told that ended it. */
struct step {
    uint64_t tick; /* of its beginning */
    uint64_t end;  /* of OFF_CPU and FAULT */
    uint64_t payload[STEP_WORDS];
    uint32_t id, words; /* of the event; no more than STEP_WORDS are in payload */
};

enum off_phase { OFF_BEGINS, OFF_RUNNABLE, OFF_ENDS };

/* One thread in the walk. */
struct step_thread {
    struct trace_cursor cursor;
    const uint8_t *wanted; /* [STEPS_IDS] payload words that are needed, and 1; 0: passed over */
    struct step ahead[STEPS_AHEAD]; /* a ring */
    uint32_t first, count;          /* of ahead */
    uint32_t index;                 /* into trace__threads */
    enum off_phase phase;           /* of its next step */
    uint64_t tick;                  /* of its next step, never stepping back */
};

/* wanted lives as long as the walk. False: it has no step. Stop it in any case. */
bool step_thread__start(struct step_thread *thread, const struct trace *trace, uint32_t index,
                        const uint8_t wanted[STEPS_IDS]);
void step_thread__stop(struct step_thread *thread);

/* Its next step. */
static inline const struct step *step_thread__step(const struct step_thread *thread)
{
    return &thread->ahead[thread->first];
}

static inline bool step__is_off(const struct step *step)
{
    return step->id == HEURT_EVENT_OFF_CPU || step->id == HEURT_EVENT_FAULT;
}

/* A heap: the thread with the earliest step first; at the same tick the one with the smaller index.
 */
struct steps {
    struct step_thread **threads;
    size_t count;
};

void steps__start(struct steps *steps, size_t threads); /* room for so many */
void steps__free(struct steps *steps);
/* Threads that have a step; in any order, before the first steps__go_on. */
void steps__add(struct steps *steps, struct step_thread *thread);
void steps__order(struct steps *steps); /* when all are there */

/* NULL: there are no more. */
static inline struct step_thread *steps__earliest(const struct steps *steps)
{
    return steps->count ? steps->threads[0] : NULL;
}

/* To the next step of the earliest thread. */
void steps__go_on(struct steps *steps);

#endif
