/* thread_samples.h: where threads of processes that run are, by the kernel's cpu-clock (no PMU
 * needed), with their registers; and, where the processor tells them and this user may ask,
 * accesses to memory of the whole machine (access_events.h).
 *
 * In go threads, out come records (sampling.h). A thread has an event a CPU, which all write into
 * that CPU's ring: it costs as many descriptors, and a sample some 10 us of the thread's time.
 * Rings hold about half a second of samples. One thread at a time; not from signal handlers. */
#ifndef HEURT_KERNEL_THREAD_SAMPLES_H
#define HEURT_KERNEL_THREAD_SAMPLES_H

#include "base/error.h"
#include "kernel/sampling.h"

struct thread_samples;

/* hz: samples a second of a thread that runs. NULL after a sentence: the kernel samples nothing for
 * this user. thread_samples__close it. */
struct thread_samples *thread_samples__open(unsigned hz, struct error *error);
void thread_samples__close(struct thread_samples *self); /* NULL is allowed */

/* From now on the thread is sampled. 0, or a negative errno: -ESRCH it is gone, -EPERM and -EACCES
 * it is not this user's, -EMFILE there are no descriptors left. */
int thread_samples__add(struct thread_samples *self, pid_t tid);
void thread_samples__remove(struct thread_samples *self, pid_t tid);
/* Threads that are sampled. */
size_t thread_samples__count(const struct thread_samples *self);
/* Another rate, of all of them, from now on. */
void thread_samples__rate(struct thread_samples *self, unsigned hz);
/* Who tells of accesses ("AMD IBS"); NULL: nobody does. */
const char *thread_samples__accesses_by(const struct thread_samples *self);

/* Takes all that the rings hold now: RECORD_SAMPLE, RECORD_ACCESS (also of other processes) and
 * RECORD_LOST; not in the order of time over CPUs. */
void thread_samples__drain(struct thread_samples *self,
                           void (*each)(const struct record *record, void *context), void *context);

#endif
