/* background.h: a program that goes into the background: what was started ends, and processes of
 * the same program go on in a session of their own, as daemons do.
 *
 *     background__begin     whether any do
 *     background__is_over   until they have ended, or a signal ends the recording
 *     background__end
 *
 * In go the program's file and the trace, out comes how many such processes record into it. A look
 * costs a name in /proc for each process of the machine, twice a second. It stands on base/clock.h.
 * One at a time, for the thread that started the program. */
#ifndef HEURT_CMD_BACKGROUND_H
#define HEURT_CMD_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct background {
    const char *program, *trace;
    size_t processes; /* that went on when it was looked last */
    uint64_t next_ns; /* private: when it is looked again; CLOCK_MONOTONIC */
    unsigned empty;   /* likewise: looks in a row that found none */
};

/* Who was only just left behind has some time to open a session, in which wait is called again and
 * again: it serves the processes, for so many ms. is_alone: no process of the program but the first
 * was seen until now; only younger processes than this one are looked at then. Where processes go
 * on, SIGINT, SIGTERM, SIGHUP and SIGQUIT end the recording from here on, as far as this process
 * was not told to ignore them. Both names must outlive it. */
bool background__begin(const char *program, const char *trace, bool is_alone,
                       void (*wait)(void *context, int ms), void *context,
                       struct background *background);
bool background__is_over(struct background *background);
/* After a background__begin that was true. */
void background__end(void);

#endif
