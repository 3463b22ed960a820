/* instruction_count.h: whether threads may count their retired instructions themselves
 * (src/runtime/instructions.c). */
#ifndef HEURT_KERNEL_INSTRUCTION_COUNT_H
#define HEURT_KERNEL_INSTRUCTION_COUNT_H

#include "base/error.h"

/* Opens and maps a counter as a recorded thread does, and undoes it. The error says in one sentence
 * why it does not work, and what would allow it. */
int instructions__try(struct error *error);

#endif
