#include "kernel/facilities.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024ull * 1024)

typedef void judge(const struct machine_facts *facts, const struct machine_trials *trials,
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

static char *paranoia(const struct machine_facts *facts, const char *what)
{
    if (facts->perf_event_paranoid == FACT_UNKNOWN)
        return memory__format("%s; perf_event_paranoid cannot be read", what);
    return memory__format("%s; perf_event_paranoid is %ld", what, facts->perf_event_paranoid);
}

/* What lets an ordinary user have perf events of their own. */
static const char *allow_events(const struct machine_facts *facts, int code)
{
    if (code == -ENOSYS)
        return "a kernel with CONFIG_PERF_EVENTS, outside of sandboxes";
    if (code != -EACCES && code != -EPERM)
        return NULL;
    return facts->perf_event_paranoid > 2
               ? "sudo sysctl kernel.perf_event_paranoid=2"
               : "in a container: --cap-add PERFMON or --security-opt seccomp=unconfined";
}

static void judge_processors(const struct machine_facts *facts, const struct machine_trials *trials,
                             struct facility *facility)
{
    (void)trials;
    char *found =
        memory__format("%u online (%s), %s%s", facts->cpu_count, facts->cpus ? facts->cpus : "?",
                       facts->processor ? facts->processor : "unknown model",
                       facts->is_virtual ? ", virtual" : "");
    conclude(facility, facts->cpu_count ? FACILITY_YES : FACILITY_PARTLY, found,
             facts->cpu_count ? NULL : "mount /sys");
}

static void judge_nodes(const struct machine_facts *facts, const struct machine_trials *trials,
                        struct facility *facility)
{
    (void)trials;
    if (facts->node_count == 0)
        conclude(facility, FACILITY_NO, memory__text("the kernel names no nodes"), NULL);
    else
        conclude(facility, FACILITY_YES,
                 memory__format("%u node%s", facts->node_count, facts->node_count > 1 ? "s" : ""),
                 NULL);
}

static void judge_clock(const struct machine_facts *facts, const struct machine_trials *trials,
                        struct facility *facility)
{
    (void)trials;
    const char *source = facts->clocksource ? facts->clocksource : "unknown";
    bool by_tsc = strcmp(source, "tsc") == 0;
    if (facts->has_invariant_tsc && by_tsc)
        conclude(facility, FACILITY_YES, memory__text("invariant TSC, the kernel's clock too"),
                 NULL);
    else if (facts->has_invariant_tsc)
        conclude(facility, FACILITY_PARTLY,
                 memory__format("invariant TSC, but the kernel's clock is %s", source),
                 "see why: dmesg | grep -i -e tsc -e clocksource; where the TSC is sound: boot "
                 "with tsc=reliable");
    else
        conclude(
            facility, FACILITY_NO,
            memory__format("no invariant TSC; the kernel's clock is %s: events cost more", source),
            facts->is_virtual ? "let the hypervisor pass invtsc on" : NULL);
}

static void judge_sampling(const struct machine_facts *facts, const struct machine_trials *trials,
                           struct facility *facility)
{
    if (trials->cpu_clock < 0)
        conclude(facility, FACILITY_NO, paranoia(facts, "refused"),
                 allow_events(facts, trials->cpu_clock));
    else if (trials->cpu_clock_kernel < 0)
        conclude(facility, FACILITY_PARTLY, paranoia(facts, "outside of the kernel only"),
                 "sudo sysctl kernel.perf_event_paranoid=1");
    else
        conclude(facility, FACILITY_YES, paranoia(facts, "with the kernel's part"), NULL);
}

/* In KiB a CPU; what goes beyond perf_event_mlock_kb is taken from RLIMIT_MEMLOCK. */
static uint64_t ring_kib(const struct machine_facts *facts, const struct machine_trials *trials)
{
    if (trials->locked_bytes == UINT64_MAX)
        return UINT64_MAX;
    uint64_t cpus = facts->cpu_count ? facts->cpu_count : 1;
    uint64_t kib = facts->perf_event_mlock_kib > 0 ? (uint64_t)facts->perf_event_mlock_kib : 0;
    return kib + trials->locked_bytes / 1024 / cpus;
}

#define RING_KIB_WANTED (65 * 4) /* sampling.c asks for 64 pages and a header */
#define RING_KIB_LEAST (3 * 4)   /* and makes do with two */

static void judge_rings(const struct machine_facts *facts, const struct machine_trials *trials,
                        struct facility *facility)
{
    uint64_t kib = ring_kib(facts, trials);
    if (kib == UINT64_MAX)
        conclude(facility, FACILITY_YES, memory__text("as much memory as is wanted"), NULL);
    else if (kib >= RING_KIB_WANTED)
        conclude(facility, FACILITY_YES, memory__format("%llu KiB a CPU", (unsigned long long)kib),
                 NULL);
    else
        conclude(facility, kib >= RING_KIB_LEAST ? FACILITY_PARTLY : FACILITY_NO,
                 memory__format("only %llu KiB a CPU", (unsigned long long)kib),
                 "sudo sysctl kernel.perf_event_mlock_kb=516");
}

static void judge_descriptors(const struct machine_facts *facts,
                              const struct machine_trials *trials, struct facility *facility)
{
    bool enough = trials->descriptors >= facts->cpu_count + 64;
    char *found = trials->descriptors == UINT64_MAX
                      ? memory__text("no limit")
                      : memory__format("%llu", (unsigned long long)trials->descriptors);
    conclude(facility, enough ? FACILITY_YES : FACILITY_PARTLY, found,
             enough ? NULL : "ulimit -n 1024");
}

static void judge_disk(const struct machine_facts *facts, const struct machine_trials *trials,
                       struct facility *facility)
{
    (void)facts;
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

static void judge_pidfd(const struct machine_facts *facts, const struct machine_trials *trials,
                        struct facility *facility)
{
    (void)facts;
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
        conclude(facility, FACILITY_YES, memory__text("tried: works"), NULL);
    else
        conclude(facility, FACILITY_NO, refusal(code), enable);
}

static void judge_switches(const struct machine_facts *facts, const struct machine_trials *trials,
                           struct facility *facility)
{
    judge_trial(trials->context_switches, allow_events(facts, trials->context_switches), facility);
}

static void judge_faults(const struct machine_facts *facts, const struct machine_trials *trials,
                         struct facility *facility)
{
    judge_trial(trials->page_faults, allow_events(facts, trials->page_faults), facility);
}

static void judge_pmu(const struct machine_facts *facts, const struct machine_trials *trials,
                      struct facility *facility)
{
    if (trials->cycles == 0 && trials->instructions == 0)
        conclude(facility, FACILITY_YES, memory__text("cycles and instructions count"), NULL);
    else if (trials->cycles == 0 || trials->instructions == 0)
        conclude(facility, FACILITY_PARTLY,
                 memory__format("only %s count", trials->cycles ? "instructions" : "cycles"), NULL);
    else if (!facts->has_core_pmu)
        conclude(facility, FACILITY_NO,
                 memory__text(facts->is_virtual ? "this virtual machine has no PMU"
                                                : "the kernel knows no PMU"),
                 facts->is_virtual ? "let the hypervisor pass the PMU on, or run on the host"
                                   : NULL);
    else
        conclude(facility, FACILITY_NO, refusal(trials->cycles),
                 allow_events(facts, trials->cycles));
}

/* PEBS follows a thread; IBS samples whole CPUs, which is for the privileged. */
static void judge_memory_samples(const struct machine_facts *facts,
                                 const struct machine_trials *trials, struct facility *facility)
{
    bool sees_cpus = trials->perfmon == 0 || facts->perf_event_paranoid <= 0;
    if (!facts->has_pebs && !facts->has_ibs)
        conclude(facility, FACILITY_NO, memory__text("neither Intel PEBS nor AMD IBS is there"),
                 facts->is_virtual ? "run on the host" : NULL);
    else if (facts->has_pebs && trials->cycles < 0)
        conclude(facility, FACILITY_PARTLY, memory__text("Intel PEBS is there, but not permitted"),
                 allow_events(facts, trials->cycles));
    else if (facts->has_ibs && !sees_cpus)
        conclude(facility, FACILITY_PARTLY,
                 paranoia(facts, "AMD IBS is there, but not for this user"),
                 "sudo sysctl kernel.perf_event_paranoid=0");
    else
        conclude(facility, FACILITY_YES, memory__text(facts->has_pebs ? "Intel PEBS" : "AMD IBS"),
                 NULL);
}

static void judge_bpf(const struct machine_facts *facts, const struct machine_trials *trials,
                      struct facility *facility)
{
    if (trials->bpf == 0 && facts->has_btf)
        conclude(facility, FACILITY_YES, memory__text("permitted, with type information (BTF)"),
                 NULL);
    else if (trials->bpf == 0)
        conclude(facility, FACILITY_PARTLY, memory__text("permitted, but the kernel has no BTF"),
                 "a kernel with CONFIG_DEBUG_INFO_BTF");
    else
        conclude(facility, FACILITY_NO,
                 memory__format(
                     "not permitted%s%s",
                     facts->unprivileged_bpf_disabled > 0 ? " (unprivileged_bpf_disabled)" : "",
                     facts->has_btf ? "; BTF is there" : "; no BTF"),
                 "run as root, or give heurt CAP_BPF and CAP_PERFMON");
}

static void judge_tracepoints(const struct machine_facts *facts,
                              const struct machine_trials *trials, struct facility *facility)
{
    (void)trials;
    if (facts->reads_switch_tracepoint && facts->reads_futex_tracepoint)
        conclude(facility, FACILITY_YES, memory__text("sched_switch and futex can be read"), NULL);
    else if (facts->reads_switch_tracepoint)
        conclude(facility, FACILITY_PARTLY,
                 memory__text("sched_switch can be read, futex is not there"),
                 "a kernel with CONFIG_FTRACE_SYSCALLS");
    else
        conclude(facility, FACILITY_NO,
                 memory__text(facts->has_tracefs ? "tracefs is there, but not for this user"
                                                 : "tracefs is not mounted, or not for this user"),
                 facts->has_tracefs ? "sudo chmod -R o+rX /sys/kernel/tracing"
                                    : "sudo mount -t tracefs tracefs /sys/kernel/tracing");
}

/* heurt stops only what it has started itself, which yama's scope of 1 allows. */
static void judge_ptrace(const struct machine_facts *facts, const struct machine_trials *trials,
                         struct facility *facility)
{
    (void)trials;
    if (facts->ptrace_scope == FACT_UNKNOWN)
        conclude(facility, FACILITY_YES, memory__text("no yama: own processes may be traced"),
                 NULL);
    else if (facts->ptrace_scope <= 1)
        conclude(facility, FACILITY_YES,
                 memory__format("yama's ptrace_scope is %ld%s", facts->ptrace_scope,
                                facts->ptrace_scope == 1 ? ": own children" : ""),
                 NULL);
    else
        conclude(facility, FACILITY_NO,
                 memory__format("yama's ptrace_scope is %ld", facts->ptrace_scope),
                 facts->ptrace_scope < 3 ? "sudo sysctl kernel.yama.ptrace_scope=1"
                                         : "reboot: 3 cannot be taken back");
}

static void judge_membarrier(const struct machine_facts *facts, const struct machine_trials *trials,
                             struct facility *facility)
{
    (void)facts;
    judge_trial(trials->membarrier, NULL, facility);
}

static void judge_rseq(const struct machine_facts *facts, const struct machine_trials *trials,
                       struct facility *facility)
{
    (void)facts;
    judge_trial(trials->rseq, "glibc 2.35 or newer, without glibc.pthread.rseq=0", facility);
}

static void judge_populate(const struct machine_facts *facts, const struct machine_trials *trials,
                           struct facility *facility)
{
    (void)facts;
    judge_trial(trials->populate_write, "Linux 5.14 or newer", facility);
}

/* In the order of the table: what is used and required first. */
static const struct {
    const char *key, *name, *buys;
    bool is_used, is_required;
    judge *judge;
} judges[] = {
    {"disk", "disk space", "room for the trace", true, true, judge_disk},
    {"processors", "processors", "threads set against CPUs in the report", true, false,
     judge_processors},
    {"clock", "clock", "cheap, exact time stamps", true, false, judge_clock},
    {"sampling", "cpu-clock sampling", "choosing functions, heurt hot", true, false,
     judge_sampling},
    {"rings", "sampling buffers", "no samples lost", true, false, judge_rings},
    {"descriptors", "file descriptors", "one sampling event a CPU", true, false, judge_descriptors},
    {"pidfd", "pidfd", "waiting for the program", true, false, judge_pidfd},
    {"populate", "MADV_POPULATE_WRITE", "buffers without page faults", true, false, judge_populate},
    {"ptrace", "ptrace", "patching the chosen functions", true, false, judge_ptrace},
    {"membarrier", "membarrier", "cores that see a patch at once", true, false, judge_membarrier},
    {"switches", "switch records", "when threads were off the CPU, and why", false, false,
     judge_switches},
    {"faults", "page fault events", "time lost to page faults", false, false, judge_faults},
    {"pmu", "PMU", "varying work told from waiting", false, false, judge_pmu},
    {"memory_samples", "memory samples", "false sharing, remote memory", false, false,
     judge_memory_samples},
    {"nodes", "NUMA nodes", "remote memory, placement", false, false, judge_nodes},
    {"bpf", "BPF", "who woke whom, inside of the kernel", false, false, judge_bpf},
    {"tracepoints", "tracepoints", "sched and futex events of all threads", false, false,
     judge_tracepoints},
    {"rseq", "rseq", "the CPU's number for free", false, false, judge_rseq},
};

void facilities__judge(const struct machine_facts *facts, const struct machine_trials *trials,
                       struct vec *facilities)
{
    for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++) {
        struct facility facility = {
            .key = judges[i].key,
            .name = judges[i].name,
            .buys = judges[i].buys,
            .is_used = judges[i].is_used,
            .is_required = judges[i].is_required,
        };
        judges[i].judge(facts, trials, &facility);
        vec__push(facilities, &facility);
    }
}

void facilities__free(struct vec *facilities)
{
    VEC_EACH(facility, facilities, struct facility)
    {
        free(facility->found);
        free(facility->enable);
    }
    vec__free(facilities);
}

const char *facility_state__name(enum facility_state state)
{
    return state == FACILITY_YES ? "yes" : state == FACILITY_PARTLY ? "partly" : "no";
}
