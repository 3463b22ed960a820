/* forecast.h: what heurt said a cure would gain beside what it gained. The parts of bench-whatif
 * that can be tested without a run. */
#ifndef HEURT_BENCH_FORECAST_H
#define HEURT_BENCH_FORECAST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define FORECAST_MEDIAN_BAR 0.10
#define FORECAST_WORST_BAR 0.25

/* One prediction. Seconds. */
struct forecast {
    double measured, replayed; /* the recorded run, its replay */
    double wall, least, most;
};

/* From `heurt whatif --json` with one question. */
int forecast__read(const char *json, struct forecast *forecast, struct error *error);

/* The class of `heurt report --json` that lost the most among those of a kind ("" any) whose
 * function, or the function that calls it, has that name ("" any). */
struct loser {
    size_t rank;
    char object[32]; /* "0x…", "" without */
};
int loser__find(const char *json, const char *kind, const char *function, struct loser *loser,
                struct error *error);

/* Runs of one program, its cure and its prediction, interleaved. Medians, in seconds. */
struct forecast_row {
    double wall, cured;             /* measured, without heurt */
    double predicted, least, most;  /* of the cured one */
    double replay_error, recording; /* shares: replayed and recorded wall time over what they are
                                       compared with, less 1 */
};

/* Predicted over measured, less 1. */
double forecast_row__error(const struct forecast_row *row);
bool forecast_row__in_range(const struct forecast_row *row);

/* Of the sizes of all errors. NAN: there are none. At most SAMPLES_MOST rows. */
struct forecast_summary {
    double median, worst;
    size_t in_range, rows;
};
struct forecast_summary forecast__summary(const struct forecast_row *rows, size_t count);
bool forecast_summary__is_met(const struct forecast_summary *summary);

#endif
