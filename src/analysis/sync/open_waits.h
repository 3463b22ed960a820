/* open_waits.h: which waits and calls one thread is in, told by its events.
 *
 * Only the outermost one counts: what is in it is of handlers that interrupted it. In go ids of
 * events, out comes what each of them begins or ends. It stands on format/. For analysis/ only. */
#ifndef HEURT_ANALYSIS_SYNC_OPEN_WAITS_H
#define HEURT_ANALYSIS_SYNC_OPEN_WAITS_H

#include "format/event.h"

#define OPEN_WAITS_MOST 4 /* of handlers that interrupted each other */

struct open_waits {
    uint32_t ids[OPEN_WAITS_MOST]; /* of enter events, the outermost first */
    uint32_t depth;
};

/* Calls that nobody but the system ends: input and output, sleep, the memory map. */
bool wait__is_call(uint32_t id);
/* Of a wait or call: the event that begins it. */
bool wait__is_begun_by(uint32_t id);
/* Whether the one with that enter event ended with what was waited for; leave: its words. */
bool wait__is_good(uint32_t id, uint32_t words, const uint64_t *leave);

/* There is room (depth < OPEN_WAITS_MOST). True: it is the outermost one. */
static inline bool open_waits__begin(struct open_waits *waits, uint32_t id)
{
    waits->ids[waits->depth] = id;
    return waits->depth++ == 0;
}

/* How deep the wait lies that ends by that event, from 1; 0: none does. The caller makes depth one
 * less than that, then. */
static inline uint32_t open_waits__find(const struct open_waits *waits, uint32_t leave)
{
    uint32_t place = waits->depth;
    while (place && waits->ids[place - 1] != (leave & ~1u))
        place--;
    return place;
}

#endif
