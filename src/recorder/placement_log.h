/* placement_log.h: on which NUMA node the memory is that samples named, and from which node it was
 * accessed, written into the trace while the program runs.
 *
 * In go samples at known addresses with the CPU that each was taken on, out come PLACED and PAGES
 * definitions. A page is asked for when samples of it are written (some 20 ms later at most), and
 * all that are known again now and then, so often that it takes a fiftieth of a CPU
 * at most: that tells of pages that move. On a machine of one node nothing is done. It stands on
 * kernel/page_nodes.h. One thread at a time. */
#ifndef HEURT_RECORDER_PLACEMENT_LOG_H
#define HEURT_RECORDER_PLACEMENT_LOG_H

#include "format/writer.h"

struct placement_log;

/* NULL: the machine has one node, or does not tell. writer is kept, not copied. */
struct placement_log *placement_log__new(struct trace_writer *writer);
void placement_log__free(struct placement_log *log); /* these three allow NULL */
void placement_log__take(struct placement_log *log, const struct heurt_sample *sample,
                         uint32_t cpu);
/* Asks and writes. */
void placement_log__flush(struct placement_log *log);

#endif
