/* access_events.h: the events that memory_events.h describes, open on one CPU.
 *
 * In goes a description, out come descriptors, of which one has the ring for all. It has been run
 * on no processor that has such events (docs/heurt-memory.md). */
#ifndef HEURT_KERNEL_ACCESS_EVENTS_H
#define HEURT_KERNEL_ACCESS_EVENTS_H

#include "kernel/memory_events.h"

#include <sys/types.h>

struct access_events {
    const char *name;            /* of the unit */
    int fds[MEMORY_EVENTS_MOST]; /* to be closed; -1: none */
    int ring_fd;                 /* one of them; access_events__join sends all others there */
};

/* Whom the events follow: a process that waits for its exec, or everybody on the CPU. */
struct access_target {
    pid_t pid;
    int cpu;
    bool of_machine;
    size_t wakeup_bytes;
};

/* The first unit that this CPU and this user have. Negative: none, errno of the last one. */
int access_events__open(const struct memory_unit *units, size_t count,
                        const struct access_target *target, struct access_events *events);
/* Once the ring is mapped. */
int access_events__join(const struct access_events *events);
void access_events__close(struct access_events *events);

#endif
