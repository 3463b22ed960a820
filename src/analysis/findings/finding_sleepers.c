#include "analysis/findings/internal.h"

/* Threads that are waited for while they sleep. What they sleep for may be just what is waited for,
 * as an answer that takes so long, or nobody needs it: then they sleep on when they are waited for
 * no more. */
#define SLEEPS_PART 4 /* of a sleep: so long who told them to end waits for that */

static bool waits_for_sleepers(const struct finder *finder, const struct finding *finding)
{
    uint64_t slept_ns = 0, all_ns = 0;
    VEC_EACH (place, &finding->classes, uint32_t) {
        VEC_EACH (blame, &profile_class_at(finder->profile, *place)->blames, struct profile_blame) {
            slept_ns += blame->doing_ns[COMPONENT_SLEEP];
            all_ns += blame->wait_ns;
        }
    }
    return slept_ns && slept_ns >= all_ns / 2;
}

static bool waits_itself(const struct finder *finder, const struct finding *finding,
                         uint32_t thread)
{
    VEC_EACH (place, &finding->classes, uint32_t)
        if (class__sum_on(profile_class_at(finder->profile, *place), thread))
            return true;
    return false;
}

/* What is slept there by others than those who wait, or, where all wait for each other, by all. */
static uint64_t slept_ns(const struct finder *finder, const struct finding *finding,
                         const struct profile_class *sleep, bool by_all)
{
    uint64_t ns = 0;
    VEC_EACH (row, &sleep->threads, struct profile_thread_row)
        ns += !by_all && waits_itself(finder, finding, row->thread) ? 0 : row->sum_ns;
    return ns;
}

/* The class in which most is slept, + 1; 0: none is. */
static uint32_t longest_sleep(const struct finder *finder, const struct finding *finding,
                              bool by_all)
{
    uint64_t most_ns = 0;
    uint32_t found = 0,
             process = profile_class_at(finder->profile, finding->leader)->what.at.process;
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        if (!class__sleeps(class) || class->what.at.process != process)
            continue;
        uint64_t ns = slept_ns(finder, finding, class, by_all);
        found = ns > most_ns ? i + 1 : found;
        most_ns = ns__larger(most_ns, ns);
    }
    return found;
}

void finding__find_sleepers(const struct finder *finder, struct finding *finding)
{
    if (waits_for_sleepers(finder, finding))
        finding->sleep_and_1 =
            longest_sleep(finder, finding, false) ?: longest_sleep(finder, finding, true);
}

/* Who has handed over the last thing that is waited for has nothing to sleep for: it ends at once.
 * One that is told to end mostly sleeps then. */
bool sleepers__go_on(const struct finder *finder, const struct finding *finding)
{
    uint64_t joined_ns = 0;
    if (!finding->sleep_and_1)
        return false;
    const struct profile_class *sleep = profile_class_at(finder->profile, finding->sleep_and_1 - 1);
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            joined_ns +=
                class->what.at.kind == CLASS_JOIN && waits_itself(finder, finding, row->thread)
                    ? row->sum_ns
                    : 0;
    return sleep->count && joined_ns >= sleep->sum_ns / sleep->count / SLEEPS_PART &&
           joined_ns <= finder__soon_ns(finder);
}
