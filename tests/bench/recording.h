/* recording.h: where a benchmark keeps its traces, and what a trace weighs. */
#ifndef HEURT_BENCH_RECORDING_H
#define HEURT_BENCH_RECORDING_H

#include "base/error.h"

struct scratch {
    char directory[256]; /* the benchmark's own */
    char trace[300], log[300];
};

/* Makes a directory below parent; NULL: in memory when the machine has /dev/shm, else below TMPDIR
 * or /tmp. The caller removes it with directory__remove. */
int scratch__make(struct scratch *scratch, const char *parent, struct error *error);

struct recording {
    double events, lost;
    double bytes;   /* of the events file */
    double wall_ns; /* of the recorded program */
    /* Duration of the function with the most calls; NAN: there is none. The mean is with what
     * interrupted it. */
    double p50_ns, mean_ns;
};

/* Asks `heurt report --json` about a trace. */
int recording__weigh(const char *heurt, const char *trace, const char *log,
                     struct recording *recording, struct error *error);

/* The number in a line "key=number" of text; NAN when there is none. */
double text__number(const char *text, const char *key);

#endif
