/* open_call.h: which call of the system or of a library a thread is in, of those that may block and
 * have none in them that do. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_OPEN_CALL_H
#define HEURT_ANALYSIS_EVENTS_OPEN_CALL_H

#include "format/reader.h"

/* Where the call is made that the event begins, 0 where it ends one; of other events: site. */
uint64_t open_call__site(const struct event *event, uint64_t site);

#endif
