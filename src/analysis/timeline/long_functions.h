/* long_functions.h: functions that take time of which no calls tell: one that is called once and
 * runs for seconds, one that was not recorded, or only late. A class has nothing to compare them
 * with; samples tell who is in them, for how long, at which lines, and what sharing costs there.
 *
 *     samples ──► those in no occurrence of what was seen again ──► by function, thread, line
 *
 * Times are those of the program's own code on a CPU, as samples stand for. It stands on the
 * profile and on memory/sharing.h. Where hardly any time is in such functions, there is no walk and
 * no row. One walk, a thread after the other. Memory: the samples, and what is found. */
#ifndef HEURT_ANALYSIS_TIMELINE_LONG_FUNCTIONS_H
#define HEURT_ANALYSIS_TIMELINE_LONG_FUNCTIONS_H

#include "analysis/ledger/profile.h"

#define LONG_FUNCTION_LEAST 0.01 /* of all sampled time */

struct function_thread {
    uint32_t thread; /* index into trace__threads */
    uint64_t ns;
};

struct function_line {
    const struct symbol *symbol; /* innermost, where functions were inlined */
    uint64_t ns;
};

struct long_function {
    uint32_t process;            /* serial */
    const struct symbol *symbol; /* the function, inlined ones dissolved */
    uint64_t ns, samples;
    uint64_t calls;             /* that were recorded; 0: none was */
    uint64_t false_ns, true_ns; /* lost by sharing, about */
    struct vec threads;         /* struct function_thread, by ns */
    struct vec lines;           /* struct function_line, by ns */
};

struct long_functions {
    struct vec rows;    /* struct long_function, by ns */
    uint64_t all_ns;    /* of all samples */
    uint64_t seldom_ns; /* of those that are in rows, or in what is too little to be one */
};

/* After profile_analysis; a struct long_functions. None where the program was not sampled. */
extern const struct analysis long_functions_analysis;

#endif
