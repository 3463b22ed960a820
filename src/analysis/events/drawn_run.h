/* drawn_run.h: windows drawn from a run, joined to a shorter run that is like it.
 *
 * The run is cut into equal parts, and in each a window of one length is drawn. What threads did in
 * the windows is kept. Of what they did in the gaps between them only what makes a difference
 * behind it is, and takes no time: which functions and waits they left and entered, which locks
 * they released and acquired, who began, ended, joined, signalled first.
 *
 *     run       |----[==]-------[==]----|--[==]---
 *     windows        |==|       |==|       |==|
 *     drawn run |'==''==''==''|           ': what is kept of a gap, a tick for each event
 *
 * So a lock that a thread had at the end of one window is given back, and one that it has at the
 * beginning of the next is taken; a wait that spans both is one wait. Nobody waits at a seam who
 * did not wait there in the run.
 *
 * In goes a trace, out comes another one, of the same threads and processes, and where a tick of
 * the one is in the other. One walk over the trace, on all CPUs. Memory: the events in the windows,
 * 16 bytes each and more. It stands on format/excerpt.h and analysis.h. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_DRAWN_RUN_H
#define HEURT_ANALYSIS_EVENTS_DRAWN_RUN_H

#include "analysis/analysis.h"
#include "format/reader.h"

struct drawn_run;

/* Its options: how much of the run's time is in windows (double), 0 … 1. Its result is the drawn
 * run. */
extern const struct analysis drawn_analysis;

void drawn_run__free(struct drawn_run *run); /* NULL is allowed */

/* Its trace will be asked for no more events. */
void drawn_run__empty(struct drawn_run *run);

/* Lives as long as the drawn run, and no longer than the trace. */
const struct trace *drawn_run__trace(const struct drawn_run *run);

/* Where a tick is in the drawn run. False: no event of that tick is in it. */
bool drawn_run__tick(const struct drawn_run *run, uint64_t tick, uint64_t *drawn);
/* The first tick from that one on of which an event may be in the drawn run. A call that begins
 * before it ends before it, too. */
uint64_t drawn_run__next_tick(const struct drawn_run *run, uint64_t tick);

#endif
