/* run.h: several analyses over one trace, with as few walks as they can share.
 *
 *     struct run run = run__of(trace, symbols);
 *     run__ask(&run, &locks_analysis, &filter);
 *     run__ask(&run, &path_analysis, NULL);
 *     if (run__analyse(&run, &error) == 0)
 *         show(run__result(&run, &locks_analysis), …);
 *     run__free(&run);
 *
 * Whom an analysis stands on is run before it. Of those that can be run the ones with the same kind
 * of walk are run together, so that the trace is read once for all of them. The walk by threads has
 * the same result to the bit on any number of CPUs:
 *
 *     CPU 1   thread 0 ──► part ──────────► thread 2 ──► part
 *     CPU 2   thread 1 ──► part ► thread 3 …             │
 *             in the order of threads: join 0, join 1, join 2, …
 *
 * A part is made of nothing but the trace and what nobody changes during the walk. Memory: the
 * parts of threads that ended before an earlier one did. */
#ifndef HEURT_ANALYSIS_RUN_H
#define HEURT_ANALYSIS_RUN_H

#include "analysis/analysis.h"
#include "base/vec.h"
#include "format/reader.h"
#include "format/symbols.h"

struct run {
    const struct trace *trace;
    const struct symbols *symbols;   /* NULL: none are known */
    struct sync_events *sync_events; /* in a walk by time */
    unsigned lanes;                  /* in a walk by threads */
    int code;                        /* negative: the analysis that is asked has failed, */
    struct error error;              /* why */
    struct vec rows;                 /* private */
};

/* Both outlive it. run__free it. */
struct run run__of(const struct trace *trace, const struct symbols *symbols);
void run__free(struct run *run);
/* What it is to be run with, until run__analyse has returned. */
void run__ask(struct run *run, const struct analysis *analysis, const void *options);
/* Also when it is only stood on. */
bool run__is_asked(const struct run *run, const struct analysis *analysis);
/* Runs those that were asked for and whom they stand on, each once, whatever is asked for later.
 * When one fails, those that do not stand on it are run; the first sentence is kept. */
int run__analyse(struct run *run, struct error *error);
/* NULL: it was not run, failed, or found that there is nothing to be found. The run's, which a
 * later analysis may change. */
void *run__result(const struct run *run, const struct analysis *analysis);
const void *run__options(const struct run *run, const struct analysis *analysis);
/* The result, which is the caller's from now on. */
void *run__take(struct run *run, const struct analysis *analysis);

/* One analysis, with its result. */
int run__one(const struct trace *trace, const struct symbols *symbols,
             const struct analysis *analysis, const void *options, void **result,
             struct error *error);

#endif
