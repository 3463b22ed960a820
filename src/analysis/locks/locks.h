/* locks.h: what threads did with each lock, condition variable, semaphore and barrier: for all of
 * the run and for the critical path.
 *
 * One walk (synchronisation events.h), memory bounded by locks, sites and threads.  Tables belong
 * to the result. Rows are ranked by time waited, never by counts: how many waits block swings
 * tenfold between equal runs.  Units are in the names.
 *
 * What counts as what:
 *   - A condition wait gives its mutex back and takes it again: that is another acquisition of the
 *     mutex, at the site of the condition wait. Whatever it waited for the mutex then is part of
 *     the condition's wait.
 *   - A wait that ended without what was waited for (a time-out, the end of the trace) is waiting
 *     like any other, but no acquisition.
 *   - What the recording used of a wait or a section for itself is in neither.
 *   - A lock that is still held when its thread ends was held until then.
 *   - Who ended a wait is blamed for all of it. (profile.h divides by who held the lock meanwhile.)
 *   - Locks that were got by a try are acquisitions like others. In an inversion only those count
 *     that would have waited; the lock that was held then may have been got by a try. */
#ifndef HEURT_ANALYSIS_LOCKS_LOCKS_H
#define HEURT_ANALYSIS_LOCKS_LOCKS_H

#include "analysis/analysis.h"
#include "analysis/sync/sync_events.h"
#include "base/error.h"
#include "format/symbols.h"

/* What counts; of everything, when a field is 0 or NULL. */
struct locks_filter {
    const char *lock;        /* address (0x…), or glob over the variable's name */
    const char *site;        /* glob over the function of the call */
    const char *thread;      /* tid, or glob over the thread's name */
    uint64_t min_wait_ns;    /* acquisitions that waited no less, and their sections */
    uint64_t from_ns, to_ns; /* since the run's start; to_ns 0: the end. What ends within;
                                lifetimes, the wall time and steps are cut to it */
};

/* What is on the critical path, and inversions, are of all threads, calls and times; of the locks
 * that are asked for. */

#define LOCKS_BUCKETS 64 /* of a histogram: durations of 2^i … 2^(i+1) − 1 ns */

/* Durations of one kind. */
struct lock_times {
    uint64_t count, sum_ns, max_ns;
    uint64_t buckets[LOCKS_BUCKETS];
};

/* One way to have a lock: exclusive or shared; a semaphore's only one. */
struct lock_side {
    uint64_t acquisitions, contended; /* contended: that waited. Of conditions and barriers: waits
                                         that ended as they should, all of them */
    uint64_t busy;                    /* tries that failed */
    uint64_t gave_up;                 /* waits that ended without it */
    struct lock_times wait;           /* of contended ones, and of those that gave up */
    struct lock_times hold;           /* sections that ended */
};

/* The same, on the critical path (path.h): acquisitions whose section is on it. */
struct lock_on_path {
    uint64_t acquisitions, contended;
    uint64_t wait_ns; /* waited for these */
    uint64_t hold_ns; /* of the path's time in these sections */
};

struct lock_site {
    uint64_t site; /* 0: all others, of a lock with very many */
    uint64_t acquisitions, contended;
    uint64_t wait_ns, hold_ns;
};

/* Who waited for whom. */
struct lock_pair {
    uint64_t holder_site; /* where the one that released it had acquired it; of conditions,
                             semaphores and barriers: of the signal, the post, the last arrival;
                             0: not known, or all others of a lock with very many pairs */
    uint64_t waiter_site;
    uint64_t waits, wait_ns;
};

struct lock_wait {
    uint32_t thread, holder; /* index into trace__threads; SYNC_EVENT_NOBODY: not known */
    uint64_t site, holder_site;
    uint64_t since_start_ns, wait_ns;
    const uint64_t *frames; /* of its own stack, innermost first; the symbols' */
    size_t frame_count;     /* 0: not known */
};

#define LOCK_LONGEST 5

struct lock_row {
    struct sync_object object;
    struct lock_side exclusive, shared;
    double wait_share;           /* of all threads' lifetimes */
    bool is_idle;                /* conditions, semaphores: threads wait there for work (blame.h) */
    struct lock_times wake;      /* conditions, semaphores: from the signal to the wake-up;
                                    locks: from the release to the acquisition of who waited;
                                    barriers: from the last arrival to the leave of the others */
    uint64_t signals;            /* conditions: how often; semaphores: posts */
    uint64_t broadcasts;         /* of these */
    uint64_t signals_for_nobody; /* conditions: nobody waited */
    /* Barriers: */
    uint64_t rounds;
    struct lock_times spread; /* of a round: last arrival − first arrival */
    uint32_t last_arriver;    /* the one that was it most often; SYNC_EVENT_NOBODY */
    uint64_t last_arrivals;   /* how often it was */
    struct lock_on_path on_path;
    struct vec sites;   /* struct lock_site, by wait_ns */
    struct vec pairs;   /* struct lock_pair, by wait_ns */
    struct vec longest; /* struct lock_wait, the longest first, at most LOCK_LONGEST */
    /* Pressure: Σ over threads of the time spent acquiring it, by step (locks_result.step_ns);
     * steps of them; NULL: nobody waited, or one of very many locks (see warnings). */
    uint64_t *acquiring_ns;
};

/* Two locks that were taken in both orders, or more in a circle. */
struct lock_inversion {
    struct vec objects; /* uint32_t: places in rows; each was taken while the one before was held,
                           and the first while the last was */
    struct vec sites;   /* uint64_t: where (the first time), likewise */
    struct vec times;   /* uint64_t: how often, likewise */
    bool guarded;       /* always under one and the same other lock: it cannot block for ever */
    bool one_thread;    /* all by the same thread: it cannot block unless others do it, too */
};

#define LOCKS_ROWS_MOST 10000

/* Whether parts add up to the whole. */
struct locks_check {
    const char *what;      /* "waits of locks", … */
    const char *of, *with; /* what is compared: "objects", "threads", … */
    uint64_t left, right;  /* ticks, or numbers */
    bool is_most;          /* left ≤ right is wanted; else left = right */
    bool is_good;
};

struct locks_result {
    struct vec rows; /* struct lock_row, by Σ of waits, then of holds, idle ones last; the first
                        LOCKS_ROWS_MOST */
    uint64_t left_out[CLASS_KINDS]; /* rows beyond that, by kind */
    struct vec inversions;
    uint64_t wall_ns, lifetime_sum_ns;
    /* All locks (not conditions and barriers) of all threads. */
    uint64_t acquisitions, contended, wait_ns;
    double wait_share;        /* of all threads' lifetimes */
    uint64_t hold_sum_ns;     /* sections counted each */
    uint64_t hold_covered_ns; /* nested sections of a thread counted once; of sampled locks as far
                                 as that is known */
    struct lock_on_path on_path; /* likewise all locks; hold_ns counted once */
    uint64_t path_ns;            /* length of the critical path: the wall time, unless filtered */
    uint64_t path_blocked_ns;    /* of it: struct path_result.blocked */
    /* Pressure: */
    uint64_t step_ns, steps;
    uint64_t steps_from_ns; /* since the run's start: where the first step begins */
    uint64_t *acquiring_ns; /* [steps] all locks */
    uint64_t *running_ns; /* [steps] Σ over threads of the time on a CPU, as far as known: without
                             waits (spinning ones too), and what the kernel tells */
    bool is_sampled;      /* acquisitions that did not wait were left out: counts are estimates */
    uint64_t drawn, drawn_of; /* of so many of these, so many are in the trace */
    uint64_t hold_error_ns;   /* standard error of hold_sum_ns */
    struct vec checks;        /* struct locks_check */
    struct vec warnings;      /* char * */
};

/* With a struct locks_filter; the run's symbols are for its globs. Fails when the filter names a
 * lock or a thread that there is not, or a time at which there was no run, and for aggregated runs.
 */
extern const struct analysis locks_analysis;
void locks__free(struct locks_result *result);

/* Time that threads waited for it, and how often they had it, either way. */
uint64_t lock_row__wait_ns(const struct lock_row *row);
uint64_t lock_row__acquisitions(const struct lock_row *row);
uint64_t lock_row__contended(const struct lock_row *row);
uint64_t lock_times__mean_ns(const struct lock_times *times);
/* Time spent acquiring over time on a CPU; infinite where nobody ran. */
double locks__pressure(uint64_t acquiring_ns, uint64_t running_ns);

/* Adds checks of the critical path against Chen and Stenström's marking (path__mark), in memory
 * that grows with the acquisitions. False: there is more to wait for than locks, which the marking
 * does not know; then there are none. */
bool locks__mark(const struct trace *trace, struct locks_result *result);

#endif
