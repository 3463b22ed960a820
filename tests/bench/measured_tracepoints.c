/* measured_tracepoints.c: the measured function with tracepoints of LTTng-UST in its source. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "measured_tracepoints.h"

#include "short_function.h"

uint64_t measured_function(uint64_t value)
{
    lttng_ust_tracepoint(heurt_bench, measured_enter);
    uint64_t result = SHORT_WORK(value);
    lttng_ust_tracepoint(heurt_bench, measured_leave);
    return result;
}
