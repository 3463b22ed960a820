/* start.h: a process image's record begins, and, where another one may follow, is forgotten. */
#ifndef HEURT_RUNTIME_START_H
#define HEURT_RUNTIME_START_H

#include <stdbool.h>

/* Joins the session of the trace in that directory; late: threads of the program run already.
 * False: it is not there, not this user's, has ended, or there is no memory. */
bool image__begin(const char *directory, bool late);

/* All that is known of the session that has ended, but for memory that is used again. Nobody else
 * may be at work. */
void image__forget(void);

#endif
