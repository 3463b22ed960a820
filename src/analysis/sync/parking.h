/* parking.h: places at which each thread waits at a condition of its own until another one passes
 * its turn on: writers that queue, monitors with an entry list. A fold over synchronisation events.
 *
 * Turns are passed on at a place when threads end each other's waits there: of at least
 * PARKING_LEAST waits, half or more belong to two threads that ended about as many of the other's.
 * Neither a pool whose workers park, each at its own condition, is such a place, for who gives them
 * work waits elsewhere; nor stages of a pipeline, of which each only wakes the next; nor a
 * condition at which several threads wait, which is told by itself (idle_waits.h). For
 * analysis/sync only. */
#ifndef HEURT_ANALYSIS_SYNC_PARKING_H
#define HEURT_ANALYSIS_SYNC_PARKING_H

#include "analysis/sync/sync_events.h"
#include "base/map.h"

#define PARKING_LEAST 10

struct parking {
    struct map places_by_site, passes_by_threads;
    struct vec places; /* struct parking_place */
    struct vec passes; /* struct parking_pass */
    struct vec owners; /* struct parking_owner, by object */
};

struct parking parking__start(void);
void parking__free(struct parking *parking);

/* A wait at a condition of the process that ended. */
void parking__take(struct parking *parking, uint32_t process, const struct sync_event *event);

/* Once all are taken. */
void parking__find(struct parking *parking);

/* Whether turns are passed on where threads wait for the object; once that was found. */
bool parking__passes_turns(const struct parking *parking, uint32_t object);

#endif
