/* event.h: one event, as readers of a trace and the fold inside the recorded program hand it
 * around.
 *
 * In go words of a chunk, out come ids and whole ticks, a few instructions each; names are
 * constants. It stands on layout.h and allocates nothing. */
#ifndef HEURT_FORMAT_EVENT_H
#define HEURT_FORMAT_EVENT_H

#include "format/layout.h"

#include <stdbool.h>

struct event {
    uint64_t tick; /* all 64 bits */
    uint32_t id;   /* even: enter or point; odd: leave */
    uint32_t words;
    const uint64_t *payload; /* until the next event is asked for */
};

/* The serial of the process whose object it is; HEURT_NO_SERIAL: all have it in common. */
static inline uint32_t event__process_of_object(uint32_t process, uint64_t object)
{
    return object >= HEURT_SHARED_OBJECT ? HEURT_NO_SERIAL : process;
}

/* All 64 bits of the tick in an event's first word, told the one before. */
static inline uint64_t event__whole_tick(uint64_t before, uint64_t word)
{
    int64_t difference = (int64_t)(((word >> HEURT_ID_BITS) - before) << HEURT_ID_BITS);
    return before + (uint64_t)(difference >> HEURT_ID_BITS);
}

/* What the kernel tells of a thread when that is over: its tick is that of another clock. */
static inline bool event__is_told_late(uint32_t id)
{
    return id == HEURT_EVENT_OFF_CPU || id == HEURT_EVENT_FAULT;
}

static inline uint32_t event__id(uint64_t word)
{
    return word & ((1u << HEURT_ID_BITS) - 1);
}

/* Words of a thread, from the beginning of an event on. */
struct event_words {
    const uint64_t *at, *end;
    uint64_t tick;                /* of the event before */
    uint64_t until;               /* before that tick events are taken from here alone */
    const uint8_t *payload_words; /* + 1, by id; 0: there is no such event */
    uint32_t payload_ids;
};

/* Whether an event of that id and tick is one word, and the next one. */
static inline bool event_words__has_plain(const struct event_words *words, uint32_t id,
                                          uint64_t tick)
{
    return id < words->payload_ids && words->payload_words[id] == 1 && tick < words->until;
}

/* Behind such a one. */
static inline void event_words__pass(struct event_words *words, uint64_t tick)
{
    words->tick = tick;
    words->at++;
}

#define EVENT_TICKS_BACK (1u << 20)    /* a signal handler's events */
#define EVENT_TICKS_AHEAD (1ull << 38) /* more would be chance, not a time */

/* Whether a word behind words that were never written may be an event's first, by its time. */
static inline bool event__follows(uint64_t before, uint64_t word)
{
    uint64_t tick = event__whole_tick(before, word);
    return tick + EVENT_TICKS_BACK >= before &&
           tick - before + EVENT_TICKS_BACK < EVENT_TICKS_AHEAD;
}

#endif
