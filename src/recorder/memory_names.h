/* memory_names.h: what sampled instructions access and what allocations give, as the source names
 * it, put into the trace's names.
 *
 * In go a trace and the names that were found of it, out come entries of symbols.h by instruction
 * and by call. It costs at most 2,000 instructions, those that threads lost most time at, and for
 * all of it 100 ms of CPU time beside the opening of files. It stands on patch/field_access.h. */
#ifndef HEURT_RECORDER_MEMORY_NAMES_H
#define HEURT_RECORDER_MEMORY_NAMES_H

#include "format/reader.h"
#include "format/symbols.h"

/* every: of all instructions that were sampled at memory, not only of those at lines that several
 * threads use. */
void memory_names__find(const struct trace *trace, struct symbols *symbols, bool every);

#endif
