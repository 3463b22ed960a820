/* span_messages.h: messages of MPI for an exporter of spans.
 *
 * In goes a trace of ranks, out come both ends of each message that was received, by time. Memory:
 * of calls, as heurt mpi needs, and of messages. */
#ifndef HEURT_CMD_SPAN_MESSAGES_H
#define HEURT_CMD_SPAN_MESSAGES_H

#include "present/export/span_exporters.h"
#include "present/present.h"

struct message_end {
    uint64_t tick;
    struct span_message message; /* but for its ns */
};

/* Adds struct message_end, and the threads of ranks, by rank (uint32_t, indexes into
 * trace__threads). chosen: by thread; both ends must be; NULL: all are. */
void span_messages__find(const struct report *report, const bool *chosen, struct vec *ends,
                         struct vec *ranks);

#endif
