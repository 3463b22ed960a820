/* usage.h: what a run took of the machine, as its trace tells it: the command, heurt, and everybody
 * else.
 *
 * In goes what the kernel counted of the command, out come figures of the session. It costs two
 * reads of /proc/stat. It stands on kernel/machine_time.h. */
#ifndef HEURT_RECORDER_USAGE_H
#define HEURT_RECORDER_USAGE_H

#include "format/writer.h"

#include <sys/resource.h>

/* CPU time when the command began. */
struct usage_before {
    uint64_t own_ns;    /* of this process */
    uint64_t others_ns; /* of everybody else; UINT64_MAX: it is not told */
};

struct usage_before usage__begin(void);
/* Writes into the trace what was used since. command: of the command, which has ended. */
void usage__keep(const struct usage_before *before, const struct rusage *command,
                 struct trace_writer *writer);
/* In place of that, where others went on when the command had ended: what these used is not told.
 */
void usage__keep_of_background(const struct usage_before *before, struct trace_writer *writer);

#endif
