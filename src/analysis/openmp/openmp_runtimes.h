/* openmp_runtimes.h: which runtimes of OpenMP have threads in a program, and whether any was told
 * to be in a parallel region: one that is linked into the program, or that no tool is told by, has
 * threads alone. Not thread-safe. */
#ifndef HEURT_ANALYSIS_OPENMP_OPENMP_RUNTIMES_H
#define HEURT_ANALYSIS_OPENMP_OPENMP_RUNTIMES_H

#include "analysis/openmp/openmp.h"
#include "format/reader.h"
#include "format/symbols.h"

struct openmp_runtime {
    const char *path;  /* of the file that it is in: of the trace's */
    bool is_linked_in; /* into a file that is none of a runtime's */
    bool is_known;     /* its calls, or what it tells tools, are what heurt knows */
    uint64_t threads;  /* that it started */
    uint64_t told;     /* of these, in parallel regions */
};

/* Whether a file of that path is a runtime. */
bool openmp_runtime__is(const char *path);
/* struct openmp_runtime, in the order of their first threads; vec__free it. symbols, use: NULL is
 * allowed. */
struct vec openmp_runtimes__of(const struct trace *trace, const struct symbols *symbols,
                               const struct openmp_use *use);

#endif
