/* safe_point.h: whether a stopped thread may be led into a call of the loader: it holds no lock of
 * the loader's or of an allocator's, and runs no signal handler.
 *
 * It may when it waits in a system call, or runs code that is not the C library's, and no call on
 * its stack came from within these. What is on the stack is taken for such a call when it looks
 * like one: it errs on the side of refusing, and another thread or moment is tried. */
#ifndef HEURT_RECORDER_SAFE_POINT_H
#define HEURT_RECORDER_SAFE_POINT_H

#include "kernel/stop.h"
#include "recorder/remote_image.h"

bool safe_point__is(const struct stop *stop, const struct stopped_thread *thread,
                    const struct remote_image *image);

/* Whether there is room below its stack pointer for such a call. */
bool safe_point__has_room(const struct stopped_thread *thread, const struct remote_image *image);

/* Whether the thread is in the middle of the library's own work: executes it, or a signal handler
 * has interrupted it there. One that waits in a call that it made through it is not. */
bool safe_point__is_within_library(const struct stop *stop, const struct stopped_thread *thread,
                                   const struct remote_image *image);

#endif
