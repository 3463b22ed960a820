/* task_events.h: what the kernel tells of a program and all that it starts: when threads begin,
 * end, leave and get a CPU, and when their page faults begin and end.
 *
 * One ring a CPU, which the caller drains; the program itself does nothing for it, so that what it
 * does, or does not do, loses nothing. Page faults that are so frequent that their records would
 * cost the program too much are thinned out by the kernel: of each thread it then tells some
 * thousands a second, beginnings and ends by themselves, and for how many each of them stands.
 * Everybody may have these events of programs of their own (perf_event_paranoid ≤ 2): they tell the
 * user's part alone. Two halves: task_record__decode   pure task_events__*        the system calls
 * A struct task_events is used by one thread at a time. */
#ifndef HEURT_KERNEL_TASK_EVENTS_H
#define HEURT_KERNEL_TASK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum task_record_kind {
    TASK_OTHER,
    TASK_FORKED, /* pid, tid: the new thread's */
    TASK_NAMED,  /* name */
    TASK_EXECED, /* likewise: it runs another program from here on */
    TASK_ENDED,
    TASK_BLOCKED,   /* off the CPU, and waits */
    TASK_PREEMPTED, /* off the CPU, and wants it */
    TASK_ON_CPU,
    TASK_FAULT_BEGINS, /* address, count */
    TASK_FAULT_ENDS,   /* address, code, count, is_major */
    TASK_LOST,         /* count records were, before this */
};

#define TASK_NAME_BYTES 16

struct task_record {
    enum task_record_kind kind;
    uint32_t pid, tid, cpu;
    uint64_t time_ns; /* of the clock that was asked for */
    uint64_t address;
    uint64_t count; /* of a fault: it stands for so many, the last of which it is */
    uint64_t code;  /* address of the instruction */
    bool is_major;  /* the page came from a device: that fault is told however many there are */
    char name[TASK_NAME_BYTES];
};

/* Decodes one record of a ring, header included; what is cut short is -EBADMSG. */
int task_record__decode(const void *bytes, size_t size, struct task_record *record);

struct task_events;

/* Opens the events on a process that waits in front of its exec, from which on they tell. Times are
 * of that clock (CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW). Negative errno: the kernel refuses
 * (-EACCES, -EPERM, -ENOSYS), there are too few descriptors (-EMFILE), too little locked memory
 * (-ENOBUFS), or so many CPUs that a thread's start would cost too much (-E2BIG). */
int task_events__open(pid_t pid, clockid_t clock, struct task_events **events);
/* Likewise without page faults. */
int task_events__open_switches(pid_t pid, clockid_t clock, struct task_events **events);
/* Of a thread that runs, from now on, and of all that it starts. -ESRCH: there is none. */
int task_events__open_running(pid_t pid, clockid_t clock, struct task_events **events);
/* Of one more, to those of task_events__open_running, into the same rings. */
int task_events__add_thread(struct task_events *events, uint32_t tid);
void task_events__close(struct task_events *events); /* NULL is allowed */

/* Waits until a ring is to be drained, stop_fd is readable, or timeout_ms have passed. True: stop.
 */
bool task_events__wait(struct task_events *events, int stop_fd, int timeout_ms);

/* Hands over all records up to now, by time; a thread's are always in their order. Returns their
 * number. */
size_t task_events__drain(struct task_events *events,
                          void (*take)(void *context, const struct task_record *record),
                          void *context);

/* Records that found no room in the rings, as far as it is known by now. */
uint64_t task_events__lost(const struct task_events *events);

/* Measured on this thread, before the program begins, with events like those of
 * task_events__open. 0: not known. */
struct task_costs {
    /* What a page fault takes beside the time between the records of its beginning and its end, the
     * cost of these records taken off; may be negative. */
    int64_t way_of_fault_ns;
    uint64_t fault_ns;   /* what these two records cost */
    uint64_t off_cpu_ns; /* what it costs that a thread leaves its CPU and gets one again */
    uint64_t thread_ns;  /* a thread's beginning and end, without such changes */
    uint64_t sample_ns;  /* a sample of its code */
};
struct task_costs task_events__costs(clockid_t clock);

#endif
