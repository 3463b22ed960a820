#include "analysis/scaling/sensitivity.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one line -------------------------------------------------------------------------------- */

struct round_mean {
    uint32_t round;
    size_t count;
    double taken, ns; /* sums */
};

static struct round_mean *mean_of(struct vec *means, uint32_t round)
{
    VEC_EACH (mean, means, struct round_mean)
        if (mean->round == round)
            return mean;
    vec__push(means, &(struct round_mean){.round = round});
    return VEC_AT(means, struct round_mean, means->count - 1);
}

static struct vec means_of(const struct vec *samples)
{
    struct vec means = VEC_OF(struct round_mean);
    VEC_EACH (sample, samples, struct sensitivity_sample) {
        struct round_mean *mean = mean_of(&means, sample->round);
        mean->count++;
        mean->taken += sample->taken;
        mean->ns += sample->ns;
    }
    return means;
}

/* Sums of squares and products, less the means of rounds. */
struct line_sums {
    double taken, products, ns, mean_taken, mean_ns;
};

static struct line_sums sums_of(const struct vec *samples, struct vec *means)
{
    struct line_sums sums = {0};
    double count = (double)samples->count;
    VEC_EACH (sample, samples, struct sensitivity_sample) {
        const struct round_mean *mean = mean_of(means, sample->round);
        double taken = sample->taken - mean->taken / (double)mean->count;
        double ns = sample->ns - mean->ns / (double)mean->count;
        sums.taken += taken * taken;
        sums.products += taken * ns;
        sums.ns += ns * ns;
        sums.mean_taken += sample->taken / count;
        sums.mean_ns += sample->ns / count;
    }
    return sums;
}

struct law_interval sensitivity__of(const struct vec *samples, double *ns)
{
    struct law_interval more = {NAN, NAN, NAN};
    struct vec means = means_of(samples);
    struct line_sums sums = sums_of(samples, &means);
    size_t used = means.count + 1;
    double slope = sums.products / sums.taken, first = sums.mean_ns - slope * sums.mean_taken;
    vec__free(&means);
    *ns = NAN;
    if (sums.taken <= 0 || first <= 0)
        return more;
    *ns = first;
    more.value = slope / first;
    if (samples->count <= used)
        return more;
    double left = fmax(sums.ns - slope * sums.products, 0) / (double)(samples->count - used);
    double of_slope = left / sums.taken;
    double of_first = left / (double)samples->count + sums.mean_taken * sums.mean_taken * of_slope;
    double both = -sums.mean_taken * of_slope;
    double variance =
        (of_slope + more.value * more.value * of_first - 2 * more.value * both) / (first * first);
    double half = student__quantile(samples->count - used) * sqrt(variance);
    more.low = more.value - half;
    more.high = more.value + half;
    return more;
}

bool sensitivity_row__is_shown(const struct sensitivity_row *row)
{
    return row->more.low > 0 || row->more.high < 0;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static int by_asked(const void *left, const void *right)
{
    const struct sensitivity_level *one = left, *other = right;
    return one->asked < other->asked ? -1 : one->asked > other->asked;
}

static size_t level_of(const struct vec *levels, double asked)
{
    for (size_t i = 0; i < levels->count; i++)
        if (VEC_AT(levels, struct sensitivity_level, i)->asked == asked)
            return i;
    return levels->count;
}

static struct vec levels_of(const struct vec *runs)
{
    struct vec levels = VEC_OF(struct sensitivity_level);
    VEC_EACH (run, runs, struct contended_run) {
        size_t place = level_of(&levels, run->asked);
        if (place == levels.count)
            vec__push(&levels, &(struct sensitivity_level){.asked = run->asked});
        struct sensitivity_level *level = VEC_AT(&levels, struct sensitivity_level, place);
        level->taken += run->taken;
        level->requests += run->requests;
        level->alone += !run->times;
        level->recorded += run->times != NULL;
    }
    VEC_EACH (level, &levels, struct sensitivity_level) {
        double count = (double)(level->alone + level->recorded);
        level->taken /= count;
        level->requests /= count;
    }
    vec__sort(&levels, by_asked);
    return levels;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A time of one call, or of a run. */
struct row_sample {
    struct sensitivity_sample of;
    size_t level;
};

/* What is gathered of a row. */
struct row_samples {
    const char *label;
    struct vec samples; /* struct row_sample */
    double lowest_ns;   /* all its calls, of runs of the lowest level */
};

static struct row_samples *samples_at(struct vec *all, size_t place)
{
    return VEC_AT(all, struct row_samples, place);
}

static void add_sample(struct row_samples *row, const struct vec *levels,
                       const struct contended_run *run, double ns)
{
    const struct row_sample sample = {{run->taken, ns, run->round}, level_of(levels, run->asked)};
    vec__push(&row->samples, &sample);
}

static void gather_classes(const struct contended_run *run, const struct vec *levels,
                           struct map *places, struct vec *all)
{
    struct map counts = {0};
    VEC_EACH (count, &run->counts->rows, struct figures_row)
        map__put(&counts, count->key, strlen(count->key),
                 (size_t)(count - (struct figures_row *)run->counts->rows.items));
    VEC_EACH (time, &run->times->rows, struct figures_row) {
        uint64_t at = map__get(&counts, time->key, strlen(time->key));
        double count =
            at == MAP_ABSENT ? 0 : VEC_AT(&run->counts->rows, struct figures_row, at)->value;
        if (count <= 0 || time->value <= 0)
            continue;
        size_t place = map__put(places, time->key, strlen(time->key), all->count);
        if (place == all->count)
            vec__push(all, &(struct row_samples){time->label, VEC_OF(struct row_sample), 0});
        struct row_samples *row = samples_at(all, place);
        add_sample(row, levels, run, time->value / count);
        if (level_of(levels, run->asked) == 0)
            row->lowest_ns += time->value;
    }
    map__free(&counts);
}

static double median_at(const struct vec *samples, size_t level)
{
    struct vec of_level = VEC_OF(double);
    VEC_EACH (sample, samples, struct row_sample)
        if (sample->level == level)
            vec__push(&of_level, &sample->of.ns);
    double median = of_level.count ? shift__median(of_level.items, of_level.count) : NAN;
    vec__free(&of_level);
    return median;
}

static struct sensitivity_row row_of(const struct row_samples *gathered, size_t levels,
                                     double share)
{
    struct vec samples = VEC_OF(struct sensitivity_sample);
    VEC_EACH (sample, &gathered->samples, struct row_sample)
        vec__push(&samples, &sample->of);
    struct sensitivity_row row = {
        .label = gathered->label, .runs = samples.count, .share = share, .at = VEC_OF(double)};
    row.more = sensitivity__of(&samples, &row.ns);
    for (size_t i = 0; i < levels; i++) {
        double median = median_at(&gathered->samples, i);
        vec__push(&row.at, &median);
    }
    vec__free(&samples);
    return row;
}

static int by_share(const void *left, const void *right)
{
    const struct sensitivity_row *one = left, *other = right;
    return one->share > other->share ? -1 : one->share < other->share;
}

struct sensitivities sensitivities__of(const struct vec *runs)
{
    struct sensitivities told = {levels_of(runs), VEC_OF(struct sensitivity_row)};
    struct row_samples whole = {NULL, VEC_OF(struct row_sample), 0};
    struct vec all = VEC_OF(struct row_samples);
    struct map places = {0};
    double recorded_ns = 0;
    VEC_EACH (run, runs, struct contended_run) {
        if (run->times)
            gather_classes(run, &told.levels, &places, &all);
        if (!isnan(run->wall_ns))
            add_sample(&whole, &told.levels, run, run->wall_ns);
        if (run->times && level_of(&told.levels, run->asked) == 0)
            recorded_ns += (double)run->times->wall_ns;
    }
    struct sensitivity_row row = row_of(&whole, told.levels.count, 1);
    VEC_EACH (gathered, &all, struct row_samples) {
        double share = recorded_ns > 0 ? gathered->lowest_ns / recorded_ns : NAN;
        struct sensitivity_row of_class = row_of(gathered, told.levels.count, share);
        vec__push(&told.rows, &of_class);
        vec__free(&gathered->samples);
    }
    vec__sort(&told.rows, by_share);
    struct vec rows = VEC_OF(struct sensitivity_row);
    vec__push(&rows, &row);
    VEC_EACH (of_class, &told.rows, struct sensitivity_row)
        vec__push(&rows, of_class);
    vec__free(&told.rows);
    told.rows = rows;
    vec__free(&whole.samples);
    vec__free(&all);
    map__free(&places);
    return told;
}

void sensitivities__free(struct sensitivities *sensitivities)
{
    VEC_EACH (row, &sensitivities->rows, struct sensitivity_row)
        vec__free(&row->at);
    vec__free(&sensitivities->rows);
    vec__free(&sensitivities->levels);
}
