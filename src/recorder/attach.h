/* attach.h: a process that runs already is recorded, and is left as it was.
 *
 *     attach__enter(&attach, &error)   its calls are taken from now on
 *     attach__follow(&attach)          from time to time: modules that were loaded since
 *     attach__leave(&attach, &error)   they are given back, all of the trace is unmapped
 *
 * heurt's library is opened in it by a thread that stands where it holds no lock
 * (recorder/safe_point.h), with a call that looks like a signal (kernel/remote_call.h); all others
 * go on. It is not closed again, and used by the next recording. If this process dies at any moment
 * the other one goes on, and the next who attaches tidies up. */
#ifndef HEURT_RECORDER_ATTACH_H
#define HEURT_RECORDER_ATTACH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach {
    pid_t pid;
    const char *library;     /* heurt's, for such processes */
    const char *directory;   /* of the trace, absolute */
    uint64_t enter_ns;       /* for which a thread stood still; told by attach__enter */
    uint64_t leave_ns;       /* likewise, all of them; told by attach__leave */
    uint32_t slots, modules; /* places of calls that were taken, and in how many modules */
    size_t code_files;       /* private: as many as there were at the last look */
    bool is_left_behind; /* memory of the recording is still mapped: a thread was at work in it */
};

/* Before a trace is made for it: whether it can be entered. 0, or a negative errno with a sentence.
 */
int attach__check(pid_t pid, const char *library, struct error *error);

/* 0, or a negative errno with a sentence; the process is as it was then. */
int attach__enter(struct attach *attach, struct error *error);

void attach__follow(struct attach *attach);

/* 0, also when it has ended; or a negative errno with a sentence: it passes calls on still, and the
 * next attach tidies up. */
int attach__leave(struct attach *attach, struct error *error);

#endif
