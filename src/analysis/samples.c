#include "analysis/samples.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES_MIN 30u
#define SAMPLES_EVENLY 4096u /* taken from all but the slowest */
#define SAMPLES_SLOWEST 512u
#define LEVELS 16u    /* windows are halved so often at most */
#define BLOCK_MIN 16u /* occurrences, on average */
#define CLIPPED 0.99  /* quantile of the time on the CPU */
#define SHORT 0.05    /* quantile of the lengths: how long nearly all of them are */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void quantile__sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
}

double quantile__of_sorted(const double *sorted, size_t count, double share)
{
    size_t place = (size_t)(share * (double)count);
    return sorted[place < count ? place : count - 1];
}

/* Of one that was off the CPU for most of its time nobody knows what ran while it was on it. */
bool overlap_question__counts(const struct overlap_question *question,
                              const struct occurrence *occurrence)
{
    const struct vec *windows = &question->all->windows;
    if (occurrence->inner || occurrence->end <= occurrence->start ||
        occurrence->window >= windows->count)
        return false;
    const struct window *window = VEC_AT(windows, struct window, occurrence->window);
    if (occurrence->start < window->begin || occurrence->end > window->end)
        return false;
    return question->preempted || occurrence->running >= (occurrence->end - occurrence->start) / 2;
}

/* Sorted; free it. */
static double *lefts_of(const struct overlap_question *question, size_t *count)
{
    const struct vec *occurrences = &question->class->occurrences;
    double *lefts = memory__zeroed(occurrences->count, sizeof *lefts);
    *count = 0;
    for (size_t i = 0; i < occurrences->count; i++)
        if (overlap_question__counts(question, VEC_AT(occurrences, struct occurrence, i)))
            lefts[(*count)++] = question->left[i];
    quantile__sort(lefts, *count);
    return lefts;
}

static void add_sample(struct samples *samples, size_t place, double weight)
{
    const struct overlap_question *question = samples->question;
    const struct occurrence *occurrence =
        VEC_AT(&question->class->occurrences, struct occurrence, place);
    struct owner *owner = samples->owners.count
                              ? VEC_AT(&samples->owners, struct owner, samples->owners.count - 1)
                              : NULL;
    if (!owner || owner->thread != occurrence->thread) {
        owner = vec__push(&samples->owners, NULL);
        owner->thread = occurrence->thread;
        owner->first = samples->items.count;
    }
    double left = question->left[place] - samples->smallest;
    left = left < samples->clip ? left : samples->clip;
    vec__push(&samples->lefts, &left);
    struct sample sample = {
        .start = occurrence->start,
        .end = occurrence->end,
        .weight = weight,
        .owner = samples->owners.count - 1,
        .window = VEC_AT(&question->all->windows, struct window, occurrence->window),
    };
    vec__push(&samples->items, &sample);
    owner->end = samples->items.count;
}

/* All; or, when there are too many, the slowest, and of the others every so many-th. */
static void sample(struct samples *samples, const double *lefts, size_t count)
{
    const struct overlap_question *question = samples->question;
    bool all = count <= SAMPLES_EVENLY + SAMPLES_SLOWEST;
    double slow = all ? INFINITY : lefts[count - SAMPLES_SLOWEST - 1];
    size_t others = 0, seen = 0;
    for (size_t i = 0; i < count; i++)
        others += lefts[i] <= slow;
    size_t wanted = all ? others : SAMPLES_EVENLY;
    for (size_t i = 0; i < question->class->occurrences.count; i++) {
        if (!overlap_question__counts(question,
                                      VEC_AT(&question->class->occurrences, struct occurrence, i)))
            continue;
        if (question->left[i] > slow) {
            add_sample(samples, i, 1);
        } else {
            if ((seen + 1) * wanted / others > seen * wanted / others)
                add_sample(samples, i, (double)others / (double)wanted);
            seen++;
        }
    }
}

static void measure_lengths(struct samples *samples)
{
    size_t count = samples->items.count;
    double *lengths = memory__zeroed(count, sizeof *lengths);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sample *sample = VEC_AT(&samples->items, struct sample, i);
        lengths[i] = (double)(sample->end - sample->start);
        sum += lengths[i];
    }
    quantile__sort(lengths, count);
    samples->length = sum / (double)count;
    samples->reference = (uint64_t)quantile__of_sorted(lengths, count, SHORT);
    free(lengths);
}

static unsigned finest_level(const struct samples *samples)
{
    unsigned level = 0;
    size_t threads_windows = samples->owners.count * samples->question->all->windows.count;
    while (level < LEVELS && samples->items.count >> (level + 1) >= threads_windows * BLOCK_MIN)
        level++;
    return level;
}

/* An interrupt of 10 ms in an occurrence of 50 µs would weigh as much as thousands of others, so
 * the largest hundredth counts as the hundredth's smallest. Not so where a preempted holder is
 * looked for: then the rare and long ones are what is asked for. */
void samples__take(struct samples *samples, const struct overlap_question *question)
{
    *samples =
        (struct samples){question, VEC_OF(struct sample), VEC_OF(double), VEC_OF(struct owner)};
    size_t count;
    double *lefts = lefts_of(question, &count);
    for (size_t i = 0; i < count; i++)
        samples->excess += lefts[i] - lefts[0];
    if (count >= SAMPLES_MIN) {
        samples->smallest = lefts[0];
        samples->clip =
            quantile__of_sorted(lefts, count, question->preempted ? 1 : CLIPPED) - lefts[0];
        sample(samples, lefts, count);
        measure_lengths(samples);
        samples->finest = finest_level(samples);
    }
    free(lefts);
}

void samples__free(struct samples *samples)
{
    vec__free(&samples->items);
    vec__free(&samples->lefts);
    vec__free(&samples->owners);
}

uint64_t sample__block(const struct sample *sample, unsigned level)
{
    uint64_t length = sample->window->end - sample->window->begin;
    return (uint64_t)(((unsigned __int128)(sample->start - sample->window->begin) << level) /
                      length);
}

uint64_t window__block_begin(const struct window *window, uint64_t block, unsigned level)
{
    uint64_t length = window->end - window->begin;
    return window->begin + (uint64_t)(((unsigned __int128)length * block) >> level);
}

static void add_deviations(struct sums *into, const struct sums *block)
{
    if (block->weight <= 0)
        return;
    into->weight += block->weight;
    into->xx += block->xx - block->x * block->x / block->weight;
    into->xy += block->xy - block->x * block->y / block->weight;
    into->yy += block->yy - block->y * block->y / block->weight;
}

struct sums samples__deviations(const struct samples *samples, const double *x, const double *y,
                                unsigned level, enum blocks which)
{
    struct sums all = {0}, block = {0};
    const struct sample *items = samples->items.items;
    uint64_t now = 0;
    for (size_t i = 0; i < samples->items.count; i++) {
        const struct sample *sample = &items[i];
        uint64_t number = level == WHOLE_THREADS ? 0 : sample__block(sample, level);
        if (i && (number != now || sample->owner != sample[-1].owner ||
                  (level != WHOLE_THREADS && sample->window != sample[-1].window))) {
            add_deviations(&all, &block);
            block = (struct sums){0};
        }
        now = number;
        uint64_t parity = (number + (uint64_t)(sample->window - items[0].window)) & 1;
        if (which != ALL_BLOCKS && parity != (which == ODD_BLOCKS))
            continue;
        double weight = sample->weight;
        block.weight += weight;
        block.x += weight * x[i];
        block.y += weight * y[i];
        block.xx += weight * x[i] * x[i];
        block.xy += weight * x[i] * y[i];
        block.yy += weight * y[i] * y[i];
    }
    add_deviations(&all, &block);
    return all;
}

static struct fit fit_of(const struct sums *sums)
{
    if (sums->xx <= 0 || sums->yy <= 0)
        return (struct fit){0};
    return (struct fit){.slope = sums->xy / sums->xx,
                        .explained = sums->xy / sums->xx * sums->xy / sums->yy};
}

struct fit samples__fit(const struct samples *samples, const double *x, unsigned level,
                        enum blocks which)
{
    struct sums sums = samples__deviations(samples, x, samples->lefts.items, level, which);
    return fit_of(&sums);
}
