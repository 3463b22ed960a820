/* traced_structure.h: how fast the structure of a trace is found. */
#ifndef HEURT_BENCH_TRACED_STRUCTURE_H
#define HEURT_BENCH_TRACED_STRUCTURE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct traced_structure {
    double cpu_s;        /* of opening the trace and structure__compute */
    double memory_bytes; /* anonymous, that the process has more afterwards than before */
    uint64_t events;
    uint64_t shapes;
};

/* Writes a trace of about so many events to the directory, has it looked at in a process of its
 * own, runs times, and removes it.  The time is the median.  The program: iterations of which an
 * inner loop converges sooner or later, and one in a hundred saves. */
int traced_structure__measure(const char *directory, uint64_t events, size_t runs,
                              struct traced_structure *measured, struct error *error);

#endif
