/* wall_ledger.h: what the time of a run went to: a ledger that adds up to the wall time, and one
 * that adds up to the lives of all threads, both to the ns.
 *
 *     thread 1   working f ───────┐ lock wait ──────┐ working f ──┐
 *     thread 2                    └ working g ──────┘ idle ───────┘
 *     wall       1 × working f    | ½ lock, ½ g     | 1 × working f
 *
 * An instant belongs to the threads that had something to do then, in equal parts: those of the
 * findings that had work, and were not idle; else others that were not; else those that waited for
 * work; where none lived, to nobody. So what one thread does alone counts in full, and what a
 * hundred do side by side no more than the time that passed.
 *
 * Waits have their class. Time on a CPU is divided among the functions, regions and loops that were
 * recorded, as their own times are on that thread; what is left is in code of which no call was
 * recorded. What samples tell that sharing of cache lines and memory of other NUMA nodes cost there
 * is told apart, as a part of the thread's time on a CPU. Time is cut into at most BUCKETS_MOST
 * pieces, within which a thread's share is that of its time in the piece. An aggregated run keeps
 * no order of events: it has no result.
 *
 * One walk, a thread after the other. Memory: a few entries a piece and thread, WALL_ENTRIES in
 * all, about. */
#ifndef HEURT_ANALYSIS_TIMELINE_WALL_LEDGER_H
#define HEURT_ANALYSIS_TIMELINE_WALL_LEDGER_H

#include "analysis/findings/findings.h"
#include "analysis/timeline/thread_states.h"

#define WALL_BUCKETS_MOST 16384u
#define WALL_BUCKETS_LEAST 256u
#define WALL_ENTRIES 1000000u

/* A state of thread_states.h, or no thread lived. */
#define WALL_NOBODY THREAD_STATES
/* Of the time on a CPU: what cache lines cost that threads take from each other, and memory of
 * other NUMA nodes, about; in the order of enum shared_kind. */
#define WALL_FALSE_SHARING (THREAD_STATES + 1)
#define WALL_TRUE_SHARING (THREAD_STATES + 2)
#define WALL_REMOTE_MEMORY (THREAD_STATES + 3)
#define WALL_STATES (THREAD_STATES + 4)
#define WALL_NO_CLASS UINT32_MAX

struct wall_row {
    unsigned state;    /* an enum component, STATE_IDLE, or WALL_NOBODY and what follows */
    uint32_t class;    /* place in profile->classes; WALL_NO_CLASS: none is known, or many are */
    uint64_t wall_ns;  /* add up to the wall time */
    uint64_t lives_ns; /* add up to the lives of all threads */
};

struct wall_ledger {
    struct vec rows; /* struct wall_row, each state and class once; by wall_ns */
    uint64_t wall_ns, lives_ns;
};

/* After findings_analysis; a struct wall_ledger. */
extern const struct analysis wall_ledger_analysis;

#endif
