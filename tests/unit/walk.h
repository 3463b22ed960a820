/* walk.h: reads every byte that a trace or its symbols give to their readers. */
#ifndef HEURT_TESTS_WALK_H
#define HEURT_TESTS_WALK_H

#include "format/reader.h"
#include "format/symbols.h"

/* What was seen; sum depends on all of it. */
struct walk {
    uint64_t sum;
    uint64_t events; /* by the threads' cursors; the merge gives as many, which is asserted */
};

struct walk walk_trace(const struct trace *trace);
uint64_t walk_symbols(const struct symbols *symbols, uint32_t process, uint64_t address);

#endif
