#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <stdlib.h>

#define LOSES_PART 8 /* of a thread's life: less lost than that is losing nothing */
#define TOLD_PART 25 /* of the wall time: so soon after the others ends who is told to */
#define TOLD_LEAST_NS 5000000u

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool loses(const struct finder *finder, const uint64_t *lost, size_t thread)
{
    const struct profile_thread *row =
        VEC_AT(&finder->profile->threads, struct profile_thread, thread);
    return finder->findings->had_work[thread] && lost[thread] > row->lifetime_ns / LOSES_PART;
}

/* The end of the last one that loses. */
static uint64_t last_end(const struct finder *finder, const uint64_t *lost)
{
    uint64_t end = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        if (loses(finder, lost, i))
            end = most(end, trace_thread_at(finder, i)->end_tick);
    return end;
}

/* A thread that loses nothing and ends as soon as the last of those that do has ended. */
static bool runs_until_told(const struct finder *finder, const uint64_t *lost, size_t thread,
                            uint64_t others_end)
{
    const struct trace_thread *what = trace_thread_at(finder, thread);
    uint64_t soon_ns = most(finder->profile->wall_ns / TOLD_PART, TOLD_LEAST_NS);
    return others_end && !loses(finder, lost, thread) && what->end_tick >= others_end &&
           trace__ns(finder->trace, what->end_tick - others_end) <= soon_ns;
}

static unsigned cpu_count(const struct trace *trace)
{
    const char *text = trace__meta(trace, "cpus");
    unsigned long cpus = text ? strtoul(text, NULL, 10) : 0;
    return cpus ? (unsigned)cpus : 1;
}

static uint64_t cpu_ns_of(const struct profile_thread *thread)
{
    return thread->cpu_ns != UINT64_MAX ? thread->cpu_ns : thread->component_ns[COMPONENT_RUNNING];
}

/* Waits for what others ask it. */
static bool serves(const struct finder *finder, uint32_t thread)
{
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        if (class->what.at.kind != CLASS_POLL && class->what.at.kind != CLASS_NETWORK &&
            class->what.at.kind != CLASS_PIPE)
            continue;
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            if (row->thread == thread)
                return true;
    }
    return false;
}

/* What a thread does when the others lose nothing. */
enum part {
    PART_OWN,   /* its own work, for as long as that takes */
    PART_TOLD,  /* it ends with the others: its work is no longer than theirs */
    PART_SERVES /* it does what the others ask it: its work stays, and is part of theirs */
};

static enum part part_of(const struct finder *finder, const uint64_t *lost, size_t thread,
                         uint64_t others_end, bool is_served)
{
    if (is_served && !loses(finder, lost, thread) && serves(finder, (uint32_t)thread))
        return PART_SERVES;
    return runs_until_told(finder, lost, thread, others_end) ? PART_TOLD : PART_OWN;
}

struct work {
    uint64_t cpu_ns, served_ns; /* of all that stays; of those that serve */
    uint64_t lost_ns, most_lost_ns;
};

static struct work all_work(const struct finder *finder, const uint64_t *lost, uint64_t end,
                            bool is_served)
{
    struct work work = {0};
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        if (!finder->findings->had_work[i])
            continue;
        enum part part = part_of(finder, lost, i, end, is_served);
        uint64_t cpu_ns = cpu_ns_of(VEC_AT(&finder->profile->threads, struct profile_thread, i));
        work.cpu_ns += part == PART_TOLD ? 0 : cpu_ns;
        work.served_ns += part == PART_SERVES ? cpu_ns : 0;
        work.lost_ns += lost[i];
        work.most_lost_ns = most(work.most_lost_ns, lost[i]);
    }
    return work;
}

/* How long a thread with work of its own takes: an answer that it waits for takes at least what is
 * done for it, its share by the time it waits. */
static uint64_t chain_of(const struct finder *finder, const struct work *work, uint64_t lost_ns,
                         size_t thread)
{
    const struct profile_thread *row =
        VEC_AT(&finder->profile->threads, struct profile_thread, thread);
    uint64_t gone = lost_ns + finder->idle_ns[thread];
    uint64_t rest = row->lifetime_ns > gone ? row->lifetime_ns - gone : 0;
    double share = work->lost_ns ? (double)lost_ns / (double)work->lost_ns : 0;
    return most(rest, cpu_ns_of(row)) + (uint64_t)((double)work->served_ns * share);
}

double gain__without(const struct finder *finder, const uint64_t *lost, bool is_served,
                     bool *is_assumed)
{
    uint64_t chain_ns = 0, end = last_end(finder, lost);
    struct work work = all_work(finder, lost, end, is_served);
    *is_assumed = false;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        if (!finder->findings->had_work[i])
            continue;
        bool is_own = part_of(finder, lost, i, end, is_served) == PART_OWN;
        *is_assumed |= !is_own;
        if (is_own)
            chain_ns = most(chain_ns, chain_of(finder, &work, lost[i], i));
    }
    uint64_t least_ns = most(chain_ns, work.cpu_ns / cpu_count(finder->trace));
    uint64_t wall_ns = finder->profile->wall_ns;
    /* No more is gained than one thread lost, however idle the others are. */
    least_ns = most(least_ns, wall_ns > work.most_lost_ns ? wall_ns - work.most_lost_ns : 0);
    return least_ns && least_ns < wall_ns ? (double)wall_ns / (double)least_ns : 1;
}

static void add_lost(const struct finder *finder, uint32_t place, uint64_t *lost)
{
    const struct profile_class *class = class_at(finder->profile, place);
    double part = class__working_part(finder, class) * (double)class->excess_ns;
    part = part > 0 ? (double)class__lost_ns(finder, place) / part : 0;
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (finder->findings->had_work[row->thread])
            lost[row->thread] += (uint64_t)((double)row->excess_ns * part);
}

static void set_gain(struct finding *finding, double gain)
{
    finding->wall_gain[0] = 1 + (gain - 1) * 0.9;
    finding->wall_gain[1] = 1 + (gain - 1) * 1.1;
}

/* Who comes late, once, has work that all could share: then each waits for none, and all take the
 * mean of what they take now (as VTune's potential gain of a barrier: what is waited over the
 * threads). */
static void set_gain_of_sharing(const struct finder *finder, struct finding *finding,
                                const uint64_t *lost)
{
    uint64_t lost_ns = 0, wall_ns = finder->profile->wall_ns;
    uint64_t threads = finder->findings->working_threads;
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        lost_ns += lost[i];
    uint64_t gained_ns = threads ? lost_ns / threads : 0;
    set_gain(finding, gained_ns < wall_ns ? (double)wall_ns / (double)(wall_ns - gained_ns) : 1);
    finding->is_assumed = true;
    if (finding->confidence == CONFIDENCE_MEASURED)
        finding->confidence = CONFIDENCE_ESTIMATED;
}

void finding__set_estimate(const struct finder *finder, struct finding *finding,
                           const uint64_t *lost, bool is_served)
{
    bool is_assumed;
    double gain = gain__without(finder, lost, is_served, &is_assumed);
    set_gain(finding, gain);
    finding->is_assumed = is_assumed;
    if (is_assumed && finding->confidence == CONFIDENCE_MEASURED)
        finding->confidence = CONFIDENCE_ESTIMATED;
}

void finding__estimate_gain(const struct finder *finder, struct finding *finding)
{
    uint64_t *lost = memory__zeroed(finder->profile->threads.count, sizeof *lost);
    bool is_served = finding->category == FINDING_NETWORK || finding->category == FINDING_PIPE ||
                     finding->category == FINDING_POLLING;
    VEC_EACH (class, &finding->classes, uint32_t)
        add_lost(finder, *class, lost);
    if (finding->category == FINDING_LATCH)
        set_gain_of_sharing(finder, finding, lost);
    else
        finding__set_estimate(finder, finding, lost, is_served);
    free(lost);
}
