#include "kernel/process_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct vec process__threads(pid_t pid)
{
    struct vec tids = VEC_OF(uint32_t);
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid)
            vec__push(&tids, &tid);
    }
    if (directory)
        closedir(directory);
    vec__sort(&tids, order__u32);
    return tids;
}

static bool read_file(pid_t pid, uint32_t tid, const char *file, char *text, size_t bytes)
{
    char path[72];
    snprintf(path, sizeof path, "/proc/%d/task/%" PRIu32 "/%s", (int)pid, tid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, bytes - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

static void read_times(pid_t pid, uint32_t tid, struct thread_told *told)
{
    char text[96];
    if (!read_file(pid, tid, "schedstat", text, sizeof text) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &told->run_ns, &told->delay_ns) != 2)
        told->run_ns = 0, told->delay_ns = UINT64_MAX;
}

uint64_t thread_told__delay_ns(pid_t pid, uint32_t tid)
{
    struct thread_told told = {.delay_ns = UINT64_MAX};
    read_times(pid, tid, &told);
    return told.delay_ns;
}

/* "123 (a name) R …": the name may hold anything. */
bool thread_told__read(pid_t pid, uint32_t tid, struct thread_told *told)
{
    char text[512];
    *told = (struct thread_told){.delay_ns = UINT64_MAX};
    if (!read_file(pid, tid, "stat", text, sizeof text))
        return false;
    char *begin = strchr(text, '('), *end = strrchr(text, ')');
    if (!begin || !end || end < begin)
        return false;
    told->wants_cpu = end[1] == ' ' && end[2] == 'R';
    *end = 0;
    snprintf(told->name, sizeof told->name, "%s", begin + 1);
    read_times(pid, tid, told);
    return true;
}
