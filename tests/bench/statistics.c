#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double samples__median(double *samples, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(samples, count, sizeof *samples, compare);
    return (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

double samples__middle(const double *samples, size_t count)
{
    double sorted[SAMPLES_MOST];
    if (count > SAMPLES_MOST)
        return NAN;
    memcpy(sorted, samples, count * sizeof *samples);
    return samples__median(sorted, count);
}

struct moments {
    double mean_x, mean_y;
    double xx, yy, xy; /* sums of products of the deviations */
};

static struct moments samples__moments(const double *x, const double *y, size_t count)
{
    struct moments moments = {0};
    for (size_t i = 0; i < count; i++) {
        moments.mean_x += x[i] / (double)count;
        moments.mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        double dx = x[i] - moments.mean_x, dy = y[i] - moments.mean_y;
        moments.xx += dx * dx;
        moments.yy += dy * dy;
        moments.xy += dx * dy;
    }
    return moments;
}

double samples__correlation(const double *x, const double *y, size_t count)
{
    struct moments moments = samples__moments(x, y, count);
    double scale = sqrt(moments.xx) * sqrt(moments.yy);
    return count < 2 || scale == 0 ? NAN : moments.xy / scale;
}

struct line samples__fit(const double *x, const double *y, size_t count)
{
    struct moments moments = samples__moments(x, y, count);
    double slope = moments.xx > 0 ? moments.xy / moments.xx : 0;
    return (struct line){slope, moments.mean_y - slope * moments.mean_x};
}

double axis__step(double span, unsigned steps)
{
    static const double shares[] = {1, 2, 5, 10};
    if (!(span > 0) || steps == 0)
        return 1;
    double power = pow(10, floor(log10(span / steps)));
    for (size_t i = 0; i < 4; i++)
        if (span / (shares[i] * power) <= steps * (1 + 1e-9))
            return shares[i] * power;
    return 10 * power;
}
