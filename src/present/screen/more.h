/* more.h: what one iteration or occurrence took more than another, in words. Private to this room.
 */
#ifndef HEURT_PRESENT_SCREEN_MORE_H
#define HEURT_PRESENT_SCREEN_MORE_H

#include "present/shared.h"

/* "+5.90 ms", "-17 ns", "0 ns" into a buffer of MORE_BYTES; returns it. */
#define MORE_BYTES 20
char *more__format(int64_t ns, char buffer[MORE_BYTES]);
/* "lock, runnable": the components that make most of a difference, the largest first; "" when there
 * is none. free() it. */
char *more__components(const int64_t more_ns[COMPONENTS]);
/* "compute solver.c:88"; of a hooked call "pthread_mutex_lock queue.lock, in push queue.c:12".
 * free() it. */
char *call__text(const struct report *report, const struct class_definition *what);

#endif
