/* pack.h: a finished trace is packed: a new file of the same chunks, compressed, takes the place of
 * the one that was recorded.  Readers find no difference but the size.
 *
 * In goes the directory of a trace that has ended, out comes the same trace in fewer bytes. It
 * costs one walk over all events on all CPUs, less what was packed ahead, and memory for a few
 * blocks a CPU. It stands on block.h and directory.h. */
#ifndef HEURT_FORMAT_PACK_H
#define HEURT_FORMAT_PACK_H

#include "base/error.h"

#include <stdint.h>

/* What became of the trace. */
enum pack_outcome {
    PACK_DONE,
    PACK_NOT_WORTHWHILE, /* it is small, or would not become smaller: it stays as it was */
    PACK_IN_USE,         /* a recorded process still has it open, or a recorder: likewise */
    PACK_DAMAGED,        /* its chunks cannot be told apart: likewise */
};

/* Told now and then how much has been packed; may be NULL. */
typedef void pack_progress(void *context, uint64_t done_bytes, uint64_t all_bytes);

struct pack_ahead;

struct pack_options {
    uint64_t least_bytes; /* a smaller file stays as it is */
    unsigned threads;     /* 0: as many as there are processors for us */
    pack_progress *progress;
    void *context;            /* for progress */
    struct pack_ahead *ahead; /* what was packed of it while it was recorded, or NULL */
};

/* A thread that packs what is finished of the trace in directory while it is
 * recorded, into a file beside it that no reader looks at, while nobody else wants its CPU. It uses
 * no room that the trace may still need, and a few MB of memory. NULL: there is none. */
struct pack_ahead *pack_ahead__start(const char *directory);
/* Ends that, and removes its file unless trace__pack has used it. NULL is allowed. */
void pack_ahead__free(struct pack_ahead *ahead);

#define PACK_LEAST_BYTES (1u << 20) /* what is below is not worth the time */

/* Packs the trace in directory, which nobody writes any more.  Whenever this is killed, and when it
 * fails, the trace is there, whole, in one form or the other. The outcome of a packed trace is
 * PACK_DONE. */
int trace__pack(const char *directory, const struct pack_options *options,
                enum pack_outcome *outcome, struct error *error);

#endif
