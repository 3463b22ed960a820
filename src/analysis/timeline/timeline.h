/* timeline.h: what each thread did when, in several levels of detail, and which waits were long.
 *
 *     a thread's states, one after another (thread_times.h) ──► level 0, as they were
 *         └─► pieces of at least so many ns ──► level 1 ──► level 2 …
 *     synchronisation events ──► the longest waits
 *
 * A piece is a stretch of a thread's life: of one state, or of several when each of them is shorter
 * than the level's pieces; then it has the time of each.  The pieces of every level add up to the
 * life, and the times of a state are the same on all levels.  A level of more than
 * TIMELINE_BYTES_MOST is not kept (the last one always is), so that memory is bounded by threads,
 * whatever the number of events.  Waits are the longest ones of those that are not idle.
 *
 * States are those of thread_states.h.  Times are in ns since the run's start.  One walk by
 * time; NULL of aggregated runs, which keep no order of events. */
#ifndef HEURT_ANALYSIS_TIMELINE_TIMELINE_H
#define HEURT_ANALYSIS_TIMELINE_TIMELINE_H

#include "analysis/sync/sync_events.h"
#include "analysis/timeline/thread_times.h"

#define TIMELINE_STATES (2 * THREAD_STATES)
#define TIMELINE_LEVELS 8u
#define TIMELINE_BYTES_MOST 800000u
#define TIMELINE_WAITS_MOST 3000u

struct timeline_piece {
    uint64_t ns;                        /* all of it */
    uint64_t state_ns[TIMELINE_STATES]; /* adds up to it */
};

/* A thread. */
struct timeline_lane {
    uint32_t thread; /* index into trace__threads */
    uint64_t from_ns, to_ns;
    uint64_t state_ns[TIMELINE_STATES];          /* adds up to that */
    struct vec levels[TIMELINE_LEVELS];          /* uint8_t: its pieces, see below */
    struct timeline_piece open[TIMELINE_LEVELS]; /* private: the last one, which may go on */
};

struct timeline_wait {
    uint32_t thread, by; /* index into trace__threads; by: SYNC_EVENT_NOBODY: not known */
    uint32_t object;     /* place in objects; SYNC_EVENT_NO_OBJECT: none */
    uint64_t from_ns, ns;
    uint64_t by_ns;   /* when it was ended by that one */
    uint64_t site;    /* 0: not known, as below */
    uint64_t by_site; /* where it was then; of a lock, where it had taken it */
};

struct timeline {
    uint64_t from_ns, to_ns;
    struct vec lanes;                   /* struct timeline_lane, as trace__threads */
    uint64_t least_ns[TIMELINE_LEVELS]; /* of a piece of several states, but the last before a long
                                           one; level 0: there are none */
    bool is_kept[TIMELINE_LEVELS];
    size_t bytes[TIMELINE_LEVELS]; /* of all lanes */
    struct vec waits;              /* struct timeline_wait, by from_ns */
    uint64_t all_waits;            /* that ended, and were not idle */
    uint64_t all_waits_ns;
    struct vec objects; /* struct sync_object */
};

extern const struct analysis timeline_analysis;
void timeline__free(struct timeline *timeline); /* NULL is allowed */

/* ---- pieces in bytes ------------------------------------------------------------------------- */

/* Of one state: the state and its ns; of several: PIECE_MIXED + their number, then these pairs. A
 * number is in bytes of seven bits, the lowest first, of which all but the last have bit 7 set. */
#define PIECE_MIXED 0x80u
void timeline_piece__put(const struct timeline_piece *piece, struct vec *bytes);
/* False: there is none any more. at: 0 at first; where it is found. */
bool timeline_piece__next(const struct vec *bytes, size_t *at, struct timeline_piece *piece);

/* ---- levels ---------------------------------------------------------------------------------- */

/* A timeline of so many threads that takes wall_ns, with nothing in it. timeline__free it. */
struct timeline *timeline__new(size_t threads, uint64_t wall_ns);
/* The thread was in that state for so long, behind what it was in before. */
void timeline__add(struct timeline *timeline, struct timeline_lane *lane, unsigned state,
                   uint64_t ns);
/* Of all lanes, when nothing is added any more. */
void timeline__close_lanes(struct timeline *timeline);

#endif
