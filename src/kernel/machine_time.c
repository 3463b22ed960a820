#include "kernel/machine_time.h"

#include "base/clock.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define CPUS_MOST 8192

static bool get_allowed(cpu_set_t *set, size_t bytes)
{
    return sched_getaffinity(0, bytes, set) == 0;
}

unsigned machine_time__cpus(void)
{
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
    cpu_set_t *set = CPU_ALLOC(CPUS_MOST);
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    int count = set && get_allowed(set, bytes) ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    return count > 0 ? (unsigned)count : all > 0 ? (unsigned)all : 1;
}

/* The ticks that a CPU has worked of a line of /proc/stat; 0: it tells of no CPU that may be used.
 */
static uint64_t busy_ticks(const char *line, const cpu_set_t *set, size_t bytes)
{
    /* user, nice, system, idle, iowait, irq, softirq: proc(5), in ticks of the system's clock */
    unsigned cpu;
    uint64_t ticks[7];
    int read = sscanf(
        line,
        "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
        &cpu, &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6]);
    return read == 8 && cpu < CPUS_MOST && CPU_ISSET_S(cpu, bytes, set)
               ? ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]
               : 0;
}

uint64_t machine_time__busy_ns(void)
{
    char line[512];
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
    cpu_set_t *set = CPU_ALLOC(CPUS_MOST);
    FILE *in = fopen("/proc/stat", "re");
    long rate = sysconf(_SC_CLK_TCK);
    uint64_t ticks = 0;
    bool is_known = set && in && rate > 0 && get_allowed(set, bytes);
    while (is_known && fgets(line, sizeof line, in))
        ticks += busy_ticks(line, set, bytes);
    if (in)
        fclose(in);
    CPU_FREE(set);
    return ticks ? ticks * (1000000000u / (uint64_t)rate) : UINT64_MAX;
}

uint64_t machine_time__own_ns(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return timeval__ns(&usage.ru_utime) + timeval__ns(&usage.ru_stime);
}
