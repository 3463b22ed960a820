/* planner.h: the recorder's side of the plan socket. A recorded process says which modules it has
 * mapped; it is told which of their functions to patch and how. */
#ifndef HEURT_RECORDER_PLANNER_H
#define HEURT_RECORDER_PLANNER_H

#include "base/error.h"
#include "base/map.h"
#include "format/writer.h"
#include "patch/plan.h"
#include "recorder/kept_plans.h"

/* What stood where a process was told to write a jump. */
struct given_patch {
    uint32_t process;
    uint64_t address; /* of the function */
    uint8_t skip;
    uint8_t original[HEURT_PATCH_BYTES];
};

struct planner {
    int fd;     /* listening: for poll(2); -1: none */
    char *path; /* of the socket */
    struct vec
        waiting; /* int: connections of this user's processes, the first one is at its turn */
    int done;    /* eventfd: the plan is made */
    const char *library; /* the runtime's file, which processes of the session have mapped */
    const struct plan_request *request;
    struct kept_plans kept;
    unsigned answers;     /* given so far */
    struct vec unmatched; /* struct unmatched: what some of them did not find */
    struct vec paths;     /* char *: of the modules that they searched, each once */
    bool is_chosen;       /* the functions were chosen by heurt: nobody asked that each be found */
    struct vec choices;   /* size_t: how many of the request's functions there were after each time
                             that live__start was told of more */
    struct map taken;     /* see planner__takes */
    bool remembers;   /* keep given: patches may have to be taken away (recorder/live_patch.h) */
    struct vec given; /* struct given_patch */
};

/* Listens in the directory of the trace, which nobody else can enter. request is kept, not copied.
 */
int planner__open(struct planner *planner, const char *directory,
                  const struct plan_request *request, struct error *error);
void planner__close(struct planner *planner); /* stops listening */

/* Answers the connections that are waiting; refusals go into the trace. Never fails: a process that
 * asks wrongly or goes away is left without an answer, which its runtime notes. Returns 0, or a
 * negative errno with a sentence when no plan could be made. */
int planner__answer(struct planner *planner, struct trace_writer *writer, struct error *error);

/* Whether nobody has planned the functions of that choice (index in choices) for that module of
 * that process image yet; from now on somebody has: where functions are patched live
 * (recorder/live_patch.h), too, each module gets one plan of each. */
bool planner__takes(struct planner *planner, uint32_t process, const struct trace_module *module,
                    size_t selection);

/* Writes what no plan of the whole run could find into the trace, as refusals, and says the first
 * ones (say NULL: nothing); frees the rest. */
void planner__finish(struct planner *planner, struct trace_writer *writer,
                     void (*say)(const char *format, ...));

#endif
