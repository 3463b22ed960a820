#include "analysis/compare/series.h"

#include "base/map.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a figure -------------------------------------------------------------------------------- */

/* What a row is looked for by. */
struct series_match {
    const char *key;     /* exactly; NULL: by the pattern */
    const char *pattern; /* of both NULL the wall time is meant */
    const char *whole;   /* which the pattern may fit, too */
};

static bool has_part(const char *key, const char *pattern)
{
    for (size_t length; *key; key += length + (key[length] == '\n')) {
        length = strcspn(key, "\n");
        char part[256];
        if (length >= sizeof part)
            continue;
        memcpy(part, key, length);
        part[length] = 0;
        if (fnmatch(pattern, part, 0) == 0)
            return true;
    }
    return false;
}

/* NaN: the run has no such row. */
static double figure_of(const struct run_figures *run, const struct series_match *match)
{
    double sum = NAN;
    bool is_whole =
        !match->key &&
        (!match->pattern || (match->whole && fnmatch(match->pattern, match->whole, 0) == 0));
    if (is_whole)
        return (double)run->wall_ns;
    VEC_EACH (row, &run->rows, struct figures_row)
        if (match->key
                ? strcmp(row->key, match->key) == 0
                : fnmatch(match->pattern, row->label, 0) == 0 || has_part(row->key, match->pattern))
            sum = isnan(sum) ? row->value : sum + row->value;
    return sum;
}

static double median_of(const struct vec *result, const struct series_match *match, bool *is_there)
{
    struct vec figures = VEC_OF(double);
    VEC_EACH (run, result, struct run_figures) {
        double figure = figure_of(run, match);
        *is_there = *is_there || !isnan(figure);
        figure = isnan(figure) ? 0 : figure;
        vec__push(&figures, &figure);
    }
    double median = shift__median(figures.items, figures.count);
    vec__free(&figures);
    return median;
}

static void add_row(struct vec *series, const struct vec *results, const char *label,
                    const struct series_match *match)
{
    struct series_row row = {label, VEC_OF(double)};
    bool is_there = false;
    VEC_EACH (result, results, struct vec) {
        double median = median_of(result, match, &is_there);
        vec__push(&row.figures, &median);
    }
    VEC_EACH (figure, &row.figures, double)
        *figure = is_there ? *figure : NAN;
    vec__push(series, &row);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static double largest_of(const struct series_row *row)
{
    double largest = 0;
    VEC_EACH (figure, &row->figures, double)
        largest = fmax(largest, fabs(*figure));
    return largest;
}

static int by_figures(const void *left, const void *right)
{
    const struct series_row *one = left, *other = right;
    int order =
        ORDER(fabs(*VEC_AT(&other->figures, double, 0)), fabs(*VEC_AT(&one->figures, double, 0)));
    order = order ? order : ORDER(largest_of(other), largest_of(one));
    return order ? order : strcmp(one->label, other->label);
}

static void add_all(struct vec *series, const struct vec *results)
{
    struct map known = {0};
    struct vec rows = VEC_OF(struct series_row);
    VEC_EACH (result, results, struct vec)
        VEC_EACH (run, result, struct run_figures)
            VEC_EACH (row, &run->rows, struct figures_row)
                if (map__put(&known, row->key, strlen(row->key), rows.count) == rows.count)
                    add_row(&rows, results, row->label, &(struct series_match){.key = row->key});
    vec__sort(&rows, by_figures);
    VEC_EACH (row, &rows, struct series_row)
        vec__push(series, row);
    vec__free(&rows);
    map__free(&known);
}

struct vec series__of(const struct vec *results, const struct vec *wanted, const char *whole)
{
    struct vec series = VEC_OF(struct series_row);
    if (!wanted->count && whole)
        add_row(&series, results, whole, &(struct series_match){0});
    if (!wanted->count)
        add_all(&series, results);
    VEC_EACH (row, wanted, struct wanted_row)
        add_row(&series, results, row->name,
                &(struct series_match){.pattern = row->pattern, .whole = whole});
    return series;
}

void series__free(struct vec *series)
{
    VEC_EACH (row, series, struct series_row)
        vec__free(&row->figures);
    vec__free(series);
}
