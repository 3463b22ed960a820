#include "kernel/thread_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(uint64_t config)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_SOFTWARE,
        .config = config,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .context_switch = config == PERF_COUNT_SW_PAGE_FAULTS,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int thread_events__hold(struct thread_events *events)
{
    events->descriptors[0] = open_event(PERF_COUNT_SW_PAGE_FAULTS);
    int code = events->descriptors[0] < 0 ? -errno : 0;
    events->descriptors[1] = code ? -1 : open_event(PERF_COUNT_SW_PAGE_FAULTS_MIN);
    return code;
}

void thread_events__release(struct thread_events *events)
{
    for (unsigned i = 0; i < 2; i++) {
        if (events->descriptors[i] >= 0)
            close(events->descriptors[i]);
        events->descriptors[i] = -1;
    }
}
