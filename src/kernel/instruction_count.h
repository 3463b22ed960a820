/* instruction_count.h: whether threads may count their retired instructions themselves
 * (src/runtime/instructions.c).
 *
 * In goes nothing, out comes whether it works, or why not. It costs a few system calls, and stands
 * on perf_event_open(2). */
#ifndef HEURT_KERNEL_INSTRUCTION_COUNT_H
#define HEURT_KERNEL_INSTRUCTION_COUNT_H

#include "base/error.h"

/* Opens and maps a counter as a recorded thread does, and undoes it. The error says in one sentence
 * why it does not work, and what would allow it. */
int instructions__try(struct error *error);

#endif
