#include "analysis/events/time_off_cpu.h"

static uint64_t since(uint64_t tick, uint64_t ticks)
{
    return tick > ticks ? tick - ticks : 0;
}

static void off_the_cpu(struct off_cpu *off, const struct event *event)
{
    uint64_t ticks = HEURT_SITE_ADDRESS(event->payload[0]);
    uint64_t runnable = HEURT_SITE_ADDRESS(event->payload[1]);
    uint32_t how = HEURT_SITE_HOW(event->payload[0]);
    off->type = how == HEURT_OFF_PREEMPTED ? OFF_CPU_PREEMPTED : OFF_CPU_BLOCKED;
    off->why = off__component(how);
    off->cpu = (uint16_t)HEURT_SITE_HOW(event->payload[1]);
    off->begin = since(event->tick, ticks);
    if (off->type == OFF_CPU_PREEMPTED)
        off->runnable = off->begin;
    else if (runnable != HEURT_NOT_KNOWN)
        off->runnable = ticks > runnable ? event->tick - runnable : off->begin;
}

struct off_cpu off_cpu__of(const struct event *event)
{
    struct off_cpu off = {.end = event->tick, .runnable = event->tick, .begin = event->tick};
    if (event->id == HEURT_EVENT_OFF_CPU && event->words >= 2) {
        off_the_cpu(&off, event);
    } else if (event->id == HEURT_EVENT_FAULT && event->words) {
        off.type = OFF_CPU_FAULT;
        off.why = COMPONENT_PAGE_FAULT;
        off.begin = since(event->tick, HEURT_SITE_ADDRESS(event->payload[0]));
    } else if (event->id == HEURT_EVENT_PAUSED && event->words) {
        off.type = OFF_CPU_PAUSED;
        off.why = COMPONENT_OVERHEAD;
        off.begin = since(event->tick, event->payload[0]);
    }
    return off;
}

bool off_cpu__is_told(const struct event *event)
{
    return event->id == HEURT_EVENT_KERNEL;
}
