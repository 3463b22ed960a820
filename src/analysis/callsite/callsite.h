/* callsite.h: a place in the code at which something took time: a function, a marked region, or the
 * call of a hooked function.
 *
 * Texts belong to the trace, or are constants. */
#ifndef HEURT_ANALYSIS_CALLSITE_CALLSITE_H
#define HEURT_ANALYSIS_CALLSITE_CALLSITE_H

#include "fold/kinds.h"

/* What threads of a region wait in for those that are not done (HEURT_BARRIER_OPENMP_REGION). */
#define END_OF_REGION "end of omp parallel"
/* What they wait in for the next one (HEURT_CONDITION_OPENMP_REGION). */
#define WAIT_FOR_REGION "wait for omp parallel"
/* What who calls one waits in (HEURT_BARRIER_OPENMP_TEAM). */
#define CALL_OF_REGIONS "start and end of omp parallel"

struct callsite {
    enum class_kind kind;
    uint32_t process;     /* serial of the image in which it was first seen */
    const char *function; /* name of the call, function or region */
    uint64_t address;     /* of a patched function or marker, else 0 */
    uint64_t site;        /* return address of a hooked call, else 0 */
    const char *file;     /* of a marker, else NULL */
    uint32_t line;
};

const char *class_kind__name(enum class_kind kind); /* as in the JSON contract */

#endif
