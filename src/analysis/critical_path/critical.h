/* critical.h: the critical path of a run with all of its pieces (path.h), for who shows it. Times
 * are in ns since the run's start, durations in ns. */
#ifndef HEURT_ANALYSIS_CRITICAL_PATH_CRITICAL_H
#define HEURT_ANALYSIS_CRITICAL_PATH_CRITICAL_H

#include "analysis/analysis.h"
#include "analysis/critical_path/path.h"

/* A stretch of the path on one thread; struct path_piece. */
struct critical_piece {
    uint32_t thread; /* index into trace__threads */
    uint32_t object; /* place in objects; SYNC_EVENT_NO_OBJECT: none */
    enum sync_event_type how;
    uint64_t from_ns, to_ns, length_ns;
};

/* What of a lock is on the path; struct path_lock. */
struct critical_lock {
    uint32_t object; /* place in objects */
    uint64_t acquisitions, contended;
    uint64_t wait_ns, hold_ns;
    uint64_t hand_overs; /* pieces at which the path came to a thread by it */
};

/* struct path_result */
struct critical_path {
    uint64_t from_ns, to_ns, length_ns;
    uint64_t hand_over_ns, hand_overs;
    uint64_t in_sections_ns, blocked_ns;
    struct vec locks;      /* struct critical_lock */
    struct vec threads_ns; /* uint64_t: of the path on each thread, as trace__threads */
    struct vec pieces;     /* struct critical_piece, in the order of time */
    struct vec objects;    /* struct sync_object */
};

extern const struct analysis path_analysis; /* struct critical_path; memory grows with hand-overs */

#endif
