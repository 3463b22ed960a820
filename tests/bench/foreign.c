#include "foreign.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define QUIET_MOST 0.1 /* of the CPUs */
enum { LOOKS = 20 };   /* of 100 ms */

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double used_by(int who)
{
    struct rusage usage = {0};
    getrusage(who, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/* user nice system idle iowait irq softirq steal, in ticks */
static double busy_of_all(void)
{
    double user = 0, nice = 0, system = 0, idle, waiting, irq = 0, softirq = 0, steal = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return 0;
    if (fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &waiting,
               &irq, &softirq, &steal) < 8)
        user = nice = system = irq = softirq = steal = 0;
    fclose(file);
    return (user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

struct cpu_use cpu_use__now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (struct cpu_use){.wall_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
                            .busy_s = busy_of_all(),
                            .ours_s = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN),
                            .cpus = sysconf(_SC_NPROCESSORS_ONLN)};
}

double cpu_use__foreign(const struct cpu_use *before, const struct cpu_use *after)
{
    double wall_s = after->wall_s - before->wall_s;
    double foreign_s = (after->busy_s - before->busy_s) - (after->ours_s - before->ours_s);
    if (wall_s <= 0 || foreign_s <= 0)
        return 0;
    double share = foreign_s / (wall_s * (double)after->cpus);
    return share < 1 ? share : 1;
}

void cpu_use__await_quiet(void)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        struct cpu_use before = cpu_use__now(), after;
        usleep(100000);
        after = cpu_use__now();
        if (cpu_use__foreign(&before, &after) <= QUIET_MOST)
            return;
    }
}
