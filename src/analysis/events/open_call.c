#include "analysis/events/open_call.h"

uint64_t open_call__site(const struct event *event, uint64_t site)
{
    bool is_end = event->id & 1u;
    if (event->id >= HEURT_EVENT_FUNCTIONS || !event__is_span(event->id))
        return site;
    return !is_end && event->words ? HEURT_SITE_ADDRESS(event->payload[0]) : 0;
}
