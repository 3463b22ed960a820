/* internal.h: what the parts of the analysis of locks share. For locks*.c only.
 *
 *     locks.c           the walk, and which part takes an synchronisation event
 *     locks_filter.c    what counts
 *     locks_side.c      acquisitions, waits and holds; sites, pairs, the longest waits
 *     locks_meeting.c   signals and barriers' rounds
 *     locks_order.c     which lock was taken while which was held, and the circles in it
 *     locks_pressure.c  steps of time
 *     locks_path.c      what is on the critical path
 *     locks_rows.c      from these to the tables of locks.h
 *     locks_audit.c     whether the parts add up
 *
 * All times are ticks. What is kept of an object that nobody waited for is small: histograms, pairs
 * and steps are made when they are needed. */
#ifndef HEURT_ANALYSIS_LOCKS_INTERNAL_H
#define HEURT_ANALYSIS_LOCKS_INTERNAL_H

#include "analysis/critical_path/path.h"
#include "analysis/locks/locks.h"
#include "analysis/sync/idle_waits.h"
#include "base/map.h"
#include "base/nearest.h"

#define SITES_MOST 256u /* of a lock; what is beyond is one row without an address */
#define PAIRS_MOST 256u /* likewise */
#define EDGES_MOST 65536u
#define PRESSURES_MOST 4096u /* locks with steps of their own */
#define STEPS_MOST 600u
#define CACHE_PLACES 4096u /* a power of two */

/* Durations. */
struct times {
    uint64_t count, sum, max;
    uint64_t *buckets; /* [LOCKS_BUCKETS], NULL: none yet */
};

struct side {
    uint64_t acquisitions, contended, busy, gave_up;
    struct times wait, hold;
};

struct site_sums {
    uint64_t site;
    uint64_t acquisitions, contended, wait, hold;
};

struct pair_sums {
    uint64_t holder_site, waiter_site;
    uint64_t waits, wait;
};

struct long_wait {
    uint32_t thread, holder;
    uint64_t site, holder_site;
    uint64_t since, wait;
};

/* How often a thread arrived last. */
struct arriver {
    uint32_t thread;
    uint64_t rounds;
};

/* The round of a barrier that is going on. */
struct barrier_round {
    uint64_t number;
    bool any; /* somebody has arrived, nobody has left */
    uint64_t first, last;
    uint32_t last_arriver;
    struct vec arrivers; /* struct arriver: of rounds that ended */
};

struct lock_state {
    enum class_kind kind;
    uint32_t process;     /* serial */
    bool passes;          /* the filter wants it */
    struct side sides[2]; /* by enum sync_event_how */
    struct times wake;
    struct vec sites;    /* struct site_sums */
    struct vec pairs;    /* struct pair_sums */
    struct vec longest;  /* struct long_wait, the longest first */
    uint64_t *acquiring; /* by step; NULL: nobody waited */
    /* The last release: who, when, and where it had been acquired. */
    uint32_t releaser;
    uint64_t released, released_site;
    uint64_t signals, broadcasts, signals_for_nobody;
    uint32_t waiting, woken; /* threads that wait, and of these that were signalled */
    uint64_t rounds;
    struct times spread;
    struct barrier_round *round; /* NULL: not a barrier, or nobody arrived yet */
};

/* A lock that a thread has. */
struct section {
    uint32_t object;
    uint32_t site; /* place in the lock's sites */
    uint32_t weight;
    bool counts; /* its acquisition passed the filter, but for the time */
};

struct lock_thread {
    bool passes; /* the filter wants it */
    bool waits;
    uint64_t since; /* of that wait's beginning */
    uint64_t started;
    uint64_t away;           /* until then, what it did not run is taken off */
    struct vec sections;     /* struct section, in the order in which it got them */
    uint32_t counting;       /* of these that count */
    uint64_t covered_since;  /* when the first of these began, */
    uint32_t covered_weight; /* and for how many it stands */
    uint64_t covered_paused; /* most that one of them was paused */
    /* Of locks. */
    uint64_t acquisitions, contended, wait, hold, covered;
};

/* Where a site or pair of a lock was found lately. Direct-mapped. */
struct cached_place {
    uint64_t first, second; /* addresses; of a site: second is 0 */
    uint32_t object_and_1;
    uint32_t place;
};

struct cached_function {
    uint64_t site;
    uint32_t process_and_1;
    bool passes;
};

/* Steps of time: their bounds in ticks. */
struct axis {
    uint64_t step_ns, from_ns; /* from_ns: of the first step's beginning, since the start */
    uint64_t steps;
    uint64_t *bounds; /* [steps + 1] */
    uint64_t at;      /* step that was found last: time goes on */
};

/* One lock was taken while another was held. */
struct order_edge {
    uint32_t held, wanted;         /* objects */
    uint32_t held_how, wanted_how; /* enum sync_event_how */
    uint32_t thread;               /* SYNC_EVENT_NOBODY: several */
    uint32_t gate_count;
    uint32_t gates[4]; /* locks that were held exclusively before, each time */
    uint64_t site;     /* where it was first taken so */
    uint64_t times;
};

struct lock_order {
    struct vec edges;  /* struct order_edge */
    struct map places; /* both objects, both ways → place in edges */
    struct cached_place *recent;
    bool is_full;
};

struct locks_walk {
    struct run *run;
    const struct trace *trace;
    const struct symbols *symbols;
    const struct locks_filter *filter;
    struct sync_events *sync_events;
    struct path *path;
    struct idle_waits idle; /* of whom, where and when does not matter to it: it is not filtered */
    struct vec states;      /* struct lock_state, by object */
    struct lock_thread *threads; /* by trace__threads */
    size_t thread_count;
    struct cached_place *sites, *pairs;
    struct lock_order order;
    /* The filter, as the walk asks for it. */
    bool takes_all;                    /* but for the time */
    struct cached_function *functions; /* NULL: any function */
    uint64_t least_wait, from, to;     /* ticks; to: one past the last */
    size_t matched_locks, matched_functions;
    struct nearest nearest_lock, nearest_function; /* among what it does not mean */
    /* Histograms: the first of the durations in each bucket; the bucket of 2^i ticks. */
    uint64_t bucket_ticks[LOCKS_BUCKETS];
    uint8_t first_bucket[64];
    struct axis axis;
    uint64_t *acquiring, *running; /* by step */
    uint32_t pressures;            /* locks with steps of their own */
    uint64_t lifetimes;
    uint64_t spread; /* of waits in the steps of objects */
    bool is_sampled, sites_are_full, pairs_are_full;
    uint64_t drawn, drawn_of;
    double hold_variance; /* ticks, squared */
};

/* ---- locks_filter.c -------------------------------------------------------------------------- */

/* Reads the filter into the walk; fails when it cannot mean anything in this trace. */
int locks_filter__start(struct locks_walk *walk, struct error *error);
/* Once all is seen: fails when no lock was the one that was asked for. */
int locks_filter__check(const struct locks_walk *walk, struct error *error);
bool locks_filter__wants_object(struct locks_walk *walk, const struct sync_object *object);
/* Whether an synchronisation event at the object counts, whenever it was. waited: ticks. */
bool locks_filter__counts(struct locks_walk *walk, const struct lock_state *state, uint32_t thread,
                          uint64_t site, uint64_t waited);

static inline bool is_in_time(const struct locks_walk *walk, uint64_t tick)
{
    return tick >= walk->from && tick < walk->to;
}

/* ---- locks_side.c ---------------------------------------------------------------------------- */

void lock_state__acquired(struct locks_walk *walk, struct lock_state *state,
                          const struct sync_event *sync_event);
void lock_state__released(struct locks_walk *walk, struct lock_state *state,
                          const struct sync_event *sync_event);
void lock_state__busy(struct locks_walk *walk, struct lock_state *state,
                      const struct sync_event *sync_event);
/* GAVE_UP, WOKEN, LEFT. */
void lock_state__wait_ended(struct locks_walk *walk, struct lock_state *state,
                            const struct sync_event *sync_event);
void times__add(const struct locks_walk *walk, struct times *times, uint64_t ticks,
                uint64_t weight);

/* ---- locks_meeting.c ------------------------------------------------------------------------- */

void lock_state__signalled(struct locks_walk *walk, struct lock_state *state,
                           const struct sync_event *sync_event);
void lock_state__awaited(struct lock_state *state, const struct sync_event *sync_event);
/* The thread waits there no more. */
void lock_state__left(struct locks_walk *walk, struct lock_state *state,
                      const struct sync_event *sync_event);

/* ---- locks_order.c --------------------------------------------------------------------------- */

void lock_order__start(struct lock_order *order);
void lock_order__free(struct lock_order *order);
/* An acquisition by a thread that holds other locks. */
void lock_order__take(struct locks_walk *walk, const struct sync_event *sync_event);
/* row_of: by object; UINT32_MAX: not shown. */
void lock_order__find(const struct locks_walk *walk, const uint32_t *row_of,
                      struct locks_result *result);

/* ---- locks_pressure.c ------------------------------------------------------------------------ */

void axis__start(struct locks_walk *walk);
/* A wait for the object that counts. waited: without pauses. */
void pressure__waited(struct locks_walk *walk, struct lock_state *state,
                      const struct sync_event *sync_event, uint64_t waited);
/* Keeps up which time of a thread is not running. */
void pressure__take(struct locks_walk *walk, const struct sync_event *sync_event);

/* ---- locks_path.c ---------------------------------------------------------------------------- */

/* The rows are there. row_of: as above. */
void locks_path__fill(const struct locks_walk *walk, const uint32_t *row_of,
                      struct locks_result *result);

/* ---- locks_rows.c ---------------------------------------------------------------------------- */

void locks_result__fill(struct locks_walk *walk, struct locks_result *result);

/* ---- locks_audit.c --------------------------------------------------------------------------- */

/* Compares it and adds it to the result. */
void locks_check__add(struct locks_result *result, const struct locks_check *check);

/* What is in ticks: the states before rows are made of them. */
void locks_audit__ticks(const struct locks_walk *walk, struct locks_result *result);

#endif
