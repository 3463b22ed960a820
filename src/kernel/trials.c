/* trials.c: the half of machine_info.h that asks the kernel. Everything is undone at once. */
#include "kernel/machine_info.h"

#include "kernel/instruction_count.h"
#include "kernel/wakes.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef CAP_BPF
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

static int try_event(uint32_t type, uint64_t config, bool with_kernel)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = type,
        .config = config,
        .disabled = 1,
        .exclude_kernel = !with_kernel,
        .exclude_hv = 1,
    };
    if (type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_DUMMY) {
        attributes.context_switch = 1;
        attributes.sample_id_all = 1;
    }
    if (type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_CPU_CLOCK) {
        attributes.sample_period = 1000000;
        attributes.sample_type = PERF_SAMPLE_IP;
    }
    long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

/* As wakes.c opens it; -ENOENT, -EACCES: tracefs is not there or not for this user. */
static int try_tracepoints(void)
{
    struct wake_formats formats;
    int code = wake_formats__read("", &formats);
    if (code < 0)
        return code;
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_TRACEPOINT,
        .config = formats.waking,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        .disabled = 1,
    };
    long fd = syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

static int try_capability_alone(unsigned capability)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, data) < 0)
        return -errno;
    return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability) ? 0 : -EPERM;
}

/* The capability, or the one that contained it before Linux 5.8. */
static int try_capability(unsigned capability)
{
    int code = try_capability_alone(capability);
    return code == -EPERM ? try_capability_alone(CAP_SYS_ADMIN) : code;
}

static int try_membarrier(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (commands < 0)
        return -errno;
    return commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE ? 0 : -EOPNOTSUPP;
}

static int try_populate_write(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    int code = madvise(memory, bytes, MADV_POPULATE_WRITE) < 0 ? -errno : 0;
    if (code == -EINVAL) /* advice that the kernel does not know */
        code = -ENOSYS;
    munmap(memory, bytes);
    return code;
}

static int try_pidfd(void)
{
    long fd = syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

static uint64_t limit_of(__rlimit_resource_t resource)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0)
        return 0;
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

static uint64_t free_on_disk(const char *directory)
{
    struct statvfs status;
    if (statvfs(directory, &status) < 0 || access(directory, W_OK) < 0)
        return 0;
    return (uint64_t)status.f_bavail * status.f_frsize;
}

static uint64_t free_memory(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

void machine_trials__make(const char *directory, struct machine_trials *trials)
{
    *trials = (struct machine_trials){
        .cpu_clock = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false),
        .cpu_clock_kernel = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true),
        .context_switches = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false),
        .page_faults = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false),
        .cycles = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false),
        .instructions = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false),
        .bpf = try_capability(CAP_BPF),
        .perfmon = try_capability(CAP_PERFMON),
        .ipc_lock = try_capability_alone(CAP_IPC_LOCK),
        .tracepoints = try_tracepoints(),
        .rdpmc = instructions__try(NULL),
        .membarrier = try_membarrier(),
        .rseq = __rseq_size ? 0 : -ENOSYS,
        .populate_write = try_populate_write(),
        .pidfd = try_pidfd(),
        .descriptors = limit_of(RLIMIT_NOFILE),
        .locked_bytes = limit_of(RLIMIT_MEMLOCK),
        .disk_free_bytes = free_on_disk(directory),
        .memory_free_bytes = free_memory(),
    };
}

static bool set_trial(struct machine_trials *trials, const char *name, const char *value)
{
    char *end;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end)
        return false;
#define TRIAL_SET(field)           \
    if (strcmp(name, #field) == 0) \
        return trials->field = (int)number, true;
    TRIALS_TABLE(TRIAL_SET)
#undef TRIAL_SET
#define QUANTITY_SET(field)        \
    if (strcmp(name, #field) == 0) \
        return trials->field = number < 0 ? UINT64_MAX : (uint64_t)number, true;
    QUANTITY_SET(descriptors)
    QUANTITY_SET(locked_bytes)
    QUANTITY_SET(disk_free_bytes)
    QUANTITY_SET(memory_free_bytes)
#undef QUANTITY_SET
    return false;
}

static void forget_all(struct machine_trials *trials)
{
    *trials = (struct machine_trials){0};
#define TRIAL_FORGET(field) trials->field = -ENOSYS;
    TRIALS_TABLE(TRIAL_FORGET)
#undef TRIAL_FORGET
}

int machine_trials__read(const char *path, struct machine_trials *trials, struct error *error)
{
    forget_all(trials);
    FILE *file = fopen(path, "re");
    if (!file)
        return error__set(error, -errno, "%s cannot be read: %s", path, strerror(errno));
    char line[256], name[64], value[64];
    int code = 0;
    for (unsigned number = 1; code == 0 && fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "#\n")] = 0;
        int words = sscanf(line, "%63s %63s", name, value);
        if (words > 0 && (words != 2 || !set_trial(trials, name, value)))
            code = error__set(error, -EINVAL, "%s, line %u: not a trial and its number: %s", path,
                              number, line);
    }
    fclose(file);
    return code;
}
