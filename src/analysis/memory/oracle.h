/* oracle.h: whether samples tell at which objects a program is: they are held against accesses that
 * were counted, in the same run or in another one of the same program.
 *
 * Samples are time, counts are accesses, and an access that waits takes a thousand times as long as
 * one that does not: the two are not alike. But which objects one place in the code accesses is
 * asked of both. So the time of each sampled instruction is dealt out to objects once as its
 * samples say and once as the counts of the same line of the source do, reads and writes apart;
 * sums over all instructions are what is compared. A line may have several accesses: each
 * instruction is held against that of them which is most like it (expected), and against all of
 * them together (by_line).
 *
 * In go what was found of both runs and their names, out comes a row an object. It costs the
 * sampled instructions times the counting places. It stands on memory_use.h. */
#ifndef HEURT_ANALYSIS_MEMORY_ORACLE_H
#define HEURT_ANALYSIS_MEMORY_ORACLE_H

#include "analysis/memory/memory_use.h"

struct oracle_row {
    const char *object; /* "sums", "heap, made at main stats.c:20", "stack" */
    double sampled;     /* shares of the time that is judged: as samples say, */
    double expected;    /* and as the counts of each instruction's place say, */
    double by_line;     /* or of its line */
    double counted;     /* share of all accesses */
    double distance;    /* half of what sampled and expected differ by: it adds up */
    double line_distance;
};

struct memory_oracle {
    struct vec rows;      /* struct oracle_row, that of most time first */
    double distance;      /* from 0 to 1: half the L1 distance of sampled and expected */
    double line_distance; /* likewise of by_line */
    uint64_t judged_ns;   /* of the time at known addresses: where accesses are counted, too */
    uint64_t
        unjudged_ns;   /* and where none are: in libraries, at code that was compiled otherwise */
    uint64_t stack_ns; /* and on stacks, at places that count nothing there: compilers do not
                          announce variables of which nobody else has the address */
    uint64_t samples;  /* that are judged, or on such stacks */
    struct vec texts;  /* char *: that rows have */
};

struct oracle_side {
    const struct memory_use *use;
    const struct trace *trace;
    const struct symbols *symbols;
};

/* samples and counts may be one. NULL: nothing is counted or sampled. */
struct memory_oracle *memory_oracle__compare(const struct oracle_side *samples,
                                             const struct oracle_side *counts);
void memory_oracle__free(struct memory_oracle *oracle); /* NULL is allowed */

#endif
