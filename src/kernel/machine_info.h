/* machine_info.h: what /proc and /sys say about a machine, and what it answers when something is
 * tried.
 *
 * Both can come from a captured machine instead of this one: a directory with the few files of
 * /proc and /sys that are read here, and a file "trials" (see trials__read).
 *
 * In goes a directory, or none for this machine; out come facts and the results of trials. It
 * costs a few dozen small files and system calls. It stands on tracepoint.h. */
#ifndef HEURT_KERNEL_MACHINE_INFO_H
#define HEURT_KERNEL_MACHINE_INFO_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define INFO_UNKNOWN (-1000L) /* of a number: its file is not there or not readable */

struct machine_info {
    char *kernel;           /* release, or NULL: kernel__interrupts_late */
    char *processor;        /* model name, or NULL */
    char *clocksource;      /* current, or NULL */
    char *cpus;             /* list of those online, e.g. "0-7", or NULL */
    bool is_virtual;        /* the hypervisor flag */
    bool has_invariant_tsc; /* constant_tsc and nonstop_tsc */
    unsigned cpu_count, node_count;
    long perf_event_paranoid;
    long perf_event_mlock_kib;
    long perf_event_max_sample_rate;
    long unprivileged_bpf_disabled;
    long ptrace_scope;
    bool has_core_pmu; /* of the CPU, also the cores of a hybrid one */
    bool has_ibs;      /* AMD: ibs_op */
    bool has_pebs;     /* Intel: memory loads with addresses */
    bool has_btf;
    bool has_schedstat; /* /proc/PID/schedstat: time without a CPU */
    bool has_uprobes;
    bool is_container; /* one that tells: systemd, podman, docker */
    long rdpmc;        /* of the CPU's PMU: 0 nobody, 1 who has counters open, 2 everybody */
    bool has_tracefs;  /* mounted; and what of it this user can read: */
    bool reads_waking, reads_futex, reads_block;
};

/* Reads root/proc and root/sys ("" for this machine). Never fails: what is not there is unknown.
 * machine_info__free it. */
void machine_info__read(const char *root, struct machine_info *info);
void machine_info__free(struct machine_info *info);

/* What was tried: 0 it worked, or a negative errno, in the order of the table. */
#define TRIALS_TABLE(X)                                                     \
    X(cpu_clock)        /* sampling this process by cpu-clock, user mode */ \
    X(cpu_clock_kernel) /* the same with the kernel */                      \
    X(context_switches) /* switch records of an own thread */               \
    X(page_faults)      /* counting page faults of an own thread */         \
    X(cycles)           /* the PMU's cycles, user mode */                   \
    X(instructions)     /* the PMU's instructions, user mode */             \
    X(bpf)              /* CAP_BPF or CAP_SYS_ADMIN in effect */            \
    X(perfmon)          /* CAP_PERFMON or CAP_SYS_ADMIN in effect */        \
    X(ipc_lock)         /* CAP_IPC_LOCK in effect: no limit on rings */     \
    X(tracepoints)      /* sched_waking with its fields, of all CPUs */     \
    X(rdpmc)            /* instructions, read by the thread itself */       \
    X(membarrier)       /* PRIVATE_EXPEDITED_SYNC_CORE */                   \
    X(rseq)             /* registered by the C library */                   \
    X(populate_write)   /* MADV_POPULATE_WRITE */                           \
    X(pidfd)            /* pidfd_open */

struct machine_trials {
#define TRIAL_FIELD(name) int name;
    TRIALS_TABLE(TRIAL_FIELD)
#undef TRIAL_FIELD
    uint64_t descriptors;       /* RLIMIT_NOFILE, soft; UINT64_MAX: no limit */
    uint64_t locked_bytes;      /* RLIMIT_MEMLOCK, soft */
    uint64_t disk_free_bytes;   /* for this user, where the trace would be written */
    uint64_t memory_free_bytes; /* available */
};

/* Tries it here. directory: where a trace would be written. Leaves nothing behind. */
void machine_trials__make(const char *directory, struct machine_trials *trials);

/* Reads a captured machine's: lines "name number", '#' begins a comment. -EINVAL names a line that
 * is none; what is missing is -ENOSYS, or 0 of the quantities. */
int machine_trials__read(const char *path, struct machine_trials *trials, struct error *error);

/* Whether timers of CPU time cut no system call short: on x86 the kernel looks at them on the way
 * back to the program from 5.11 on. release: as uname(2) has it; NULL: no. */
bool kernel__interrupts_late(const char *release);

#endif
