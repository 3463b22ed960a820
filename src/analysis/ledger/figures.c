/* What a profile comes to: sums over its threads, and what follows from them. */
#include "analysis/ledger/profile.h"

#include <math.h>
#include <string.h>

size_t profile__without_kernel(const struct profile *profile)
{
    size_t count = 0;
    VEC_EACH (thread, &profile->threads, struct profile_thread)
        count += !thread->has_kernel;
    return count;
}

uint64_t profile__kernel_lost(const struct profile *profile, const struct trace *trace)
{
    const struct heurt_session *session = trace__session(trace);
    uint64_t lost = 0;
    VEC_EACH (thread, &profile->threads, struct profile_thread)
        lost += thread->kernel_lost;
    /* Some are not known to be any thread's. */
    return lost > session->kernel_lost ? lost : session->kernel_lost;
}

uint64_t profile__cpu_ns(const struct profile *profile, const struct trace *trace, size_t *unknown)
{
    uint64_t sum = 0;
    *unknown = 0;
    VEC_EACH (thread, &profile->threads, struct profile_thread) {
        *unknown += thread->cpu_ns == UINT64_MAX;
        sum += thread->cpu_ns == UINT64_MAX ? 0 : thread->cpu_ns;
    }
    uint64_t of_command_ns = trace__session(trace)->cpu_ns;
    if (*unknown && of_command_ns) {
        *unknown = 0;
        return of_command_ns;
    }
    return sum;
}

double profile__work(const struct profile *profile, const struct trace *trace)
{
    size_t unknown;
    uint64_t cpu_ns = profile__cpu_ns(profile, trace, &unknown);
    if (unknown || profile->wall_ns == 0 || profile->threads.count == 0)
        return NAN;
    double work = (double)cpu_ns / (double)profile->wall_ns;
    /* The command's CPU time has the loader's in it. */
    return work > (double)profile->threads.count ? (double)profile->threads.count : work;
}

void profile__component_ns(const struct profile *profile, uint64_t sums[COMPONENTS])
{
    memset(sums, 0, COMPONENTS * sizeof *sums);
    VEC_EACH (thread, &profile->threads, struct profile_thread)
        for (int c = 0; c < COMPONENTS; c++)
            sums[c] += thread->component_ns[c];
}

double profile__unseen(const struct profile *profile)
{
    uint64_t sums[COMPONENTS];
    profile__component_ns(profile, sums);
    double running = (double)sums[COMPONENT_RUNNING], seen = (double)profile->seen_ns;
    return running > 0 ? fmax(0, 1 - seen / running) : NAN;
}

double profile__cpus_of_others(const struct profile *profile, const struct trace *trace)
{
    uint64_t others_ns = trace__session(trace)->others_ns;
    if (others_ns == UINT64_MAX || !profile->wall_ns)
        return 0;
    double cpus = (double)others_ns / (double)profile->wall_ns;
    return cpus >= OTHERS_FROM ? cpus : 0;
}

uint64_t profile_class__held_ns(const struct profile *profile, const struct profile_class *class)
{
    uint64_t known_ns = 0;
    VEC_EACH (holder, &class->blames, struct profile_blame)
        known_ns += holder->wait_ns;
    return known_ns < class->sum_ns && profile__locks_are_sampled(profile) ? class->sum_ns
                                                                           : known_ns;
}

bool profile_class__octaves(const struct profile_class *class, const struct trace *trace,
                            struct octave octaves[PROFILE_OCTAVES])
{
    for (unsigned o = 0; class->histogram && o < PROFILE_OCTAVES; o++) {
        unsigned first = o * HISTOGRAM_STEPS;
        octaves[o] = (struct octave){trace__ns(trace, histogram__lower(first)), 0};
        for (unsigned i = 0; i < HISTOGRAM_STEPS; i++)
            octaves[o].count += class->histogram[first + i];
    }
    return class->histogram != NULL;
}
