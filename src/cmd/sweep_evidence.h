/* sweep_evidence.h: what the runs of a sweep tell: of each that ended well its times, and of those
 * that were recorded what the time went to.
 *
 * In goes a sweep, out come runs as analysis/scaling/ takes them. Each trace is read once, and
 * closed again before the next one. It stands on table_results.h. One thread at a time. */
#ifndef HEURT_CMD_SWEEP_EVIDENCE_H
#define HEURT_CMD_SWEEP_EVIDENCE_H

#include "analysis/scaling/scaling.h"
#include "cmd/sweep.h"

/* A run from which no conclusion is drawn. */
struct refused_run {
    struct sweep_place place;
    char *why; /* owned: "status 3" */
};

struct sweep_evidence {
    struct vec runs;                /* struct sweep_run */
    struct vec figures;             /* struct run_figures *: owned */
    struct vec refused;             /* struct refused_run */
    uint32_t seen_least, seen_most; /* threads at work in recorded runs; 0: none was recorded */
    bool heeds_nothing; /* recorded with several counts, it always had as many threads */
    bool is_openmp;
    uint64_t cycles_a_second; /* of the processor's time stamps; 0: traces have another clock */
};

/* 0, or EXIT_HEURT after a sentence; sweep_evidence__free it in any case. */
int sweep_evidence__load(const struct sweep *sweep, struct sweep_evidence *evidence);
void sweep_evidence__free(struct sweep_evidence *evidence);

#endif
