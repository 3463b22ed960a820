#include "analysis/cause/workload.h"

#include "base/memory.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_MOST 8192u /* durations that are looked at; all get their part */
#define SHUFFLES 19u
#define RUN_LEAST 8u     /* equal values that are a bin of their own */
#define LEAST_SHARE 0.05 /* of the differences: less is nothing */
#define FASTEST_PART 20u /* of a bin's durations one in so many, and one, are its baseline */
#define BEYOND_SHUFFLES                                                      \
    3. /* times the way from the mean of the shuffled to the largest of them \
        */

struct item {
    uint64_t value;
    double duration;
};

struct bin {
    size_t first, end; /* places among the sorted items */
    uint64_t lowest, highest;
    bool one_value;
    double value, baseline; /* means of its fastest */
};

struct workload_sample {
    struct item *items; /* by value */
    double *durations;  /* by item, as they were */
    double *baselines;  /* by item */
    struct item *room;
    size_t count;
    struct vec bins; /* struct bin */
    enum value_sort sort;
    double least, differences; /* Σ (duration − least) */
};

static int by_value(const void *a, const void *b)
{
    const struct item *left = a, *right = b;
    return left->value < right->value ? -1 : left->value > right->value;
}

/* ---- bins ------------------------------------------------------------------------------------ */

static void close_bin(struct workload_sample *sample, size_t first, size_t end)
{
    if (first == end)
        return;
    struct bin bin = {first, end, sample->items[first].value, sample->items[end - 1].value, false,
                      0,     0};
    bin.one_value = bin.lowest == bin.highest;
    vec__push(&sample->bins, &bin);
}

static size_t run_end(const struct workload_sample *sample, size_t first)
{
    size_t end = first + 1;
    while (end < sample->count && sample->items[end].value == sample->items[first].value)
        end++;
    return end;
}

/* Values that come often have bins of their own, the others share bins with their neighbours. */
static void make_bins(struct workload_sample *sample)
{
    size_t shared = sample->count / 64 > RUN_LEAST ? sample->count / 64 : RUN_LEAST, open = 0;
    size_t often = sample->sort == VALUE_LABEL ? RUN_LEAST : shared;
    for (size_t first = 0; first < sample->count;) {
        size_t end = run_end(sample, first);
        if (end - first >= often) {
            close_bin(sample, open, first);
            close_bin(sample, first, end);
            open = end;
        } else if (end - open >= shared && sample->sort != VALUE_LABEL) {
            close_bin(sample, open, end);
            open = end;
        }
        first = end;
    }
    close_bin(sample, open, sample->count);
}

/* ---- baselines ------------------------------------------------------------------------------- */

static void swap(struct item *a, struct item *b)
{
    struct item kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts the wanted fastest ones first (Hoare's selection). */
static void select_fastest(struct item *items, size_t count, size_t wanted)
{
    ptrdiff_t first = 0, last = (ptrdiff_t)count - 1, border = (ptrdiff_t)wanted - 1;
    while (first < last) {
        double pivot = items[first + (last - first) / 2].duration;
        ptrdiff_t low = first, high = last;
        while (low <= high) {
            while (items[low].duration < pivot)
                low++;
            while (items[high].duration > pivot)
                high--;
            if (low <= high)
                swap(&items[low++], &items[high--]);
        }
        if (border <= high)
            last = high;
        else if (border >= low)
            first = low;
        else
            return;
    }
}

static void set_baseline(struct workload_sample *sample, struct bin *bin)
{
    size_t count = bin->end - bin->first, wanted = 1 + count / FASTEST_PART;
    for (size_t i = 0; i < count; i++)
        sample->room[i] = sample->items[bin->first + i];
    select_fastest(sample->room, count, wanted);
    bin->value = bin->baseline = 0;
    for (size_t i = 0; i < wanted; i++) {
        bin->value += (double)sample->room[i].value / (double)wanted;
        bin->baseline += sample->room[i].duration / (double)wanted;
    }
}

static const struct bin *bin_at(const struct workload_sample *sample, size_t place)
{
    return VEC_AT(&sample->bins, struct bin, place);
}

/* The last bin that begins at or before the value; the first one when there is none. */
static size_t bin_of(const struct workload_sample *sample, uint64_t value)
{
    size_t low = 0, high = sample->bins.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (bin_at(sample, middle)->lowest <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double between(const struct bin *left, const struct bin *right, double value)
{
    if (right->value <= left->value)
        return left->baseline;
    double share = (value - left->value) / (right->value - left->value);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return left->baseline + share * (right->baseline - left->baseline);
}

/* Of a value in or near the bin. */
static double baseline_of(const struct workload_sample *sample, size_t place, uint64_t value)
{
    const struct bin *bin = bin_at(sample, place);
    double exact = (double)value;
    if (bin->one_value || sample->sort == VALUE_LABEL)
        return bin->baseline;
    if (exact < bin->value && place > 0)
        return between(bin - 1, bin, exact);
    if (exact > bin->value && place + 1 < sample->bins.count)
        return between(bin, bin + 1, exact);
    return bin->baseline;
}

static double least_baseline(const struct workload_sample *sample)
{
    double least = INFINITY;
    VEC_EACH (bin, &sample->bins, struct bin)
        least = bin->baseline < least ? bin->baseline : least;
    return least;
}

static double clamped(double baseline, double least, double duration)
{
    double most = duration > least ? duration : least;
    return baseline > most ? most : baseline;
}

/* Sets the bins' baselines. Returns the share of the differences that is theirs. */
static double fit_bins(struct workload_sample *sample)
{
    double sum = 0;
    VEC_EACH (bin, &sample->bins, struct bin)
        set_baseline(sample, bin);
    double least = least_baseline(sample);
    for (size_t place = 0; place < sample->bins.count; place++) {
        const struct bin *bin = bin_at(sample, place);
        for (size_t i = bin->first; i < bin->end; i++) {
            sample->baselines[i] = clamped(baseline_of(sample, place, sample->items[i].value),
                                           least, sample->items[i].duration);
            sum += sample->baselines[i] - least;
        }
    }
    return sum / sample->differences;
}

/* Squared correlation of the baselines with the durations. */
static double squared_correlation(const struct workload_sample *sample)
{
    double n = (double)sample->count, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < sample->count; i++) {
        x += sample->baselines[i] / n;
        y += sample->items[i].duration / n;
    }
    for (size_t i = 0; i < sample->count; i++) {
        double dx = sample->baselines[i] - x, dy = sample->items[i].duration - y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
}

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t random_of(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void shuffle(struct workload_sample *sample, uint64_t *seed)
{
    for (size_t i = sample->count; i > 1; i--) {
        size_t other = random_of(seed) % i;
        double kept = sample->items[i - 1].duration;
        sample->items[i - 1].duration = sample->items[other].duration;
        sample->items[other].duration = kept;
    }
}

/* Of the pairs of bins from first on, how many more rise than fall, as a share (Kendall). */
static double rise(const struct workload_sample *sample, size_t first, size_t end)
{
    double rising = 0, pairs = 0;
    for (size_t i = first; i < end; i++) {
        for (size_t j = i + 1; j < end; j++) {
            double change = bin_at(sample, j)->baseline - bin_at(sample, i)->baseline;
            rising += change > 0 ? 1 : change < 0 ? -1 : 0;
            pairs++;
        }
    }
    return pairs > 0 ? rising / pairs : 0;
}

/* Whatever changes with time also changes with a counter; a slope goes on. */
static bool is_steady(const struct workload_sample *sample)
{
    size_t half = sample->bins.count / 2;
    double first = rise(sample, 0, half), second = rise(sample, half, sample->bins.count);
    return first * second > 0 && fabs(first) >= 0.5 && fabs(second) >= 0.5;
}

/* Of the shares of shuffled durations. */
struct chance {
    double mean, largest;
    double explained; /* the largest r² */
};

static struct chance chance_of(struct workload_sample *sample)
{
    struct chance chance = {0};
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < SHUFFLES; i++) {
        shuffle(sample, &seed);
        double share = fit_bins(sample);
        chance.mean += share / SHUFFLES;
        chance.largest = fmax(chance.largest, share);
        chance.explained = fmax(chance.explained, squared_correlation(sample));
    }
    return chance;
}

/* Takes the baselines off the durations. */
static void take_off(struct workload_sample *sample)
{
    double least = least_baseline(sample);
    for (size_t i = 0; i < sample->count; i++)
        sample->items[i].duration -= sample->baselines[i] - least;
}

/* Whether that share, which the baselines have, is more than chance; fit then has what is beyond
 * it. How much chance makes of it is seen from what the baselines leave: were the value's own
 * differences still in it, it would be too much. */
static bool beats_chance(struct workload_sample *sample, double share, struct workload_fit *fit)
{
    struct item *kept = memory__zeroed(sample->count, sizeof *kept);
    fit->explained = squared_correlation(sample);
    take_off(sample);
    memcpy(kept, sample->items, sample->count * sizeof *kept);
    for (size_t i = 0; i < sample->count; i++)
        sample->items[i].duration = sample->durations[i];
    struct chance all = chance_of(sample);
    memcpy(sample->items, kept, sample->count * sizeof *kept);
    free(kept);
    fit->null = all.explained;
    if (share - all.mean <= BEYOND_SHUFFLES * (all.largest - all.mean) ||
        fit->explained <= fit->null)
        return false;
    fit->share = share - chance_of(sample).mean;
    return fit->share >= LEAST_SHARE;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void take_sample(struct workload_sample *sample, const struct workload_values *values)
{
    size_t count = values->count < SAMPLE_MOST ? values->count : SAMPLE_MOST;
    *sample =
        (struct workload_sample){.count = count, .bins = VEC_OF(struct bin), .sort = values->sort};
    sample->items = memory__zeroed(count, sizeof *sample->items);
    sample->room = memory__zeroed(count, sizeof *sample->room);
    sample->baselines = memory__zeroed(count, sizeof *sample->baselines);
    sample->durations = memory__zeroed(count, sizeof *sample->durations);
    sample->least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)((double)i * (double)values->count / (double)count);
        sample->items[i] = (struct item){values->values[place], values->durations[place]};
        sample->least = fmin(sample->least, sample->items[i].duration);
    }
    for (size_t i = 0; i < count; i++)
        sample->differences += sample->items[i].duration - sample->least;
    qsort(sample->items, count, sizeof *sample->items, by_value);
    for (size_t i = 0; i < count; i++)
        sample->durations[i] = sample->items[i].duration;
    make_bins(sample);
}

static void free_sample(struct workload_sample *sample)
{
    free(sample->items);
    free(sample->room);
    free(sample->baselines);
    free(sample->durations);
    vec__free(&sample->bins);
}

static void give_parts(const struct workload_sample *sample, const struct workload_values *values,
                       double *parts)
{
    double least = least_baseline(sample);
    for (size_t i = 0; i < values->count; i++) {
        double baseline = baseline_of(sample, bin_of(sample, values->values[i]), values->values[i]);
        parts[i] = clamped(baseline, least, values->durations[i]) - least;
    }
}

bool workload__fit(const struct workload_values *values, double *parts, struct workload_fit *fit)
{
    struct workload_sample sample;
    *fit = (struct workload_fit){0};
    if (values->count < WORKLOAD_LEAST)
        return false;
    take_sample(&sample, values);
    bool found = sample.bins.count > 1 && sample.differences > 0;
    double share = found ? fit_bins(&sample) : 0;
    found = share >= LEAST_SHARE && (values->sort != VALUE_COUNTER || is_steady(&sample));
    if (found)
        give_parts(&sample, values, parts);
    found = found && beats_chance(&sample, share, fit);
    for (size_t i = 0; found && i < values->count; i++)
        parts[i] *= fit->share / share;
    free_sample(&sample);
    return found;
}
