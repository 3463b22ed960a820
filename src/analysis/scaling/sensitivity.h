/* sensitivity.h: how much longer a program, and each class of its calls, takes while a part of a
 * resource is taken from it.
 *
 *     time of run i in round r  =  a_r + b · taken_i  +  scatter
 *
 * In a round each level is run once, so that what the machine does over time is in the a_r, and not
 * in b. By least squares: with x and y less their round's mean, b = Σ x y / Σ x²; a is the mean of
 * y less b times the mean of x; the scatter's variance is what is left over n − rounds − 1. What is
 * told is b / a, the part of the time without contention that taking all of it would add if it
 * went on so, with the interval (95 in 100) that the variances of b and a, and their covariance,
 * give a ratio (the delta method). Draper and Smith 1998, "Applied regression analysis", 1.4, 23.
 *
 * It is a line, and so a mean over the levels: what grows only from some level on is told too high
 * below it, and too low above. The times at each level stand beside it.
 *
 * In go runs, out come rows. It stands on analysis/compare/ for the rows of runs. Any thread may
 * call it. */
#ifndef HEURT_ANALYSIS_SCALING_SENSITIVITY_H
#define HEURT_ANALYSIS_SCALING_SENSITIVITY_H

#include "analysis/compare/comparison.h"
#include "analysis/scaling/law.h"

/* A run with so much taken. */
struct contended_run {
    double asked, taken; /* parts of the most that can be */
    double requests;     /* a second */
    uint32_t round;
    double wall_ns;             /* NaN: another run of that round tells it, which is alone */
    struct run_figures *times;  /* of classes: all calls together; NULL: it was alone */
    struct run_figures *counts; /* likewise: how many */
};

struct sensitivity_sample {
    double taken, ns;
    uint32_t round;
};

/* samples: struct sensitivity_sample. ns without contention; NaN where rounds do not tell. */
struct law_interval sensitivity__of(const struct vec *samples, double *ns);

/* What was asked, and what was had. */
struct sensitivity_level {
    double asked, taken, requests; /* means */
    size_t alone, recorded;        /* runs */
};

/* Of the whole, or of a class. */
struct sensitivity_row {
    const char *label; /* a run's; NULL: the whole */
    size_t runs;
    double ns;                /* of one call, or run, without contention */
    double share;             /* of all its calls, of the wall time at the lowest level */
    struct law_interval more; /* part of ns, were all of it taken; NaN: not known */
    struct vec at;            /* double, by level: median time of a call or run; NaN: none */
};

struct sensitivities {
    struct vec levels; /* struct sensitivity_level, ascending */
    struct vec rows;   /* struct sensitivity_row: the whole, then classes by their share */
};

/* runs: struct contended_run, which outlive it. */
struct sensitivities sensitivities__of(const struct vec *runs);
void sensitivities__free(struct sensitivities *sensitivities);
/* Whether the interval is known, and 0 is not in it. */
bool sensitivity_row__is_shown(const struct sensitivity_row *row);

#endif
