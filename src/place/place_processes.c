#include "place/place_processes.h"

#include "base/clock.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define CGROUP_LEVELS 16          /* of folders in folders */
#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD (linux/sched.h) */

struct process_stat {
    char name[16];
    char state;
    uint32_t parent;
    unsigned flags;
    uint64_t code;
};

/* "123 (a name) R 1 …" (proc(5)): the name may hold anything. False: it is gone. */
static bool read_stat(pid_t pid, struct process_stat *stat)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    char *begin = strchr(text, '('), *end = strrchr(text, ')');
    *stat = (struct process_stat){.state = 'X'};
    if (!begin || !end || end < begin)
        return false;
    *end = 0;
    snprintf(stat->name, sizeof stat->name, "%s", begin + 1);
    return sscanf(end + 1,
                  " %c %" SCNu32 " %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                  "%*d %*u %*u %*d %*u %" SCNu64,
                  &stat->state, &stat->parent, &stat->flags, &stat->code) == 4;
}

static bool is_followed(const struct process_stat *stat)
{
    return !(stat->flags & KERNEL_THREAD) && stat->state != 'Z' && stat->state != 'X';
}

static bool is_this_user(pid_t pid)
{
    char path[40];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &about) == 0 && about.st_uid == geteuid();
}

static uint64_t cpu_ns_of(pid_t pid)
{
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) == 0 ? clock__ns(clock) : 0;
}

/* ---- one ------------------------------------------------------------------------------------- */

static struct place_process *find(const struct place_processes *self, pid_t pid)
{
    VEC_EACH (process, &self->items, struct place_process)
        if (process->pid == pid)
            return process;
    return NULL;
}

/* Once more from here on, whether it is a new process or another program. */
static void begin(struct place_processes *self, struct place_process *process,
                  const struct process_stat *stat)
{
    process->id = ++self->next_id;
    process->code = stat->code;
    process->is_new = true;
    memcpy(process->name, stat->name, sizeof process->name);
}

static bool follow(struct place_processes *self, pid_t pid, const struct process_stat *stat)
{
    struct place_process process = {.pid = pid, .is_chosen = true};
    if (pid == getpid() || !is_followed(stat))
        return false;
    process.pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
    if (process.pidfd < 0)
        return false;
    process.cpu_ns = cpu_ns_of(pid);
    begin(self, &process, stat);
    vec__push(&self->items, &process);
    return true;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static void choose(struct place_processes *self, pid_t pid)
{
    struct process_stat stat;
    struct place_process *process = find(self, pid);
    if (process)
        process->is_chosen = true;
    else if (read_stat(pid, &stat))
        follow(self, pid, &stat);
}

static FILE *open_procs(const char *folder)
{
    char *path = memory__format("%s/cgroup.procs", folder);
    FILE *in = fopen(path, "re");
    free(path);
    return in;
}

static void choose_cgroup(struct place_processes *self, const char *folder, unsigned levels)
{
    FILE *in = open_procs(folder);
    int pid;
    while (in && fscanf(in, "%d", &pid) == 1)
        choose(self, (pid_t)pid);
    if (in)
        fclose(in);
    DIR *directory = levels ? opendir(folder) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        char *below = memory__format("%s/%s", folder, entry->d_name);
        choose_cgroup(self, below, levels - 1);
        free(below);
    }
    if (directory)
        closedir(directory);
}

static char *cgroup_path(const char *cgroup)
{
    return strncmp(cgroup, CGROUPS "/", sizeof CGROUPS) == 0
               ? memory__text(cgroup)
               : memory__format(CGROUPS "/%s", cgroup + strspn(cgroup, "/"));
}

static bool is_among(const struct vec *numbers, uint32_t number)
{
    size_t at = VEC_FIRST(item, numbers, uint32_t, *item >= number);
    return at < numbers->count && *VEC_AT(numbers, uint32_t, at) == number;
}

/* A process that was not there before, where it is this user's, or was started by one of those. */
static void choose_new(struct place_processes *self, pid_t pid)
{
    struct process_stat stat;
    if (self->selection.of_user ? is_this_user(pid) && read_stat(pid, &stat)
                                : read_stat(pid, &stat) && find(self, (pid_t)stat.parent))
        follow(self, pid, &stat);
}

/* Numbers rise with time, mostly: a parent is known before its children. */
static void choose_all_new(struct place_processes *self)
{
    struct vec now = VEC_OF(uint32_t);
    DIR *directory = opendir("/proc");
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (pid)
            vec__push(&now, &pid);
    }
    if (directory)
        closedir(directory);
    vec__sort(&now, order__u32);
    VEC_EACH (pid, &now, uint32_t)
        if (!is_among(&self->seen, *pid) && !find(self, (pid_t)*pid))
            choose_new(self, (pid_t)*pid);
    vec__free(&self->seen);
    self->seen = now;
}

/* ---- a look ---------------------------------------------------------------------------------- */

static bool has_ended(const struct place_process *process)
{
    struct pollfd ended = {process->pidfd, POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
}

/* False: it is followed no more. One without code is ending, or becoming another program. */
static bool refresh(struct place_processes *self, struct place_process *process, uint64_t ns)
{
    struct process_stat stat;
    uint64_t cpu_ns = cpu_ns_of(process->pid);
    if (has_ended(process) || !read_stat(process->pid, &stat) || !is_followed(&stat))
        return false;
    process->cpus =
        ns && cpu_ns > process->cpu_ns ? (double)(cpu_ns - process->cpu_ns) / (double)ns : 0;
    process->cpu_ns = cpu_ns;
    if (stat.code && stat.code != process->code)
        begin(self, process, &stat);
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct place_process *left = a, *right = b;
    return ORDER(left->id, right->id);
}

void place_processes__look(struct place_processes *self,
                           void (*gone)(const struct place_process *process, void *context),
                           void *context)
{
    uint64_t now = clock__ns(CLOCK_MONOTONIC), ns = self->looked_ns ? now - self->looked_ns : 0;
    struct vec kept = VEC_OF(struct place_process);
    size_t known = self->items.count;
    VEC_EACH (process, &self->items, struct place_process)
        process->is_new = process->is_chosen = false;
    if (self->selection.cgroup) {
        char *path = cgroup_path(self->selection.cgroup);
        choose_cgroup(self, path, CGROUP_LEVELS);
        free(path);
    } else
        choose_all_new(self);
    for (size_t i = 0; i < self->items.count; i++) {
        struct place_process before = *VEC_AT(&self->items, struct place_process, i),
                             now_is = before;
        bool is_left = self->selection.cgroup && !before.is_chosen;
        if (!is_left && refresh(self, &now_is, i < known ? ns : 0)) {
            if (now_is.id != before.id)
                gone(&before, context);
            vec__push(&kept, &now_is);
        } else {
            gone(&before, context);
            close(before.pidfd);
        }
    }
    vec__free(&self->items);
    self->items = kept;
    vec__sort(&self->items, by_number);
    self->looked_ns = now;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_named(struct place_processes *self, struct error *error)
{
    VEC_EACH (pid, &self->selection.pids, pid_t) {
        struct process_stat stat;
        if (kill(*pid, 0) < 0 && errno == EPERM)
            return error__set(error, -EPERM,
                              "process %d is another user's: heurt place moves memory of one's own "
                              "processes, or as root of those that are named",
                              (int)*pid);
        if (!read_stat(*pid, &stat) || stat.state == 'Z' || stat.state == 'X')
            return error__set(error, -ESRCH, "there is no process %d", (int)*pid);
        if (stat.flags & KERNEL_THREAD)
            return error__set(error, -EINVAL, "process %d is a thread of the kernel", (int)*pid);
        if (!follow(self, *pid, &stat))
            return error__set(error, -EINVAL,
                              "process %d cannot be followed: it has ended, or is heurt itself",
                              (int)*pid);
    }
    return 0;
}

static int open_cgroup(struct place_processes *self, struct error *error)
{
    char *path = cgroup_path(self->selection.cgroup);
    FILE *in = open_procs(path);
    int code = in ? 0 : -ENOENT;
    if (in)
        fclose(in);
    else
        error__set(error, code, "%s is no cgroup: there is no %s/cgroup.procs",
                   self->selection.cgroup, path);
    free(path);
    return code;
}

int place_processes__open(struct place_processes *self, const struct place_selection *selection,
                          struct error *error)
{
    *self = (struct place_processes){
        .selection = *selection, .items = VEC_OF(struct place_process), .seen = VEC_OF(uint32_t)};
    if (selection->of_user)
        return geteuid() ? 0
                         : error__set(error, -EPERM,
                                      "--user as root would be nearly all of the machine: name "
                                      "processes (-p) or a cgroup (--cgroup)");
    return selection->cgroup ? open_cgroup(self, error) : open_named(self, error);
}

void place_processes__free(struct place_processes *self)
{
    VEC_EACH (process, &self->items, struct place_process)
        close(process->pidfd);
    vec__free(&self->items);
    vec__free(&self->seen);
}
