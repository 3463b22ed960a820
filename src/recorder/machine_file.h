/* machine_file.h: the machine that a trace is recorded on, told in the trace.
 *
 * Out come its nodes, their distances, the length of a cache line and settings of the kernel that
 * move memory, as META definitions; and, as a file of the trace, all that hwloc knows of it
 * (caches, cores, nodes), for lstopo and its like: no reader of heurt's depends on it. The first
 * costs a few small files; the second some ms of CPU time, once for each boot of a machine: then it
 * is in the user's cache. It stands on kernel/numa_nodes.h, symbol/kept_file.h and hwloc. */
#ifndef HEURT_RECORDER_MACHINE_FILE_H
#define HEURT_RECORDER_MACHINE_FILE_H

#include "format/writer.h"

void machine_file__describe(struct trace_writer *writer);
/* Into the directory of the trace; a machine that hwloc does not understand has none. */
void machine_file__keep(const char *directory);
/* Several of them. */
bool machine_file__has_nodes(void);

#endif
