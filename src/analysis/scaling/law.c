#include "analysis/scaling/law.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define COUNTS_MOST 64
#define SMALL_PART 0.02    /* of the whole: smaller parts are weighed as such */
#define SCATTER_LEAST 2e-3 /* runs that differ less do so by chance */
#define SCATTER_ASSUMED 0.03
#define NOISE_FROM 0.08 /* standard error of a count's mean */
#define MISFIT_FROM 0.05
#define MISFIT_ERRORS 1.5 /* half intervals */
#define SINGULAR 1e-9     /* of terms near 1 */
#define CHOICES 8         /* of three figures; a bit each */

/* All runs of one count. */
struct law_count {
    double count, mean_ns, scale_ns, squares;
    size_t runs;
};

struct fitting {
    struct law_count counts[COUNTS_MOST];
    size_t count, runs;
    double unit_ns; /* of the equations, so that their numbers are near 1 */
};

struct choice {
    unsigned figures; /* bits */
    double values[LAW_FIGURES], inverse[LAW_FIGURES][LAW_FIGURES];
    double squares; /* weighted */
    bool is_possible;
};

const char *law_kind__name(unsigned kind)
{
    static const char *const names[LAW_KINDS] = {"none", "linear", "Amdahl", "universal",
                                                 "overhead"};
    return kind < LAW_KINDS ? names[kind] : "none";
}

const char *law_refusal__name(unsigned refusal)
{
    static const char *const names[LAW_REFUSALS] = {NULL, "too few counts", "runs differ too much",
                                                    "no law fits", "faster than linear"};
    return refusal < LAW_REFUSALS ? names[refusal] : NULL;
}

/* ---- the counts ------------------------------------------------------------------------------ */

static struct law_count *count_of(struct fitting *fitting, double count)
{
    size_t place = 0;
    while (place < fitting->count && fitting->counts[place].count < count)
        place++;
    struct law_count *at = &fitting->counts[place];
    if (place < fitting->count && at->count == count)
        return at;
    if (fitting->count == COUNTS_MOST)
        return NULL;
    memmove(at + 1, at, (fitting->count++ - place) * sizeof *at);
    *at = (struct law_count){.count = count};
    return at;
}

static struct fitting fitting__of(const struct vec *samples)
{
    struct fitting fitting = {.count = 0};
    VEC_EACH (sample, samples, const struct law_sample) {
        struct law_count *at = count_of(&fitting, sample->count);
        if (!at)
            continue;
        at->runs++;
        at->mean_ns += (sample->ns - at->mean_ns) / (double)at->runs;
        at->scale_ns += (sample->whole_ns - at->scale_ns) / (double)at->runs;
        fitting.runs++;
    }
    for (size_t i = 0; i < fitting.count; i++) {
        struct law_count *at = &fitting.counts[i];
        at->scale_ns = fmax(fmax(at->mean_ns, SMALL_PART * at->scale_ns), 1);
    }
    fitting.unit_ns = fitting.counts[0].scale_ns;
    return fitting;
}

/* What runs of one count differ by, of all counts together; NaN: there is one run of each. */
static double scatter_of(struct fitting *fitting, const struct vec *samples)
{
    double squares = 0;
    VEC_EACH (sample, samples, const struct law_sample) {
        const struct law_count *at = count_of(fitting, sample->count);
        if (at)
            squares += pow((sample->ns - at->mean_ns) / at->scale_ns, 2);
    }
    size_t degrees = fitting->runs - fitting->count;
    return degrees ? sqrt(squares / (double)degrees) : NAN;
}

double student__quantile(size_t degrees)
{
    static const double quantiles[] = {NAN,   12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                       2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
                                       2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
                                       2.064, 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    size_t known = sizeof quantiles / sizeof *quantiles;
    return degrees < known ? quantiles[degrees] : 1.96 + 2.5 / (double)degrees;
}

/* ---- least squares --------------------------------------------------------------------------- */

static void terms_of(double count, double terms[LAW_FIGURES])
{
    terms[0] = 1 / count;
    terms[1] = (count - 1) / count;
    terms[2] = count - 1;
}

static double sum_of(const double values[LAW_FIGURES], double count)
{
    double terms[LAW_FIGURES], sum = 0;
    terms_of(count, terms);
    for (size_t i = 0; i < LAW_FIGURES; i++)
        sum += values[i] * terms[i];
    return sum;
}

/* The weighted sums of products of terms, and of terms and times; what is not chosen is that of an
 * equation of its own, of which 0 comes out. */
static void fill_equations(const struct fitting *fitting, const struct choice *choice,
                           double matrix[LAW_FIGURES][2 * LAW_FIGURES], double right[LAW_FIGURES])
{
    memset(matrix, 0, sizeof(double[LAW_FIGURES][2 * LAW_FIGURES]));
    memset(right, 0, sizeof(double[LAW_FIGURES]));
    for (size_t k = 0; k < fitting->count; k++) {
        const struct law_count *at = &fitting->counts[k];
        double terms[LAW_FIGURES];
        double weight = (double)at->runs * pow(fitting->unit_ns / at->scale_ns, 2);
        terms_of(at->count, terms);
        for (size_t i = 0; i < LAW_FIGURES; i++) {
            for (size_t j = 0; j < LAW_FIGURES; j++)
                matrix[i][j] += weight * terms[i] * terms[j];
            right[i] += weight * terms[i] * at->mean_ns;
        }
    }
    for (size_t i = 0; i < LAW_FIGURES; i++)
        for (size_t j = 0; j < LAW_FIGURES; j++)
            if (!(choice->figures >> i & choice->figures >> j & 1))
                matrix[i][j] = i == j;
    for (size_t i = 0; i < LAW_FIGURES; i++) {
        right[i] = choice->figures >> i & 1 ? right[i] : 0;
        matrix[i][LAW_FIGURES + i] = 1;
    }
}

static void swap_rows(double matrix[LAW_FIGURES][2 * LAW_FIGURES], size_t one, size_t other)
{
    double row[2 * LAW_FIGURES];
    memcpy(row, matrix[one], sizeof row);
    memcpy(matrix[one], matrix[other], sizeof row);
    memcpy(matrix[other], row, sizeof row);
}

/* The right half becomes the left half's inverse. False: it has none. */
static bool invert(double matrix[LAW_FIGURES][2 * LAW_FIGURES])
{
    for (size_t column = 0; column < LAW_FIGURES; column++) {
        size_t pivot = column;
        for (size_t row = column + 1; row < LAW_FIGURES; row++)
            if (fabs(matrix[row][column]) > fabs(matrix[pivot][column]))
                pivot = row;
        double divisor = matrix[pivot][column];
        if (!(fabs(divisor) > SINGULAR))
            return false;
        swap_rows(matrix, pivot, column);
        for (size_t i = 0; i < 2 * LAW_FIGURES; i++)
            matrix[column][i] /= divisor;
        for (size_t row = 0; row < LAW_FIGURES; row++) {
            double factor = row == column ? 0 : matrix[row][column];
            for (size_t i = 0; i < 2 * LAW_FIGURES; i++)
                matrix[row][i] -= factor * matrix[column][i];
        }
    }
    return true;
}

static double squares_of(const struct fitting *fitting, const struct choice *choice)
{
    double squares = 0;
    for (size_t k = 0; k < fitting->count; k++) {
        const struct law_count *at = &fitting->counts[k];
        double left = (at->mean_ns - sum_of(choice->values, at->count)) / at->scale_ns;
        squares += (double)at->runs * left * left;
    }
    return squares;
}

static void solve(const struct fitting *fitting, struct choice *choice)
{
    double matrix[LAW_FIGURES][2 * LAW_FIGURES], right[LAW_FIGURES];
    fill_equations(fitting, choice, matrix, right);
    choice->is_possible = invert(matrix);
    for (size_t i = 0; choice->is_possible && i < LAW_FIGURES; i++) {
        for (size_t j = 0; j < LAW_FIGURES; j++) {
            choice->inverse[i][j] = matrix[i][LAW_FIGURES + j];
            choice->values[i] += matrix[i][LAW_FIGURES + j] * right[j];
        }
        bool is_chosen = choice->figures >> i & 1;
        for (size_t j = 0; j < LAW_FIGURES; j++)
            if (!is_chosen || !(choice->figures >> j & 1))
                choice->inverse[i][j] = 0;
    }
    for (size_t i = 0; i < LAW_FIGURES; i++)
        choice->is_possible = choice->is_possible && choice->values[i] >= 0;
    choice->squares = squares_of(fitting, choice);
}

/* ---- which law ------------------------------------------------------------------------------- */

static unsigned figures_in(unsigned choice)
{
    return (unsigned)__builtin_popcount(choice);
}

/* Of each number of figures the best choice; not possible: there is none. */
static void solve_all(const struct fitting *fitting, struct choice best[LAW_FIGURES + 1])
{
    for (unsigned figures = 0; figures < CHOICES; figures++) {
        struct choice choice = {.figures = figures};
        unsigned count = figures_in(figures);
        if (count > fitting->count)
            continue;
        solve(fitting, &choice);
        bool is_better = !best[count].is_possible || choice.squares < best[count].squares;
        if (choice.is_possible && is_better)
            best[count] = choice;
    }
}

/* More figures than the next possible choice with fewer ones has must show something. */
static const struct choice *choose(const struct choice best[LAW_FIGURES + 1], double deviation,
                                   double quantile)
{
    const struct choice *chosen = NULL;
    double shown = pow(deviation * quantile, 2);
    for (unsigned count = 1; count <= LAW_FIGURES; count++)
        if (best[count].is_possible && (!chosen || chosen->squares - best[count].squares > shown))
            chosen = &best[count];
    return chosen;
}

static enum law_kind kind_of(const struct choice *choice)
{
    if (!(choice->figures & 1))
        return LAW_OVERHEAD;
    return choice->figures & 4 ? LAW_UNIVERSAL : choice->figures & 2 ? LAW_AMDAHL : LAW_LINEAR;
}

/* ---- its figures ----------------------------------------------------------------------------- */

static struct law_interval interval_of(double value, double variance, double quantile)
{
    double half = quantile * sqrt(fmax(variance, 0));
    double low = value - half;
    return (struct law_interval){value, low < 0 ? 0 : low, value + half};
}

/* A figure over that of the work, by the first order of its error. */
static struct law_interval share_of_work(const struct law *law, size_t figure)
{
    double work = law->figures[0], share = law->figures[figure] / work;
    const double(*covariance)[LAW_FIGURES] = law->covariance;
    double variance = covariance[figure][figure] - 2 * share * covariance[0][figure] +
                      share * share * covariance[0][0];
    return work > 0 ? interval_of(share, variance / (work * work), law->quantile)
                    : (struct law_interval){NAN, NAN, NAN};
}

static void take_choice(struct law *law, const struct choice *choice, double deviation,
                        double unit_ns)
{
    law->kind = kind_of(choice);
    law->is_tested = law->counts > figures_in(choice->figures);
    for (size_t i = 0; i < LAW_FIGURES; i++) {
        law->figures[i] = choice->values[i];
        for (size_t j = 0; j < LAW_FIGURES; j++)
            law->covariance[i][j] = choice->inverse[i][j] * pow(deviation * unit_ns, 2);
    }
    law->sigma = share_of_work(law, 1);
    law->kappa = share_of_work(law, 2);
}

/* Where the law and the runs differ most; whether by more than chance. */
static bool is_misfit(const struct fitting *fitting, struct law *law, double deviation,
                      bool *is_superlinear)
{
    bool is_any = false;
    for (size_t k = 0; k < fitting->count; k++) {
        const struct law_count *at = &fitting->counts[k];
        double left = (at->mean_ns - sum_of(law->figures, at->count)) / at->scale_ns;
        double error = law->quantile * deviation / sqrt((double)at->runs);
        double allowed = fmax(MISFIT_FROM, isnan(error) ? 0 : MISFIT_ERRORS * error);
        if (fabs(left) <= fabs(law->misfit))
            continue;
        law->misfit = left;
        law->misfit_at = at->count;
        is_any = is_any || fabs(left) > allowed;
    }
    const struct law_count *first = &fitting->counts[0], *last = first + fitting->count - 1;
    *is_superlinear =
        last->mean_ns * last->count < (1 - MISFIT_FROM) * first->mean_ns * first->count;
    return is_any;
}

static struct law refused(struct law law, enum law_refusal refusal)
{
    const struct law_interval unknown = {NAN, NAN, NAN};
    law.kind = LAW_NONE;
    law.refusal = refusal;
    law.sigma = law.kappa = unknown;
    law.quantile = NAN;
    return law;
}

struct law law__of(const struct vec *samples)
{
    struct fitting fitting = fitting__of(samples);
    struct choice best[LAW_FIGURES + 1] = {{0}};
    struct law law = {.counts = fitting.count, .samples = fitting.runs, .scatter = NAN};
    bool is_superlinear;
    if (fitting.count < 2)
        return refused(law, LAW_FEW);
    law.scatter = scatter_of(&fitting, samples);
    law.quantile = student__quantile(fitting.runs - fitting.count);
    double deviation = isnan(law.scatter) ? SCATTER_ASSUMED : fmax(law.scatter, SCATTER_LEAST);
    double error = deviation / sqrt((double)fitting.runs / (double)fitting.count);
    solve_all(&fitting, best);
    const struct choice *choice = choose(best, deviation, isnan(law.quantile) ? 2 : law.quantile);
    if (!choice)
        return refused(law, LAW_MISFIT);
    take_choice(&law, choice, deviation, fitting.unit_ns);
    bool is_bad = is_misfit(&fitting, &law, deviation, &is_superlinear);
    if (error > NOISE_FROM)
        return refused(law, LAW_NOISE);
    if (is_bad && law.is_tested)
        return refused(law, is_superlinear ? LAW_SUPERLINEAR : LAW_MISFIT);
    return law;
}

/* Where the derivative of the time is 0: Gunther's √((1 − σ) / κ). */
double law__fastest(const struct law *law)
{
    double falls = law->figures[0] - law->figures[1], rises = law->figures[2];
    if (law->kind != LAW_UNIVERSAL || !(rises > 0))
        return INFINITY;
    return falls > rises ? sqrt(falls / rises) : 1;
}

struct law_interval law__ns(const struct law *law, double count)
{
    double terms[LAW_FIGURES], variance = 0;
    terms_of(count, terms);
    for (size_t i = 0; i < LAW_FIGURES; i++)
        for (size_t j = 0; j < LAW_FIGURES; j++)
            variance += terms[i] * law->covariance[i][j] * terms[j];
    return interval_of(sum_of(law->figures, count), variance, law->quantile);
}
