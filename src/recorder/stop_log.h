/* stop_log.h: when processes were stopped to be patched. A thread that goes off its CPU then does
 * so for the recorder, and the kernel's records do not tell. The last STOPS_KEPT stops are known.
 * Any thread may call at any time. */
#ifndef HEURT_RECORDER_STOP_LOG_H
#define HEURT_RECORDER_STOP_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define STOPS_KEPT 256

struct stop_log;

/* clock: of the kernel's records. */
struct stop_log *stop_log__new(clockid_t clock);
void stop_log__free(struct stop_log *log); /* NULL is allowed */

/* One process at a time. log: NULL is allowed. */
void stop_log__begins(struct stop_log *log, uint32_t pid);
void stop_log__ended(struct stop_log *log);

/* Whether the process was being stopped, or stood still, at ns. NULL: never. */
bool stop_log__covers(struct stop_log *log, uint32_t pid, uint64_t ns);

#endif
