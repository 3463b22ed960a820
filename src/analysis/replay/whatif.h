/* whatif.h: how long the program would have taken with something changed.
 *
 * The trace becomes rows of operations (replay_program.h), these are changed, and replayed
 * (replay.h).  A prediction is relative to the replay of the unchanged program, whose distance to
 * the measured wall time is part of what is told.
 *
 *     measured M; its replay with what recording cost R₁, without it R₀; changed R
 *     wall time without recording  W = M · R₀ / R₁
 *     predicted                    P = R + (W − R₀) · share
 *
 * The share of the misfit that stays follows waiting where threads waited much, else the wall time,
 * so that what changes nothing has no gain.  P is that of the program without heurt, and gains are
 * W / P: no cure gets what not recording gains.  The range is what models give whose wake-ups take
 * no time, or twice as long, and what P is when all of the misfit stays; no less than 5 % to either
 * side.
 *
 * Of a run with too many events windows are replayed that were drawn from it, joined to a shorter
 * run (drawn_run.h): R, R₀ and R₁ are then those of the windows, times what the run is longer.  */
#ifndef HEURT_ANALYSIS_REPLAY_WHATIF_H
#define HEURT_ANALYSIS_REPLAY_WHATIF_H

#include "analysis/ledger/profile.h"

enum change_type {
    CHANGE_REMOVE,      /* class: its excess is gone: every occurrence is as its fastest one */
    CHANGE_REMOVE_LOCK, /* lock: nobody waits for it any more */
    CHANGE_SPEED,       /* function: its time on a CPU, what it calls included, over factor */
    CHANGE_SHRINK,      /* lock: time on a CPU in its sections, times factor */
    CHANGE_SPLIT,       /* lock: count locks in its place */
    CHANGE_THREADS,     /* the work of threads that are alike is done by count of them */
    CHANGE_BALANCE,     /* parallel regions of sites: the busiest thread of a team has factor times
                           the work of the average one */
    CHANGE_TEAM,        /* all parallel regions: teams of count threads */
};

struct change {
    enum change_type type;
    uint32_t class;      /* number of the class (struct profile_class.number) */
    uint64_t lock;       /* address */
    uint32_t process;    /* serial, of the lock */
    const char *pattern; /* glob over functions */
    double factor;
    uint32_t count;
    bool by_site;          /* SPLIT: each place that acquires it gets one; else one by one */
    const uint64_t *sites; /* BALANCE: of one process; kept, not copied */
    size_t site_count;
};

/* A lock (or the like) whose waits change most. */
struct whatif_object {
    uint64_t address;
    uint32_t process;
    enum class_kind kind;
    uint64_t waited_before_ns, waited_after_ns; /* in the replays */
};

struct prediction {
    uint64_t wall_ns;           /* most likely */
    uint64_t least_ns, most_ns; /* the range: see docs/whatif.md */
    double gain[2];             /* unrecorded wall over most_ns, over least_ns */
    double
        work_left; /* of what threads do on CPUs; 1: all, or the replay is far too long to tell */
    struct vec objects; /* struct whatif_object, by how much waited_after_ns is more */
    uint32_t threads;   /* that the replay had */
};

struct whatif; /* a trace made ready to be replayed */

#define WHATIF_EVENTS_MOST (32u << 20) /* of a run that is replayed as a whole */
#define WHATIF_DRAWN_MOST (4u << 20)   /* in windows: some 50 bytes each */

/* Of a run with more events than most_events, or WHATIF_EVENTS_MOST, windows are drawn that have
 * about twice as many, but no more than WHATIF_DRAWN_MOST (drawn_run.h): these are replayed by one
 * model, not by three, as is a run of which three would replay more than most_events. Fails
 * (-ENOTSUP) with a sentence: aggregated, sampled so that it cannot be.
 */
int whatif__open(const struct trace *trace, const struct symbols *symbols,
                 const struct profile *profile, uint64_t most_events, struct whatif **whatif,
                 struct error *error);
void whatif__close(struct whatif *whatif);

/* How much of the run is replayed; 1: all. */
double whatif__replayed_share(const struct whatif *whatif);
uint64_t whatif__measured_ns(const struct whatif *whatif); /* wall time of the run */
uint64_t whatif__replayed_ns(const struct whatif *whatif); /* of its replay without any change */
/* The wall time that the run would have had without what recording cost: gains are over it. */
uint64_t whatif__unrecorded_ns(const struct whatif *whatif);
/* How many threads are assumed to run until they are told to end (replay_program.h). */
uint32_t whatif__told_threads(const struct whatif *whatif);
/* Whether there are parallel regions of OpenMP in it, so that CHANGE_TEAM is the one of threads. */
bool whatif__has_regions(const struct whatif *whatif);

/* Several changes at once. Fails with a sentence when the trace does not allow one. */
int whatif__predict(struct whatif *whatif, const struct change *changes, size_t count,
                    struct prediction *prediction, struct error *error);
void prediction__free(struct prediction *prediction);

#endif
