/* iterations.h: the program's iterations: the outermost loops of its threads, one by one, and
 * which iterations stand out.
 *
 *     trace ──► iterations of loops near the root (shape_walk.h) ──► the outermost loops of each
 * thread ──► phases: threads that do the same loop ──► once more: what is in the iterations that
 *                                                        stand out, and in a usual one
 *
 * A phase is a loop that no other loop encloses, repeats at least 3 times, and takes at least
 * ITERATIONS_SHARE of the life of a thread; it is a loop of calls, whatever is in these; several
 * are several phases, by time. Where the program marks its iterations (heurt_iteration), the marks
 * are the phases, and loops are not looked for. What a
 * thread does between waits for events (poll and its kin, at one place) are its iterations, too;
 * where its loops take less than half of its life, also between other waits for work (at a
 * condition, a semaphore, for time).
 *
 * Threads that do the same loop, as often and at the same time, are one phase whose iterations are
 * matched by number: iteration i lasts from its first begin to its last end. Otherwise each
 * thread's iterations are iterations of their own.
 *
 * Memory: threads times loops, whatever the number of iterations: of more than ITERATIONS_EXACT
 * iterations median and p99 are those of a histogram (12.5 % wide), and matched ones are a sample.
 */
#ifndef HEURT_ANALYSIS_ITERATIONS_ITERATIONS_H
#define HEURT_ANALYSIS_ITERATIONS_ITERATIONS_H

#include "analysis/analysis.h"
#include "analysis/callsite/definition.h"
#include "base/error.h"
#include "format/reader.h"

#define ITERATIONS_SHARE 0.05
#define ITERATIONS_EXACT 8192u
#define ITERATIONS_STRIP 120u   /* cells of a strip */
#define ITERATIONS_OUTLIERS 32u /* that are kept of a phase */
#define ITERATIONS_BODY 6u      /* places that are named of a body */

/* An iteration stands out that takes more than
 *     max(p75 + ITERATIONS_FENCE · (p75 − p25), ITERATIONS_FACTOR · median)
 * (Tukey's far outliers, and no noise). */
#define ITERATIONS_FENCE 3
#define ITERATIONS_FACTOR 1.2

struct iteration_thread {
    uint32_t thread; /* index into trace__threads */
    uint64_t iterations;
    uint64_t min_ns, max_ns, sum_ns;
};

/* One iteration, or all threads' iterations of that number. */
struct iteration {
    uint64_t index;    /* 0, 1, 2 … in its thread */
    uint32_t thread;   /* index into trace__threads; of matched ones the thread that worked longer
                          than usual by the most */
    uint64_t start_ns; /* since the run's start */
    uint64_t duration_ns;
    /* Of the thread's iteration, for difference__of_stretches. */
    uint32_t depth;
    uint64_t start_tick, end_tick;
};

struct iteration_outlier {
    struct iteration iteration;
    /* Of the thread's iteration: more than in one of its iterations that took about the median. The
       components add up to it. */
    int64_t more_ns;
    uint64_t usual_index; /* that one */
    int64_t component_more_ns[COMPONENTS];
    /* The place in it whose own time makes most of that, or function NULL: it is the iteration's
     * own. */
    struct class_definition place;
    int64_t place_more_ns;
    int64_t place_more_calls;
};

/* A cell of the strip. */
struct iteration_cell {
    uint64_t longest_ns; /* of the iterations that went on then; 0: none */
};

struct iteration_phase {
    bool is_marked;
    bool is_between_waits;
    struct vec body;     /* struct class_definition: of a mark the mark, of work the wait; else the
                            first    places of a  iteration, in their order, each once */
    bool body_is_cut;    /* there are more */
    bool is_choice;      /* iterations are of several kinds that begin with the same call */
    struct vec threads;  /* struct iteration_thread, as trace__threads */
    bool is_matched;     /* iterations are of all its threads together */
    bool is_sample;      /* matched, and only every so many-th was looked at */
    uint64_t iterations; /* iterations: when matched of each thread, else of all */
    uint64_t start_ns, end_ns; /* since the run's start */
    double share;              /* of the lives of its threads, that their iterations take */
    uint64_t min_ns, median_ns, p99_ns, max_ns, sum_ns;
    uint64_t excess_ns; /* Σ (duration − min): of threads' iterations, whether matched or not */
    double score;       /* the largest of the threads' */
    uint64_t imbalance_ns; /* matched: Σ over iterations of the longest thread's iteration less the
                              mean; of a sample an estimate */
    uint64_t threshold_ns; /* what takes longer stands out */
    uint64_t outlier_count; /* not exact above ITERATIONS_EXACT iterations */
    struct vec outliers;    /* struct iteration_outlier: the worst, by duration */
    /* struct iteration: iterations of single threads of which it is known where they are, by
       threads: all, or of more than ITERATIONS_EXACT one of each group, and then the slowest. */
    struct vec kept;
    struct iteration_cell strip[ITERATIONS_STRIP]; /* from start_ns to end_ns */
};

struct iterations {
    struct vec phases;        /* struct iteration_phase, by start */
    uint32_t threads_without; /* that have events and no phase */
};

/* A walk, and another one over threads that have outliers. -ENOTSUP and a sentence: the run was
 * aggregated. free: iterations__free. */
extern const struct analysis iterations_analysis;
void iterations__free(struct iterations *iterations); /* NULL is allowed */

#endif
