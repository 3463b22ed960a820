/* message_acts.h: what an event tells of MPI. In go a thread's events, out comes what of a call
 * begins, ends, or is told in it. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_MESSAGE_ACTS_H
#define HEURT_ANALYSIS_EVENTS_MESSAGE_ACTS_H

#include "format/reader.h"

enum message_act_type {
    MESSAGE_ACT_NOTHING,
    MESSAGE_CALL_BEGINS, /* call, site, bytes */
    MESSAGE_CALL_ENDS,   /* size: calls at its place that it is of beside the first */
    MESSAGE_IS_SENT,     /* request, communicator, rank that gets it, tag, bytes */
    MESSAGE_IS_AWAITED,  /* likewise; rank and tag may be HEURT_MESSAGE_ANY */
    MESSAGE_REQUEST_DONE,
    MESSAGE_REQUEST_CANCELLED,
    MESSAGE_COLLECTIVE_BEGINS, /* request, communicator, rank of the root, call */
    MESSAGE_COMMUNICATOR_MADE, /* communicator, size, rank: this process's in it; bytes: what it is
                                  of, as in its event's third word */
    MESSAGE_ACCESS,            /* request, communicator: the window; rank accessed; bytes */
    MESSAGE_SIGNAL_SENT,       /* as of messages: tag: HEURT_SIGNAL_POST or _COMPLETE */
    MESSAGE_SIGNAL_AWAITED,    /* likewise */
    MESSAGE_LOCK_AWAITED,      /* request, communicator: the window; rank locked; tag: how */
    MESSAGE_RANK_KNOWN,        /* rank, size; call: the library; tag: level of threads */
};

struct message_act {
    enum message_act_type type;
    uint64_t tick, site, bytes;
    uint32_t call, request, communicator, rank, tag, size;
};

struct message_act message_act__of(const struct event *event);

#endif
