#include "analysis/findings/internal.h"

/* Threads that are made for little: making one, and waiting for its end, costs some tens of us. */
#define OFTEN 200               /* threads, at least */
#define LITTLE_WORK_NS 1000000u /* that one has, at most */

/* Threads of a process that had little to do. */
struct short_lives {
    uint64_t count, working_ns, lives_ns;
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
    if (working_ns(row) > LITTLE_WORK_NS)
        return;
    uint64_t from =
        life->start_tick > lives->covered_until ? life->start_tick : lives->covered_until;
    lives->count++;
    lives->working_ns += working_ns(row);
    lives->lives_ns += row->lifetime_ns;
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

/* What is left of the wait when the same work is done by threads that are there: as many at a time
 * as were. */
static uint64_t needed_ns(const struct short_lives *lives)
{
    double at_a_time = lives->covered_ns ? (double)lives->lives_ns / (double)lives->covered_ns : 1;
    return (uint64_t)((double)lives->working_ns / (at_a_time > 1 ? at_a_time : 1));
}

static bool joins_often(const struct profile_class *class, uint32_t process)
{
    return class->what.at.kind == CLASS_JOIN && class->what.at.process == process &&
           class->count >= OFTEN && class->threads.count;
}

/* Its joins, and what it waits in them; sum_ns: gets that, leader: the class that has most of it.
 */
static struct vec joins_of(const struct finder *finder, uint32_t process, uint64_t *sum_ns,
                           uint64_t *count, uint32_t *leader)
{
    struct vec joins = VEC_OF(uint32_t);
    uint64_t most_ns = 0;
    *sum_ns = *count = 0;
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        if (!joins_often(class, process))
            continue;
        if (!joins.count || class->sum_ns > most_ns) {
            most_ns = class->sum_ns;
            *leader = i;
        }
        vec__push(&joins, &i);
        *sum_ns += class->sum_ns;
        *count += class->count;
    }
    return joins;
}

/* All that the process waits for such threads is one loss. */
static void add_creation(struct finder *finder, uint32_t process, const struct short_lives *lives)
{
    uint64_t waited_ns, count, wall_ns = finder->profile->wall_ns;
    uint32_t leader = FINDING_NO_CLASS;
    struct vec joins = joins_of(finder, process, &waited_ns, &count, &leader);
    uint64_t lost_ns = ns__without(ns__smaller(waited_ns, wall_ns), needed_ns(lives));
    if (2 * count < lives->count || !lost_ns) { /* others are waited for */
        vec__free(&joins);
        return;
    }
    struct finding *finding = finder__add(finder, FINDING_CREATION);
    finding->classes = joins;
    finding->leader = leader;
    finding->lost_ns = lost_ns;
    finding->place =
        program_frame__of_class(finder->symbols, &profile_class_at(finder->profile, leader)->what);
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding->is_assumed = true;
    finding__set_about(finding, (double)wall_ns / (double)(wall_ns - lost_ns));
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
