/* machine_time.h: CPU time of everybody on this machine, on the CPUs that this process may use.
 *
 * In goes nothing, out come nanoseconds. It costs one read of /proc/stat, or one system call. */
#ifndef HEURT_KERNEL_MACHINE_TIME_H
#define HEURT_KERNEL_MACHINE_TIME_H

#include <stdint.h>

/* How many CPUs this process may use (sched_getaffinity(2): taskset, a container's cpuset), at
 * least 1. */
unsigned machine_time__cpus(void);

/* What these CPUs have worked since the machine began, as the system counts it by its ticks;
 * UINT64_MAX: it is not told. */
uint64_t machine_time__busy_ns(void);

/* CPU time of this process. */
uint64_t machine_time__own_ns(void);

#endif
