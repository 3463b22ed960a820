/* event_filter.h: which events of a thread are kept, by their numbers, and what stands in for the
 * others.
 *
 *     ranges of events that are kept ──► of each event of a cursor: kept, or one more of a gap
 *
 * No memory of its own but the ranges. */
#ifndef HEURT_ANALYSIS_EVENTS_EVENT_FILTER_H
#define HEURT_ANALYSIS_EVENTS_EVENT_FILTER_H

#include "base/vec.h"
#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

/* From first to last, both are kept. Numbers count a thread's events from 0 as a cursor gives them.
 */
struct kept_range {
    uint64_t first, last;
};

/* Sorts them and joins those that touch. ranges: struct kept_range. */
void kept__join(struct vec *ranges);

/* Goes along with a walk over the thread's events. */
struct kept_walk {
    const struct vec *ranges; /* joined; NULL: all events are kept */
    size_t next;              /* the first range that is not behind */
    uint64_t number;          /* of the event that comes */
};

/* Whether the next event is kept. */
bool kept_walk__keeps(struct kept_walk *walk);

/* Events in a row that are left out. Ticks of the first and the last one. */
struct kept_gap {
    uint64_t events; /* 0: there is no gap */
    uint64_t from, to;
};

void kept_gap__add(struct kept_gap *gap, uint64_t tick);

#endif
