#include "kernel/facilities.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024ull * 1024)

typedef void judge(const struct machine_info *info, const struct machine_trials *trials,
                   struct facility *facility);

static void conclude(struct facility *facility, enum facility_state state, char *found,
                     const char *enable)
{
    facility->state = state;
    facility->found = found;
    facility->enable = memory__text(enable);
}

/* Why something that was tried did not work. */
static char *refusal(int code)
{
    switch (code) {
    case -EACCES:
    case -EPERM:
        return memory__text("not permitted");
    case -ENOSYS:
    case -ENOENT:
    case -ENODEV:
    case -EOPNOTSUPP:
        return memory__text("it is not there");
    default:
        return memory__format("failed: %s", strerror(-code));
    }
}

static char *paranoia(const struct machine_info *info, const char *what)
{
    if (info->perf_event_paranoid == INFO_UNKNOWN)
        return memory__format("%s; perf_event_paranoid cannot be read", what);
    return memory__format("%s; perf_event_paranoid is %ld", what, info->perf_event_paranoid);
}

/* What lets an ordinary user have perf events of their own. */
static const char *allow_events(const struct machine_info *info, int code)
{
    if (code == -ENOSYS)
        return "a kernel with CONFIG_PERF_EVENTS, outside of sandboxes";
    if (code != -EACCES && code != -EPERM)
        return NULL;
    if (info->perf_event_paranoid > 2)
        return "sudo sysctl -w kernel.perf_event_paranoid=2";
    return info->is_container
               ? "start the container with --security-opt seccomp=unconfined (docker, podman)"
               : "ask who keeps this machine: a filter of system calls or a security module "
                 "refuses perf_event_open";
}

static void judge_processors(const struct machine_info *info, const struct machine_trials *trials,
                             struct facility *facility)
{
    (void)trials;
    char *found = memory__format(
        "%u online (%s), %s%s", info->cpu_count, info->cpus ? info->cpus : "?",
        info->processor ? info->processor : "unknown model", info->is_virtual ? ", virtual" : "");
    conclude(facility, info->cpu_count ? FACILITY_YES : FACILITY_PARTLY, found,
             info->cpu_count ? NULL : "mount /sys");
}

static void judge_nodes(const struct machine_info *info, const struct machine_trials *trials,
                        struct facility *facility)
{
    (void)trials;
    if (info->node_count == 0)
        conclude(facility, FACILITY_NO, memory__text("the kernel names no nodes"), NULL);
    else
        conclude(facility, FACILITY_YES,
                 memory__format("%u node%s", info->node_count, info->node_count > 1 ? "s" : ""),
                 NULL);
}

static void judge_clock(const struct machine_info *info, const struct machine_trials *trials,
                        struct facility *facility)
{
    (void)trials;
    const char *source = info->clocksource ? info->clocksource : "unknown";
    bool by_tsc = strcmp(source, "tsc") == 0;
    if (info->has_invariant_tsc && by_tsc)
        conclude(facility, FACILITY_YES, memory__text("invariant TSC, the kernel's clock too"),
                 NULL);
    else if (info->has_invariant_tsc)
        conclude(facility, FACILITY_PARTLY,
                 memory__format("invariant TSC, but the kernel's clock is %s", source),
                 "see why: dmesg | grep -i -e tsc -e clocksource; where the TSC is sound: boot "
                 "with tsc=reliable");
    else
        conclude(
            facility, FACILITY_NO,
            memory__format("no invariant TSC; the kernel's clock is %s: events cost more", source),
            info->is_virtual ? "let the hypervisor pass invtsc on" : NULL);
}

static void judge_sampling(const struct machine_info *info, const struct machine_trials *trials,
                           struct facility *facility)
{
    if (trials->cpu_clock < 0 && kernel__interrupts_late(info->kernel))
        conclude(facility, FACILITY_PARTLY,
                 paranoia(info, "refused: recorded threads sample themselves, by timers"),
                 allow_events(info, trials->cpu_clock));
    else if (trials->cpu_clock < 0)
        conclude(facility, FACILITY_NO, paranoia(info, "refused"),
                 allow_events(info, trials->cpu_clock));
    else if (trials->cpu_clock_kernel < 0)
        conclude(facility, FACILITY_PARTLY, paranoia(info, "outside of the kernel only"),
                 "sudo sysctl -w kernel.perf_event_paranoid=1");
    else
        conclude(facility, FACILITY_YES, paranoia(info, "with the kernel's part"), NULL);
}

/* In KiB a CPU; what goes beyond perf_event_mlock_kb is taken from RLIMIT_MEMLOCK. */
static uint64_t ring_kib(const struct machine_info *info, const struct machine_trials *trials)
{
    if (trials->locked_bytes == UINT64_MAX)
        return UINT64_MAX;
    uint64_t cpus = info->cpu_count ? info->cpu_count : 1;
    uint64_t kib = info->perf_event_mlock_kib > 0 ? (uint64_t)info->perf_event_mlock_kib : 0;
    return kib + trials->locked_bytes / 1024 / cpus;
}

#define RING_KIB_WANTED (65 * 4) /* sampling.c asks for 64 pages and a header */
#define RING_KIB_LEAST (3 * 4)   /* and makes do with two */

static void judge_rings(const struct machine_info *info, const struct machine_trials *trials,
                        struct facility *facility)
{
    uint64_t kib = ring_kib(info, trials);
    if (kib == UINT64_MAX)
        conclude(facility, FACILITY_YES, memory__text("as much memory as is wanted"), NULL);
    else if (kib >= RING_KIB_WANTED)
        conclude(facility, FACILITY_YES, memory__format("%llu KiB a CPU", (unsigned long long)kib),
                 NULL);
    else
        conclude(facility, kib >= RING_KIB_LEAST ? FACILITY_PARTLY : FACILITY_NO,
                 memory__format("only %llu KiB a CPU", (unsigned long long)kib),
                 "sudo sysctl -w kernel.perf_event_mlock_kb=516");
}

static void judge_descriptors(const struct machine_info *info, const struct machine_trials *trials,
                              struct facility *facility)
{
    uint64_t wanted = 64 + (trials->tracepoints == 0 ? 7 : 1) * (uint64_t)info->cpu_count;
    bool enough = trials->descriptors >= wanted;
    char *found = trials->descriptors == UINT64_MAX
                      ? memory__text("no limit")
                      : memory__format("%llu", (unsigned long long)trials->descriptors);
    conclude(facility, enough ? FACILITY_YES : FACILITY_PARTLY, found, NULL);
    if (!enough)
        facility->enable = memory__format("ulimit -n %d", wanted > 1024 ? 4096 : 1024);
}

static void judge_disk(const struct machine_info *info, const struct machine_trials *trials,
                       struct facility *facility)
{
    (void)info;
    enum facility_state state = trials->disk_free_bytes < MIB         ? FACILITY_NO
                                : trials->disk_free_bytes < 256 * MIB ? FACILITY_PARTLY
                                                                      : FACILITY_YES;
    char *found = trials->disk_free_bytes
                      ? memory__format("%llu MiB free in this directory",
                                       (unsigned long long)(trials->disk_free_bytes / MIB))
                      : memory__text("this directory is full or may not be written");
    conclude(facility, state, found,
             state == FACILITY_YES ? NULL : "heurt record -o a directory with more room");
}

static void judge_pidfd(const struct machine_info *info, const struct machine_trials *trials,
                        struct facility *facility)
{
    (void)info;
    if (trials->pidfd == 0)
        conclude(facility, FACILITY_YES, memory__text("pidfd_open works"), NULL);
    else
        conclude(facility, FACILITY_PARTLY, memory__text("no pidfd_open: a thread waits instead"),
                 NULL);
}

/* Something that either worked when tried or did not. */
static void judge_trial(int code, const char *enable, struct facility *facility)
{
    if (code == 0)
        conclude(facility, FACILITY_YES, memory__text("works"), NULL);
    else
        conclude(facility, FACILITY_NO, refusal(code), enable);
}

static void judge_switches(const struct machine_info *info, const struct machine_trials *trials,
                           struct facility *facility)
{
    int code = trials->context_switches;
    char *found = code == 0 ? paranoia(info, "works") : paranoia(info, "refused");
    conclude(facility, code == 0 ? FACILITY_YES : FACILITY_NO, found, allow_events(info, code));
}

static void judge_faults(const struct machine_info *info, const struct machine_trials *trials,
                         struct facility *facility)
{
    judge_trial(trials->page_faults, allow_events(info, trials->page_faults), facility);
}

/* A thread has a ring of 1 + 8 pages and one of 1 + 1 (runtime/kernel.c). */
#define THREAD_RINGS_KIB ((9 + 2) * 4)
#define THREADS_ENOUGH 64

static void judge_thread_rings(const struct machine_info *info, const struct machine_trials *trials,
                               struct facility *facility)
{
    if (trials->locked_bytes == UINT64_MAX || trials->ipc_lock == 0 ||
        (info->perf_event_paranoid < 0 && info->perf_event_paranoid != INFO_UNKNOWN)) {
        conclude(facility, FACILITY_YES, memory__text("no limit for this user"), NULL);
        return;
    }
    uint64_t cpus = info->cpu_count ? info->cpu_count : 1;
    uint64_t kib = info->perf_event_mlock_kib > 0 ? (uint64_t)info->perf_event_mlock_kib : 0;
    uint64_t threads = (kib * cpus + trials->locked_bytes / 1024) / THREAD_RINGS_KIB;
    char *found =
        memory__format("of %llu thread%s; perf_event_mlock_kb is %ld", (unsigned long long)threads,
                       threads == 1 ? "" : "s", info->perf_event_mlock_kib);
    bool enough = threads >= THREADS_ENOUGH;
    conclude(facility,
             enough    ? FACILITY_YES
             : threads ? FACILITY_PARTLY
                       : FACILITY_NO,
             found, NULL);
    if (!enough)
        facility->enable =
            memory__format("sudo sysctl -w kernel.perf_event_mlock_kb=%llu",
                           (unsigned long long)(THREADS_ENOUGH * THREAD_RINGS_KIB / cpus + 1));
}

static void judge_schedstat(const struct machine_info *info, const struct machine_trials *trials,
                            struct facility *facility)
{
    (void)trials;
    if (info->has_schedstat)
        conclude(facility, FACILITY_YES, memory__text("/proc/PID/schedstat is there"), NULL);
    else
        conclude(facility, FACILITY_NO, memory__text("no /proc/PID/schedstat"),
                 "a kernel with CONFIG_SCHED_INFO");
}

static void judge_pmu(const struct machine_info *info, const struct machine_trials *trials,
                      struct facility *facility)
{
    if (trials->instructions == 0 && trials->rdpmc == 0)
        conclude(facility, FACILITY_YES,
                 memory__format("instructions%s count, read by rdpmc",
                                trials->cycles ? "" : " and cycles"),
                 NULL);
    else if (trials->instructions == 0)
        conclude(facility, FACILITY_PARTLY,
                 memory__text(info->rdpmc == 0 ? "instructions count; rdpmc is forbidden"
                                               : "instructions count; rdpmc does not work"),
                 info->rdpmc == 0 ? "echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc"
                                  : NULL);
    else if (trials->cycles == 0)
        conclude(facility, FACILITY_NO, memory__text("only cycles count"), NULL);
    else if (!info->has_core_pmu)
        conclude(facility, FACILITY_NO,
                 memory__text(info->is_virtual ? "this virtual machine has no PMU"
                                               : "the kernel knows no PMU"),
                 info->is_virtual ? "let the hypervisor pass the PMU on, or record on the host"
                                  : NULL);
    else
        conclude(facility, FACILITY_NO, refusal(trials->cycles),
                 allow_events(info, trials->cycles));
}

/* PEBS follows a thread; IBS samples whole CPUs, which is for the privileged. */
static void judge_memory_samples(const struct machine_info *info,
                                 const struct machine_trials *trials, struct facility *facility)
{
    bool sees_cpus = trials->perfmon == 0 || info->perf_event_paranoid <= 0;
    if (!info->has_pebs && !info->has_ibs)
        conclude(facility, FACILITY_NO, memory__text("neither Intel PEBS nor AMD IBS is there"),
                 info->is_virtual ? "run on the host" : NULL);
    else if (info->has_pebs && trials->cycles < 0)
        conclude(facility, FACILITY_PARTLY, memory__text("Intel PEBS is there, but not permitted"),
                 allow_events(info, trials->cycles));
    else if (info->has_ibs && !sees_cpus)
        conclude(facility, FACILITY_PARTLY,
                 paranoia(info, "AMD IBS is there, but not for this user"),
                 "sudo sysctl -w kernel.perf_event_paranoid=0");
    else
        conclude(facility, FACILITY_YES, memory__text(info->has_pebs ? "Intel PEBS" : "AMD IBS"),
                 NULL);
}

static void judge_bpf(const struct machine_info *info, const struct machine_trials *trials,
                      struct facility *facility)
{
    if (trials->bpf == 0 && info->has_btf)
        conclude(facility, FACILITY_YES, memory__text("permitted, with type information (BTF)"),
                 NULL);
    else if (trials->bpf == 0)
        conclude(facility, FACILITY_PARTLY, memory__text("permitted, but the kernel has no BTF"),
                 "a kernel with CONFIG_DEBUG_INFO_BTF");
    else
        conclude(facility, FACILITY_NO,
                 memory__format("not permitted%s%s",
                                info->unprivileged_bpf_disabled > 0 ? " (unprivileged_bpf_disabled)"
                                                                    : "",
                                info->has_btf ? "; BTF is there" : "; no BTF"),
                 "run as root, or give heurt CAP_BPF and CAP_PERFMON");
}

#define MOUNT_TRACEFS "sudo mount -t tracefs tracefs /sys/kernel/tracing"
#define ALLOW_TRACEPOINTS                               \
    "sudo heurt record PROGRAM, or, once, sudo setcap " \
    "cap_perfmon,cap_dac_read_search+ep \"$(command -v heurt)\""

static void judge_tracepoints(const struct machine_info *info, const struct machine_trials *trials,
                              struct facility *facility)
{
    if (trials->tracepoints == 0)
        conclude(facility, FACILITY_YES, memory__text("sched_waking works"), NULL);
    else if (!info->has_tracefs && info->is_container)
        conclude(facility, FACILITY_NO, memory__text("tracefs is not in this container"),
                 "as root: mount -t tracefs nodev /sys/kernel/tracing; where the container refuses "
                 "that, start it with --privileged");
    else if (!info->has_tracefs)
        conclude(facility, FACILITY_NO, memory__text("tracefs is not mounted"),
                 trials->perfmon == 0 ? MOUNT_TRACEFS : MOUNT_TRACEFS "; then " ALLOW_TRACEPOINTS);
    else if (trials->tracepoints == -ENOENT && info->reads_futex)
        conclude(facility, FACILITY_NO, memory__text("this kernel has no sched_waking"),
                 "Linux 4.3 or newer");
    else
        conclude(facility, FACILITY_NO, memory__text("not for this user"), ALLOW_TRACEPOINTS);
}

/* Others are of use with sched_waking only. */
static void judge_with_waking(const struct machine_trials *trials, bool reads, const char *name,
                              const char *option, struct facility *facility)
{
    if (trials->tracepoints < 0)
        conclude(facility, FACILITY_NO, memory__text("needs wake-ups"), NULL);
    else if (reads)
        conclude(facility, FACILITY_YES, memory__format("%s works", name), NULL);
    else
        conclude(facility, FACILITY_NO, memory__format("this kernel has no %s", name), option);
}

static void judge_futex(const struct machine_info *info, const struct machine_trials *trials,
                        struct facility *facility)
{
    judge_with_waking(trials, info->reads_futex, "sys_enter_futex",
                      "a kernel with CONFIG_FTRACE_SYSCALLS", facility);
}

static void judge_block(const struct machine_info *info, const struct machine_trials *trials,
                        struct facility *facility)
{
    judge_with_waking(trials, info->reads_block, "block_rq_complete",
                      "a kernel with CONFIG_BLK_DEV_IO_TRACE", facility);
}

static void judge_uprobes(const struct machine_info *info, const struct machine_trials *trials,
                          struct facility *facility)
{
    if (!info->has_uprobes)
        conclude(facility, FACILITY_NO, memory__text("the kernel has none"),
                 "a kernel with CONFIG_UPROBE_EVENTS");
    else if (trials->perfmon == 0)
        conclude(facility, FACILITY_YES, memory__text("may be opened"), NULL);
    else
        conclude(facility, FACILITY_NO, memory__text("not for this user"), "run as root");
}

/* heurt stops only what it has started itself, which yama's scope of 1 allows. */
static void judge_ptrace(const struct machine_info *info, const struct machine_trials *trials,
                         struct facility *facility)
{
    (void)trials;
    if (info->ptrace_scope == INFO_UNKNOWN)
        conclude(facility, FACILITY_YES, memory__text("no yama: own processes may be traced"),
                 NULL);
    else if (info->ptrace_scope <= 1)
        conclude(facility, FACILITY_YES,
                 memory__format("yama's ptrace_scope is %ld%s", info->ptrace_scope,
                                info->ptrace_scope == 1 ? ": own children" : ""),
                 NULL);
    else
        conclude(facility, FACILITY_NO,
                 memory__format("yama's ptrace_scope is %ld", info->ptrace_scope),
                 info->ptrace_scope < 3 ? "sudo sysctl -w kernel.yama.ptrace_scope=1"
                                        : "reboot: 3 cannot be taken back");
}

static void judge_membarrier(const struct machine_info *info, const struct machine_trials *trials,
                             struct facility *facility)
{
    (void)info;
    judge_trial(trials->membarrier, NULL, facility);
}

static void judge_rseq(const struct machine_info *info, const struct machine_trials *trials,
                       struct facility *facility)
{
    (void)info;
    judge_trial(trials->rseq, "glibc 2.35 or newer, without glibc.pthread.rseq=0", facility);
}

static void judge_populate(const struct machine_info *info, const struct machine_trials *trials,
                           struct facility *facility)
{
    (void)info;
    judge_trial(trials->populate_write, "Linux 5.14 or newer", facility);
}

/* In the order of the table. */
static const struct {
    const char *key, *name, *buys;
    enum facility_purpose purpose;
    judge *judge;
} judges[] = {
    {"disk", "disk space", "room for the trace", FACILITY_RECORDING, judge_disk},
    {"processors", "processors", "threads set against CPUs", FACILITY_RECORDING, judge_processors},
    {"clock", "clock", "cheap, exact time stamps", FACILITY_RECORDING, judge_clock},
    {"populate", "prepared pages", "buffers without page faults", FACILITY_RECORDING,
     judge_populate},
    {"pidfd", "pidfd", "waiting for the program", FACILITY_RECORDING, judge_pidfd},
    {"switches", "switch records", "when threads had no CPU, and why", FACILITY_REASONS,
     judge_switches},
    {"faults", "page fault records", "time lost to page faults", FACILITY_REASONS, judge_faults},
    {"thread_rings", "buffers for these", "none of the records is lost", FACILITY_REASONS,
     judge_thread_rings},
    {"schedstat", "schedstat", "time spent waiting for a CPU", FACILITY_REASONS, judge_schedstat},
    {"pmu", "PMU", "more work told from slower work", FACILITY_REASONS, judge_pmu},
    {"nodes", "NUMA nodes", "which memory is far away", FACILITY_REASONS, judge_nodes},
    {"tracepoints", "wake-ups", "who woke whom, exactly when", FACILITY_WAKING, judge_tracepoints},
    {"futex", "futex calls", "waits that no hook sees", FACILITY_WAKING, judge_futex},
    {"block", "block requests", "disk waits, wherever they are", FACILITY_WAKING, judge_block},
    {"sampling", "cpu-clock sampling", "choosing functions, heurt hot", FACILITY_FUNCTIONS,
     judge_sampling},
    {"rings", "sampling buffers", "no samples lost", FACILITY_FUNCTIONS, judge_rings},
    {"descriptors", "file descriptors", "events on each CPU", FACILITY_FUNCTIONS,
     judge_descriptors},
    {"ptrace", "ptrace", "patching the chosen functions", FACILITY_FUNCTIONS, judge_ptrace},
    {"membarrier", "membarrier", "cores that see a patch at once", FACILITY_FUNCTIONS,
     judge_membarrier},
    {"memory_samples", "memory samples", "false sharing, remote memory", FACILITY_LATER,
     judge_memory_samples},
    {"bpf", "BPF", "summaries made inside of the kernel", FACILITY_LATER, judge_bpf},
    {"uprobes", "uprobes", "functions of static programs", FACILITY_LATER, judge_uprobes},
    {"rseq", "rseq", "the CPU's number for free", FACILITY_LATER, judge_rseq},
};

void facilities__judge(const struct machine_info *info, const struct machine_trials *trials,
                       struct vec *facilities)
{
    for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++) {
        struct facility facility = {
            .key = judges[i].key,
            .name = judges[i].name,
            .buys = judges[i].buys,
            .purpose = judges[i].purpose,
            .is_required = judges[i].judge == judge_disk,
        };
        judges[i].judge(info, trials, &facility);
        vec__push(facilities, &facility);
    }
}

void facilities__free(struct vec *facilities)
{
    VEC_EACH (facility, facilities, struct facility) {
        free(facility->found);
        free(facility->enable);
    }
    vec__free(facilities);
}

const char *facility_purpose__name(enum facility_purpose purpose)
{
    switch (purpose) {
    case FACILITY_RECORDING:
        return "recording";
    case FACILITY_REASONS:
        return "why threads lose time";
    case FACILITY_WAKING:
        return "what root adds to it";
    case FACILITY_FUNCTIONS:
        return "choosing and patching functions";
    case FACILITY_LATER:
        break;
    }
    return "for later versions of heurt: nothing of this is used yet";
}

const char *facility_state__name(enum facility_state state)
{
    return state == FACILITY_YES ? "yes" : state == FACILITY_PARTLY ? "partly" : "no";
}
