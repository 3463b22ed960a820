#include "kernel/task_counts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    uint32_t type;
    uint64_t config;
} events[TASK_COUNTS] = {
    [COUNT_CPU_NS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    [COUNT_MINOR_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    [COUNT_MAJOR_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    [COUNT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [COUNT_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [COUNT_STALLED_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    [COUNT_CACHE_REFERENCES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    [COUNT_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

struct task_counts task_counts__none(void)
{
    struct task_counts counts = {.pids = VEC_OF(pid_t)};
    for (int kind = 0; kind < TASK_COUNTS; kind++) {
        counts.fds[kind] = VEC_OF(int);
        counts.refused[kind] = 0;
    }
    return counts;
}

static int open_count(const struct perf_event_attr *attributes, pid_t pid)
{
    long fd = syscall(SYS_perf_event_open, attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static void add_fd(struct task_counts *counts, enum task_count_kind kind, int fd, pid_t pid)
{
    vec__push(&counts->fds[kind], &fd);
    if (kind == COUNT_CPU_NS)
        vec__push(&counts->pids, &pid);
}

void task_counts__add(struct task_counts *counts, pid_t pid, bool is_running,
                      int (*open)(const struct perf_event_attr *attributes, pid_t pid))
{
    for (int kind = 0; kind < TASK_COUNTS; kind++) {
        const struct perf_event_attr attributes = {
            .size = sizeof attributes,
            .type = events[kind].type,
            .config = events[kind].config,
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
            .disabled = !is_running,
            .enable_on_exec = !is_running,
            .inherit = 1,
            .exclude_kernel = 1,
            .exclude_hv = 1,
        };
        int fd = (open ? open : open_count)(&attributes, pid);
        if (fd >= 0)
            add_fd(counts, kind, fd, pid);
        else if (fd != -ESRCH || !is_running) /* a thread may be gone by now */
            counts->refused[kind] = fd;
    }
}

struct task_count task_counts__read(const struct task_counts *counts, enum task_count_kind kind)
{
    struct task_count count = {.is_known = counts->fds[kind].count && !counts->refused[kind],
                               .counted = 1};
    double sum = 0, enabled = 0, running = 0;
    VEC_EACH (fd, &counts->fds[kind], int) {
        uint64_t words[3]; /* value, time enabled, time running */
        if (read(*fd, words, sizeof words) != sizeof words) {
            count.is_known = false;
            continue;
        }
        sum += words[2] && words[2] < words[1]
                   ? (double)words[0] * (double)words[1] / (double)words[2]
                   : (double)words[0];
        enabled += (double)words[1];
        running += (double)words[2];
    }
    count.value = (uint64_t)sum;
    count.counted = enabled > running ? running / enabled : 1;
    count.is_known = count.is_known && !(enabled > 0 && running <= 0); /* it never had its turn */
    return count;
}

/* The clock of a thread that runs goes on between two looks at it. */
static bool grows(int fd)
{
    uint64_t before[3], after[3];
    return read(fd, before, sizeof before) == sizeof before &&
           read(fd, after, sizeof after) == sizeof after && after[0] > before[0];
}

bool task_counts__is_running(const struct task_counts *counts, pid_t pid)
{
    for (size_t i = 0; i < counts->pids.count; i++)
        if (*VEC_AT(&counts->pids, pid_t, i) == pid)
            return grows(*VEC_AT(&counts->fds[COUNT_CPU_NS], int, i));
    return false;
}

const char *task_counts__why_none(const struct task_counts *counts, enum task_count_kind kind)
{
    switch (-counts->refused[kind]) {
    case 0:
        return task_counts__read(counts, kind).is_known ? NULL : "it never had its turn";
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        return "no PMU";
    case EPERM:
    case EACCES:
        return "the kernel refuses it to this user (perf_event_paranoid)";
    case EMFILE:
        return "too few descriptors (ulimit -n)";
    default:
        return "perf_event_open fails";
    }
}

void task_counts__close(struct task_counts *counts)
{
    for (int kind = 0; kind < TASK_COUNTS; kind++) {
        VEC_EACH (fd, &counts->fds[kind], int)
            close(*fd);
        vec__free(&counts->fds[kind]);
    }
    vec__free(&counts->pids);
}
