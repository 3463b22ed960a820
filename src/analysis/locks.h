/* locks.h: what threads did with each lock, condition variable, semaphore and barrier: for all of
 * the run and for the critical path.
 *
 * One walk (encounters.h), memory bounded by locks, sites and threads.  Tables belong to the
 * result. Rows are ranked by time waited, never by counts: how many waits block swings tenfold
 * between equal runs.  Units are in the names. */
#ifndef HEURT_ANALYSIS_LOCKS_H
#define HEURT_ANALYSIS_LOCKS_H

#include "analysis/encounters.h"
#include "base/error.h"
#include "format/symbols.h"

/* What counts; of everything, when a field is 0 or NULL. */
struct locks_filter {
    const char *lock;        /* address (0x…), or glob over the variable's name */
    const char *site;        /* glob over the function of the acquisition */
    const char *thread;      /* tid, or glob over the thread's name */
    uint64_t min_wait_ns;    /* acquisitions that waited no less */
    uint64_t from_ns, to_ns; /* since the session's start; to_ns 0: the end */
};

#define LOCKS_BUCKETS 64 /* of a histogram: durations of 2^i … 2^(i+1) − 1 ns */

/* Durations of one kind. */
struct lock_times {
    uint64_t count, sum_ns, max_ns;
    uint64_t buckets[LOCKS_BUCKETS];
};

/* One way to have a lock: exclusive or shared; a semaphore's only one. */
struct lock_side {
    uint64_t acquisitions, contended; /* contended: that waited */
    uint64_t busy;                    /* tries that failed */
    uint64_t gave_up;                 /* waits that ended without it */
    struct lock_times wait;           /* of contended ones */
    struct lock_times hold;
};

/* The same, on the critical path (path.h): acquisitions whose section is on it. */
struct lock_on_path {
    uint64_t acquisitions, contended;
    uint64_t wait_ns; /* waited for these */
    uint64_t hold_ns; /* of the path's time in these sections */
};

struct lock_site {
    uint64_t site;
    uint64_t acquisitions, contended;
    uint64_t wait_ns, hold_ns;
};

/* Who waited for whom. */
struct lock_pair {
    uint64_t holder_site, waiter_site; /* of a condition or semaphore: the signaller's */
    uint64_t waits, wait_ns;
};

struct lock_wait {
    uint32_t thread, holder; /* index into trace__threads; ENCOUNTER_NOBODY: not known */
    uint64_t site, holder_site;
    uint64_t since_start_ns, wait_ns;
};

#define LOCK_LONGEST 5

struct lock_row {
    struct encounter_object object;
    struct lock_side exclusive, shared;
    double wait_share;           /* of all threads' lifetimes */
    struct lock_times wake;      /* conditions, semaphores: from the signal to the wake-up;
                                    locks: from the release to the acquisition of who waited */
    uint64_t signals;            /* conditions: how often; semaphores: posts */
    uint64_t broadcasts;         /* of these */
    uint64_t signals_for_nobody; /* conditions: nobody waited */
    /* Barriers: */
    uint64_t rounds;
    struct lock_times spread; /* of a round: last arrival − first arrival */
    uint32_t last_arriver;    /* the one that was it most often; ENCOUNTER_NOBODY */
    uint64_t last_arrivals;   /* how often it was */
    struct lock_on_path on_path;
    struct vec sites;   /* struct lock_site, by wait_ns */
    struct vec pairs;   /* struct lock_pair, by wait_ns */
    struct vec longest; /* struct lock_wait, the longest first, at most LOCK_LONGEST */
    /* Pressure: Σ over threads of the time spent acquiring it, by step (locks_result.step_ns);
     * steps of them; NULL: nobody waited. */
    uint64_t *acquiring_ns;
};

/* Two locks that were taken in both orders, or more in a circle. */
struct lock_inversion {
    struct vec objects; /* uint32_t: places in rows; each was taken while the one before was held,
                           and the first while the last was */
    struct vec sites;   /* uint64_t: where, likewise */
    struct vec times;   /* uint64_t: how often, likewise */
    bool guarded;       /* always under one and the same other lock: it cannot block for ever */
};

struct locks_result {
    struct vec rows; /* struct lock_row, by Σ of waits */
    struct vec inversions;
    uint64_t wall_ns, lifetime_sum_ns;
    /* All locks (not conditions and barriers) of all threads. */
    uint64_t acquisitions, contended, wait_ns;
    uint64_t hold_sum_ns;        /* sections counted each */
    uint64_t hold_covered_ns;    /* nested sections of a thread counted once */
    struct lock_on_path on_path; /* likewise all locks; hold_ns counted once */
    uint64_t path_ns;            /* length of the critical path: the wall time, unless filtered */
    /* Pressure: */
    uint64_t step_ns, steps;
    uint64_t *acquiring_ns; /* [steps] all locks */
    uint64_t *running_ns;   /* [steps] Σ over threads of the time on a CPU, as far as known */
    bool is_sampled;        /* acquisitions that did not wait were left out: counts are estimates */
    struct vec warnings;    /* char * */
};

/* symbols: for the filter's globs. */
int locks__compute(const struct trace *trace, const struct symbols *symbols,
                   const struct locks_filter *filter, struct locks_result **result,
                   struct error *error);
void locks__free(struct locks_result *result);

#endif
