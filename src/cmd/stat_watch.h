/* stat_watch.h: a program's switches and counts while it runs.
 *
 *     stat_watch__open     on a program that waits in front of its exec, or a process that runs
 *     stat_watch__follow   until a descriptor is readable
 *     stat_watch__end
 *
 * In goes a process, out come the records of its threads as a struct service_log, and counts. It
 * costs what the kernel's records of switches cost, and a wake-up each 50 ms or 32 KiB of them. It
 * stands on kernel/. One thread. */
#ifndef HEURT_CMD_STAT_WATCH_H
#define HEURT_CMD_STAT_WATCH_H

#include "analysis/timeline/service.h"
#include "base/error.h"
#include "kernel/task_counts.h"
#include "kernel/task_events.h"

struct stat_watch {
    pid_t pid;
    uint64_t interval_ns;
    struct task_events *events;
    struct task_counts counts;
    struct service_log log;
    uint64_t lost;            /* records; after the end */
    uint64_t own_ns;          /* CPU time of this process meanwhile; likewise */
    uint64_t cycles_a_second; /* of the processor's time stamps; likewise */
    /* Private: */
    uint64_t first_cpu_ns; /* of threads that ran before: CPU time that was counted until then */
    bool has_begun;
    struct vec first_delays; /* uint64_t, by thread: before it was looked at */
    uint64_t began_ns, began_cycles, next_delays_ns;
};

/* is_running: attaches to all its threads. stat_watch__free it in any case. 0, or a negative errno
 * with a sentence. */
int stat_watch__open(struct stat_watch *watch, pid_t pid, bool is_running, uint64_t interval_ns,
                     struct error *error);
/* Until stop_fd is readable; then takes what the rings still hold. */
void stat_watch__follow(struct stat_watch *watch, int stop_fd);
void stat_watch__end(struct stat_watch *watch);
void stat_watch__free(struct stat_watch *watch);

#endif
