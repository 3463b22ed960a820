/* tracepoints.h: what root's recorder adds: OFF_CPU events get the tick at which the thread was
 * woken, by whom, and whether it had waited in futex(2) or for a block device.
 *
 *     tracepoints__attach     before the program's exec
 *     tracepoints__look       while it runs, whenever tracepoints__fd is readable and now and then
 *     tracepoints__stop       when it has ended, before the trace is finished
 *     tracepoints__complete   when it is finished, before it is packed
 *
 * None of it is required: where the kernel does not allow it nothing changes, and the trace's meta
 * "tracepoints" says why. */
#ifndef HEURT_RECORDER_TRACEPOINTS_H
#define HEURT_RECORDER_TRACEPOINTS_H

#include "format/reader.h"
#include "format/writer.h"

#include <sys/types.h>

struct tracepoints;

/* Always gives one; tracepoints__free it. */
struct tracepoints *tracepoints__attach(pid_t pid, struct trace_writer *writer);
void tracepoints__free(struct tracepoints *tracepoints); /* NULL is allowed, here and below */

int tracepoints__fd(const struct tracepoints *tracepoints); /* or -1: nothing to look at */
void tracepoints__look(struct tracepoints *tracepoints);
void tracepoints__stop(struct tracepoints *tracepoints, struct trace_writer *writer);
int tracepoints__complete(struct tracepoints *tracepoints, const struct trace *trace,
                          const char *directory, struct error *error);

#endif
