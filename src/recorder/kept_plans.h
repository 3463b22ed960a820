/* kept_plans.h: plans that were made in this session, for processes that map the same files again:
 * what takes long of a program that starts a thousand times is found out once.
 *
 * In go the files of a process as it has them mapped, and a plan for them; out comes that plan,
 * moved to where another process has the same files. To find it costs a look at each file, to move
 * it one step for each function. It stands on plan.h and kept_file.h. Who has it is one thread. */
#ifndef HEURT_RECORDER_KEPT_PLANS_H
#define HEURT_RECORDER_KEPT_PLANS_H

#include "patch/plan.h"

struct kept_plans {
    struct vec items; /* struct kept_plan */
    unsigned uses;
    struct vec wanted; /* char: what the plan that was looked for last is kept by; empty: nothing */
};

void kept_plans__start(struct kept_plans *kept);
void kept_plans__free(struct kept_plans *kept);

/* The plan for these modules, which belongs to kept, or NULL. what: all else that makes plans
 * differ in this session. */
struct plan *kept_plans__find(struct kept_plans *kept, uint64_t what,
                              const struct trace_module *modules, size_t count);
/* Takes the plan that was made for what was just looked for; it stays until the next one is. */
void kept_plans__keep(struct kept_plans *kept, struct plan *plan);

#endif
