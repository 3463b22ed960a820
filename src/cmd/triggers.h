/* triggers.h: what makes a ring's content worth keeping: a signal, the program's end, or something
 * that took too long.
 *
 *     SIGUSR2   exit   crash   lock wait > 10ms   class(handle).duration > 50ms
 *
 * In go their texts, and what was recorded lately; out comes which one has come. A look at what
 * took long costs a walk over the events since the last one. It stands on condition.h and
 * analysis/events/slow_spans.h. */
#ifndef HEURT_CMD_TRIGGERS_H
#define HEURT_CMD_TRIGGERS_H

#include "base/error.h"
#include "base/vec.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct triggers {
    struct vec wishes; /* struct slow_wish */
    struct vec texts;  /* char *: names of these; owned */
    int signal_number; /* 0: none */
    bool at_exit, at_crash;
    struct vec open;       /* struct open_wish: at seen_tick */
    uint64_t seen_tick;    /* what happened until then is known */
    uint64_t last_look_ns; /* CLOCK_MONOTONIC */
};

/* texts: const char *. 0, or a negative errno with a sentence. */
int triggers__parse(struct triggers *triggers, const struct vec *texts, struct error *error);
void triggers__free(struct triggers *triggers);
/* "SIGUSR1", "USR1" or "10"; 0: it is no signal that a process may be given. */
int signal__parse(const char *text);

/* Whether something has taken too long since the last look; what, as a sentence; free() it. NULL:
 * nothing did, or it is too early to look again. */
char *triggers__look(struct triggers *triggers, const struct trace_writer *writer,
                     struct heurt_clock_pair start, struct heurt_clock_pair now);

#endif
