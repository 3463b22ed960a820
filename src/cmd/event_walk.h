/* event_walk.h: the events of a trace that a command is asked for, merged by time.
 *
 * In go a trace and a choice, out comes each chosen event, by a call. It costs one walk over all
 * events. It stands on present/export/events.h and analysis/events/event_filter.h. */
#ifndef HEURT_CMD_EVENT_WALK_H
#define HEURT_CMD_EVENT_WALK_H

#include "analysis/events/event_filter.h"
#include "present/export/events.h"

#include <stdbool.h>

/* Which events. */
struct event_filter {
    struct vec threads;      /* const char *: TID, NAME (a glob) or #SERIAL; empty: all */
    struct vec functions;    /* const char *: globs; empty: all */
    uint64_t from_ns, to_ns; /* since the start, both included */
    const struct vec *kept;  /* by thread: struct kept_range; NULL: all */
};

struct event_filter event_filter__all(void);
/* 0, or -ENOENT with a sentence where a thread that is chosen is none of the trace. */
int event_filter__check(const struct event_filter *selection, const struct trace *trace,
                        struct error *error);
void event_filter__free(struct event_filter *selection); /* not kept */

/* Who takes the events. */
struct event_taker {
    void (*event)(struct event_taker *taker, const struct shown_event *event);
    /* Of that thread; told before what comes behind it. NULL where choice->kept is. */
    void (*gap)(struct event_taker *taker, const struct shown_thread *thread,
                const struct kept_gap *gap);
    /* What somebody said (heurt ctl mark), among the events by time. NULL: that is left out. */
    void (*mark)(struct event_taker *taker, const struct trace_mark *mark);
    FILE *out; /* where it writes: the walk ends when that fails */
};

/* Tells every chosen event, and where choice->kept leaves some out, a gap. Returns 0, or the errno
 * of a write that failed. */
int event_walk__tell(struct shown_trace *shown, const struct event_filter *selection,
                     struct event_taker *taker);

/* The names of addresses, or NULL; what is wrong with them is said. */
struct symbols *symbols__load_any(const char *directory);

/* Says that the run kept no events, if it was aggregated. */
void say_if_aggregated(const struct trace *trace);
/* Says what was lost, or could not be understood; after a walk. */
void say_what_is_missing(const struct trace *trace);

#endif
