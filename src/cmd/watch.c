#include "cmd/watch.h"

#include "cmd/command.h"

#include <unistd.h>

#define MUCH_BYTES 200000000 /* from there on the size is said */

struct watch watch__start(bool quiet, uint64_t max_bytes)
{
    bool is_apart = !isatty(STDOUT_FILENO);
    return (struct watch){progress__start(!quiet && is_apart), !quiet, max_bytes};
}

/* What a process with fewer rights has written there may be any number. */
static uint64_t bytes_so_far(const struct watch *watch, struct trace_writer *writer)
{
    uint64_t units = __atomic_load_n(&trace_writer__session(writer)->next_unit, __ATOMIC_RELAXED);
    uint64_t most = watch->max_bytes / HEURT_UNIT_BYTES;
    return (units < most ? units : most) * HEURT_UNIT_BYTES;
}

void watch__look(struct watch *watch, struct trace_writer *writer)
{
    uint64_t bytes = bytes_so_far(watch, writer);
    double seconds = progress__seconds(&watch->progress);
    if (watch->may_say && bytes > MUCH_BYTES) {
        progress__end(&watch->progress);
        say("the trace has %.0f MB by now, %.0f MB a second; it ends at %.0f MB (--max-size), and "
            "is packed afterwards",
            (double)bytes / 1e6, (double)bytes / 1e6 / seconds, (double)watch->max_bytes / 1e6);
        watch->may_say = false;
    }
    if (progress__is_due(&watch->progress))
        progress__put(&watch->progress, "recording: %.0f s, up to %.2g million events, %.0f MB",
                      seconds, (double)bytes / sizeof(uint64_t) / 1e6, (double)bytes / 1e6);
}
