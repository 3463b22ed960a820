/* wake_log.h: who woke which thread, when, and what it had waited for: the memory behind wakes.h.
 *
 * Records of tracepoints go in by time; what is kept is 16 bytes for each wake-up, no more than
 * WAKES_MAX in all. Pure. Used by one thread. */
#ifndef HEURT_KERNEL_WAKE_LOG_H
#define HEURT_KERNEL_WAKE_LOG_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define WAKES_MAX (4u << 20) /* 64 MiB */

enum wake_record_kind {
    WAKE_OTHER = 0,
    WAKE_WAKING,       /* current makes wakee runnable */
    WAKE_FUTEX_BEGIN,  /* current enters futex(2) to wait */
    WAKE_FUTEX_END,    /* current leaves futex(2) */
    WAKE_BLOCK_QUEUED, /* current asks a block device for something */
    WAKE_BLOCK_DONE,   /* a block device is done with something */
    WAKE_THREAD_BEGAN, /* current_tid, made by parent_tid; first comes the program's first */
    WAKE_LOST,         /* count records were not written */
};

/* Threads have a number in the kernel's first pid namespace and one in ours: tracepoints tell the
 * first, perf the second. */
struct wake_record {
    enum wake_record_kind kind;
    bool in_interrupt; /* current only happened to be on that CPU */
    uint32_t cpu;
    uint64_t time_ns;
    uint32_t current, wakee;           /* in the first namespace */
    uint32_t current_tid, current_pid; /* in ours; 0: it has none there */
    uint32_t parent_tid;               /* likewise */
    uint64_t count;                    /* of WAKE_LOST */
};

/* What a thread that was woken had waited for. */
enum wake_reason {
    WAKE_FROM_OTHER = 0,
    WAKE_FROM_FUTEX,
    WAKE_FROM_DISK,
};

struct wake {
    uint64_t time_ns;
    uint32_t waker; /* tid in our namespace; 0: an interrupt, or nobody that has one */
    uint32_t reason;
};

struct wake_log {
    struct map numbers;   /* number in the first namespace → index into threads */
    struct vec threads;   /* struct wake_thread */
    struct map ours;      /* tids of the program's threads */
    struct map tids;      /* tid in our namespace → index into threads; */
    bool other_namespace; /* only filled in this case: the numbers differ */
    struct vec done_ns;   /* uint64_t by CPU: when a block device was last done */
    uint64_t newest_done_ns;
    uint64_t kept, dropped; /* wakes: those beyond WAKES_MAX */
    uint64_t lost;          /* records */
};

#define WAKE_LOG_INIT                                                      \
    {                                                                      \
        .threads = VEC_OF(struct wake_thread), .done_ns = VEC_OF(uint64_t) \
    }

struct wake_thread {
    struct vec wakes;   /* struct wake, by time */
    size_t used;        /* those before it were found */
    uint64_t queued_ns; /* its last request to a block device that is not known to be done; or 0 */
    bool in_futex;
};

/* Records must come by time; they may be of everybody. */
void wake_log__add(struct wake_log *log, const struct wake_record *record);
/* Nothing is recorded any more of calls of futex: no thread is known to be in one. */
void wake_log__forget_futexes(struct wake_log *log);
void wake_log__free(struct wake_log *log);

/* The wake-up that ended the time from from_ns to to_ns, in which the thread was blocked. Ask for a
 * thread's times one after the other; no wake-up is found twice. It may lie a little outside:
 * a thread can be woken while it is about to go. */
bool wake_log__find(struct wake_log *log, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
                    struct wake *wake);

#endif
