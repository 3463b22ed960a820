/* parking.h: places at which each thread waits at a condition of its own until another one passes
 * its turn on: writers that queue, monitors with an entry list. A fold over synchronisation events.
 *
 * A thread waits there for its turn when it and others end each other's waits: half or more of its
 * waits, and of the time of these, and PARKING_LEAST, were ended by those of whose waits it ended
 * as many. Workers that pass on to each other that there is more to do wait, most of the time,
 * until somebody else has it.
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

/* Whether a turn is what the one waits for who waits for the object; once all are taken. */
bool parking__passes_turns(const struct parking *parking, uint32_t object);

#endif
