#include "analysis/iterations/internal.h"

#include "analysis/events/quantile.h"
#include "base/memory.h"

#include <stdlib.h>

#define OVERLAP_LEAST 1.5 /* matched iterations may take so much longer than a thread's own */

/* ---- iterations that belong together --------------------------------------------------------- */

struct iteration_sample matched__iteration(const struct phase_draft *draft, size_t sample)
{
    struct iteration_sample iteration = *sample_at(part_at(draft, 0), sample);
    for (size_t i = 1; i < draft->parts.count; i++) {
        const struct iteration_sample *other = sample_at(part_at(draft, i), sample);
        iteration.start = other->start < iteration.start ? other->start : iteration.start;
        iteration.end = other->end > iteration.end ? other->end : iteration.end;
    }
    iteration.longest = iteration.end - iteration.start;
    return iteration;
}

static bool iteration_equally_often(const struct phase_draft *draft)
{
    uint64_t count = part_at(draft, 0)->iterations.count;
    VEC_EACH (part, &draft->parts, struct phase_part)
        if (part->iterations.count != count)
            return false;
    return count > 0;
}

bool draft__is_matched(const struct phase_draft *draft)
{
    if (draft->parts.count < 2 || !iteration_equally_often(draft))
        return false;
    uint64_t together = 0, longest = 0;
    size_t samples = part_at(draft, 0)->iterations.samples.count;
    for (size_t i = 0; i < samples; i++)
        together += matched__iteration(draft, i).longest;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        uint64_t sum = 0;
        VEC_EACH (sample, &part->iterations.samples, struct iteration_sample)
            sum += sample->end - sample->start;
        longest = sum > longest ? sum : longest;
    }
    return (double)together <= OVERLAP_LEAST * (double)longest;
}

/* ---- durations ------------------------------------------------------------------------------- */

/* Of all iterations: exact ones, or a histogram. Ticks. */
struct durations {
    struct vec exact; /* uint64_t, order__u64 */
    uint64_t *histogram;
    struct accumulator bounds; /* of the histogram: count, minimum, maximum */
};

static void add_exact(struct durations *durations, const struct phase_draft *draft)
{
    if (draft->is_matched) {
        for (size_t i = 0; i < part_at(draft, 0)->iterations.samples.count; i++)
            vec__push(&durations->exact, &(uint64_t){matched__iteration(draft, i).longest});
        return;
    }
    VEC_EACH (part, &draft->parts, struct phase_part)
        VEC_EACH (sample, &part->iterations.samples, struct iteration_sample)
            vec__push(&durations->exact, &sample->longest);
}

static void add_to_histogram(struct durations *durations, const struct iteration_series *iterations)
{
    for (unsigned i = 0; iterations->histogram && i < HISTOGRAM_BUCKETS; i++)
        durations->histogram[i] += iterations->histogram[i];
    VEC_EACH (sample, &iterations->samples, struct iteration_sample)
        if (!iterations->histogram)
            durations->histogram[histogram__bucket(sample->longest)]++;
    struct accumulator *bounds = &durations->bounds;
    if (!bounds->count || iterations->min < bounds->minimum)
        bounds->minimum = iterations->min;
    if (iterations->max > bounds->maximum)
        bounds->maximum = iterations->max;
    bounds->count += iterations->count;
}

static bool needs_histogram(const struct phase_draft *draft)
{
    VEC_EACH (part, &draft->parts, struct phase_part)
        if (part->iterations.histogram && !draft->is_matched)
            return true;
    return false;
}

static struct durations durations_of(const struct phase_draft *draft)
{
    struct durations durations = {.exact = VEC_OF(uint64_t)};
    if (needs_histogram(draft)) {
        durations.histogram = memory__zeroed(HISTOGRAM_BUCKETS, sizeof *durations.histogram);
        VEC_EACH (part, &draft->parts, struct phase_part)
            add_to_histogram(&durations, &part->iterations);
    } else {
        add_exact(&durations, draft);
        vec__sort(&durations.exact, order__u64);
    }
    return durations;
}

static void durations__free(struct durations *durations)
{
    vec__free(&durations->exact);
    free(durations->histogram);
}

/* The nearest rank. */
static uint64_t share_of(const struct durations *durations, double share)
{
    if (durations->histogram && (share == 0 || share == 1))
        return share == 0 ? durations->bounds.minimum : durations->bounds.maximum;
    if (durations->histogram)
        return quantile__of(&durations->bounds, durations->histogram, share);
    size_t count = durations->exact.count, place = (size_t)(share * (double)count);
    if ((double)place == share * (double)count && place)
        place--;
    return *VEC_AT(&durations->exact, uint64_t, place < count ? place : count - 1);
}

/* ---- what stands out ------------------------------------------------------------------------- */

static uint64_t threshold_of(const struct durations *durations)
{
    uint64_t low = share_of(durations, 0.25), high = share_of(durations, 0.75);
    uint64_t fence = high + ITERATIONS_FENCE * (high - low);
    double factor = ITERATIONS_FACTOR * (double)share_of(durations, 0.5);
    return (double)fence > factor ? fence : (uint64_t)factor;
}

static uint64_t count_above(const struct durations *durations, uint64_t threshold)
{
    uint64_t count = 0;
    for (unsigned i = 0; durations->histogram && i < HISTOGRAM_BUCKETS; i++)
        count += histogram__lower(i) > threshold ? durations->histogram[i] : 0;
    VEC_EACH (duration, &durations->exact, uint64_t)
        count += *duration > threshold;
    return count;
}

/* ---- figures --------------------------------------------------------------------------------- */

static void fill_durations(struct phase_draft *draft, const struct trace *trace,
                           struct iteration_phase *phase)
{
    struct durations durations = durations_of(draft);
    uint64_t threshold = threshold_of(&durations), sum = 0, stride = 1;
    phase->min_ns = trace__ns(trace, share_of(&durations, 0));
    phase->median_ns = trace__ns(trace, share_of(&durations, 0.5));
    phase->p99_ns = trace__ns(trace, share_of(&durations, 0.99));
    phase->max_ns = trace__ns(trace, share_of(&durations, 1));
    phase->threshold_ns = trace__ns(trace, threshold);
    VEC_EACH (duration, &durations.exact, uint64_t)
        sum += *duration;
    if (durations.histogram) {
        VEC_EACH (part, &draft->parts, struct phase_part)
            sum += part->iterations.sum;
    } else if (draft->is_matched) {
        stride = part_at(draft, 0)->iterations.stride;
    }
    phase->sum_ns = trace__ns(trace, sum * stride);
    phase->outlier_count = count_above(&durations, threshold) * stride;
    durations__free(&durations);
}

static void add_thread(const struct phase_part *part, const struct trace *trace,
                       struct iteration_phase *phase)
{
    const struct iteration_thread row = {.thread = part->thread,
                                         .iterations = part->iterations.count,
                                         .min_ns = trace__ns(trace, part->iterations.min),
                                         .max_ns = trace__ns(trace, part->iterations.max),
                                         .sum_ns = trace__ns(trace, part->iterations.sum)};
    vec__push(&phase->threads, &row);
}

static uint64_t fastest_iteration(const struct phase_draft *draft)
{
    uint64_t min = UINT64_MAX;
    VEC_EACH (part, &draft->parts, struct phase_part)
        min = part->iterations.min < min ? part->iterations.min : min;
    return min;
}

/* Over the iterations of threads, as in the ledger. */
static void fill_score(const struct phase_draft *draft, const struct trace *trace,
                       struct iteration_phase *phase)
{
    uint64_t min = fastest_iteration(draft), lost = 0, lived = 0, spent = 0;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        uint64_t excess = part->iterations.sum - part->iterations.count * min;
        double score = part->lifetime ? (double)excess / (double)part->lifetime : 0;
        phase->score = score > phase->score ? score : phase->score;
        lost += excess;
        lived += part->lifetime;
        spent += part->iterations.sum;
        add_thread(part, trace, phase);
    }
    phase->excess_ns = trace__ns(trace, lost);
    phase->share = lived ? (double)spent / (double)lived : 0;
}

static uint64_t imbalance_of(const struct phase_draft *draft, size_t sample)
{
    uint64_t longest = 0, sum = 0;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        const struct iteration_sample *iteration = sample_at(part, sample);
        uint64_t duration = iteration->end - iteration->start;
        longest = duration > longest ? duration : longest;
        sum += duration;
    }
    return longest - sum / draft->parts.count;
}

static void fill_imbalance(const struct phase_draft *draft, const struct trace *trace,
                           struct iteration_phase *phase)
{
    const struct iteration_series *iterations = &part_at(draft, 0)->iterations;
    uint64_t sum = 0;
    if (!draft->is_matched)
        return;
    for (size_t i = 0; i < iterations->samples.count; i++)
        sum += imbalance_of(draft, i);
    phase->is_sample = iterations->stride > 1;
    phase->imbalance_ns = trace__ns(trace, sum * iterations->stride);
}

/* ---- the strip ------------------------------------------------------------------------------- */

static unsigned cell_of(uint64_t tick, uint64_t begin, uint64_t length)
{
    double cell = (double)(tick - begin) / (double)length * ITERATIONS_STRIP;
    return cell < ITERATIONS_STRIP ? (unsigned)cell : ITERATIONS_STRIP - 1;
}

static void add_to_strip(struct iteration_phase *phase, uint64_t begin, uint64_t length,
                         const struct iteration_sample *iteration, const struct trace *trace)
{
    uint64_t ns = trace__ns(trace, iteration->longest);
    unsigned last = cell_of(iteration->end, begin, length);
    for (unsigned cell = cell_of(iteration->start, begin, length); cell <= last; cell++)
        if (ns > phase->strip[cell].longest_ns)
            phase->strip[cell].longest_ns = ns;
}

static void fill_strip(const struct phase_draft *draft, const struct trace *trace,
                       struct iteration_phase *phase)
{
    uint64_t begin = UINT64_MAX, end = 0;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        begin = part->iterations.first_start < begin ? part->iterations.first_start : begin;
        end = part->iterations.last_end > end ? part->iterations.last_end : end;
    }
    phase->start_ns = trace__since_start_ns(trace, begin);
    phase->end_ns = trace__since_start_ns(trace, end);
    for (size_t i = 0; draft->is_matched && i < part_at(draft, 0)->iterations.samples.count; i++) {
        struct iteration_sample iteration = matched__iteration(draft, i);
        add_to_strip(phase, begin, end - begin + 1, &iteration, trace);
    }
    VEC_EACH (part, &draft->parts, struct phase_part)
        VEC_EACH (sample, &part->iterations.samples, struct iteration_sample)
            if (!draft->is_matched)
                add_to_strip(phase, begin, end - begin + 1, sample, trace);
}

/* ---- where iterations are -------------------------------------------------------------------- */

static struct iteration iteration_of(const struct phase_part *part, const struct trace *trace,
                                     uint64_t index, uint64_t start, uint64_t end)
{
    return (struct iteration){.index = index,
                              .thread = part->thread,
                              .start_ns = trace__since_start_ns(trace, start),
                              .duration_ns = trace__ns(trace, end - start),
                              .depth = part->key.depth,
                              .start_tick = start,
                              .end_tick = end};
}

static void keep_iterations(const struct phase_draft *draft, const struct trace *trace,
                            struct iteration_phase *phase)
{
    phase->kept = VEC_OF(struct iteration);
    VEC_EACH (part, &draft->parts, struct phase_part) {
        uint64_t stride = part->iterations.stride;
        for (size_t i = 0; i < part->iterations.samples.count; i++) {
            const struct iteration_sample *iteration = sample_at(part, i);
            struct iteration one =
                iteration_of(part, trace, i * stride, iteration->start, iteration->end);
            vec__push(&phase->kept, &one);
        }
        VEC_EACH (worst, &part->iterations.worst.kept, struct extreme) {
            struct iteration one =
                iteration_of(part, trace, worst->index, worst->start, worst->end);
            if (worst->index % stride)
                vec__push(&phase->kept, &one);
        }
    }
}

void draft__figures(struct phase_draft *draft, const struct trace *trace,
                    struct iteration_phase *phase)
{
    phase->is_marked = part_at(draft, 0)->key.kind == LOOP_OF_MARKS;
    phase->is_between_waits = part_at(draft, 0)->key.kind >= LOOP_OF_WAITS;
    phase->is_matched = draft->is_matched;
    phase->threads = VEC_OF(struct iteration_thread);
    phase->outliers = VEC_OF(struct iteration_outlier);
    VEC_EACH (part, &draft->parts, struct phase_part)
        phase->iterations += part->iterations.count;
    if (draft->is_matched)
        phase->iterations = part_at(draft, 0)->iterations.count;
    fill_durations(draft, trace, phase);
    fill_score(draft, trace, phase);
    fill_imbalance(draft, trace, phase);
    fill_strip(draft, trace, phase);
    keep_iterations(draft, trace, phase);
}
