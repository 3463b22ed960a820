#include "kernel/machine_time.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t machine_time__busy_ns(void)
{
    /* user, nice, system, idle, iowait, irq, softirq: proc(5), in ticks of the system's clock */
    uint64_t ticks[7];
    FILE *in = fopen("/proc/stat", "re");
    int read =
        in ? fscanf(in,
                    "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                    " %" SCNu64,
                    &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6])
           : 0;
    if (in)
        fclose(in);
    long rate = sysconf(_SC_CLK_TCK);
    if (read != 7 || rate <= 0)
        return UINT64_MAX;
    return (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * (1000000000u / (uint64_t)rate);
}

uint64_t machine_time__own_ns(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return timeval__ns(&usage.ru_utime) + timeval__ns(&usage.ru_stime);
}
