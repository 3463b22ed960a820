#include "analysis/events/message_acts.h"

/* Of an event with three words: two pairs and bytes. */
static struct message_act paired(const struct event *event, enum message_act_type type)
{
    return (struct message_act){.type = type,
                                .tick = event->tick,
                                .request = HEURT_MESSAGE_HIGH(event->payload[0]),
                                .communicator = HEURT_MESSAGE_LOW(event->payload[0]),
                                .rank = HEURT_MESSAGE_HIGH(event->payload[1]),
                                .tag = HEURT_MESSAGE_LOW(event->payload[1]),
                                .bytes = event->payload[2]};
}

/* What is no message, but told as one. */
static struct message_act signal_of(struct message_act act)
{
    bool is_sent = act.type == MESSAGE_IS_SENT;
    if (act.type != MESSAGE_IS_SENT && act.type != MESSAGE_IS_AWAITED)
        return act;
    switch (act.tag) {
    case HEURT_SIGNAL_ACCESS:
        act.type = MESSAGE_ACCESS;
        return act;
    case HEURT_SIGNAL_POST:
    case HEURT_SIGNAL_COMPLETE:
        act.type = is_sent ? MESSAGE_SIGNAL_SENT : MESSAGE_SIGNAL_AWAITED;
        return act;
    case HEURT_SIGNAL_LOCK_SHARED:
    case HEURT_SIGNAL_LOCK_EXCLUSIVE:
        act.type = MESSAGE_LOCK_AWAITED;
        return act;
    default: /* of a later version */
        act.type = HEURT_IS_SIGNAL(act.tag) ? MESSAGE_ACT_NOTHING : act.type;
        return act;
    }
}

static struct message_act of_pairs(const struct event *event)
{
    struct message_act act = {.type = MESSAGE_ACT_NOTHING};
    switch (event->id) {
    case HEURT_EVENT_MESSAGE_SENT:
        return signal_of(paired(event, MESSAGE_IS_SENT));
    case HEURT_EVENT_MESSAGE_AWAITED:
        return signal_of(paired(event, MESSAGE_IS_AWAITED));
    case HEURT_EVENT_MESSAGE_DONE:
        act = paired(event, MESSAGE_REQUEST_DONE);
        if (act.communicator)
            act.type = MESSAGE_REQUEST_CANCELLED;
        return act;
    case HEURT_EVENT_MESSAGE_COLLECTIVE:
        act = paired(event, MESSAGE_COLLECTIVE_BEGINS);
        act.call = act.tag;
        return act;
    case HEURT_EVENT_MESSAGE_COMMUNICATOR:
        act = paired(event, MESSAGE_COMMUNICATOR_MADE);
        act.size = act.request;
        return act;
    default:
        return act;
    }
}

struct message_act message_act__of(const struct event *event)
{
    struct message_act act = {.type = MESSAGE_ACT_NOTHING, .tick = event->tick};
    if (event->id == HEURT_EVENT_MESSAGE_CALL && event->words >= 3) {
        act.type = MESSAGE_CALL_BEGINS;
        act.call = HEURT_SITE_HOW(event->payload[0]);
        act.site = HEURT_SITE_ADDRESS(event->payload[0]);
        act.communicator = (uint32_t)event->payload[1];
        act.bytes = event->payload[2];
    } else if (event->id == (HEURT_EVENT_MESSAGE_CALL | 1)) {
        act.type = MESSAGE_CALL_ENDS;
        act.size = event->words ? HEURT_MESSAGE_HIGH(event->payload[0]) : 0;
    } else if (event->id == HEURT_EVENT_MESSAGE_RANK && event->words >= 2) {
        act.type = MESSAGE_RANK_KNOWN;
        act.rank = HEURT_MESSAGE_HIGH(event->payload[0]);
        act.size = HEURT_MESSAGE_LOW(event->payload[0]);
        act.call = HEURT_MESSAGE_HIGH(event->payload[1]);
        act.tag = HEURT_MESSAGE_LOW(event->payload[1]);
    } else if (event->id > HEURT_EVENT_MESSAGE_CALL && event->id < HEURT_EVENT_MESSAGE_RANK &&
               event->words >= 3) {
        return of_pairs(event);
    }
    return act;
}
