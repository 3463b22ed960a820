/* sampling.h: where a program spends its CPU time, by the kernel's cpu-clock (no PMU needed).
 *
 * One event a CPU follows a process and everything it forks or clones from its exec on; each has a
 * ring that must be drained while the program runs. Who may see the whole machine gets each CPU's
 * own events, which threads do not inherit; what others do is left out here.  Two halves:
 *   ring__next, record__decode   pure: bytes in, records out; whatever the bytes are
 *   sampling__*                  the system calls
 * A struct sampling is used by one thread. */
#ifndef HEURT_KERNEL_SAMPLING_H
#define HEURT_KERNEL_SAMPLING_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum record_kind {
    RECORD_OTHER = 0, /* nothing that is used here */
    RECORD_SAMPLE,
    RECORD_MAP,       /* executable memory was mapped */
    RECORD_EXEC,      /* the process became another program */
    RECORD_FORK,      /* a process or, with equal pids, a thread began */
    RECORD_EXIT,      /* a thread ended */
    RECORD_LOST,      /* count records were not written */
    RECORD_THROTTLED, /* the kernel held samples back for a while */
    RECORD_ACCESS,    /* the processor tells of an access to memory (memory_events.h) */
};

#define SAMPLE_REGISTERS \
    16 /* rax rcx rdx rbx rsp rbp rsi rdi r8 … r15, as the processor numbers them */

/* One record of a ring. Fields that its kind does not have are 0. */
struct record {
    enum record_kind kind;
    bool in_kernel;     /* of a sample */
    bool has_registers; /* likewise */
    uint64_t registers[SAMPLE_REGISTERS];
    uint32_t pid, tid, parent_pid, parent_tid;
    uint32_t cpu;         /* that it was written on; record__decode does not know it */
    uint64_t time_ns;     /* of CLOCK_MONOTONIC */
    uint64_t address;     /* of a sample and an access: the instruction's */
    uint64_t weight_ns;   /* of a sample: the CPU time it stands for */
    uint64_t length;      /* of a map, in bytes */
    uint64_t file_offset; /* of a map's beginning */
    uint64_t count;       /* of RECORD_LOST */
    const char *path;     /* of a map; ends inside of the decoded bytes */
    /* Of an access: */
    uint64_t data;    /* address */
    bool writes;      /* else it reads, or does both */
    uint32_t latency; /* in cycles; 0: not told */
    uint8_t level;    /* enum heurt_level */
    uint8_t flags;    /* enum heurt_answer_flag */
};

/* Decodes one record of size bytes, header included. What is cut short or contradicts itself is
 * -EBADMSG; a kind that is not used gives RECORD_OTHER. path points into bytes. */
int record__decode(const void *bytes, size_t size, struct record *record);

/* Likewise of a ring of memory_events.h' events. What is no access is RECORD_OTHER: an operation of
 * another kind (AMD), a prefetch, one without an address. */
int record__decode_access(const void *bytes, size_t size, struct record *record);

#define RECORD_BYTES_MAX 65536u /* the header's size field has 16 bits */

/* A ring as the kernel fills it: data_bytes is a power of two; head and tail count bytes since the
 * beginning and are taken modulo data_bytes. */
struct ring {
    const unsigned char *data;
    uint64_t data_bytes;
    uint64_t tail, head;
    unsigned char *scratch; /* RECORD_BYTES_MAX, for a record that lies around the end */
};

/* The next record, or false at the head. *bytes is valid until the next call or until tail is
 * handed back to the kernel. A record with an impossible size ends the walk: tail jumps to head,
 * and *damaged is set. */
bool ring__next(struct ring *ring, const void **bytes, size_t *size, bool *damaged);

struct sampling_settings {
    pid_t pid;
    unsigned frequency_hz;
    unsigned rest_hz; /* from sampling__rest on; 0: sampling__rest is not called */
    bool registers;   /* samples have those of the thread, unless it was in the kernel */
    bool accesses;    /* also what the processor tells of accesses to memory, where it does */
};

struct sampling;

/* Attaches to a process that waits in front of its exec. The error says what to do when the kernel
 * refuses: -EACCES/-EPERM permission, -ENOSYS no perf events, -EINVAL frequency. */
int sampling__open(const struct sampling_settings *settings, struct sampling **sampling,
                   struct error *error);
void sampling__close(struct sampling *sampling); /* NULL is allowed */

/* From now on samples only rest_hz times a second; maps and processes are followed as before. */
void sampling__rest(struct sampling *sampling);

/* Whether time inside of the kernel is sampled too (perf_event_paranoid ≤ 1 or CAP_PERFMON). */
bool sampling__sees_kernel(const struct sampling *sampling);

/* Who tells of accesses ("AMD IBS"); NULL: nobody does. */
const char *sampling__accesses_by(const struct sampling *sampling);

/* Waits until rings have something to drain, other_fd (or -1) becomes readable, a signal came, or
 * timeout_ms passed. Returns whether other_fd is readable. */
bool sampling__wait(struct sampling *sampling, int other_fd, int timeout_ms);

/* Takes all that the rings hold now and calls each for the records that no older one can follow
 * any more, by time; last: for all. Records are valid during the call only. */
void sampling__drain(struct sampling *sampling, bool last,
                     void (*each)(const struct record *record, void *context), void *context);

/* Rings that had to be given up because they made no sense. */
uint64_t sampling__damaged(const struct sampling *sampling);

#endif
