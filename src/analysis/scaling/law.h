/* law.h: which law of scaling the times of a program, or of a part of it, follow.
 *
 *     time(n) = work / n  +  serial · (n − 1) / n  +  crosstalk · (n − 1)
 *
 *     linear     work alone
 *     Amdahl     work and serial: the share sigma = serial / work goes on alone (Amdahl 1967,
 *                "Validity of the single processor approach …", AFIPS 30)
 *     universal  with crosstalk, kappa = crosstalk / work, which each thread has with each other
 *                one (Gunther 1993, "A simple capacity model of massively parallel transaction
 *                systems", CMG: C(n) = n / (1 + σ (n − 1) + κ n (n − 1)))
 *     overhead   no work: what is there only because of other threads, such as waits for a lock
 *
 * The formula is linear in its three figures, which are none below 0: so all seven choices of them
 * are solved by weighted least squares, and of these the one with the fewest figures stands of
 * which more figures show nothing more than the runs of one count differ among each other (F test
 * of 1 in 20). Intervals (95 in 100) are the regression's, from what runs of equal counts differ
 * by; with one run a count there is none. A law of as many figures as there are counts is not
 * tested by them; one that is must lie within 5 % of each count, or within what chance explains.
 * Where there is no law, the figures are those of the nearest one, without intervals.
 *
 * In go times by count, out comes a law; nothing is kept. It stands on base/vec.h. Any thread may
 * call it. */
#ifndef HEURT_ANALYSIS_SCALING_LAW_H
#define HEURT_ANALYSIS_SCALING_LAW_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

/* The time of a run with count threads (or CPUs), or of a part of it. */
struct law_sample {
    double count, ns;
    double whole_ns; /* of the whole run: parts below 2 % of it are weighed as if they had these */
};

enum law_kind {
    LAW_NONE,
    LAW_LINEAR,
    LAW_AMDAHL,
    LAW_UNIVERSAL,
    LAW_OVERHEAD,
    LAW_KINDS,
};

/* Why there is none. */
enum law_refusal {
    LAW_STANDS,
    LAW_FEW,         /* one count */
    LAW_NOISE,       /* runs of one count differ too much */
    LAW_MISFIT,      /* no choice of figures comes near all counts */
    LAW_SUPERLINEAR, /* more threads bring more than their number explains */
    LAW_REFUSALS,
};

#define LAW_FIGURES 3
#define LAW_CONFIDENCE 0.95

/* NaN: not known. */
struct law_interval {
    double value, low, high;
};

struct law {
    enum law_kind kind;
    enum law_refusal refusal;
    bool is_tested; /* there are more counts than figures */
    size_t counts, samples;
    double figures[LAW_FIGURES]; /* ns: work, serial, crosstalk */
    double covariance[LAW_FIGURES][LAW_FIGURES];
    double quantile; /* standard errors in half an interval; NaN: none is known */
    double scatter;  /* of runs of one count: standard deviation over mean; NaN: not known */
    double misfit;   /* largest difference to a count's mean, as a part of it, */
    double misfit_at;
    struct law_interval sigma, kappa;
};

/* samples: struct law_sample, in any order. */
struct law law__of(const struct vec *samples);
/* The time with so many threads; nothing of too few counts. */
struct law_interval law__ns(const struct law *law, double count);
/* The count above which more take longer; INFINITY: there is none. */
double law__fastest(const struct law *law);
/* Of Student's distribution with so many degrees of freedom: 0.975. NaN: of none. */
double student__quantile(size_t degrees);
const char *law_kind__name(unsigned kind);
const char *law_refusal__name(unsigned refusal);

#endif
