/* recorded_accesses.h: what a processor would have told of accesses, read from a file: for the
 * test of the recorder on machines whose processor tells nothing. The file holds records as the
 * kernel writes them into the rings of memory_events.h' events, and may grow.
 *
 * In go its bytes, out come records. One thread at a time. */
#ifndef HEURT_RECORDER_RECORDED_ACCESSES_H
#define HEURT_RECORDER_RECORDED_ACCESSES_H

#include "kernel/sampling.h"

struct recorded_accesses;

/* NULL: the environment names none. */
struct recorded_accesses *recorded_accesses__open(void);
void recorded_accesses__close(struct recorded_accesses *self); /* these two allow NULL */
/* What has come since the last time. */
void recorded_accesses__drain(struct recorded_accesses *self,
                              void (*each)(const struct record *record, void *context),
                              void *context);

#endif
