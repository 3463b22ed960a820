#include "analysis/cause/samples.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES_MIN 30u
#define SAMPLES_EVENLY 4096u /* taken from all but the slowest */
#define SAMPLES_SLOWEST 512u
#define BLOCK_MIN 16u /* occurrences, on average */
#define CLIPPED 0.99  /* quantile of the time on the CPU */
#define SLOW 0.99     /* of the squares of what is beyond the smallest: what slow ones hold */
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

bool overlap_question__counts(const struct overlap_question *question,
                              const struct occurrence *occurrence)
{
    const struct vec *windows = &question->all->windows;
    if (occurrence->inner || occurrence->end <= occurrence->start ||
        occurrence->window >= windows->count)
        return false;
    const struct window *window = VEC_AT(windows, struct window, occurrence->window);
    return occurrence->start >= window->begin && occurrence->end <= window->end;
}

/* Of all, or of the clean ones; sorted; free it. */
static double *lefts_of(const struct overlap_question *question, bool clean, size_t *count)
{
    const struct vec *occurrences = &question->class->occurrences;
    double *lefts = memory__zeroed(occurrences->count, sizeof *lefts);
    *count = 0;
    for (size_t i = 0; i < occurrences->count; i++) {
        const struct occurrence *occurrence = VEC_AT(occurrences, struct occurrence, i);
        if (overlap_question__counts(question, occurrence) && (occurrence->is_clean || !clean))
            lefts[(*count)++] = question->left[i];
    }
    quantile__sort(lefts, *count);
    return lefts;
}

/* NULL: nothing is known. */
static const struct vec *timeline_of(const struct overlap_question *question, uint32_t thread)
{
    VEC_EACH (timeline, &question->all->timelines, struct class_timeline) {
        if (timeline->entry == question->class->entry && timeline->thread == thread)
            return &timeline->running;
    }
    return NULL;
}

static struct owner *owner_of(struct samples *samples, uint32_t thread)
{
    struct owner *owner = samples->owners.count
                              ? VEC_AT(&samples->owners, struct owner, samples->owners.count - 1)
                              : NULL;
    if (owner && owner->thread == thread)
        return owner;
    owner = vec__push(&samples->owners, NULL);
    *owner = (struct owner){.thread = thread, .running = timeline_of(samples->question, thread)};
    return owner;
}

/* Goes on in the owner's timeline where the sample before ended. */
static void add_pieces(struct samples *samples, struct owner *owner, struct sample *sample)
{
    const struct vec *running = owner->running;
    sample->first_piece = samples->pieces.count;
    while (running && owner->place < running->count &&
           VEC_AT(running, struct interval, owner->place)->end <= sample->start)
        owner->place++;
    for (size_t i = owner->place; running && i < running->count; i++) {
        struct interval piece = *VEC_AT(running, struct interval, i);
        if (piece.begin >= sample->end)
            break;
        piece.begin = piece.begin > sample->start ? piece.begin : sample->start;
        piece.end = piece.end < sample->end ? piece.end : sample->end;
        sample->length += piece.end - piece.begin;
        vec__push(&samples->pieces, &piece);
    }
    if (!sample->length) {
        struct interval whole = {sample->start, sample->end};
        sample->length = sample->end - sample->start;
        vec__push(&samples->pieces, &whole);
    }
    sample->piece_count = samples->pieces.count - sample->first_piece;
}

static void add_sample(struct samples *samples, size_t place, double weight)
{
    const struct overlap_question *question = samples->question;
    const struct occurrence *occurrence =
        VEC_AT(&question->class->occurrences, struct occurrence, place);
    struct owner *owner = owner_of(samples, occurrence->thread);
    double left = question->left[place] - samples->smallest;
    left = left < samples->clip ? left : samples->clip;
    vec__push(&samples->lefts, &left);
    struct sample sample = {
        .start = occurrence->start,
        .end = occurrence->end,
        .weight = weight,
        .owner = samples->owners.count - 1,
        .is_fitted = occurrence->is_clean || !samples->clean,
        .window = VEC_AT(&question->all->windows, struct window, occurrence->window),
    };
    add_pieces(samples, owner, &sample);
    vec__push(&samples->items, &sample);
    samples->fitted += sample.is_fitted;
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
    for (size_t i = 0; i < count; i++)
        lengths[i] = (double)VEC_AT(&samples->items, struct sample, i)->length;
    quantile__sort(lengths, count);
    samples->length = quantile__of_sorted(lengths, count, 0.5);
    samples->reference = (uint64_t)quantile__of_sorted(lengths, count, SHORT);
    free(lengths);
}

static unsigned finest_level(const struct samples *samples)
{
    unsigned level = 0;
    size_t threads_windows = samples->owners.count * samples->question->all->windows.count;
    while (level + 1 < BLOCK_LEVELS &&
           samples->fitted >> (level + 1) >= threads_windows * BLOCK_MIN)
        level++;
    return level;
}

static uint64_t length_of(const struct window *window)
{
    return window->end - window->begin;
}

static uint64_t *number_blocks(const struct samples *samples, unsigned level)
{
    uint64_t *numbers = memory__zeroed(samples->items.count, sizeof *numbers);
    const struct window *windows = samples->question->all->windows.items;
    for (size_t i = 0; i < samples->items.count; i++) {
        const struct sample *sample = VEC_AT(&samples->items, struct sample, i);
        unsigned __int128 since = sample->start - sample->window->begin;
        numbers[i] = ((uint64_t)(sample->window - windows) << level) +
                     (uint64_t)((since << level) / length_of(sample->window));
    }
    return numbers;
}

struct interval sample__block(const struct sample *sample, uint64_t number, unsigned level)
{
    unsigned __int128 ticks = length_of(sample->window);
    uint64_t block = number & ((1u << level) - 1), begin = sample->window->begin;
    return (struct interval){begin + (uint64_t)(ticks * block >> level),
                             begin + (uint64_t)(ticks * (block + 1) >> level)};
}

static void number_all_blocks(struct samples *samples)
{
    samples->finest = finest_level(samples);
    unsigned last = samples->finest < BLOCKS_LEAST ? BLOCKS_LEAST : samples->finest;
    for (unsigned level = 0; level <= last; level++)
        samples->blocks[level] = number_blocks(samples, level);
}

/* By squares, as many that are a little slower than others would else come to as much as a few that
 * are slow. */
static double slow_from(const struct samples *samples, const double *lefts, size_t count)
{
    double all = 0, held = 0, beyond = 0;
    for (size_t i = 0; i < count; i++) {
        beyond = fmin(lefts[i] - samples->smallest, samples->clip);
        all += beyond * beyond;
    }
    for (size_t i = count; i > 0 && held < SLOW * all; i--) {
        beyond = fmin(lefts[i - 1] - samples->smallest, samples->clip);
        held += beyond * beyond;
    }
    return beyond;
}

/* An interrupt of 10 ms in an occurrence of 50 µs would weigh as much as thousands of others, so
 * the largest hundredth counts as the hundredth's smallest. Not so where a preempted holder is
 * looked for: then the rare and long ones are what is asked for. */
void samples__take(struct samples *samples, const struct overlap_question *question)
{
    *samples = (struct samples){.question = question};
    samples->items = VEC_OF(struct sample);
    samples->lefts = VEC_OF(double);
    samples->owners = VEC_OF(struct owner);
    samples->pieces = VEC_OF(struct interval);
    size_t count, clean_count;
    double *lefts = lefts_of(question, false, &count);
    double *clean = lefts_of(question, true, &clean_count);
    if (count >= SAMPLES_MIN) {
        samples->clean =
            !question->preempted && clean_count >= SAMPLES_MIN && clean_count >= count / 2;
        samples->smallest = lefts[0];
        for (size_t i = 0; i < count; i++)
            samples->excess += lefts[i] - lefts[0];
        samples->clip = question->preempted ? lefts[count - 1]
                        : samples->clean    ? quantile__of_sorted(clean, clean_count, CLIPPED)
                                            : quantile__of_sorted(lefts, count, CLIPPED);
        samples->clip -= lefts[0];
        samples->slow = slow_from(samples, lefts, count);
        sample(samples, lefts, count);
        measure_lengths(samples);
        number_all_blocks(samples);
    }
    free(lefts);
    free(clean);
}

void samples__free(struct samples *samples)
{
    vec__free(&samples->items);
    vec__free(&samples->lefts);
    vec__free(&samples->owners);
    vec__free(&samples->pieces);
    for (unsigned level = 0; level < BLOCK_LEVELS; level++)
        free(samples->blocks[level]);
}

static void end_block(struct sums *all, struct sums *block, struct vec *blocks)
{
    if (block->weight <= 0)
        return;
    block->xx -= block->x * block->x / block->weight;
    block->xy -= block->x * block->y / block->weight;
    block->yy -= block->y * block->y / block->weight;
    all->weight += block->weight;
    all->xx += block->xx;
    all->xy += block->xy;
    all->yy += block->yy;
    if (blocks)
        vec__push(blocks, block);
    *block = (struct sums){0};
}

static void add_to_block(struct sums *block, double weight, double x, double y)
{
    block->weight += weight;
    block->x += weight * x;
    block->y += weight * y;
    block->xx += weight * x * x;
    block->xy += weight * x * y;
    block->yy += weight * y * y;
}

struct sums samples__deviations(const struct samples *samples, const double *x, const double *y,
                                unsigned level, struct vec *blocks)
{
    struct sums all = {0}, block = {0};
    const struct sample *items = samples->items.items;
    const uint64_t *numbers = level == WHOLE_THREADS ? NULL : samples->blocks[level];
    for (size_t i = 0; i < samples->items.count; i++) {
        if (i &&
            ((numbers && numbers[i] != numbers[i - 1]) || items[i].owner != items[i - 1].owner))
            end_block(&all, &block, blocks);
        if (items[i].is_fitted)
            add_to_block(&block, items[i].weight, x[i], y[i]);
    }
    end_block(&all, &block, blocks);
    return all;
}

/* All 0 when there is none. */
static struct fit fit_of(const struct sums *sums)
{
    if (sums->xx <= 0 || sums->yy <= 0)
        return (struct fit){0};
    double slope = sums->xy / sums->xx;
    return (struct fit){.slope = slope, .explained = slope * sums->xy / sums->yy};
}

struct fit samples__fit(const struct samples *samples, const double *x, unsigned level)
{
    struct sums sums = samples__deviations(samples, x, samples->lefts.items, level, NULL);
    return fit_of(&sums);
}

/* ---- what is typical ------------------------------------------------------------------------- */

struct weighted {
    double value, weight;
};

/* Samples whose x is below, and above, the average of their thread and block. */
struct samples_side {
    struct vec lefts;  /* struct weighted: beyond the block's median */
    double weight, xs; /* Σ of weights, and of x beyond the block's average */
};

static int by_value(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Sorts them. */
static double quantile_of(struct vec *values, double all, double share)
{
    double below = 0, value = 0;
    vec__sort(values, by_value);
    VEC_EACH (item, values, struct weighted) {
        value = item->value;
        below += item->weight;
        if (below >= share * all)
            break;
    }
    return value;
}

/* Of those of one thread and block, from first to end: fitted ones. */
static void divide_block(const struct samples *samples, const double *x, const size_t range[2],
                         struct samples_side sides[2])
{
    const struct sample *items = samples->items.items;
    struct vec lefts = VEC_OF(struct weighted);
    double weight = 0, sum = 0;
    for (size_t i = range[0]; i < range[1]; i++) {
        if (!items[i].is_fitted)
            continue;
        struct weighted left = {*VEC_AT(&samples->lefts, double, i), items[i].weight};
        vec__push(&lefts, &left);
        weight += items[i].weight;
        sum += items[i].weight * x[i];
    }
    double median = lefts.count ? quantile_of(&lefts, weight, 0.5) : 0;
    vec__free(&lefts);
    for (size_t i = range[0]; i < range[1]; i++) {
        double beyond = weight > 0 ? x[i] - sum / weight : 0;
        if (!items[i].is_fitted || beyond == 0)
            continue;
        struct samples_side *side = &sides[beyond > 0];
        struct weighted left = {*VEC_AT(&samples->lefts, double, i) - median, items[i].weight};
        vec__push(&side->lefts, &left);
        side->weight += items[i].weight;
        side->xs += items[i].weight * beyond;
    }
}

static double slope_between(struct samples_side *below, struct samples_side *above)
{
    double largest = 0;
    if (!below->lefts.count || !above->lefts.count)
        return 0;
    double apart = above->xs / above->weight - below->xs / below->weight;
    for (unsigned quarter = 1; quarter <= 3; quarter++) {
        double longer = quantile_of(&above->lefts, above->weight, quarter / 4.0) -
                        quantile_of(&below->lefts, below->weight, quarter / 4.0);
        largest = fmax(largest, longer / apart);
    }
    return largest;
}

double samples__typical_slope(const struct samples *samples, const double *x, unsigned level)
{
    struct samples_side sides[2] = {{.lefts = VEC_OF(struct weighted)},
                                    {.lefts = VEC_OF(struct weighted)}};
    const struct sample *items = samples->items.items;
    const uint64_t *numbers = samples->blocks[level];
    size_t count = samples->items.count, range[2] = {0};
    for (; range[0] < count; range[0] = range[1]) {
        for (range[1] = range[0] + 1; range[1] < count && numbers[range[1]] == numbers[range[0]] &&
                                      items[range[1]].owner == items[range[0]].owner;)
            range[1]++;
        divide_block(samples, x, range, sides);
    }
    double slope = slope_between(&sides[0], &sides[1]);
    vec__free(&sides[0].lefts);
    vec__free(&sides[1].lefts);
    return slope;
}
