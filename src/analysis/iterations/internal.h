/* internal.h: phases while they are made. For iterations*.c only.
 *
 *     iterations_search.c     loops of a thread
 *     iterations.c            loops of the threads become phases
 *     iterations_figures.c    their figures
 *     iterations_outliers.c   iterations that stand out, and what is in them */
#ifndef HEURT_ANALYSIS_ITERATIONS_INTERNAL_H
#define HEURT_ANALYSIS_ITERATIONS_INTERNAL_H

#include "analysis/callsite/classes.h"
#include "analysis/iterations/iterations.h"
#include "analysis/iterations/thread_loops.h"
#include "analysis/structure/shape.h"

/* What one thread did of a phase. */
struct phase_part {
    uint32_t thread;   /* index into trace__threads */
    uint64_t lifetime; /* ticks */
    uint32_t head;     /* place of the first occurrence of an iteration */
    struct loop_key key;
    uint64_t outermost; /* ticks */
    struct iteration_series iterations;
    const struct iteration_sample *usual; /* one that took about as long as most; NULL: none */
};

struct phase_draft {
    struct vec parts; /* struct phase_part, by thread */
    bool is_matched;
};

static inline struct phase_part *part_at(const struct phase_draft *draft, size_t part)
{
    return VEC_AT(&draft->parts, struct phase_part, part);
}

static inline const struct iteration_sample *sample_at(const struct phase_part *part, size_t sample)
{
    return VEC_AT(&part->iterations.samples, struct iteration_sample, sample);
}

/* One thread, event by event; shapes: for all threads the same. */
struct loop_search;

struct loop_search *search__start(struct class_table *table, struct shapes *shapes,
                                  uint32_t thread);
void search__event(void *search, const struct event *event);
void search__functions(void *search, struct event_words *words);
/* Adds the loops that may be iterations to the parts (struct phase_part); the thread's lifetime
 * decides. Frees it. */
void search__end(struct loop_search *search, struct vec *parts);

/* From the first begin to the last end of that sample in all parts of a matched phase. */
struct iteration_sample matched__iteration(const struct phase_draft *draft, size_t sample);

/* Whether iterations of equal number belong together: as many in each thread, and they overlap. */
bool draft__is_matched(const struct phase_draft *draft);
/* Fills everything but body and outliers, and the parts' usual iterations. */
void draft__figures(struct phase_draft *draft, const struct trace *trace,
                    struct iteration_phase *phase);

/* Fills the outliers of all phases; drafts are as the phases. One walk over the threads. */
void drafts__outliers(const struct vec *drafts, struct class_table *table, struct vec *phases);

#endif
