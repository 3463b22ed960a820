/* losses.h: why events of a run were lost.
 *
 * In goes a trace that has ended, out comes a sentence. It costs a look at the notes of its
 * processes. */
#ifndef HEURT_RECORDER_LOSSES_H
#define HEURT_RECORDER_LOSSES_H

#include "format/reader.h"

/* bytes: of the trace's file; asked_bytes: the bound that the user set. */
const char *losses__reason(const struct trace *trace, uint64_t bytes, uint64_t asked_bytes);

#endif
