/* retry_sites.h: which sampled instructions are in loops that try again when a compare-and-swap
 * failed (patch/retry_loop.h), told in the symbols: a report may not have the program's files.
 *
 * Costs one decoding of each function that was sampled. One thread at a time. */
#ifndef HEURT_RECORDER_RETRY_SITES_H
#define HEURT_RECORDER_RETRY_SITES_H

#include "format/reader.h"
#include "format/symbols.h"

void retry_sites__find(const struct trace *trace, struct symbols *symbols);

#endif
