/* progress.h: a line on a terminal that says how far something is.
 *
 * In goes what is done, out comes a line on stderr that is written over and over, and in the end is
 * gone. Nothing is shown before a second has passed, nor where stderr is no terminal. It costs a
 * look at the clock. It stands on base/clock.h. */
#ifndef HEURT_CMD_PROGRESS_H
#define HEURT_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool wanted, shown;
    uint64_t started_ns, next_ns; /* CLOCK_MONOTONIC */
};

struct progress progress__start(bool wanted);
/* Whether the line is to be written anew. */
bool progress__is_due(struct progress *progress);
double progress__seconds(const struct progress *progress);
void progress__put(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress__end(struct progress *progress);

#endif
