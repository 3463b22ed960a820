/* induced_runs.h: a program run again and again while so much of a resource is taken from it, or a
 * lock of it is held longer.
 *
 * Each round makes two runs at each level: one alone, for the wall time, and a recorded one, for
 * the classes. Every second round goes through the levels backwards, and each round begins with
 * another one, so that no level is always the first. Traces are removed when they were looked at.
 *
 * In go a plan and levels, out come runs as analysis/scaling/sensitivity.h takes them. It stands on
 * single_run.h and src/induce/. One thread. */
#ifndef HEURT_CMD_INDUCED_RUNS_H
#define HEURT_CMD_INDUCED_RUNS_H

#include "analysis/scaling/sensitivity.h"
#include "cmd/heavy_lock.h"
#include "induce/induce.h"

struct induced_plan {
    char *const *words;
    struct inducer *inducer; /* NULL: a lock is held longer, and all runs are recorded */
    const struct heavy_lock *lock;
    struct vec levels; /* double, 0 … 1 */
    uint64_t rounds;
    bool quiet;
};

struct induced_runs {
    struct vec runs;    /* struct contended_run */
    struct vec figures; /* struct run_figures *: owned */
    bool is_cut;        /* a signal came; what was made until then stands */
};

/* 0, or the exit status after a sentence. induced_runs__free it in any case. */
int induced_runs__make(const struct induced_plan *plan, struct induced_runs *made);
void induced_runs__free(struct induced_runs *made);

#endif
