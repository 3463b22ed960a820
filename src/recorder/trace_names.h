/* trace_names.h: the names of a trace's addresses, looked up on the machine where it was recorded.
 *
 * In goes a trace, out come names. What it costs is told by symbol/resolve.h, on which it stands,
 * less what the user's cache of names knows. */
#ifndef HEURT_RECORDER_TRACE_NAMES_H
#define HEURT_RECORDER_TRACE_NAMES_H

#include "format/reader.h"
#include "format/symbols.h"

/* 0, or a negative errno with a sentence. */
int trace_names__find(const struct trace *trace, struct symbols **symbols, struct error *error);
/* Finds them and keeps them in the trace, so that a report can be made anywhere. */
int trace_names__keep(const struct trace *trace, const char *directory, struct error *error);

#endif
