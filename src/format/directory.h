/* directory.h: the directory that a trace lives in: made, and an older trace moved out of its way.
 * Nothing is ever removed that does not look like a trace of heurt.
 *
 * In goes a path, out comes an empty directory of the caller's own, or a sentence about why there
 * is none. It costs a few system calls, and stands on layout.h for the names of a trace's files. */
#ifndef HEURT_FORMAT_DIRECTORY_H
#define HEURT_FORMAT_DIRECTORY_H

#include "base/error.h"
#include "format/layout.h"

#include <stdbool.h>

/* The packed events while they are being written; then they get the name of the others. */
#define TRACE_NEW_EVENTS_FILE HEURT_EVENTS_FILE ".new"

/* Makes the directory, empty, for a new trace. A trace that stands there becomes path.old; an
 * older path.old is removed. An existing empty directory is used as it is. *moved tells whether an
 * older trace was moved. */
int trace_directory__make(const char *path, bool *moved, struct error *error);

/* Takes back what make did, after a failure: removes the new trace, moves the older one back. */
void trace_directory__unmake(const char *path, bool moved);

/* Whether path leads to a file of the trace, under whatever name. */
bool trace_directory__holds(const char *directory, const char *path);

/* Windows are traces of parts of a run in the directory of its trace, numbered from 1. free() the
 * path. The last one's number is 0 where there is none; keep_windows removes the trace itself. */
char *trace_directory__window(const char *directory, unsigned number);
unsigned trace_directory__last_window(const char *directory);
void trace_directory__remove_window(const char *directory, unsigned number);
void trace_directory__keep_windows(const char *directory);

/* Fills error with a sentence about code (a positive errno) that came up while the trace at path
 * was made; returns -code. */
int trace_directory__failed(struct error *error, int code, const char *path);

#endif
