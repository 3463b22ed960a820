#include "analysis/compare/comparison.h"

#include "base/map.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void run_figures__free(struct run_figures *run)
{
    VEC_EACH (row, &run->rows, struct figures_row) {
        free(row->key);
        free(row->label);
        free(row->was);
        free(row->told);
    }
    vec__free(&run->rows);
    free(run->command);
    free(run->imported);
    free(run->machine);
}

/* ---- which runs stand for a side ------------------------------------------------------------- */

static int by_wall(const void *left, const void *right)
{
    const struct run_figures *one = *(const struct run_figures *const *)left;
    const struct run_figures *other = *(const struct run_figures *const *)right;
    int order = ORDER(one->wall_ns, other->wall_ns);
    return order ? order : ORDER(one, other);
}

static int by_start(const void *left, const void *right)
{
    const struct run_figures *one = *(const struct run_figures *const *)left;
    const struct run_figures *other = *(const struct run_figures *const *)right;
    int order = ORDER(one->start_ns, other->start_ns);
    return order ? order : ORDER(one, other);
}

/* In that order; free() it. */
static const struct run_figures **in_order(const struct vec *runs,
                                           int (*order)(const void *, const void *))
{
    const struct run_figures **sorted = memory__zeroed(runs->count, sizeof *sorted);
    for (size_t i = 0; i < runs->count; i++)
        sorted[i] = VEC_AT(runs, struct run_figures, i);
    qsort(sorted, runs->count, sizeof *sorted, order);
    return sorted;
}

/* The one, or the two, of median wall time. */
struct middle_runs {
    const struct run_figures *low, *high;
};

static struct middle_runs middle_of(const struct vec *runs)
{
    const struct run_figures **sorted = in_order(runs, by_wall);
    struct middle_runs middle = {sorted[(runs->count - 1) / 2], sorted[runs->count / 2]};
    free(sorted);
    return middle;
}

/* Whether the i-th runs of both sides, by their starts, lie before both (i + 1)-th ones. */
static bool were_in_turns(const struct run_figures **before, const struct run_figures **after,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!before[i]->start_ns || !after[i]->start_ns)
            return false;
        if (i == 0)
            continue;
        uint64_t last = before[i - 1]->start_ns > after[i - 1]->start_ns ? before[i - 1]->start_ns
                                                                         : after[i - 1]->start_ns;
        if (before[i]->start_ns <= last || after[i]->start_ns <= last)
            return false;
    }
    return count > 1;
}

/* ---- rows of all runs ------------------------------------------------------------------------ */

/* Both sides, in the order in which they were run. */
struct sides {
    const struct run_figures **before, **after;
    size_t before_count, after_count;
    bool are_pairs;
    const struct shift_rule *rule;
    struct map keys; /* of all rows: their places */
    double *values;  /* by run, before first, then by place */
    double *lives;
    size_t places;
    struct vec rows; /* const struct figures_row *: one for each place */
};

static void find_places(struct sides *sides, const struct vec *runs)
{
    VEC_EACH (run, runs, struct run_figures)
        VEC_EACH (row, &run->rows, struct figures_row)
            if (map__put(&sides->keys, row->key, strlen(row->key), sides->rows.count) ==
                sides->rows.count) {
                const struct figures_row *one = row;
                vec__push(&sides->rows, &one);
            }
}

static void fill_values(struct sides *sides, const struct run_figures *run, size_t number)
{
    VEC_EACH (row, &run->rows, struct figures_row) {
        size_t place = map__get(&sides->keys, row->key, strlen(row->key));
        sides->values[number * sides->places + place] = row->value;
        sides->lives[number * sides->places + place] = row->lives_ns;
    }
}

/* after first: labels are those of the newer program. */
static struct sides sides__of(const struct vec *before, const struct vec *after,
                              const struct shift_rule *rule)
{
    struct sides sides = {.before = in_order(before, by_start),
                          .after = in_order(after, by_start),
                          .before_count = before->count,
                          .after_count = after->count,
                          .rule = rule,
                          .rows = VEC_OF(const struct figures_row *)};
    sides.are_pairs =
        before->count == after->count && were_in_turns(sides.before, sides.after, before->count);
    find_places(&sides, after);
    find_places(&sides, before);
    sides.places = sides.rows.count;
    size_t runs = before->count + after->count;
    sides.values = memory__zeroed(runs * sides.places + 1, sizeof *sides.values);
    sides.lives = memory__zeroed(runs * sides.places + 1, sizeof *sides.lives);
    for (size_t i = 0; i < before->count; i++)
        fill_values(&sides, sides.before[i], i);
    for (size_t i = 0; i < after->count; i++)
        fill_values(&sides, sides.after[i], before->count + i);
    return sides;
}

static void sides__free(struct sides *sides)
{
    free(sides->before);
    free(sides->after);
    free(sides->values);
    free(sides->lives);
    map__free(&sides->keys);
    vec__free(&sides->rows);
}

static size_t number_of(const struct sides *sides, const struct run_figures *run)
{
    for (size_t i = 0; i < sides->before_count; i++)
        if (sides->before[i] == run)
            return i;
    for (size_t i = 0; i < sides->after_count; i++)
        if (sides->after[i] == run)
            return sides->before_count + i;
    return 0;
}

/* figures: of each run, before first. */
static struct shift shift_of(const struct sides *sides, const double *figures)
{
    return shift__by_rule(figures, sides->before_count, figures + sides->before_count,
                          sides->after_count, sides->are_pairs, sides->rule);
}

static struct shift shift_of_place(const struct sides *sides, size_t place)
{
    size_t runs = sides->before_count + sides->after_count;
    double *figures = memory__zeroed(runs, sizeof *figures);
    for (size_t i = 0; i < runs; i++)
        figures[i] = sides->values[i * sides->places + place];
    struct shift shift =
        shift__by_one_test(figures, sides->before_count, figures + sides->before_count,
                           sides->after_count, sides->are_pairs, SHIFT_RISK);
    free(figures);
    return shift;
}

/* ---- several rows as one --------------------------------------------------------------------- */

struct meant_rows {
    bool (*is_meant)(const struct figures_row *row, const void *what);
    const void *what;
};

static double sum_in(const struct run_figures *run, const struct meant_rows *meant, bool *any)
{
    double sum = 0;
    VEC_EACH (row, &run->rows, struct figures_row)
        if (meant->is_meant(row, meant->what)) {
            sum += row->value;
            *any = true;
        }
    return sum;
}

/* Of the run of median wall time, or of the two. */
static double middle_sum(const struct vec *runs, const struct meant_rows *meant)
{
    bool any;
    struct middle_runs middle = middle_of(runs);
    return (sum_in(middle.low, meant, &any) + sum_in(middle.high, meant, &any)) / 2;
}

struct comparison_row
comparison__sum(const struct vec *before, const struct vec *after, const struct shift_rule *rule,
                bool (*is_meant)(const struct figures_row *row, const void *what), const void *what)
{
    const struct meant_rows meant = {is_meant, what};
    struct sides sides = sides__of(before, after, rule);
    double *sums = memory__zeroed(before->count + after->count, sizeof *sums);
    bool was = false, is = false;
    for (size_t i = 0; i < before->count; i++)
        sums[i] = sum_in(sides.before[i], &meant, &was);
    for (size_t i = 0; i < after->count; i++)
        sums[before->count + i] = sum_in(sides.after[i], &meant, &is);
    struct comparison_row row = {.before = middle_sum(before, &meant),
                                 .after = middle_sum(after, &meant),
                                 .shift = shift_of(&sides, sums),
                                 .is_new = is && !was,
                                 .is_gone = was && !is};
    free(sums);
    sides__free(&sides);
    return row;
}

/* ---- what stands for a side ------------------------------------------------------------------ */

/* The mean of two whole figures; a half is cut off and added in turns, so that sums are right to
 * one half. */
static double mean_of(double low, double high, bool *up)
{
    double mean = (low + high) / 2;
    if (mean == floor(mean) || floor(low) != low || floor(high) != high)
        return mean;
    mean = *up ? ceil(mean) : floor(mean);
    *up = !*up;
    return mean;
}

static void fill_side(const struct sides *sides, const struct middle_runs *middle, bool is_after,
                      struct vec *rows)
{
    const double *low = &sides->values[number_of(sides, middle->low) * sides->places];
    const double *high = &sides->values[number_of(sides, middle->high) * sides->places];
    const double *low_lives = &sides->lives[number_of(sides, middle->low) * sides->places];
    const double *high_lives = &sides->lives[number_of(sides, middle->high) * sides->places];
    bool up = false, lives_up = false;
    for (size_t i = 0; i < sides->places; i++) {
        struct comparison_row *row = VEC_AT(rows, struct comparison_row, i);
        *(is_after ? &row->after : &row->before) = mean_of(low[i], high[i], &up);
        *(is_after ? &row->lives_after : &row->lives_before) =
            mean_of(low_lives[i], high_lives[i], &lives_up);
    }
}

static bool is_in_any(const struct sides *sides, size_t place, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (sides->values[i * sides->places + place] != 0 ||
            sides->lives[i * sides->places + place] != 0)
            return true;
    return false;
}

static void fill_rows(struct runs_comparison *comparison, const struct sides *sides,
                      const struct middle_runs *before, const struct middle_runs *after)
{
    for (size_t i = 0; i < sides->places; i++) {
        const struct figures_row *one = *VEC_AT(&sides->rows, const struct figures_row *, i);
        bool was = is_in_any(sides, i, 0, sides->before_count);
        bool is = is_in_any(sides, i, sides->before_count, sides->after_count);
        const struct comparison_row row = {.key = one->key,
                                           .label = one->label,
                                           .was = one->was,
                                           .told = one->told,
                                           .shift = shift_of_place(sides, i),
                                           .is_new = is && !was,
                                           .is_gone = was && !is};
        comparison->common += was && is;
        vec__push(&comparison->rows, &row);
    }
    fill_side(sides, before, false, &comparison->rows);
    fill_side(sides, after, true, &comparison->rows);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static double whole_mean(uint64_t low, uint64_t high)
{
    return (double)(low / 2 + high / 2 + (low & high & 1));
}

static void fill_whole(struct runs_comparison *comparison, const struct sides *sides,
                       const struct middle_runs *before, const struct middle_runs *after)
{
    size_t runs = sides->before_count + sides->after_count;
    double *walls = memory__zeroed(runs, sizeof *walls);
    double *others = memory__zeroed(runs, sizeof *others);
    for (size_t i = 0; i < runs; i++) {
        const struct run_figures *run =
            i < sides->before_count ? sides->before[i] : sides->after[i - sides->before_count];
        walls[i] = (double)run->wall_ns;
        others[i] = run->cpus_of_others;
    }
    struct comparison_row *whole = &comparison->whole;
    whole->key = whole->label = "wall time";
    whole->before = whole_mean(before->low->wall_ns, before->high->wall_ns);
    whole->after = whole_mean(after->low->wall_ns, after->high->wall_ns);
    whole->lives_before = whole_mean(before->low->lives_ns, before->high->lives_ns);
    whole->lives_after = whole_mean(after->low->lives_ns, after->high->lives_ns);
    whole->shift = shift_of(sides, walls);
    comparison->others_before = shift__median(others, sides->before_count);
    comparison->others_after = shift__median(others + sides->before_count, sides->after_count);
    for (size_t i = 0; i < runs; i++)
        walls[i] = log(walls[i] > 1 ? walls[i] : 1);
    comparison->factor = shift_of(sides, walls);
    free(walls);
    free(others);
}

/* ---- what other programs did ----------------------------------------------------------------- */

/* What there would be of a difference without what threads wanted a CPU for and had none: that is
 * what a neighbour takes. */
static struct shift shift_without(const struct sides *sides, const char *key)
{
    size_t runs = sides->before_count + sides->after_count;
    double *figures = memory__zeroed(runs, sizeof *figures);
    size_t place = map__get(&sides->keys, key, strlen(key));
    for (size_t i = 0; i < runs; i++) {
        const struct run_figures *run =
            i < sides->before_count ? sides->before[i] : sides->after[i - sides->before_count];
        double rest = (double)run->wall_ns;
        if (place != MAP_ABSENT)
            rest -= sides->values[i * sides->places + place];
        figures[i] = log(rest > 1 ? rest : 1);
    }
    struct shift shift = shift_of(sides, figures);
    free(figures);
    return shift;
}

static struct shift shift_of_others(const struct sides *sides)
{
    size_t runs = sides->before_count + sides->after_count;
    double *figures = memory__zeroed(runs, sizeof *figures);
    for (size_t i = 0; i < runs; i++)
        figures[i] = i < sides->before_count
                         ? sides->before[i]->cpus_of_others
                         : sides->after[i - sides->before_count]->cpus_of_others;
    struct shift shift = shift_of(sides, figures);
    free(figures);
    return shift;
}

/* Where the slower side is the one beside which other programs used more of the CPUs, and nothing
 * is left of the difference without the want of CPUs, it is theirs. */
static void ask_about_others(struct runs_comparison *comparison, const struct sides *sides)
{
    enum shift_verdict verdict = comparison->factor.verdict;
    if (!comparison->adds_up || (verdict != SHIFT_LESS && verdict != SHIFT_MORE))
        return;
    struct shift others = shift_of_others(sides);
    if (others.verdict != verdict)
        return;
    comparison->is_of_others = shift_without(sides, "wanted a CPU").verdict != verdict;
    if (comparison->is_of_others)
        comparison->factor.verdict = SHIFT_NOT_SHOWN;
}

/* ---- chance ---------------------------------------------------------------------------------- */

static double size_of(const struct comparison_row *row)
{
    return fmax(fabs(row->before), fabs(row->after));
}

static int by_size(const void *left, const void *right)
{
    double one = size_of(*(struct comparison_row *const *)left);
    double other = size_of(*(struct comparison_row *const *)right);
    return ORDER(other, one);
}

static int by_change(const void *left, const void *right)
{
    const struct comparison_row *one = left, *other = right;
    int order = ORDER(fabs(other->after - other->before), fabs(one->after - one->before));
    return order ? order : strcmp(one->key, other->key);
}

static void mark_what_is_shown(struct runs_comparison *comparison)
{
    struct comparison_row *tested[ROWS_TESTED_MOST + 1];
    double chances[ROWS_TESTED_MOST], all = 0;
    bool held[ROWS_TESTED_MOST];
    size_t count = comparison->rows.count, tests = 0;
    struct comparison_row **sorted = memory__zeroed(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = VEC_AT(&comparison->rows, struct comparison_row, i);
        all += size_of(sorted[i]);
    }
    qsort(sorted, count, sizeof *sorted, by_size);
    for (size_t i = 0; i < count && tests < ROWS_TESTED_MOST; i++)
        if (size_of(sorted[i]) >= ROWS_TESTED_FROM * all) {
            tested[tests] = sorted[i];
            chances[tests++] = sorted[i]->shift.chance;
        }
    shift__hold(chances, tests, ROWS_RISK, held);
    for (size_t i = 0; i < tests; i++)
        tested[i]->is_shown = held[i];
    free(sorted);
}

struct runs_comparison comparison__of(const struct vec *before, const struct vec *after,
                                      bool adds_up, const struct shift_rule *rule)
{
    struct sides sides = sides__of(before, after, rule);
    struct middle_runs middle_before = middle_of(before), middle_after = middle_of(after);
    struct runs_comparison comparison = {.before_count = before->count,
                                         .after_count = after->count,
                                         .are_pairs = sides.are_pairs,
                                         .rule = *rule,
                                         .before_run = middle_before.low,
                                         .after_run = middle_after.low,
                                         .rows = VEC_OF(struct comparison_row),
                                         .adds_up = adds_up};
    fill_rows(&comparison, &sides, &middle_before, &middle_after);
    fill_whole(&comparison, &sides, &middle_before, &middle_after);
    ask_about_others(&comparison, &sides);
    mark_what_is_shown(&comparison);
    vec__sort(&comparison.rows, by_change);
    sides__free(&sides);
    return comparison;
}

void comparison__free(struct runs_comparison *comparison)
{
    vec__free(&comparison->rows);
}

struct wall_change comparison__change(const struct runs_comparison *comparison)
{
    const struct shift *factor = &comparison->factor;
    return (struct wall_change){exp(factor->middle) - 1, exp(factor->low) - 1,
                                exp(factor->high) - 1};
}
