/* outliers.h: points of interest: what took longer than its like.
 *
 *     enters and leaves ──► pieces: the time between two of them, on one thread, each within the
 *                           innermost occurrence that is open
 *     pieces of one kind (same place, same place before, same place behind) ──► their spread
 *     occurrences of one shape ──► the spread of their durations
 *
 * A piece that stands out of its kind (spread.h) is a point; what encloses it is not, for what the
 * piece lost is taken off there. An occurrence that still stands out, though no piece of it does,
 * is a point too: of many iterations more than usual, say. So a point is the innermost that
 * explains what was lost. Pieces of which fewer than SPREAD_MIN are known have no like, and are
 * points when they take long. docs/structure.md has the rule and what it assumes.
 *
 * Two walks over the trace; memory bounded by shapes, kinds of pieces, open spans, and by the limit
 * on points. */
#ifndef HEURT_ANALYSIS_OUTLIERS_OUTLIERS_H
#define HEURT_ANALYSIS_OUTLIERS_OUTLIERS_H

#include "analysis/analysis.h"
#include "analysis/callsite/definition.h"
#include "analysis/events/event_filter.h"
#include "base/error.h"
#include "format/reader.h"

#define STAND_OUT_FLOOR_NS 5000      /* less is never lost by a point */
#define STAND_OUT_RARE_NS 50000      /* less of what has no like is no point */
#define STAND_OUT_LIMIT 10000        /* points; those that lost least are left out */
#define STAND_OUT_THREAD UINT32_MAX  /* in place of a place: the thread outside of all */
#define STAND_OUT_NOTHING UINT32_MAX /* before the first, behind the last occurrence in another */

enum point_reason {
    POINT_LONG,  /* a piece beyond those of its kind */
    POINT_RARE,  /* a piece that has no like */
    POINT_WHOLE, /* an occurrence beyond those of its shape, no piece of which is */
};

/* Places are indices into stand_out.places, or as said above. */
struct point {
    enum point_reason reason;
    uint32_t thread;           /* index into trace__threads */
    uint32_t path;             /* index into stand_out.paths: the occurrence that it is in, or is */
    uint32_t previous, next;   /* LONG, RARE: the occurrences before and behind the piece */
    uint64_t start_ns, end_ns; /* since the run's start; end − start is more than took where the
                                  recording was in between */
    uint64_t took_ns;
    uint64_t usual_ns;                 /* the median of its peers; UINT64_MAX: it has none */
    uint64_t lost_ns;                  /* took − usual */
    uint64_t component_ns[COMPONENTS]; /* of took */
};

/* An occurrence in others. */
struct point_path {
    uint32_t outer; /* index into stand_out.paths; that of the thread (index 0) is its own */
    uint32_t place;
};

struct stand_out {
    struct vec points; /* struct point: those with like by what they lost, then RARE */
    struct vec paths;  /* struct point_path; an outer one before those in it */
    struct vec places; /* struct class_definition, by place (as in structure.h) */
    struct vec *kept;  /* by thread: struct kept_range: the points, and enters and leaves around
                          them; balanced */
    uint64_t left_out; /* points above the limit */
    uint64_t events, kept_events;
};

/* pattern: only points of the threads with that number, or a name that matches the glob; NULL: of
 * all. limit: of points, at least 1. */
struct stand_out_options {
    const char *pattern;
    size_t limit;
};

/* With struct stand_out_options; NULL: of all threads, STAND_OUT_LIMIT of them. Two walks. -ENOTSUP
 * and a sentence: of an aggregated run. -ENOENT and a sentence: there are no such threads. free:
 * stand_out__free. */
extern const struct analysis outliers_analysis;
void stand_out__free(struct stand_out *found); /* NULL is allowed */

#endif
