/* kernel.h: what the kernel tells of a thread while it runs: when it was off the CPU, and its page
 * faults.
 *
 *     kernel.c    the thread's perf events: opening, closing, what the process needs for them
 *     records.c   from their rings into the thread's stream of events
 *
 * An event has a ring in memory that the kernel writes and the thread reads; there is no
 * descriptor, and nobody is woken.  All that the kernel tells of a thread it writes on that
 * thread's way, so that what the thread finds is complete up to that moment.
 *
 * A forked child has no such memory: what leads to it stands in a page that the kernel clears for
 * the child (the slots), so that a child that nobody told of its fork reads nothing either. */
#ifndef HEURT_RUNTIME_KERNEL_H
#define HEURT_RUNTIME_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* From the clock of the kernel's records, in ns, to ticks. That clock and the counter advance
 * evenly, so that two pairs far apart tell the rate, and the later one is exact. Of one thread. */
struct kernel_clock {
    uint64_t base_tick, base_ns; /* when the process began */
    uint64_t tick, ns;           /* the last pair */
    uint64_t pair_ticks;         /* the least that a pair took: of what a system call costs here */
    uint64_t rate;               /* ticks a ns << KERNEL_RATE_BITS */
};
#define KERNEL_RATE_BITS 32

/* Ticks that are ns of CLOCK_MONOTONIC are those of the kernel's records. */
void kernel_clock__begin(struct kernel_clock *clock);
/* tick: now. Takes a new pair when the last one is too old for an error below 1 µs. */
void kernel_clock__refresh(struct kernel_clock *clock, uint64_t tick);
uint64_t kernel_clock__tick(const struct kernel_clock *clock, uint64_t ns);
uint64_t kernel_clock__ticks(const struct kernel_clock *clock, uint64_t duration_ns);

struct kernel_ring {
    volatile struct perf_event_mmap_page *page; /* <linux/perf_event.h>; NULL: there is none */
    const uint64_t *words;
    uint64_t word_mask; /* how many there are, less 1 */
    uint64_t seen;      /* bytes up to which the records are read; of the first ring it stands in
                           struct thread */
};

/* Of one thread. Times are ns of the kernel's records. */
struct kernel {
    struct kernel_ring records; /* switches, and the beginnings of page faults */
    struct kernel_ring ends;    /* the end of every KERNEL_ENDS_PERIOD-th minor page fault */
    struct kernel_clock clock;
    uint64_t *slot;
    const void *draining; /* the frame that reads the rings now, or NULL */
    /* Page faults whose end was told; later ones count more. */
    uint64_t measured_ns, measured_faults, mean_ns;
    uint64_t major_faults; /* as the system counts them */
    /* Waiting for a CPU, as the system counts it (schedstat): when it was last looked at, and what
     * the records told since. */
    uint64_t delay_ns, first_delay_ns;
    uint64_t blocked_ns, preempted_ns;
    bool knows_delay;
    uint64_t pause_ticks, pause_end; /* that kernel__drained has to write; 0: none */
    uint32_t switches, faults;       /* since the second ring was last thought about */
};

#define KERNEL_ENDS_PERIOD 8

struct thread;

/* Once in a process image, before its first thread's record: kernel__prepare, then, a little later,
 * kernel__calibrate. */
void kernel__prepare(void);
void kernel__calibrate(void);

/* Opens the thread's events at the beginning of its record and says so in it. With all signals
 * blocked, by the thread itself, as everything here. */
void kernel__begin(struct thread *thread);
/* The first ring was too short for what came between two looks at it: takes one four times as long,
 * if there is memory for it. */
void kernel__grow(struct thread *thread);
/* The shortest page fault whose end is told in the rings, in ns; 0: none is. */
uint64_t kernel__told_fault(struct kernel *kernel);
/* Gives back what kernel__begin took. */
void kernel__end(struct thread *thread);
/* In a forked child: all of it is the parent's. */
void kernel__forget(struct thread *thread);
/* From now on the rings are not looked at. */
void kernel__ignore(struct thread *thread);

/* Writes what the rings hold as events of the thread. Returns the tick before it began, or 0: the
 * caller reads the clock itself. Signal handlers may come in between: theirs do nothing. */
uint64_t kernel__drain(struct thread *thread);
/* To be called when the event is written that has that tick: says how long it took where that is to
 * be in no span. Times in a stream then do not go back more than they must. */
void kernel__drained(struct thread *thread);

/* Gives the second ring up, or takes it again, by what the thread does. */
void kernel__balance(struct thread *thread);

/* ns that the thread has waited for a CPU since its record began; ~0: not known. */
uint64_t kernel__runnable_ns(const struct thread *thread);

/* Page faults of this thread for which something was read, as the system counts them. */
uint64_t kernel__major_faults(void);

/* Reads the system's count of that; false: it is not told. */
bool delay__read(uint64_t *ns);

#endif
