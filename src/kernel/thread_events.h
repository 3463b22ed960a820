/* thread_events.h: the perf events that recorded threads open for themselves
 * (src/runtime/kernel.c): whether they may, and that they need not wait for it.
 *
 * In goes nothing, out come two descriptors to be released. It costs two system calls, and stands
 * on perf_event_open(2). */
#ifndef HEURT_KERNEL_THREAD_EVENTS_H
#define HEURT_KERNEL_THREAD_EVENTS_H

struct thread_events {
    int descriptors[2]; /* -1: none */
};

/* Opens one disabled event of each kind and holds it. The first such event of a machine takes some
 * 10 ms (the kernel changes its own code); as long as one is held, others are quick. 0, or -errno:
 * they are refused. */
int thread_events__hold(struct thread_events *events);
void thread_events__release(struct thread_events *events);

#endif
