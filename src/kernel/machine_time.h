/* machine_time.h: CPU time of everybody on this machine.
 *
 * In goes nothing, out come nanoseconds. It costs one read of /proc/stat, or one system call. */
#ifndef HEURT_KERNEL_MACHINE_TIME_H
#define HEURT_KERNEL_MACHINE_TIME_H

#include <stdint.h>

/* What all CPUs have worked since the machine began, as the system counts it by its ticks;
 * UINT64_MAX: it is not told. */
uint64_t machine_time__busy_ns(void);

/* CPU time of this process. */
uint64_t machine_time__own_ns(void);

#endif
