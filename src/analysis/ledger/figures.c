/* What a profile comes to: sums over its threads, and what follows from them. */
#include "analysis/ledger/profile.h"

#include <math.h>
#include <stdlib.h>
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
    if (*unknown && of_command_ns && !trace__has_asides(trace)) {
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

#define HALF_USED 0.5  /* of the CPUs: so little, and none was wanted for want of them */
#define FULLY_USED 0.9 /* and so much is all of them */

double profile__use_of_cpus(const struct profile *profile, const struct trace *trace)
{
    const struct heurt_session *session = trace__session(trace);
    const char *cpus = trace__meta(trace, "cpus");
    double wall = (double)profile->wall_ns * (cpus && atoi(cpus) > 0 ? atoi(cpus) : 1);
    size_t unknown;
    uint64_t cpu_ns = profile__cpu_ns(profile, trace, &unknown);
    if (!session->finished || wall <= 0 || unknown)
        return 1;
    double used = (double)(session->cpu_ns > cpu_ns ? session->cpu_ns : cpu_ns) +
                  profile__cpus_of_others(profile, trace) * (double)profile->wall_ns;
    return fmin(1, fmax(0, (used / wall - HALF_USED) / (FULLY_USED - HALF_USED)));
}

uint64_t recorder__cpu_ns(const struct trace *trace)
{
    const char *text = trace__meta(trace, "recorder_cpu_ns");
    return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t profile__recording_ns(const struct profile *profile, const struct trace *trace)
{
    double taken = profile__use_of_cpus(profile, trace) * (double)recorder__cpu_ns(trace);
    return profile->overhead_ns ? profile->overhead_ns + (uint64_t)taken : 0;
}

uint64_t profile_class__held_ns(const struct profile *profile, const struct profile_class *class)
{
    uint64_t known_ns = 0;
    VEC_EACH (holder, &class->blames, struct profile_blame)
        known_ns += holder->wait_ns;
    return known_ns < class->sum_ns && profile__locks_are_sampled(profile) ? class->sum_ns
                                                                           : known_ns;
}

static void fill_bounds(struct duration_bin bins[PROFILE_BINS])
{
    static const uint64_t firsts[] = {1, 2, 5};
    uint64_t decade = 1;
    bins[0] = (struct duration_bin){0};
    for (unsigned i = 1; i < PROFILE_BINS; i++) {
        bins[i] = (struct duration_bin){firsts[(i - 1) % 3] * decade, 0};
        decade *= i % 3 ? 1 : 10;
    }
}

/* Where those of a bucket are in the middle, as far as the class has any. */
static uint64_t middle_ns(const struct profile_class *class, const struct trace *trace,
                          unsigned bucket)
{
    uint64_t lower = histogram__lower(bucket);
    uint64_t upper = bucket + 1 < HISTOGRAM_BUCKETS ? histogram__lower(bucket + 1) : lower;
    uint64_t ns = trace__ns(trace, lower + (upper > lower ? upper - lower - 1 : 0) / 2);
    ns = ns > class->min_ns ? ns : class->min_ns;
    return ns < class->max_ns ? ns : class->max_ns;
}

bool profile_class__bins(const struct profile_class *class, const struct trace *trace,
                         struct duration_bin bins[PROFILE_BINS])
{
    unsigned bin = 0;
    fill_bounds(bins);
    for (unsigned i = 0; class->histogram && i < HISTOGRAM_BUCKETS; i++) {
        if (!class->histogram[i])
            continue;
        while (bin + 1 < PROFILE_BINS && bins[bin + 1].lower_ns <= middle_ns(class, trace, i))
            bin++;
        bins[bin].count += class->histogram[i];
    }
    return class->histogram != NULL;
}
