#include "recorder/off_cpu.h"

#include "format/amend.h"

struct completion {
    struct wake_log *log;
    const struct wake_clock *clock;
};

/* y at x on the line through (x0, y0) and (x1, y1). */
static uint64_t interpolate(uint64_t x, uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1)
{
    if (x1 <= x0 || y1 <= y0)
        return y0 + (x - x0);
    return y0 + (uint64_t)((__int128)(int64_t)(x - x0) * (int64_t)(y1 - y0) / (int64_t)(x1 - x0));
}

static uint64_t ns_of(const struct wake_clock *clock, uint64_t tick)
{
    return interpolate(tick, clock->first.tick, clock->first.monotonic_ns, clock->last.tick,
                       clock->last.monotonic_ns);
}

static uint64_t tick_of(const struct wake_clock *clock, uint64_t ns)
{
    return interpolate(ns, clock->first.monotonic_ns, clock->first.tick, clock->last.monotonic_ns,
                       clock->last.tick);
}

static uint32_t how_of(uint32_t how, uint32_t reason)
{
    if (how != HEURT_OFF_BLOCKED)
        return how;
    return reason == WAKE_FROM_FUTEX  ? HEURT_OFF_FUTEX
           : reason == WAKE_FROM_DISK ? HEURT_OFF_DISK
                                      : HEURT_OFF_BLOCKED;
}

/* Ticks from the wake-up until the thread had a CPU: no more than it was off. */
static uint64_t runnable_ticks(uint64_t woken, uint64_t tick, uint64_t off)
{
    if ((int64_t)(tick - woken) <= 0)
        return 0;
    return tick - woken < off ? tick - woken : off;
}

static void amend(void *context, uint32_t tid, uint64_t tick, uint64_t words[3])
{
    const struct completion *completion = context;
    uint64_t off = HEURT_SITE_ADDRESS(words[0]);
    uint32_t how = HEURT_SITE_HOW(words[0]);
    struct wake wake;
    if (how == HEURT_OFF_PREEMPTED || off > tick ||
        !wake_log__find(completion->log, tid, ns_of(completion->clock, tick - off),
                        ns_of(completion->clock, tick), &wake))
        return;
    uint64_t woken = tick_of(completion->clock, wake.time_ns);
    words[0] = HEURT_OFF(off, how_of(how, wake.reason));
    words[1] = HEURT_BACK(runnable_ticks(woken, tick, off), HEURT_SITE_HOW(words[1]));
    words[2] = wake.waker;
}

int off_cpu__complete(const struct trace *trace, const char *directory, struct wake_log *log,
                      const struct wake_clock *clock, struct error *error)
{
    struct completion completion = {log, clock};
    return trace__amend_off_cpu(trace, directory, amend, &completion, error);
}
