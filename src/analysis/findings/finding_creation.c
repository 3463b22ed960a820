#include "analysis/findings/internal.h"

/* Threads that are made for little: making one, and waiting for its end, costs some tens of us. */
#define OFTEN 200               /* threads, at least */
#define LITTLE_WORK_NS 1000000u /* that one has, at most */

/* Threads of a process that had little to do. */
struct short_lives {
    uint64_t count, working_ns, lives_ns, overhead_ns;
    uint64_t covered_ns; /* time in which any of them lived */
    uint64_t covered_until;
};

static uint64_t working_ns(const struct profile_thread *row)
{
    uint64_t ns = row->component_ns[COMPONENT_RUNNING] + row->component_ns[COMPONENT_PAGE_FAULT];
    return row->cpu_ns != UINT64_MAX && row->cpu_ns < ns ? row->cpu_ns : ns;
}

/* thread: in the order of their starts. */
static void add_life(struct short_lives *lives, const struct finder *finder, size_t thread)
{
    const struct trace_thread *life = trace__thread_at(finder->trace, thread);
    const struct profile_thread *row =
        VEC_AT(&finder->profile->threads, struct profile_thread, thread);
    if (!life->start_routine || working_ns(row) > LITTLE_WORK_NS)
        return;
    uint64_t from =
        life->start_tick > lives->covered_until ? life->start_tick : lives->covered_until;
    lives->count++;
    lives->working_ns += working_ns(row);
    lives->lives_ns += row->lifetime_ns;
    lives->overhead_ns += row->component_ns[COMPONENT_OVERHEAD];
    if (life->end_tick > from) {
        lives->covered_ns += trace__ns(finder->trace, life->end_tick - from);
        lives->covered_until = life->end_tick;
    }
}

static struct short_lives lives_of(const struct finder *finder, uint32_t process)
{
    struct short_lives lives = {0};
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        if (trace__thread_at(finder->trace, i)->process == process)
            add_life(&lives, finder, i);
    return lives;
}

/* How many of them live at a time, while any does. */
static double at_a_time(const struct short_lives *lives)
{
    return lives->covered_ns > 0 && lives->lives_ns > lives->covered_ns
               ? (double)lives->lives_ns / (double)lives->covered_ns
               : 1;
}

/* What is left when the same work is done by threads that are there: as many at a time as were, and
 * as there are CPUs for. */
static uint64_t needed_ns(const struct finder *finder, const struct short_lives *lives)
{
    double workers = at_a_time(lives);
    unsigned cpus = finder__cpus(finder);
    return (uint64_t)((double)lives->working_ns / (workers < cpus ? workers : cpus));
}

static bool joins_often(const struct profile_class *class, uint32_t process)
{
    return class->what.at.kind == CLASS_JOIN && class->what.at.process == process &&
           class->count >= OFTEN && class->threads.count;
}

/* What it takes a process to have threads made and ended. */
struct thread_making {
    struct vec joins; /* uint32_t: its classes that wait for ends */
    uint32_t leader;  /* of these the one that has most of it */
    uint64_t count, lost_ns;
    uint64_t wall_ns; /* of lost_ns, what the thread that has most of it does one after another */
};

/* In how far a thread that makes others, or waits for their ends, is kept by that. */
static uint64_t kept_ns(const struct finder *finder, const struct thread_making *making,
                        size_t thread)
{
    uint64_t ns = profile_thread_at(finder, thread)->creating_ns;
    VEC_EACH (class, &making->joins, uint32_t)
        ns += class__sum_on(profile_class_at(finder->profile, *class), thread);
    return ns__smaller(ns, profile_thread_at(finder, thread)->lifetime_ns);
}

static void find_joins(const struct finder *finder, uint32_t process, struct thread_making *making)
{
    uint64_t most_ns = 0;
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        if (!joins_often(class, process))
            continue;
        if (!making->joins.count || class->sum_ns > most_ns) {
            most_ns = class->sum_ns;
            making->leader = i;
        }
        vec__push(&making->joins, &i);
        making->count += class->count;
    }
}

/* Those that make none wait for none. */
static struct thread_making making_of(const struct finder *finder, uint32_t process)
{
    struct thread_making making = {.joins = VEC_OF(uint32_t), .leader = FINDING_NO_CLASS};
    find_joins(finder, process, &making);
    for (size_t i = 0; making.joins.count && i < finder->profile->threads.count; i++) {
        if (!profile_thread_at(finder, i)->creating_ns ||
            trace__serial_of(finder->trace, i) != process)
            continue;
        uint64_t ns = kept_ns(finder, &making, i);
        making.lost_ns += ns;
        making.wall_ns = ns__larger(making.wall_ns, ns);
    }
    return making;
}

/* Of the wall time, what recording such threads cost: in each of them, and in making them. */
static uint64_t recording_ns(const struct finder *finder, const struct short_lives *lives,
                             uint32_t process)
{
    double ns = (double)lives->overhead_ns / at_a_time(lives);
    VEC_EACH (image, trace__processes(finder->trace), struct trace_process)
        if (image->serial == process)
            ns += (double)image->thread_cost_ns * (double)lives->count;
    return (uint64_t)ns;
}

/* All that the process takes for such threads is one loss. */
static void add_creation(struct finder *finder, uint32_t process, const struct short_lives *lives)
{
    struct thread_making making = making_of(finder, process);
    uint64_t needed = needed_ns(finder, lives), wall_ns = finder->profile->wall_ns;
    uint64_t lost_ns = ns__without(making.lost_ns, needed);
    uint64_t gone_ns = ns__without(ns__smaller(making.wall_ns, wall_ns), needed);
    if (2 * making.count < lives->count || !gone_ns) { /* others are waited for */
        vec__free(&making.joins);
        return;
    }
    uint64_t without_ns = ns__larger(wall_ns - gone_ns, 1);
    uint64_t bare_ns = ns__without(wall_ns, recording_ns(finder, lives, process));
    struct finding *finding = finder__add(finder, FINDING_CREATION);
    finding->classes = making.joins;
    finding->leader = making.leader;
    finding->lost_ns = lost_ns;
    finding->place = program_frame__of_class(
        finder->symbols, &profile_class_at(finder->profile, making.leader)->what);
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding->is_assumed = true;
    finding__set_about(finding, (double)ns__larger(bare_ns, without_ns) / (double)without_ns);
}

void finder__add_creations(struct finder *finder)
{
    const struct vec *processes = trace__processes(finder->trace);
    for (uint32_t i = 0; i < processes->count; i++) {
        struct short_lives lives = lives_of(finder, i);
        if (lives.count >= OFTEN)
            add_creation(finder, VEC_AT(processes, struct trace_process, i)->serial, &lives);
    }
}
