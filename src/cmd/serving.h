/* serving.h: what the recorder does while the program runs: it answers, and looks after the trace.
 *
 * In go what works beside the program, and the trace; it returns when the program has ended. It
 * costs a look every 4 to 64 ms, the more often the faster the trace grows. It stands on recorder/
 * and live_windows.h. One recording at a time. */
#ifndef HEURT_CMD_SERVING_H
#define HEURT_CMD_SERVING_H

#include "cmd/live_windows.h"
#include "cmd/watch.h"
#include "format/pack.h"
#include "recorder/attach.h"
#include "recorder/live_selection.h"
#include "recorder/planner.h"
#include "recorder/stop_log.h"
#include "recorder/tracepoints.h"

/* What works beside the program while it runs. */
struct attendants {
    struct planner planner;
    struct automatic *automatic; /* or NULL */
    struct stop_log *stops;      /* NULL: nothing is ever stopped */
    struct tracepoints *tracepoints;
    struct pack_ahead *ahead; /* or NULL */
    struct attach *attach;    /* NULL: the program was started here */
    struct live_windows *windows;
};

struct background;

/* end_fd: readable when the program has ended; -1: the background tells. */
void attendants__serve(int end_fd, struct background *background, struct attendants *attendants,
                       struct trace_writer *writer, struct watch *watch);

/* Where processes of the program go on without it, they are recorded until they end, or whoever
 * records has enough. False: none do. */
bool attendants__follow(const struct recording *recording, const char *program,
                        struct attendants *attendants, struct trace_writer *writer,
                        struct watch *watch);

#endif
