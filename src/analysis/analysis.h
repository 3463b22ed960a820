/* analysis.h: what an analysis is: a constant descriptor (profile_analysis, locks_analysis …),
 * and how several of them are run over one trace, with as few walks as they can share (run.c).
 *
 *     start ──► thread ─ event, event, … ─ end ──► join     by threads: a part for each, in lanes
 *           └─► sync, sync, …                               or by time: what threads do to others
 *                                              └──► finish ──► the result, until free
 *
 * What a descriptor lacks is NULL. The descriptor's members are for analysis/ only.
 *
 *     struct run run = run__of(trace, symbols);
 *     run__ask(&run, &locks_analysis, &filter);
 *     run__ask(&run, &path_analysis, NULL);
 *     if (run__analyse(&run, &error) == 0)
 *         show(run__result(&run, &locks_analysis), …);
 *     run__free(&run);
 *
 * Whom an analysis stands on is run before it. Of those that can be run the ones with the same kind
 * of walk are run together, so that the trace is read once for all of them. The walk by threads has
 * the same result to the bit on any number of CPUs:
 *
 *     CPU 1   thread 0 ──► part ──────────► thread 2 ──► part
 *     CPU 2   thread 1 ──► part ► thread 3 …             │
 *             in the order of threads: join 0, join 1, join 2, …
 *
 * A part is made of nothing but the trace and what nobody changes during the walk. Memory: the
 * parts of threads that ended before an earlier one did. */
#ifndef HEURT_ANALYSIS_ANALYSIS_H
#define HEURT_ANALYSIS_ANALYSIS_H

#include "base/error.h"
#include "base/vec.h"
#include "format/reader.h"
#include "format/symbols.h"

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
    WALK_NONE,     /* it stands on others' results alone */
    WALK_THREADS,  /* each thread on its own, side by side on all CPUs */
    WALK_IN_ORDER, /* likewise, one thread after the other; those that stand on one result, too */
    WALK_TIME,     /* what threads do to each other, by time: sync_events.h */
    WALK_TIME_DETAILS,  /* with what they do apart from others */
    WALK_TIME_MESSAGES, /* with messages */
    WALKS
};

struct analysis {
    const char *name;
    const struct analysis *const *after; /* whose results it reads; NULL-ended */
    /* Whether a trace has anything to do for it, where another one that goes after it is asked for.
     * NULL: it does. */
    bool (*is_needed)(const struct trace *trace);
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

struct run {
    const struct trace *trace;
    const struct symbols *symbols;   /* NULL: none are known */
    struct sync_events *sync_events; /* in a walk by time */
    const void *options;             /* in start: those that the analysis was asked for with */
    unsigned lanes;                  /* in a walk by threads */
    int code;                        /* negative: the analysis that is asked has failed, */
    struct error error;              /* why */
    struct vec rows;                 /* private, as are these: */
    uint64_t done, now, all; /* (atomic) cost of walks: that are over, that is made, of all */
    uint64_t walked_before;  /* (atomic) chunks, when that began */
};

/* Both outlive it. run__free it. */
struct run run__of(const struct trace *trace, const struct symbols *symbols);
void run__free(struct run *run);
/* What it is to be run with, until run__analyse has returned. */
void run__ask(struct run *run, const struct analysis *analysis, const void *options);
/* Also when it is only stood on. */
bool run__is_asked(const struct run *run, const struct analysis *analysis);
/* Runs those that were asked for and whom they stand on, each once, whatever is asked for later.
 * When one fails, those that do not stand on it are run; the first sentence is kept. */
int run__analyse(struct run *run, struct error *error);
/* How much of what run__analyse has to do is done, about: 0 … 1. Any thread may ask meanwhile. */
double run__done(const struct run *run);
/* NULL: it was not run, failed, or found that there is nothing to be found. The run's, which a
 * later analysis may change. */
void *run__result(const struct run *run, const struct analysis *analysis);
const void *run__options(const struct run *run, const struct analysis *analysis);
/* The result, which is the caller's from now on. */
void *run__take(struct run *run, const struct analysis *analysis);

/* One analysis, with its result. */
int run__one(const struct trace *trace, const struct symbols *symbols,
             const struct analysis *analysis, const void *options, void **result,
             struct error *error);

#endif
