#include "kernel/machine_info.h"

#include "base/memory.h"
#include "kernel/tracepoint.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of root/path without its end, or NULL. */
static char *read_line(const char *root, const char *path)
{
    char *name = memory__format("%s%s", root, path);
    FILE *file = fopen(name, "re");
    free(name);
    if (!file)
        return NULL;
    char *line = NULL;
    size_t capacity = 0;
    if (getline(&line, &capacity, file) < 0) {
        free(line);
        line = NULL;
    } else {
        line[strcspn(line, "\n")] = 0;
    }
    fclose(file);
    return line;
}

static long read_number(const char *root, const char *path)
{
    char *line = read_line(root, path), *end = line;
    long number = line ? strtol(line, &end, 10) : 0;
    bool is_number = line && end != line;
    free(line);
    return is_number ? number : INFO_UNKNOWN;
}

/* With the rights in effect, which access(2) does not ask for. */
static bool can_read(const char *root, const char *path)
{
    char *name = memory__format("%s%s", root, path);
    bool can = faccessat(AT_FDCWD, name, R_OK, AT_EACCESS) == 0;
    free(name);
    return can;
}

static bool exists(const char *root, const char *path)
{
    char *name = memory__format("%s%s", root, path);
    bool is_there = access(name, F_OK) == 0;
    free(name);
    return is_there;
}

/* How many numbers a list like "0-3,8,10-11" names; 0 for nonsense. */
static unsigned count_list(const char *list)
{
    unsigned count = 0;
    while (list && isdigit((unsigned char)*list)) {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last < first || last - first > 1000000)
            return 0;
        count += (unsigned)(last - first + 1);
        list = *end == ',' ? end + 1 : end;
    }
    return count;
}

static bool has_flag(const char *flags, const char *flag)
{
    size_t length = strlen(flag);
    for (const char *at = flags; (at = strstr(at, flag)); at += length)
        if ((at == flags || isspace((unsigned char)at[-1])) &&
            (!at[length] || isspace((unsigned char)at[length])))
            return true;
    return false;
}

/* The text behind "key : " when line has that key, else NULL. */
static char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || !strchr("\t :", line[length]))
        return NULL;
    char *colon = strchr(line, ':');
    if (!colon)
        return NULL;
    colon += 1 + strspn(colon + 1, " ");
    colon[strcspn(colon, "\n")] = 0;
    return colon;
}

static void read_processor(const char *root, struct machine_info *info)
{
    char *name = memory__format("%s/proc/cpuinfo", root);
    FILE *file = fopen(name, "re");
    free(name);
    if (!file)
        return;
    char *line = NULL, *value;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) >= 0 && line[0] != '\n') { /* the first CPU will do */
        if ((value = value_of(line, "model name"))) {
            free(info->processor);
            info->processor = memory__text(value);
        } else if ((value = value_of(line, "flags"))) {
            info->is_virtual = has_flag(value, "hypervisor");
            info->has_invariant_tsc =
                has_flag(value, "constant_tsc") && has_flag(value, "nonstop_tsc");
        }
    }
    free(line);
    fclose(file);
}

#define DEVICES "/sys/bus/event_source/devices"

static void read_devices(const char *root, struct machine_info *info)
{
    info->has_core_pmu = exists(root, DEVICES "/cpu") || exists(root, DEVICES "/cpu_core");
    info->has_ibs = exists(root, DEVICES "/ibs_op");
    info->has_pebs = exists(root, DEVICES "/cpu/events/mem-loads") ||
                     exists(root, DEVICES "/cpu_core/events/mem-loads");
    info->has_btf = exists(root, "/sys/kernel/btf/vmlinux");
    info->has_uprobes = exists(root, DEVICES "/uprobe");
    info->rdpmc = read_number(root, DEVICES "/cpu/rdpmc");
    if (info->rdpmc == INFO_UNKNOWN)
        info->rdpmc = read_number(root, DEVICES "/cpu_core/rdpmc");
}

/* Whether the table of mounts has one of that type; its directory may be closed to this user. */
static bool is_mounted(const char *root, const char *type)
{
    char *name = memory__format("%s/proc/self/mounts", root), *line = NULL;
    FILE *file = fopen(name, "re");
    free(name);
    size_t capacity = 0;
    bool found = false;
    while (file && !found && getline(&line, &capacity, file) >= 0) {
        char found_type[32];
        found = sscanf(line, "%*s %*s %31s", found_type) == 1 && strcmp(found_type, type) == 0;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

static bool can_read_event(const char *root, const char *mount, const char *event)
{
    char *path = memory__format("%s/events/%s/format", mount, event);
    bool can = can_read(root, path);
    free(path);
    return can;
}

static void read_tracefs(const char *root, struct machine_info *info)
{
    static const char *const mounts[] = TRACEFS_MOUNTS;
    info->has_tracefs = is_mounted(root, "tracefs");
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0] && !info->reads_waking; i++) {
        info->reads_waking = can_read_event(root, mounts[i], "sched/sched_waking");
        info->reads_futex = can_read_event(root, mounts[i], "syscalls/sys_enter_futex") &&
                            can_read_event(root, mounts[i], "syscalls/sys_exit_futex");
        info->reads_block = can_read_event(root, mounts[i], "block/block_rq_complete") &&
                            (can_read_event(root, mounts[i], "block/block_bio_queue") ||
                             can_read_event(root, mounts[i], "block/block_rq_issue"));
    }
    info->has_tracefs |= info->reads_waking;
}

void machine_info__read(const char *root, struct machine_info *info)
{
    *info = (struct machine_info){0};
    info->kernel = read_line(root, "/proc/sys/kernel/osrelease");
    info->clocksource =
        read_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    info->cpus = read_line(root, "/sys/devices/system/cpu/online");
    info->cpu_count = count_list(info->cpus);
    char *nodes = read_line(root, "/sys/devices/system/node/online");
    info->node_count = count_list(nodes);
    free(nodes);
    info->perf_event_paranoid = read_number(root, "/proc/sys/kernel/perf_event_paranoid");
    info->perf_event_mlock_kib = read_number(root, "/proc/sys/kernel/perf_event_mlock_kb");
    info->perf_event_max_sample_rate =
        read_number(root, "/proc/sys/kernel/perf_event_max_sample_rate");
    info->unprivileged_bpf_disabled =
        read_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled");
    info->ptrace_scope = read_number(root, "/proc/sys/kernel/yama/ptrace_scope");
    info->has_schedstat = can_read(root, "/proc/self/schedstat");
    info->is_container = exists(root, "/run/systemd/container") ||
                         exists(root, "/run/.containerenv") || exists(root, "/.dockerenv");
    read_processor(root, info);
    read_devices(root, info);
    read_tracefs(root, info);
}

void machine_info__free(struct machine_info *info)
{
    free(info->kernel);
    free(info->processor);
    free(info->clocksource);
    free(info->cpus);
    *info = (struct machine_info){0};
}

bool kernel__interrupts_late(const char *release)
{
    unsigned major, minor;
    return release && sscanf(release, "%u.%u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 11));
}
