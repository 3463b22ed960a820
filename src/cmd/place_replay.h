/* place_replay.h: the samples of a trace as accesses on a described machine, and what policies of
 * placement would bring there.
 *
 * In goes what was asked for, out come a screen or data and an exit status. It stands on
 * place/place_simulation.h and the samples of analysis/memory/memory_use.h. */
#ifndef HEURT_CMD_PLACE_REPLAY_H
#define HEURT_CMD_PLACE_REPLAY_H

#include "base/vec.h"

#include <stdint.h>

enum place_format { PLACE_TEXT, PLACE_JSON, PLACE_CSV };

struct place_replay {
    const char *directory; /* the trace; NULL: none is asked for */
    const char *machine;   /* file; NULL: that of the trace */
    struct vec set;        /* const char *: thresholds, "name=value" */
    uint64_t interval_ns;  /* between decisions; 0: as usual */
    uint64_t width;
    enum place_format format;
};

int place_replay__show(const struct place_replay *replay);
/* All thresholds, with what set makes of them. */
int place_replay__show_thresholds(const struct place_replay *replay);

#endif
