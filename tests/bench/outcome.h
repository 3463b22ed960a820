/* outcome.h: what the benchmark reads from an example's last line and from a report. */
#ifndef HEURT_BENCH_OUTCOME_H
#define HEURT_BENCH_OUTCOME_H

#include "base/error.h"

#include <stdint.h>

/* The class of a report that a benchmark is about; NULL: any. */
struct class_choice {
    const char *kind;
    const char *function; /* with or without a trailing "64" */
    const char *caller;
};

struct class_outcome {
    double score;
    double min_ns;
    double count;
};

/* elapsed_ns of "elapsed_ns=… operations=…" on any line of text. */
int outcome__elapsed(const char *text, double *elapsed_ns, struct error *error);

/* The chosen class of `heurt report --json`; of several the one with the largest score. */
int outcome__class(const char *json, const struct class_choice *choice,
                   struct class_outcome *outcome, struct error *error);

#endif
