#include "kernel/access_events.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_with(struct perf_event_attr attributes, const struct access_target *target,
                     int group_fd)
{
    attributes.disabled = attributes.enable_on_exec = !target->of_machine;
    attributes.inherit = !target->of_machine;
    attributes.watermark = 1;
    attributes.wakeup_watermark = (uint32_t)target->wakeup_bytes;
    long fd = syscall(SYS_perf_event_open, &attributes, target->of_machine ? -1 : target->pid,
                      target->cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* Kernels before 5.12 know the latency alone, in the same place. */
static int open_event(const struct memory_event *event, const struct access_target *target,
                      int group_fd)
{
    struct perf_event_attr attributes = event->attributes;
    int fd = open_with(attributes, target, group_fd);
    if (fd != -EINVAL)
        return fd;
    attributes.sample_type ^= PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_WEIGHT;
    return open_with(attributes, target, group_fd);
}

/* Behind the first event that samples, one that cannot be had is left out. */
static int open_unit(const struct memory_unit *unit, const struct access_target *target,
                     struct access_events *events)
{
    int leader = -1;
    *events = (struct access_events){.name = unit->name, .ring_fd = -1};
    for (size_t i = 0; i < MEMORY_EVENTS_MOST; i++)
        events->fds[i] = -1;
    for (size_t i = 0; i < unit->count; i++) {
        int fd = open_event(&unit->events[i], target, leader);
        if (fd < 0 && events->ring_fd >= 0)
            break;
        if (fd < 0) {
            access_events__close(events);
            return fd;
        }
        events->fds[i] = fd;
        leader = unit->events[i].leads ? fd : -1;
        if (!unit->events[i].leads && events->ring_fd < 0)
            events->ring_fd = fd;
    }
    return events->ring_fd >= 0 ? 0 : -ENODEV;
}

int access_events__open(const struct memory_unit *units, size_t count,
                        const struct access_target *target, struct access_events *events)
{
    int code = -ENODEV;
    for (size_t i = 0; i < count && code < 0; i++)
        code = open_unit(&units[i], target, events);
    return code;
}

int access_events__join(const struct access_events *events)
{
    for (size_t i = 0; i < MEMORY_EVENTS_MOST; i++)
        if (events->fds[i] >= 0 && events->fds[i] != events->ring_fd &&
            ioctl(events->fds[i], PERF_EVENT_IOC_SET_OUTPUT, events->ring_fd) != 0)
            return -errno;
    return 0;
}

void access_events__close(struct access_events *events)
{
    for (size_t i = 0; i < MEMORY_EVENTS_MOST; i++) {
        if (events->fds[i] >= 0)
            close(events->fds[i]);
        events->fds[i] = -1;
    }
    events->ring_fd = -1;
}
