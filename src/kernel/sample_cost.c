#include "kernel/sample_cost.h"

#include "base/clock.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 50000u /* often enough that the fastest run has many of them */
#define ROUNDS 4
#define WORK_NS 1000000u /* about */

static uint64_t work(uint32_t iterations)
{
    uint64_t before = clock__ns(CLOCK_MONOTONIC);
    for (volatile uint32_t i = 0; i < iterations; i++)
        continue;
    return clock__ns(CLOCK_MONOTONIC) - before;
}

static int open_timer(void)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = PERIOD_NS,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .watermark = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void keep_least(uint64_t *least, uint64_t value)
{
    if (!*least || value < *least)
        *least = value;
}

/* The timer runs while work is done, and not while it is done without. */
static uint64_t measure_with(int timer)
{
    uint32_t iterations = 100000;
    uint64_t first = work(iterations), bare = 0, sampled = 0;
    iterations = first ? (uint32_t)((uint64_t)iterations * WORK_NS / first) : iterations;
    for (int i = 0; i < ROUNDS; i++) {
        keep_least(&bare, work(iterations));
        ioctl(timer, PERF_EVENT_IOC_ENABLE, 0);
        keep_least(&sampled, work(iterations));
        ioctl(timer, PERF_EVENT_IOC_DISABLE, 0);
    }
    uint64_t samples = sampled / PERIOD_NS;
    return samples && sampled > bare ? (sampled - bare) / samples : 0;
}

uint64_t sample_cost__measure(void)
{
    size_t bytes = 9 * (size_t)sysconf(_SC_PAGESIZE);
    int timer = open_timer();
    if (timer < 0)
        return 0;
    void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, timer, 0);
    uint64_t ns = ring == MAP_FAILED ? 0 : measure_with(timer);
    if (ring != MAP_FAILED)
        munmap(ring, bytes);
    close(timer);
    return ns;
}
