/* live_selection.h: what record decides while the program runs. Without -f: samples the program
 * and patches the functions that take its time (recorder/selection.h chooses,
 * recorder/live_patch.h patches), again when others do. With a budget: takes away patches that cost
 * too much. */
#ifndef HEURT_RECORDER_LIVE_SELECTION_H
#define HEURT_RECORDER_LIVE_SELECTION_H

#include "recorder/planner.h"
#include "recorder/stop_log.h"

#include <sys/types.h>

struct automatic;

/* directory NULL: nothing is patched, the program is only sampled. All are kept, not copied; the
 * chosen functions are added to request, which is the planner's. after_ns 0: nothing is to be
 * chosen. follows: functions that are entered once or never after they were patched are followed
 * inwards, into their loops. say gets sentences for the user, formatted as by printf. */
struct automatic *automatic__new(const char *directory, struct plan_request *request,
                                 struct planner *planner, struct trace_writer *writer,
                                 uint64_t after_ns, bool follows,
                                 void (*say)(const char *format, ...));
void automatic__free(struct automatic *automatic); /* NULL is allowed */

/* Before the waiting child's exec. Says why when nothing can be sampled: then the program is
 * recorded without. */
void automatic__attach(struct automatic *automatic, pid_t pid);

/* Likewise; is told of each stop of a process, kept, not copied. */
void automatic__tell_stops(struct automatic *automatic, struct stop_log *stops);

/* Does what is to be done now, in the recorder's loop. Returns how many ms may pass until it is
 * called again. */
int automatic__look(struct automatic *automatic);

/* When the program has ended: says what it did not come to, unless quiet. */
void automatic__conclude(struct automatic *automatic, const char *program, bool quiet);

#endif
