/* resolve.h: from addresses and stack snapshots to functions, lines and frames, by libdw.
 * Runs on the machine of the recording, after the run.
 *
 * In goes a trace, out come all names that a reader may ask for. It costs one pass over the events
 * for their addresses and snapshots, and one look-up for each address. It stands on lookup.h,
 * unwind.h and stack_objects.h. One thread at a time. */
#ifndef HEURT_SYMBOL_RESOLVE_H
#define HEURT_SYMBOL_RESOLVE_H

#include "base/error.h"
#include "format/reader.h"
#include "format/symbols.h"

/* Looks up every address that the trace's readers will ask for: call sites, patched functions,
 * thread start routines, and the frames of every STACK event (unwound here), for all process
 * images.  A module whose file is gone or has another build-id gets a warning and module+offset.
 * cache: the directory where names are kept by build-id from run to run, or NULL. */
int symbols__resolve(const struct trace *trace, const char *cache, struct symbols **symbols,
                     struct error *error);

#endif
