#include "kernel/instruction_count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSED "retired instructions are not counted: "

static int refuse(struct error *error, int code)
{
    switch (-code) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        return error__set(error, code,
                          REFUSED
                          "the processor's counters (PMU) are not there, as on most virtual "
                          "machines; record on the host, or let the hypervisor pass them on");
    case EPERM:
    case EACCES:
        return error__set(error, code,
                          REFUSED "the kernel refuses perf_event_open to this user; sudo sysctl "
                                  "kernel.perf_event_paranoid=2 allows it");
    default:
        return error__set(error, code, REFUSED "perf_event_open fails (%s)", strerror(-code));
    }
}

static int try_page(int fd, struct error *error)
{
    long bytes = sysconf(_SC_PAGESIZE);
    const volatile struct perf_event_mmap_page *page =
        mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return error__set(error, -errno,
                          REFUSED
                          "the counter's page cannot be mapped (%s); a larger ulimit -l may "
                          "help",
                          strerror(errno));
    int code = page->cap_user_rdpmc ? 0 : -EACCES;
    munmap((void *)page, (size_t)bytes);
    return code == 0 ? 0
                     : error__set(error, code,
                                  REFUSED "programs may not read the counter themselves; echo 1 | "
                                          "sudo tee /sys/bus/event_source/devices/cpu/rdpmc allows "
                                          "it");
}

int instructions__try(struct error *error)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .pinned = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return refuse(error, -errno);
    int code = try_page(fd, error);
    close(fd);
    return code;
}
