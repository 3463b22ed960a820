/* repeat.h: a set of runs for heurt compare: DIR.1 … DIR.N.
 *
 * In goes who makes one, out come N traces, each made in a process of its own, as a recording is
 * made once in a process. It stands on libc. One set at a time. */
#ifndef HEURT_CMD_REPEAT_H
#define HEURT_CMD_REPEAT_H

#include <stdint.h>

/* once: makes the one of that directory, and returns the exit status or does not return. Nothing
 * is made where older traces would be taken for some of this set. After the first run that does not
 * end well no more are made; *wait_status: of the last run. Returns 0, or the exit status after a
 * sentence. */
int repeat__run(const char *directory, uint64_t count,
                int (*once)(void *subject, const char *directory), void *subject, int *wait_status);

#endif
