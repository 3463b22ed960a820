/* analysis.h: what an analysis is: a constant descriptor (profile_analysis, locks_analysis …),
 * which run.h runs over a trace, several of them in one walk.
 *
 *     start ──► thread ─ event, event, … ─ end ──► join     by threads: a part for each, in lanes
 *           └─► sync, sync, …                               or by time: what threads do to others
 *                                              └──► finish ──► the result, until free
 *
 * What a descriptor lacks is NULL. For analysis/ only, but for the descriptors' names. */
#ifndef HEURT_ANALYSIS_ANALYSIS_H
#define HEURT_ANALYSIS_ANALYSIS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct event_words;
struct run;
struct sync_event;
struct sync_scope;

/* Those of one kind that are ready at a time share one walk, and kinds come in this order: what
 * many may stand on is there before the walks by time, which are slower. */
enum walk {
    WALK_NONE,          /* it stands on others' results alone */
    WALK_THREADS,       /* each thread on its own, side by side on all CPUs */
    WALK_IN_ORDER,      /* likewise, one thread after the other */
    WALK_TIME,          /* what threads do to each other, by time: sync_events.h */
    WALK_TIME_DETAILS,  /* with what they do apart from others */
    WALK_TIME_MESSAGES, /* with messages */
    WALKS
};

struct analysis {
    const char *name;
    const struct analysis *const *after; /* whose results it reads; NULL-ended */
    enum walk walk;
    /* Only for who walks by time alone: what it needs not be told of. */
    void (*scope)(struct run *run, struct sync_scope *scope);
    /* What the others get as self. NULL: there is nothing to find out, and no result; or it failed:
     * with run->code, and a sentence in run->error. */
    void *(*start)(struct run *run);
    /* A part, for that thread; NULL: it wants none of its events. lane: 0 … run->lanes - 1: parts
     * of one lane follow one another, and may share what belongs to it. */
    void *(*thread)(void *self, unsigned lane, uint32_t thread);
    void (*event)(void *part, const struct event *event);
    /* Takes some of the words' first events, as few as it likes, which then are not told by event:
     * only where no other analysis shares the walk. */
    void (*events)(void *part, struct event_words *words);
    void (*end)(void *part); /* still in its lane */
    /* One part at a time, in the order of threads; frees it. */
    void (*join)(void *self, uint32_t thread, void *part);
    /* False: it wants no more of them. run->sync_events knows the objects. */
    bool (*sync)(void *self, const struct sync_event *event);
    /* The result, likewise; frees self. Without it, self is the result. */
    void *(*finish)(void *self);
    void (*free)(void *result);
};

#endif
