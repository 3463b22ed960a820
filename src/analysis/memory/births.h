/* births.h: which call of the program's own code has asked for an object: where its allocator is
 * called by a library, by templates of C++, or by a wrapper of the program (xmalloc), the call of
 * that. By the stacks that were taken as objects were allocated.
 *
 * It costs a look at a stack for each allocation. It stands on format/allocations.h and
 * callsite/program_frame.h. */
#ifndef HEURT_ANALYSIS_MEMORY_BIRTHS_H
#define HEURT_ANALYSIS_MEMORY_BIRTHS_H

#include "format/allocations.h"
#include "format/symbols.h"

/* Sets where each of them was born. symbols: NULL is allowed, then nothing is known. */
void births__find(struct allocations *allocations, const struct trace *trace,
                  const struct symbols *symbols);

#endif
