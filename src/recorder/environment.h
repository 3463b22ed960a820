/* environment.h: what makes a program recorded: the runtime in LD_PRELOAD, and where the trace is.
 */
#ifndef HEURT_RECORDER_ENVIRONMENT_H
#define HEURT_RECORDER_ENVIRONMENT_H

#include "symbol/binary.h"

/* heurt's own environment, then what makes the program recorded; environment__free it. trace: its
 * directory. */
char **environment__make(const char *library, const struct binary *binary, const char *trace);
void environment__free(char **environment); /* may be NULL */

#endif
