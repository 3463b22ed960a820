/* live_patch.h: patches functions of the recorded processes while they run, from outside.
 *
 * A process is stopped (kernel/stop.h), the code that the plan asks for is written into the room
 * that its runtime offered (struct heurt_live), then the jump over the function's first bytes. No
 * thread may stand inside of these: one that does is stepped out, and a function whose inside is
 * found on a thread's stack (a signal handler has interrupted it) is left for the next attempt.
 * Function ids are those of the session: HEURT_EVENT_LIVE + 2 n, in every process.
 *
 * Functions of which even the occurrences that are skipped cost more than the budget are unpatched
 * (too_frequent in the session), also those of an ordinary plan.
 *
 * live__look is called from the recorder's loop. Processes that are there are found in the growing
 * trace; those that start later, and libraries that are opened later, get their functions by the
 * ordinary plan (recorder/planner.h). A forked process inherits its parent's patches. */
#ifndef HEURT_RECORDER_LIVE_PATCH_H
#define HEURT_RECORDER_LIVE_PATCH_H

#include "format/writer.h"
#include "patch/plan.h"
#include "patch/plan_loops.h"
#include "recorder/planner.h"
#include "recorder/stop_log.h"

struct live;

/* All are kept, not copied. directory: of the trace. */
struct live *live__new(const char *directory, struct planner *planner, struct trace_writer *writer);
void live__free(struct live *live); /* NULL is allowed */
/* Is told of each stop; kept, not copied. */
void live__tell_stops(struct live *live, struct stop_log *stops);

/* From now on the functions of the planner's request are patched; to be called again when there are
 * more of them. */
void live__start(struct live *live);

/* Follows inwards those of the patched functions that no thread enters a second time: marks their
 * loops in which at least least_ns of the sampled time was spent. places: struct hot_place, taken
 * over; their paths are kept, not copied. Called again, further loops are marked. */
void live__follow_inwards(struct live *live, struct vec places, uint64_t least_ns);

/* Does what is to be done now. Returns how many ms may pass until it is called again. */
int live__look(struct live *live);

/* For tests: takes all patches away, or puts them back. */
void live__set_all(struct live *live, bool patched);

/* The place in the code as it was before for an address in a patch's own code; 0: there is none. */
uint64_t live__original(const struct live *live, uint32_t pid, uint64_t address);

struct live_counts {
    size_t functions; /* that are patched in at least one process */
    size_t processes; /* with at least one patched function */
    size_t waiting;   /* patches that are still to be made or taken away */
    size_t loops;     /* that are marked, in all processes together */
};
struct live_counts live__count(const struct live *live);

/* Why a process could not be patched at all, or NULL: a sentence's end. */
const char *live__trouble(const struct live *live);

#endif
