/* process_threads.h: the threads of a process that runs, and what the system tells of each.
 *
 * In go numbers, out comes what /proc tells at that moment: it may have changed since. Anybody may
 * ask of any process. */
#ifndef HEURT_KERNEL_PROCESS_THREADS_H
#define HEURT_KERNEL_PROCESS_THREADS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* uint32_t: their numbers, the first one's first; none: there is no such process. vec__free it. */
struct vec process__threads(pid_t pid);

struct thread_told {
    char name[16];
    bool wants_cpu;    /* it has one, or waits for one */
    uint64_t run_ns;   /* on a CPU in its life; of one that runs some ms old */
    uint64_t delay_ns; /* without a CPU that it wanted; UINT64_MAX: not told (no schedstat) */
};

/* False: it is gone. */
bool thread_told__read(pid_t pid, uint32_t tid, struct thread_told *told);
/* The delay alone; UINT64_MAX: not told. */
uint64_t thread_told__delay_ns(pid_t pid, uint32_t tid);

#endif
