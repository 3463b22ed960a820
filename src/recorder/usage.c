#include "recorder/usage.h"

#include "base/clock.h"
#include "kernel/machine_time.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* CPU time of everybody but this process and the command, which had command_ns. */
static uint64_t cpu_of_others(uint64_t command_ns)
{
    uint64_t busy_ns = machine_time__busy_ns(), ours_ns = machine_time__own_ns() + command_ns;
    return busy_ns == UINT64_MAX ? UINT64_MAX : busy_ns > ours_ns ? busy_ns - ours_ns : 0;
}

struct usage_before usage__begin(void)
{
    return (struct usage_before){machine_time__own_ns(), cpu_of_others(0)};
}

static void keep_own(const struct usage_before *before, struct trace_writer *writer)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, machine_time__own_ns() - before->own_ns);
    trace_writer__meta(writer, "recorder_cpu_ns", text);
}

void usage__keep_of_background(const struct usage_before *before, struct trace_writer *writer)
{
    struct heurt_session *session = trace_writer__session(writer);
    keep_own(before, writer);
    session->cpu_ns = session->system_ns = session->faults = 0;
    session->others_ns = UINT64_MAX;
}

void usage__keep(const struct usage_before *before, const struct rusage *command,
                 struct trace_writer *writer)
{
    struct heurt_session *session = trace_writer__session(writer);
    keep_own(before, writer);
    session->system_ns = timeval__ns(&command->ru_stime);
    session->cpu_ns = timeval__ns(&command->ru_utime) + session->system_ns;
    session->faults = (uint64_t)command->ru_minflt + (uint64_t)command->ru_majflt;
    uint64_t now_ns = cpu_of_others(session->cpu_ns);
    bool is_told = now_ns != UINT64_MAX && before->others_ns != UINT64_MAX;
    session->others_ns = !is_told                     ? UINT64_MAX
                         : now_ns > before->others_ns ? now_ns - before->others_ns
                                                      : 0;
}
