/* run_part.h: a part of a run, by time, as a trace that all analyses read as if it were the run.
 *
 * What threads did before it and have not undone stands at its beginning: who they are, which locks
 * they have, which wait they are in, what was initialised. A wait for others that goes on at its
 * end is given up there. So waits are cut at both bounds, and every moment of the part is in what
 * its thread did then. A function that was entered before, or is left later, is no occurrence: what
 * is left of it could be compared with no whole one. Nor are calls, as sleep and I/O.
 *
 *     run       ---[ wait ]-----[ function ]------[ wait ]---
 *     part            |.]------------------]------[.|
 *
 * In goes a trace with its events, out comes another one (format/part.h). One walk over the trace,
 * on all CPUs. Memory: locks that are held, and objects. It stands on format/part.h, analysis.h and
 * sync/open_waits.h. For analysis/ and cmd/. */
#ifndef HEURT_ANALYSIS_EVENTS_RUN_PART_H
#define HEURT_ANALYSIS_EVENTS_RUN_PART_H

#include "analysis/analysis.h"

/* Ticks, both of which are in it. from_tick < to_tick. */
struct part_bounds {
    uint64_t from_tick, to_tick;
};

/* Its options: struct part_bounds. Its result: a struct trace, which trace__close_part frees and
 * which lives no longer than the run's trace. */
extern const struct analysis part_analysis;

#endif
