/* cpu_timer.h: samples of a program that the kernel lets nobody sample: each thread has a timer of
 * its CPU time, whose signal writes down where the thread was.
 *
 * A signal interrupts nothing but code that runs: the kernel (from 5.11 on, on x86) looks at these
 * timers when it is on its way back to the program, so no call of the program is cut short. It is
 * one of the real-time signals that has no handler; as soon as the program wants one for it, all
 * timers are deleted. The program's sets of signals are kept free of it, and the handler runs on a
 * stack of ours where the thread has set up none.
 *
 *   what              who writes                        how
 *   timers.ring       a thread, when it begins          once, under timers.lock
 *   timers.ids        a thread, of its own timer        atomic; who gives up takes all of them
 *   the ring          handlers of any thread            a place by atomic addition
 *
 * In go the session's period, out come samples in the process's SAMPLES chunk. A sample costs some
 * microseconds; without HEURT_SESSION_TIMERS nothing is done. */
#ifndef HEURT_RUNTIME_CPU_TIMER_H
#define HEURT_RUNTIME_CPU_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct heurt_timed_ring;
struct thread;

#define TIMERS_MAX 1024 /* threads of a process that have one at a time */

struct cpu_timer {
    uint32_t place_and_1; /* in timers.ids; 0: it has none */
    uint32_t period_us;
    uint64_t cpu_ns; /* of the thread at its last sample */
    void *stack;     /* that handlers get, of ours; NULL: the program's, or none */
};

struct timers {
    int signal; /* 0: no thread has a timer */
    uint32_t lock;
    struct heurt_timed_ring *ring;
    int32_t ids[TIMERS_MAX]; /* (atomic) kernel's number of the timer and 1; 0: none */
};

/* Chooses a signal. With the session's settings known, before other threads are there. */
void cpu_timers__prepare(void);
/* Of the calling thread, with all signals blocked. */
void cpu_timer__begin(struct thread *thread);
void cpu_timer__end(struct thread *thread);
/* Whether that is the timers' signal: then the program sees none of its handler. is_wanted: it is
 * to have one of its own, and there are no timers any more. */
bool cpu_timers__yield_signal(int number, bool is_wanted);
/* The program's set without that signal; own: room for it. */
const sigset_t *cpu_timers__hide(const sigset_t *set, sigset_t *own);
/* In a forked child, which has none. */
void cpu_timer__forget(struct thread *thread);

#endif
