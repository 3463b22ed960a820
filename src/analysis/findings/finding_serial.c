#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Threads, or processes, that are started and waited for one after another: each is waited for
 * before the next one begins, so that no two of them work at a time. */
#define OFTEN 3
#define LEAST_NS 1000000u /* that one lives in the mean: less is finding_creation.c's */
#define APART_PART 20     /* of their lives: so little may they overlap */
#define WAITED_PART 5     /* of their lives: all but so much of it somebody waits */
#define LIVES_PART 5      /* of the wall time: so much of it they live at least */

struct row_of_lives {
    uint64_t count, lives_ns, longest_ns, work_ns;
    uint64_t overlap_ns, until; /* until: the tick at which the last of them has ended */
};

/* life: in the order of their starts. */
static void add_life(const struct finder *finder, size_t thread, struct row_of_lives *lives)
{
    const struct trace_thread *life = trace__thread_at(finder->trace, thread);
    const struct profile_thread *row = profile_thread_at(finder, thread);
    uint64_t ns = row->lifetime_ns;
    if (life->start_tick < lives->until)
        lives->overlap_ns +=
            trace__ns(finder->trace, ns__smaller(lives->until, life->end_tick) - life->start_tick);
    lives->count++;
    lives->lives_ns += ns;
    lives->longest_ns = ns__larger(lives->longest_ns, ns);
    lives->work_ns += ns__without(thread__cpu_ns(row), row->component_ns[COMPONENT_OVERHEAD]);
    lives->until = ns__larger(lives->until, life->end_tick);
}

/* What a process starts: threads of its own, and children. */
struct started {
    uint32_t first; /* its first thread; UINT32_MAX: none is known */
    struct row_of_lives threads, children;
};

/* Who forked a process that runs the same program: what another program needs of those before it
 * nobody knows. NULL: none. */
static struct started *parent_of(const struct finder *finder, uint32_t process,
                                 struct started *started)
{
    const struct trace_process *child = trace__process_at(finder->trace, process),
                               *first = trace__process_at(finder->trace, 0);
    const struct trace_process *parent = trace__process_of(finder->trace, child->parent_serial);
    return parent && parent != child && strcmp(parent->path, child->path) == 0
               ? &started[parent - first]
               : NULL;
}

/* By process; free() it. */
static struct started *started_by(const struct finder *finder)
{
    size_t processes = trace__processes(finder->trace)->count;
    struct started *started = memory__zeroed(processes, sizeof *started);
    for (size_t i = 0; i < processes; i++)
        started[i].first = UINT32_MAX;
    for (uint32_t i = 0; i < finder->profile->threads.count; i++) {
        uint32_t process = trace__thread_at(finder->trace, i)->process;
        struct started *of = &started[process];
        if (of->first != UINT32_MAX) {
            add_life(finder, i, &of->threads);
            continue;
        }
        of->first = i;
        struct started *parent = parent_of(finder, process, started);
        if (parent)
            add_life(finder, i, &parent->children);
    }
    return started;
}

static bool is_one_by_one(const struct finder *finder, const struct row_of_lives *lives)
{
    return lives->count >= OFTEN && lives->lives_ns / lives->count >= LEAST_NS &&
           lives->lives_ns >= finder->profile->wall_ns / LIVES_PART &&
           lives->overlap_ns <= lives->lives_ns / APART_PART;
}

/* What is left of their time when as many work at a time as there are CPUs. */
static uint64_t together_ns(const struct finder *finder, const struct row_of_lives *lives)
{
    return ns__larger(lives->longest_ns, lives->work_ns / finder__cpus(finder));
}

static void add_serial(struct finder *finder, size_t first, const struct row_of_lives *lives)
{
    uint64_t wall_ns = finder->profile->wall_ns;
    uint64_t lost_ns = ns__without(lives->lives_ns, together_ns(finder, lives));
    uint32_t leader = thread__longest_class(finder, first, false);
    if (leader == FINDING_NO_CLASS || !lost_ns || lost_ns >= wall_ns ||
        class__sum_on(profile_class_at(finder->profile, leader), first) <
            lives->lives_ns - lives->lives_ns / WAITED_PART)
        return;
    struct finding *finding = finder__add(finder, FINDING_JOIN);
    vec__push(&finding->classes, &leader);
    finding->leader = leader;
    finding->lost_ns = lost_ns;
    finding->place =
        program_frame__of_class(finder->symbols, &profile_class_at(finder->profile, leader)->what);
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding->is_serial = finding->is_assumed = true;
    finding__set_about(finding, (double)wall_ns / (double)(wall_ns - lost_ns));
}

void finder__add_serials(struct finder *finder)
{
    struct started *started = started_by(finder);
    for (size_t i = 0; i < trace__processes(finder->trace)->count; i++) {
        if (is_one_by_one(finder, &started[i].threads))
            add_serial(finder, started[i].first, &started[i].threads);
        else if (is_one_by_one(finder, &started[i].children))
            add_serial(finder, started[i].first, &started[i].children);
    }
    free(started);
}
