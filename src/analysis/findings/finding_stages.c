#include "analysis/findings/internal.h"

#define MOST_OF 4 /* all but one in so many parts of it */

static bool is_most(uint64_t part_ns, uint64_t all_ns)
{
    return part_ns && part_ns >= all_ns - all_ns / MOST_OF;
}

/* What it does, or would do had it a CPU. */
static bool works_all_the_time(const struct finder *finder, uint32_t thread)
{
    const struct profile_thread *row = profile_thread_at(finder, thread);
    uint64_t runnable_ns = row->component_ns[COMPONENT_RUNNABLE];
    return finder->findings->had_work[thread] &&
           thread__cpu_ns(row) + runnable_ns >= row->lifetime_ns / 2;
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

/* The one thread that waits there for most of the time; UINT32_MAX: there are several. */
static uint32_t waiter_of(const struct profile_class *class)
{
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (is_most(row->sum_ns, class->sum_ns))
            return row->thread;
    return UINT32_MAX;
}

static uint64_t ended_by(const struct profile_class *class, uint32_t thread)
{
    uint64_t ns = 0;
    VEC_EACH (blame, &class->blames, struct profile_blame)
        ns += blame->thread == thread ? blame->wait_ns : 0;
    return ns;
}

/* Whether the stage has waited for something that the other thread gave it. */
static bool is_source(const struct finder *finder, uint32_t thread, uint32_t stage)
{
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        if ((class->what.at.kind == CLASS_CONDITION || class->what.at.kind == CLASS_SEMAPHORE) &&
            class__sum_on(class, stage) && ended_by(class, thread))
            return true;
    return false;
}

static bool waits_for(const struct finder *finder, const struct profile_class *class,
                      uint32_t stage)
{
    return class__may_hand_over(finder, class) && waiter_of(class) != UINT32_MAX &&
           waiter_of(class) != stage && is_most(ended_by(class, stage), class->sum_ns);
}

/* Both wait again and again for it, each in its own way, and from the one it gets what it gives to
 * the other: it has waited for that, or takes where the other one would wait for what it gives. */
static bool are_sides(const struct finder *finder, const struct profile_class *from,
                      const struct profile_class *to, uint32_t stage)
{
    return waits_for(finder, from, stage) && waits_for(finder, to, stage) &&
           waiter_of(from) != waiter_of(to) && from->what.at.site != to->what.at.site &&
           (is_source(finder, waiter_of(from), stage) || classes__end_each_other(finder, from, to));
}

/* ---- pipelines ------------------------------------------------------------------------------- */

static void join_sides(struct finder *finder, uint32_t from, uint32_t to, uint32_t *partner)
{
    partner[from] = to;
    partner[to] = from;
    finder__count_worker(finder, waiter_of(profile_class_at(finder->profile, from)));
    finder__count_worker(finder, waiter_of(profile_class_at(finder->profile, to)));
}

static void find_sides(struct finder *finder, uint32_t stage, uint32_t *partner)
{
    const struct profile *profile = finder->profile;
    for (uint32_t from = 0; from < profile->classes.count; from++) {
        if (!waits_for(finder, profile_class_at(profile, from), stage))
            continue;
        for (uint32_t to = 0; to < profile->classes.count; to++)
            if (partner[from] == NO_GROUP && partner[to] == NO_GROUP &&
                are_sides(finder, profile_class_at(profile, from), profile_class_at(profile, to),
                          stage))
                join_sides(finder, from, to, partner);
    }
}

void stages__find(struct finder *finder, uint32_t *partner)
{
    for (uint32_t i = 0; i < finder->profile->threads.count; i++)
        if (works_all_the_time(finder, i))
            find_sides(finder, i, partner);
}

/* ---- what a second thread for a stage gains -------------------------------------------------- */

static bool is_waited_for(const struct finder *finder, const struct finding *finding,
                          uint32_t thread)
{
    VEC_EACH (class, &finding->classes, uint32_t)
        if (ended_by(profile_class_at(finder->profile, *class), thread))
            return true;
    return false;
}

/* Some thread hardly does anything else. */
static bool is_mostly_lost(const struct finder *finder, const uint64_t *lost)
{
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        if (lost[i] && lost[i] >= profile_thread_at(finder, i)->lifetime_ns / 2)
            return true;
    return false;
}

/* The thread that works all the time while the others of a hand-over wait for it; UINT32_MAX: none
 * does. */
static uint32_t slowest_stage(const struct finder *finder, const struct finding *finding,
                              const uint64_t *lost)
{
    uint32_t slowest = UINT32_MAX;
    for (uint32_t i = 0; i < finder->profile->threads.count; i++) {
        const struct profile_thread *row = profile_thread_at(finder, i);
        bool is_stage = works_all_the_time(finder, i) && lost[i] <= row->lifetime_ns / LOSES_PART &&
                        is_waited_for(finder, finding, i);
        if (is_stage && (slowest == UINT32_MAX ||
                         thread__cpu_ns(row) > thread__cpu_ns(profile_thread_at(finder, slowest))))
            slowest = i;
    }
    return slowest;
}

/* The others wait half as long for it, as far as there are CPUs, and none of them takes longer. */
static double gain_of_second(const struct finder *finder, uint32_t slowest, const uint64_t *lost)
{
    uint64_t all_ns = 0, chain_ns = thread__cpu_ns(profile_thread_at(finder, slowest)) / 2;
    uint64_t wall_ns = finder->profile->wall_ns;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        const struct profile_thread *row = profile_thread_at(finder, i);
        all_ns += thread__cpu_ns(row);
        if (finder->findings->had_work[i] && i != slowest)
            chain_ns =
                ns__larger(chain_ns, ns__without(row->lifetime_ns, lost[i] + finder->idle_ns[i]));
    }
    uint64_t least_ns = ns__larger(chain_ns, all_ns / finder__cpus(finder));
    return least_ns && least_ns < wall_ns ? (double)wall_ns / (double)least_ns : 1;
}

/* Most of what is waited there is for it alone. */
static bool is_all_for(const struct finder *finder, const struct finding *finding, uint32_t thread)
{
    uint64_t for_ns = 0, all_ns = 0;
    VEC_EACH (place, &finding->classes, uint32_t) {
        const struct profile_class *class = profile_class_at(finder->profile, *place);
        for_ns += ended_by(class, thread);
        all_ns += class->sum_ns;
    }
    return is_most(for_ns, all_ns);
}

double stages__gain(const struct finder *finder, struct finding *finding, const uint64_t *lost)
{
    uint32_t slowest =
        is_mostly_lost(finder, lost) ? slowest_stage(finder, finding, lost) : UINT32_MAX;
    if (slowest == UINT32_MAX)
        return 1;
    finding->stage_and_1 = is_all_for(finder, finding, slowest) ? slowest + 1 : 0;
    return gain_of_second(finder, slowest, lost);
}
