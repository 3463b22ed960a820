/* difference.h: one slow against one fast occurrence of a class, or iteration of a loop: what makes
 * the difference.
 *
 *     duration = Σ components = Σ own times of all calls in it, and its own
 *
 * holds for both to the ns, so it holds for their difference, too. Units are in the names. */
#ifndef HEURT_ANALYSIS_COMPARE_DIFFERENCE_H
#define HEURT_ANALYSIS_COMPARE_DIFFERENCE_H

#include "analysis/iterations/iterations.h"
#include "analysis/ledger/profile.h"

#define DIFFERENCE_NONE UINT32_MAX

enum difference_side { SIDE_SLOW, SIDE_FAST, SIDES };

/* Calls of one place in the same call. Index: enum difference_side. */
struct difference_row {
    uint32_t parent; /* index into struct difference.rows; DIFFERENCE_NONE: the whole */
    struct class_definition what; /* without keys; the object only when all had the same */
    uint64_t count[SIDES];
    uint64_t time_ns[SIDES];
    int64_t own_ns[SIDES];                   /* see inside.h */
    int64_t component_ns[SIDES][COMPONENTS]; /* add up to own_ns */
};

struct difference_side_info {
    uint32_t thread;   /* index into trace__threads */
    uint64_t index;    /* of an iteration: 0, 1, 2 … in its thread; else UINT64_MAX */
    uint64_t start_ns; /* since the run's start */
    uint64_t duration_ns;
    uint64_t component_ns[COMPONENTS]; /* add up to duration_ns */
    uint16_t cpu;                      /* on which it ended; UINT16_MAX: not known */
    bool is_sampled;                   /* calls in it stand for others that were not recorded */
    uint64_t argument_count;
    uint64_t arguments[HEURT_ARGUMENTS_MAX];
};

/* What the slow one waited for, and who ended it: the last one that released the lock, signalled,
 * posted, arrived. */
struct difference_wait {
    enum class_kind kind;
    uint32_t process; /* serial */
    uint64_t object;
    uint32_t by;      /* index into trace__threads; UINT32_MAX: not known */
    uint64_t by_site; /* 0: not known */
    uint64_t waits, wait_ns;
};

struct difference {
    struct class_definition what;            /* of the class; of iterations function is NULL */
    const struct trace_function *definition; /* with the arguments' names, or NULL */
    uint64_t count;                          /* its occurrences that can be compared */
    uint64_t min_ns, median_ns, max_ns;
    struct difference_side_info sides[SIDES];
    /* struct difference_row: the first is the whole itself; parents before what is in them. */
    struct vec rows;
    struct vec waits; /* struct difference_wait, by wait_ns */
};

/* Which two. Of equal durations the one of the first thread, and the one that ended first. */
struct difference_selection {
    uint64_t slow;  /* the so many-th slowest, from 1; 0: the slowest one at at_ns */
    uint64_t at_ns; /* since the run's start */
    uint64_t fast;  /* the so many-th fastest, from 1; 0: the one nearest to the median */
};

/* Of that class of the profile. Occurrences inside of ones
 * of their own class do not count. -ENOENT and a sentence: there are not two, or none at at_ns.
 * -ENOTSUP: the run was aggregated. Two walks over the trace. free: difference__free. */
int difference__of_class(const struct trace *trace, const struct profile *profile,
                         const struct profile_class *class,
                         const struct difference_selection *choice, struct difference **difference,
                         struct error *error);
/* Of a phase's iterations of single threads; both are of one thread unless it has only one. The
 * result's what.function is NULL. Errors likewise. */
int difference__of_iterations(const struct trace *trace, const struct iteration_phase *phase,
                              const struct difference_selection *choice,
                              struct difference **difference, struct error *error);
/* How much more the slow one took, of all and of one call's own time; the components add up to it.
 */
int64_t difference__more_ns(const struct difference *difference);
void difference__more_components(const struct difference *difference, int64_t more_ns[COMPONENTS]);
int64_t difference_row__more_ns(const struct difference_row *row);
void difference_row__more_components(const struct difference_row *row, int64_t more_ns[COMPONENTS]);
void difference__free(struct difference *difference); /* NULL is allowed */

/* difference_waits.c, for difference.c: those of the thread that began from start on and ended
 * until end (ticks). One walk over the trace up to there. */
struct vec difference__waits(const struct trace *trace, uint32_t thread, uint64_t start,
                             uint64_t end);

#endif
