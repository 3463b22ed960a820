#include "analysis/iterations/internal.h"

#include "analysis/events/quantile.h"
#include "base/memory.h"

#include <stdlib.h>

#define OVERLAP_LEAST 1.5 /* matched turns may take so much longer than a thread's own */

/* ---- turns that belong together -------------------------------------------------------------- */

struct turn_sample matched__turn(const struct phase_draft *draft, size_t sample)
{
    struct turn_sample turn = *sample_at(part_at(draft, 0), sample);
    for (size_t i = 1; i < draft->parts.count; i++) {
        const struct turn_sample *other = sample_at(part_at(draft, i), sample);
        turn.start = other->start < turn.start ? other->start : turn.start;
        turn.end = other->end > turn.end ? other->end : turn.end;
    }
    turn.longest = turn.end - turn.start;
    return turn;
}

static bool turn_equally_often(const struct phase_draft *draft)
{
    uint64_t count = part_at(draft, 0)->turns.count;
    VEC_EACH (part, &draft->parts, struct phase_part)
        if (part->turns.count != count)
            return false;
    return count > 0;
}

bool draft__is_matched(const struct phase_draft *draft)
{
    if (draft->parts.count < 2 || !turn_equally_often(draft))
        return false;
    uint64_t together = 0, longest = 0;
    size_t samples = part_at(draft, 0)->turns.samples.count;
    for (size_t i = 0; i < samples; i++)
        together += matched__turn(draft, i).longest;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        uint64_t sum = 0;
        VEC_EACH (sample, &part->turns.samples, struct turn_sample)
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
        for (size_t i = 0; i < part_at(draft, 0)->turns.samples.count; i++)
            vec__push(&durations->exact, &(uint64_t){matched__turn(draft, i).longest});
        return;
    }
    VEC_EACH (part, &draft->parts, struct phase_part)
        VEC_EACH (sample, &part->turns.samples, struct turn_sample)
            vec__push(&durations->exact, &sample->longest);
}

static void add_to_histogram(struct durations *durations, const struct turn_series *turns)
{
    for (unsigned i = 0; turns->histogram && i < HISTOGRAM_BUCKETS; i++)
        durations->histogram[i] += turns->histogram[i];
    VEC_EACH (sample, &turns->samples, struct turn_sample)
        if (!turns->histogram)
            durations->histogram[histogram__bucket(sample->longest)]++;
    struct accumulator *bounds = &durations->bounds;
    if (!bounds->count || turns->min < bounds->minimum)
        bounds->minimum = turns->min;
    if (turns->max > bounds->maximum)
        bounds->maximum = turns->max;
    bounds->count += turns->count;
}

static bool needs_histogram(const struct phase_draft *draft)
{
    VEC_EACH (part, &draft->parts, struct phase_part)
        if (part->turns.histogram && !draft->is_matched)
            return true;
    return false;
}

static struct durations durations_of(const struct phase_draft *draft)
{
    struct durations durations = {.exact = VEC_OF(uint64_t)};
    if (needs_histogram(draft)) {
        durations.histogram = memory__zeroed(HISTOGRAM_BUCKETS, sizeof *durations.histogram);
        VEC_EACH (part, &draft->parts, struct phase_part)
            add_to_histogram(&durations, &part->turns);
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
            sum += part->turns.sum;
    } else if (draft->is_matched) {
        stride = part_at(draft, 0)->turns.stride;
    }
    phase->sum_ns = trace__ns(trace, sum * stride);
    phase->outlier_count = count_above(&durations, threshold) * stride;
    durations__free(&durations);
}

static void add_thread(const struct phase_part *part, const struct trace *trace,
                       struct iteration_phase *phase)
{
    const struct iteration_thread row = {.thread = part->thread,
                                         .turns = part->turns.count,
                                         .min_ns = trace__ns(trace, part->turns.min),
                                         .max_ns = trace__ns(trace, part->turns.max),
                                         .sum_ns = trace__ns(trace, part->turns.sum)};
    vec__push(&phase->threads, &row);
}

static uint64_t fastest_turn(const struct phase_draft *draft)
{
    uint64_t min = UINT64_MAX;
    VEC_EACH (part, &draft->parts, struct phase_part)
        min = part->turns.min < min ? part->turns.min : min;
    return min;
}

/* Over the turns of threads, as in the ledger. */
static void fill_score(const struct phase_draft *draft, const struct trace *trace,
                       struct iteration_phase *phase)
{
    uint64_t min = fastest_turn(draft), lost = 0, lived = 0, spent = 0;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        uint64_t excess = part->turns.sum - part->turns.count * min;
        double score = part->lifetime ? (double)excess / (double)part->lifetime : 0;
        phase->score = score > phase->score ? score : phase->score;
        lost += excess;
        lived += part->lifetime;
        spent += part->turns.sum;
        add_thread(part, trace, phase);
    }
    phase->excess_ns = trace__ns(trace, lost);
    phase->share = lived ? (double)spent / (double)lived : 0;
}

static uint64_t imbalance_of(const struct phase_draft *draft, size_t sample)
{
    uint64_t longest = 0, sum = 0;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        const struct turn_sample *turn = sample_at(part, sample);
        uint64_t duration = turn->end - turn->start;
        longest = duration > longest ? duration : longest;
        sum += duration;
    }
    return longest - sum / draft->parts.count;
}

static void fill_imbalance(const struct phase_draft *draft, const struct trace *trace,
                           struct iteration_phase *phase)
{
    const struct turn_series *turns = &part_at(draft, 0)->turns;
    uint64_t sum = 0;
    if (!draft->is_matched)
        return;
    for (size_t i = 0; i < turns->samples.count; i++)
        sum += imbalance_of(draft, i);
    phase->is_sample = turns->stride > 1;
    phase->imbalance_ns = trace__ns(trace, sum * turns->stride);
}

/* ---- the strip ------------------------------------------------------------------------------- */

static unsigned cell_of(uint64_t tick, uint64_t begin, uint64_t length)
{
    double cell = (double)(tick - begin) / (double)length * ITERATIONS_STRIP;
    return cell < ITERATIONS_STRIP ? (unsigned)cell : ITERATIONS_STRIP - 1;
}

static void add_to_strip(struct iteration_phase *phase, uint64_t begin, uint64_t length,
                         const struct turn_sample *turn, const struct trace *trace)
{
    uint64_t ns = trace__ns(trace, turn->longest);
    unsigned last = cell_of(turn->end, begin, length);
    for (unsigned cell = cell_of(turn->start, begin, length); cell <= last; cell++)
        if (ns > phase->strip[cell].longest_ns)
            phase->strip[cell].longest_ns = ns;
}

static void fill_strip(const struct phase_draft *draft, const struct trace *trace,
                       struct iteration_phase *phase)
{
    uint64_t begin = UINT64_MAX, end = 0;
    VEC_EACH (part, &draft->parts, struct phase_part) {
        begin = part->turns.first_start < begin ? part->turns.first_start : begin;
        end = part->turns.last_end > end ? part->turns.last_end : end;
    }
    phase->start_ns = trace__since_start_ns(trace, begin);
    phase->end_ns = trace__since_start_ns(trace, end);
    for (size_t i = 0; draft->is_matched && i < part_at(draft, 0)->turns.samples.count; i++) {
        struct turn_sample turn = matched__turn(draft, i);
        add_to_strip(phase, begin, end - begin + 1, &turn, trace);
    }
    VEC_EACH (part, &draft->parts, struct phase_part)
        VEC_EACH (sample, &part->turns.samples, struct turn_sample)
            if (!draft->is_matched)
                add_to_strip(phase, begin, end - begin + 1, sample, trace);
}

/* ---- where turns are ------------------------------------------------------------------------- */

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

static void keep_turns(const struct phase_draft *draft, const struct trace *trace,
                       struct iteration_phase *phase)
{
    phase->kept = VEC_OF(struct iteration);
    VEC_EACH (part, &draft->parts, struct phase_part) {
        uint64_t stride = part->turns.stride;
        for (size_t i = 0; i < part->turns.samples.count; i++) {
            const struct turn_sample *turn = sample_at(part, i);
            struct iteration one = iteration_of(part, trace, i * stride, turn->start, turn->end);
            vec__push(&phase->kept, &one);
        }
        VEC_EACH (worst, &part->turns.worst.kept, struct extreme) {
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
        phase->turns += part->turns.count;
    if (draft->is_matched)
        phase->turns = part_at(draft, 0)->turns.count;
    fill_durations(draft, trace, phase);
    fill_score(draft, trace, phase);
    fill_imbalance(draft, trace, phase);
    fill_strip(draft, trace, phase);
    keep_turns(draft, trace, phase);
}
