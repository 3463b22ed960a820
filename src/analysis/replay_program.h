/* replay_program.h: a trace as rows of operations that can be replayed, and what changes do to
 * them.
 *
 * From each thread's events, its time on a CPU (what recording costs taken off, what the kernel's
 * records tell as waiting for a CPU left out: the replay finds that anew) and what it did to
 * others.  Conditions, futexes, creation and joins become tokens: the wait that was ended by a
 * signal waits for that signal.  Locks, semaphores and barriers are simulated.  What nobody else
 * could have ended (I/O, sleep, time-outs, page faults) stays as long as it was.
 *
 * Rows are kept in memory up to REPLAY_KEPT_OPS; above, each replay reads the trace anew. For
 * analysis/ only. */
#ifndef HEURT_ANALYSIS_REPLAY_PROGRAM_H
#define HEURT_ANALYSIS_REPLAY_PROGRAM_H

#include "analysis/replay.h"
#include "analysis/whatif.h"

#define REPLAY_KEPT_OPS (64u << 20) /* 1 GiB */

struct replay_program;

int replay_program__make(const struct trace *trace, const struct profile *profile,
                         struct replay_program **program, struct error *error);
void replay_program__free(struct replay_program *program);

/* The model for it, CPUs of the recording machine. Belongs to the program. */
const struct replay_model *replay_program__model(const struct replay_program *program);

/* The operations with these changes (none: NULL, 0). Close it after the replay. model: as changed
 * (more locks, other threads). */
struct replay_source *replay_program__open(const struct replay_program *program,
                                           const struct change *changes, size_t count,
                                           struct replay_model *model, struct error *error);
void replay_program__close(struct replay_source *source);

#endif
