#include "analysis/events/openmp_acts.h"

static struct openmp_act begun(const struct event *event)
{
    static const enum openmp_act_type types[] = {[HEURT_OPENMP_REGION] = OPENMP_REGION_BEGINS,
                                                 [HEURT_OPENMP_BODY] = OPENMP_BODY_BEGINS,
                                                 [HEURT_OPENMP_LOOP] = OPENMP_LOOP_BEGINS};
    uint32_t what = HEURT_SITE_HOW(event->payload[0]);
    uint64_t a = event->payload[1], b = event->payload[2];
    struct openmp_act act = {.type = what < sizeof types / sizeof *types ? types[what]
                                                                         : OPENMP_ACT_NOTHING,
                             .tick = event->tick,
                             .site = HEURT_SITE_ADDRESS(event->payload[0]),
                             .a = a,
                             .b = b};
    if (act.type == OPENMP_BODY_BEGINS) {
        act.number = (uint32_t)(b >> 32);
        act.team = (uint32_t)b;
    } else if (act.type == OPENMP_LOOP_BEGINS) {
        act.schedule = HEURT_SITE_HOW(a);
        act.a = HEURT_SITE_ADDRESS(a);
    }
    return act;
}

static struct openmp_act ended(const struct event *event)
{
    static const enum openmp_act_type types[] = {
        [HEURT_OPENMP_REGION] = OPENMP_REGION_ENDS,   [HEURT_OPENMP_BODY] = OPENMP_BODY_ENDS,
        [HEURT_OPENMP_LOOP] = OPENMP_LOOP_ENDS,       [HEURT_OPENMP_CHUNK] = OPENMP_CHUNK,
        [HEURT_OPENMP_SINGLE] = OPENMP_SINGLE,        [HEURT_OPENMP_BARRIER] = OPENMP_BARRIER,
        [HEURT_OPENMP_TASK_MADE] = OPENMP_TASKS_MADE, [HEURT_OPENMP_TASK] = OPENMP_TASKS_RUN,
        [HEURT_OPENMP_TASKWAIT] = OPENMP_TASKWAIT,    [HEURT_OPENMP_CANCEL] = OPENMP_CANCELLED,
        [HEURT_OPENMP_ENTERED] = OPENMP_ENTERED,      [HEURT_OPENMP_SINK] = OPENMP_SINK};
    uint32_t what = HEURT_SITE_HOW(event->payload[0]);
    return (struct openmp_act){.type = what < sizeof types / sizeof *types ? types[what]
                                                                           : OPENMP_ACT_NOTHING,
                               .tick = event->tick,
                               .site = HEURT_SITE_ADDRESS(event->payload[0]),
                               .ticks = event->payload[1],
                               .a = event->payload[2],
                               .b = event->payload[3]};
}

struct openmp_act openmp_act__of(const struct event *event)
{
    if (event->id == HEURT_EVENT_OPENMP_BEGIN && event->words >= 3)
        return begun(event);
    if (event->id == HEURT_EVENT_OPENMP_END && event->words >= 4)
        return ended(event);
    return (struct openmp_act){.type = OPENMP_ACT_NOTHING};
}

const char *openmp_schedule__name(unsigned schedule)
{
    static const char *const names[] = {
        [HEURT_SCHEDULE_RUNTIME] = "runtime", [HEURT_SCHEDULE_STATIC] = "static",
        [HEURT_SCHEDULE_DYNAMIC] = "dynamic", [HEURT_SCHEDULE_GUIDED] = "guided",
        [HEURT_SCHEDULE_AUTO] = "auto",       [HEURT_SCHEDULE_SECTIONS] = "sections"};
    if (schedule & HEURT_SCHEDULE_DOACROSS)
        return "doacross";
    if (schedule & HEURT_SCHEDULE_ORDERED)
        return "ordered";
    return schedule < sizeof names / sizeof *names ? names[schedule] : "?";
}
