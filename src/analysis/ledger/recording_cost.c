#include "analysis/ledger/recording_cost.h"

#include "analysis/events/sampled_time.h"

#define SAMPLES_LEAST 16
#define CLEARLY 1.25 /* times what was told */

static bool has_samples(const struct trace *trace, const struct sampled_time *time, uint32_t thread)
{
    return time->ns[thread] && !trace__thread_at(trace, thread)->is_aside;
}

/* Of the thread's own CPU time: the kernel's records are made in the kernel. */
static uint64_t told_ns(const struct profile_thread *row)
{
    uint64_t all_ns = row->component_ns[COMPONENT_OVERHEAD];
    return all_ns > row->kernel_overhead_ns ? all_ns - row->kernel_overhead_ns : 0;
}

/* Of threads that samples know: what they tell over what was told, at least 1. */
static double times_told(const struct profile *profile, const struct trace *trace,
                         const struct sampled_time *time)
{
    double sampled_ns = 0, all_told_ns = 0;
    VEC_EACH (row, &profile->threads, struct profile_thread) {
        if (!has_samples(trace, time, row->thread))
            continue;
        sampled_ns += (double)time->of_ns[row->thread];
        all_told_ns += (double)told_ns(row);
    }
    return all_told_ns > 0 && sampled_ns > CLEARLY * all_told_ns ? sampled_ns / all_told_ns : 1;
}

static void add(struct profile *profile, struct profile_thread *row, uint64_t more_ns)
{
    if (more_ns > row->component_ns[COMPONENT_RUNNING])
        more_ns = row->component_ns[COMPONENT_RUNNING];
    row->component_ns[COMPONENT_RUNNING] -= more_ns;
    row->component_ns[COMPONENT_OVERHEAD] += more_ns;
    profile->overhead_ns += more_ns;
}

/* What samples of it cost a thread, they tell themselves: by their number, in its share of them. */
static void add_samples(struct profile *profile, const struct trace *trace,
                        const struct sampled_time *time)
{
    double all_ns = 0;
    uint64_t cost_ns = (uint64_t)time->samples * trace__session(trace)->sample_ns;
    VEC_EACH (row, &profile->threads, struct profile_thread)
        all_ns += (double)time->ns[row->thread];
    VEC_EACH (row, &profile->threads, struct profile_thread) {
        if (!has_samples(trace, time, row->thread))
            continue;
        uint64_t more_ns = (uint64_t)((double)cost_ns * (double)time->ns[row->thread] / all_ns);
        add(profile, row, more_ns);
        row->kernel_overhead_ns += more_ns;
    }
}

void recording_cost__check(struct profile *profile, const struct trace *trace,
                           const struct symbols *symbols)
{
    struct sampled_time time = sampled_time__of(trace, symbols, sampled_time__is_recording, NULL);
    double times = time.count < SAMPLES_LEAST ? 1 : times_told(profile, trace, &time);
    VEC_EACH (row, &profile->threads, struct profile_thread) {
        if (times <= 1 || !has_samples(trace, &time, row->thread))
            continue;
        add(profile, row, (uint64_t)((times - 1) * (double)told_ns(row)));
    }
    add_samples(profile, trace, &time);
    sampled_time__free(&time);
}
