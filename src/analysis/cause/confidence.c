#include "analysis/cause/confidence.h"

#include "base/memory.h"

#include <stdlib.h>

#define FEW 100 /* below that the smallest may well not be the undisturbed duration */
#define APART 1.05
#define SMOOTH 2 /* buckets to each side: a peak is half a factor of two wide */

static bool runs(const struct class_entry *entry)
{
    return entry->fold.component == COMPONENT_RUNNING;
}

/* ---- modes ----------------------------------------------------------------------------------- */

static void smooth(const uint64_t *histogram, double *smoothed)
{
    for (int i = 0; i < (int)HISTOGRAM_BUCKETS; i++) {
        smoothed[i] = 0;
        for (int j = i - SMOOTH; j <= i + SMOOTH; j++) {
            if (j >= 0 && j < (int)HISTOGRAM_BUCKETS)
                smoothed[i] += (double)histogram[j];
        }
    }
}

/* The buckets around a peak that hold more than half of what it has; their sum. */
static double weight_of(const uint64_t *histogram, const double *smoothed, size_t peak)
{
    size_t first = peak, last = peak;
    double sum = 0;
    while (first > 0 && smoothed[first - 1] > smoothed[peak] / 2)
        first--;
    while (last + 1 < HISTOGRAM_BUCKETS && smoothed[last + 1] > smoothed[peak] / 2)
        last++;
    for (size_t i = first; i <= last; i++)
        sum += (double)histogram[i];
    return sum;
}

/* The highest place in [first, end). */
static size_t highest(const double *smoothed, size_t first, size_t end)
{
    size_t place = first;
    for (size_t i = first; i < end; i++)
        place = smoothed[i] > smoothed[place] ? i : place;
    return place;
}

/* Whether there is a second peak on the way from the highest one by steps of that direction. */
static bool rises_again(const uint64_t *histogram, const double *smoothed, size_t peak,
                        int direction, double all)
{
    double lowest = smoothed[peak];
    for (size_t i = peak; i < HISTOGRAM_BUCKETS; i += (size_t)direction) { /* below 0: wraps */
        lowest = smoothed[i] < lowest ? smoothed[i] : lowest;
        if (smoothed[i] > 2 * lowest) {
            size_t second = direction > 0 ? highest(smoothed, i, HISTOGRAM_BUCKETS)
                                          : highest(smoothed, 0, i + 1);
            return weight_of(histogram, smoothed, second) >= all / 10;
        }
    }
    return false;
}

/* Of a histogram (HISTOGRAM_BUCKETS of them): two peaks, in each of which are a tenth of all, and
 * between them a place with less than half of what the smaller one has. */
static bool has_modes(const uint64_t *histogram)
{
    double smoothed[HISTOGRAM_BUCKETS], all = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        all += (double)histogram[i];
    smooth(histogram, smoothed);
    size_t peak = highest(smoothed, 0, HISTOGRAM_BUCKETS);
    return all >= FEW && weight_of(histogram, smoothed, peak) >= all / 10 &&
           (rises_again(histogram, smoothed, peak, 1, all) ||
            rises_again(histogram, smoothed, peak, -1, all));
}

/* ---- what the sums tell ---------------------------------------------------------------------- */

static bool is_unclean(const struct accumulator *accumulator)
{
    for (unsigned i = 0; i < COMPONENT_OVERHEAD; i++) {
        if (accumulator->component_reference[i])
            return true;
    }
    return false;
}

/* The whole bucket with the 1st percentile is more than that away. */
static bool has_outlier(const struct class_entry *entry)
{
    const struct accumulator *accumulator = &entry->total.accumulator;
    uint64_t slower = 0, limit = accumulator->count - accumulator->count / 100;
    for (unsigned i = HISTOGRAM_BUCKETS; entry->histogram && i-- > 0;) {
        if ((double)histogram__lower(i) <= (double)accumulator->minimum * APART)
            break;
        slower += entry->histogram[i];
    }
    return slower > limit;
}

static bool lacks_kernel(const struct class_entry *entry, const struct thread_result *results)
{
    VEC_EACH (cell, &entry->cells, struct class_cell) {
        const struct fold_state *state = &results[cell->thread].fold;
        if (!state->kernel_since || state->kernel_lost)
            return true;
    }
    return false;
}

unsigned doubts__of_sums(const struct class_entry *entry, const struct thread_result *results)
{
    const struct accumulator *accumulator = &entry->total.accumulator;
    if (class_kind__waits_for_threads(entry->what.at.kind))
        return 0; /* it is compared with no wait */
    unsigned doubts = accumulator->recorded < FEW ? DOUBT_FEW : 0;
    if (!runs(entry) || !accumulator->count)
        return doubts;
    doubts |= is_unclean(accumulator) ? DOUBT_UNCLEAN : 0;
    doubts |= has_outlier(entry) ? DOUBT_OUTLIER : 0;
    doubts |= entry->histogram && has_modes(entry->histogram) ? DOUBT_MODES : 0;
    return doubts | (lacks_kernel(entry, results) ? DOUBT_KERNEL : 0);
}

/* ---- what occurrences tell ------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static bool are_apart(uint64_t a, uint64_t b)
{
    uint64_t less = a < b ? a : b, more = a < b ? b : a;
    return (double)more > (double)less * APART;
}

static bool is_first_apart(const struct vec *occurrences)
{
    uint64_t *durations = memory__zeroed(occurrences->count, sizeof *durations);
    for (size_t i = 0; i < occurrences->count; i++)
        durations[i] = VEC_AT(occurrences, struct occurrence, i)->duration;
    qsort(durations, occurrences->count, sizeof *durations, by_size);
    bool apart = are_apart(durations[0], durations[occurrences->count / 100]);
    free(durations);
    return apart;
}

unsigned doubts__of_occurrences(const struct class_occurrences *class, uint64_t middle,
                                unsigned *known)
{
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX};
    size_t counts[2] = {0, 0};
    *known = 0;
    if (class->occurrences.count < FEW)
        return 0;
    VEC_EACH (occurrence, &class->occurrences, struct occurrence) {
        bool second = occurrence->start >= middle;
        counts[second]++;
        if (occurrence->duration < least[second])
            least[second] = occurrence->duration;
    }
    *known = DOUBT_OUTLIER | DOUBT_HALVES;
    unsigned doubts = is_first_apart(&class->occurrences) ? DOUBT_OUTLIER : 0;
    bool comparable = counts[0] >= FEW / 2 && counts[1] >= FEW / 2;
    return doubts | (comparable && are_apart(least[0], least[1]) ? DOUBT_HALVES : 0);
}
