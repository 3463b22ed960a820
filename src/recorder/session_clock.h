/* session_clock.h: the clock that a run's events are stamped by.
 *
 * In goes what the machine tells of its clocks, out comes which one to take, and what it shows now.
 * It costs a read of sysfs, once. */
#ifndef HEURT_RECORDER_SESSION_CLOCK_H
#define HEURT_RECORDER_SESSION_CLOCK_H

#include "format/layout.h"

/* The time-stamp counter where it runs evenly and the kernel itself trusts it; else the system's
 * monotonic clock. */
enum heurt_clock session_clock__choose(void);
/* What both clocks show now. */
struct heurt_clock_pair session_clock__pair(enum heurt_clock clock);

#endif
