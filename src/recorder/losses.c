#include "recorder/losses.h"

#include <string.h>

const char *losses__reason(const struct trace *trace, uint64_t bytes, uint64_t asked_bytes)
{
    uint64_t reached = bytes + HEURT_UNIT_BYTES * HEURT_CHUNK_UNITS_MAX;
    uint64_t limit = trace__session(trace)->limit_units * HEURT_UNIT_BYTES;
    if (trace__is_aggregated(trace)) /* new classes are refused when an eighth or two are left */
        reached += limit / 4;
    if (reached >= limit && limit < asked_bytes / HEURT_UNIT_BYTES * HEURT_UNIT_BYTES)
        return "the trace has reached what a limit on address space or file sizes leaves to it "
               "(ulimit -v, ulimit -f); raise that, or record fewer functions";
    if (reached >= limit)
        return "the trace has reached --max-size; raise it, or record fewer functions";
    VEC_EACH (process, trace__processes(trace), struct trace_process)
        VEC_EACH (note, &process->notes, const char *)
            if (strstr(*note, "seccomp"))
                return "the program limits its own system calls (seccomp), so that no more room "
                       "could be taken";
    return "no room was left for the trace (disk full?)";
}
