/* slow_spans.h: whether anything took longer than somebody has patience for, look by look while a
 * trace becomes longer.
 *
 *     look 1   |--------------|
 *     look 2                  |--------|
 *
 * Each look has the events of its own time alone, and knows from the one before which spans are
 * open.
 *
 * In go wishes, a name and a time each; out come the spans that were longer and ended in the time
 * of the look. One walk by threads. Memory: the spans that threads are in. */
#ifndef HEURT_ANALYSIS_EVENTS_SLOW_SPANS_H
#define HEURT_ANALYSIS_EVENTS_SLOW_SPANS_H

#include "analysis/analysis.h"

struct slow_wish {
    const char *name; /* of events ("lock wait"), or a glob of functions and regions */
    bool is_function;
    uint64_t least_ns; /* longer than that */
};

struct slow_wishes {
    const struct vec *wishes;        /* struct slow_wish, at most SLOW_WISHES */
    uint64_t after_tick, until_tick; /* only what happened behind the first, and not the second */
    struct vec *open; /* struct open_wish: open at after_tick; afterwards those at until_tick */
};

/* A span that is open. */
struct open_wish {
    uint32_t thread, id; /* the thread's serial; of the event */
    uint64_t tick;
};
#define SLOW_WISHES 64u

struct slow_span {
    size_t wish; /* index */
    uint64_t start_tick, end_tick;
    uint32_t thread; /* index into trace__threads */
};

/* Options: struct slow_wishes. Result: struct vec of struct slow_span, by the end; none: none was
 * too long. */
extern const struct analysis slow_spans_analysis;

/* Whether there are events of that name that last. */
bool slow_spans__has_event(const char *name);

#endif
