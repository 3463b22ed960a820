/* replay_program.h: a trace as rows of operations that can be replayed, and what changes do to
 * them.
 *
 * From each thread's events, its time on a CPU (what recording costs taken off, what the kernel's
 * records tell as waiting for a CPU left out: the replay finds that anew) and what it did to
 * others.  Conditions, futexes, creation, joins and what is read from pipes, sockets and eventfds
 * become tokens: the wait that was ended by a signal waits for that signal.  Locks, semaphores and
 * barriers are simulated.  What nobody else could have ended (disk, sleep, time-outs, page faults)
 * stays as long as it was.
 *
 * The program ends with the last thread that ended by itself; others, which its end ended, do not
 * prolong it.  A thread that was told to end by who joins it then, as it seems, ends when that one
 * is there: it does no more until then than it did in the run, but perhaps less.
 *
 * What is not in a trace, a replay does not know: that a consumer which came late and so did not
 * wait needed its producer, what a spin lock of the program's own waits for, that memory is slower
 * when more threads use it.
 *
 * Rows are kept in memory, 16 bytes an operation. For analysis/ only. */
#ifndef HEURT_ANALYSIS_REPLAY_REPLAY_PROGRAM_H
#define HEURT_ANALYSIS_REPLAY_REPLAY_PROGRAM_H

#include "analysis/events/drawn_run.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/whatif.h"

#define REPLAY_KEPT_OPS (64u << 20) /* 1 GiB; a trace that needs more is refused */

struct replay_program;

/* Fails with -E2BIG when there are more operations than are kept. profile and drawn are kept, not
 * copied. drawn: what is replayed of the profile's trace; NULL: all of it. */
int replay_program__make(const struct trace *trace, const struct profile *profile,
                         const struct drawn_run *drawn, struct replay_program **program,
                         struct error *error);
void replay_program__free(struct replay_program *program); /* NULL is allowed */

/* The model for it, CPUs of the recording machine. Belongs to the program. */
const struct replay_model *replay_program__model(const struct replay_program *program);

/* The address, process and kind of the model's object. */
void replay_program__object(const struct replay_program *program, uint32_t object,
                            struct whatif_object *what);
uint64_t replay_program__ops(const struct replay_program *program);
/* How many threads run until they are told to end, as it seems. */
uint32_t replay_program__told(const struct replay_program *program);
/* Whether threads are in parallel regions of OpenMP. */
bool replay_program__has_regions(const struct replay_program *program);

/* Whether what recording cost is work of the program. */
enum replay_costs { REPLAY_COSTS_LEFT_OUT, REPLAY_COSTS_KEPT };

/* The operations with these changes (none: NULL, 0). Close it after the replay. model: as changed
 * (more locks, other threads); the first objects are those of the program's. NULL: with a sentence,
 * why not. */
struct replay_source *replay_program__open(const struct replay_program *program,
                                           const struct change *changes, size_t count,
                                           enum replay_costs costs, struct replay_model *model,
                                           struct error *error);
/* How many threads do anything in it: peers that are dealt out to fewer have nothing left. */
uint32_t replay_program__threads(const struct replay_source *source);
void replay_program__close(struct replay_source *source); /* NULL is allowed */

#endif
