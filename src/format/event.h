/* event.h: one event, as readers of a trace and the fold inside the recorded program hand it
 * around. */
#ifndef HEURT_FORMAT_EVENT_H
#define HEURT_FORMAT_EVENT_H

#include "format/layout.h"

struct event {
    uint64_t tick; /* all 64 bits */
    uint32_t id;   /* even: enter or point; odd: leave */
    uint32_t words;
    const uint64_t *payload; /* until the next event is asked for */
};

#endif
