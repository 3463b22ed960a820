/* wakes.h: tracepoints of a program's threads: who woke whom (sched_waking), waits in futex(2),
 * and requests to block devices.
 *
 * For the privileged only. All are seen of the whole machine: a thread may be woken by an
 * interrupt or another program; what does not end in a thread of the program is forgotten at once.
 * All events of a CPU share a ring, which must be drained while the program runs. Two halves:
 *   wake_formats, wake_record__decode   pure
 *   wakes__*                            the system calls
 * A struct wakes is used by one thread. */
#ifndef HEURT_KERNEL_WAKES_H
#define HEURT_KERNEL_WAKES_H

#include "base/error.h"
#include "kernel/tracepoint.h"
#include "kernel/wake_log.h"

#include <sys/types.h>
#include <time.h>

/* The tracepoints' numbers on this machine (0: not there) and their fields. */
struct wake_formats {
    uint32_t waking, futex_begin, futex_end, block_queued, block_done;
    struct tracepoint_field type, flags, current; /* of every record */
    struct tracepoint_field wakee;                /* of waking */
    struct tracepoint_field operation;            /* of futex_begin */
};

/* Reads them below root ("" for this machine). Without sched_waking nothing is of use: -ENOENT,
 * -EACCES, or -EBADMSG when its format is none that we know. */
int wake_formats__read(const char *root, struct wake_formats *formats);

/* Decodes one record of a ring, header included: what is cut short or contradicts itself is
 * -EBADMSG; what is of no use gives WAKE_OTHER. */
int wake_record__decode(const struct wake_formats *formats, uint32_t cpu, const void *bytes,
                        size_t size, struct wake_record *record);

struct wakes;

/* Attaches to a process that waits in front of its exec. Times are of that clock, CLOCK_MONOTONIC
 * or CLOCK_MONOTONIC_RAW. The error says in one sentence why nothing can be seen. */
int wakes__open(pid_t pid, clockid_t clock, struct wakes **wakes, struct error *error);
void wakes__close(struct wakes *wakes); /* NULL is allowed */

bool wakes__sees_futex(const struct wakes *wakes);
bool wakes__sees_block(const struct wakes *wakes);

/* Where recording them costs more than so many thousandths of the time, first calls of futex and
 * then wake-ups are recorded no more; 0, as at first: whatever it costs. How long they were, in ns;
 * 0: until the end. */
void wakes__limit(struct wakes *wakes, unsigned permille);
uint64_t wakes__futexes_end_ns(const struct wakes *wakes);
uint64_t wakes__wakings_end_ns(const struct wakes *wakes);

int wakes__fd(const struct wakes *wakes); /* readable when there is something to drain */

/* Takes what the rings hold now into the log; last: all of it, and nothing more will come. */
void wakes__drain(struct wakes *wakes, bool last);

/* After the last drain: nothing is listened to any more. The kernel takes its time to end that
 * (slow_close.h), and nobody waits for it. */
void wakes__end(struct wakes *wakes);

struct wake_log *wakes__log(struct wakes *wakes);

#endif
