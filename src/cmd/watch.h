/* watch.h: how far a recording is, and that its trace becomes large: said while the program runs.
 *
 * In goes the trace as it is written, out come sentences on stderr. It stands on progress.h. */
#ifndef HEURT_CMD_WATCH_H
#define HEURT_CMD_WATCH_H

#include "cmd/progress.h"
#include "format/writer.h"

struct watch {
    struct progress progress;
    bool may_say; /* that the trace is large; once */
    uint64_t max_bytes;
};

/* The program's own screen is not written over. */
struct watch watch__start(bool quiet, uint64_t max_bytes);
void watch__look(struct watch *watch, struct trace_writer *writer);

#endif
