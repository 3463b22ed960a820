/* profile.h: where time is lost and how much: classes of occurrences and their scores.
 *
 * One fold over the threads' events (memory bounded by classes, threads and open spans).  For a
 * class with durations d_j on a thread that lived T (RDAM's, SCI's and the dispersion factor's
 * definition; design: the ledger):
 *
 *     excess = Σ_j (d_j − d_min)      score = excess / T      d_min over all threads
 *
 * Of a function that calls itself, the sum goes over the outermost calls only (d_min is of all), or
 * the same time would be lost several times and a score could pass 1.
 *
 * A thread that was in a wait when the trace ended (a deadlock, a kill) is taken to have waited on
 * until its process ended: in its lifetime, its components and its locks' holders, though not as an
 * occurrence.
 *
 * All tables belong to the profile.  Units are in the names. */
#ifndef HEURT_ANALYSIS_PROFILE_H
#define HEURT_ANALYSIS_PROFILE_H

#include "analysis/accumulate.h"
#include "analysis/kinds.h"
#include "base/error.h"
#include "base/vec.h"
#include "format/reader.h"
#include "format/symbols.h"

#include <stdbool.h>
#include <stdint.h>

const char *class_kind__name(enum class_kind kind); /* as in the JSON contract */

enum confidence {
    CONFIDENCE_MEASURED,
    CONFIDENCE_ESTIMATED,
    CONFIDENCE_WEAK, /* fewer than 100 occurrences: the minimum is not to be trusted */
};

/* Feedback of the user, kept in a small file. */
struct profile_rule {
    enum { RULE_KEY, RULE_IGNORE } type;
    char *function;  /* glob over the class's function name */
    char *arguments; /* RULE_KEY: names or argN, joined by ','; else NULL */
};

struct profile_thread_row {
    uint32_t thread; /* index into trace__threads */
    uint64_t count, sum_ns, excess_ns;
    double score; /* 0 … 1 */
};

struct profile_key {
    const char *name;
    uint64_t value;
};

struct profile_stack {
    double share;           /* of the class's snapshots, 0 … 1 */
    const uint64_t *frames; /* innermost first */
    size_t frame_count;
    uint32_t process; /* serial */
};

/* Who held a lock while this class waited for it. */
struct profile_holder {
    uint32_t process; /* serial */
    uint64_t site;    /* return address of the holder's acquisition */
    uint64_t wait_ns; /* waited while it was held from there */
    uint64_t waits;
};

struct profile_class {
    enum class_kind kind;
    uint32_t process;     /* serial of the image in which it was first seen */
    const char *function; /* name of the call, function or region */
    uint64_t address;     /* of a patched function or marker, else 0 */
    uint64_t site;        /* return address of a hooked call, else 0 */
    const char *file;     /* of a marker, else NULL */
    uint32_t line;
    bool has_object;
    uint64_t object; /* lock, barrier, … */
    struct vec keys; /* struct profile_key. "fd", "size_class" (whole part of log2 of the bytes),
                        recorded arguments; "objects": so many locks that nobody ever waited for
                        are this one class */
    uint64_t count;
    uint64_t recorded;   /* < count: sampled, and every figure but the minimum is an estimate */
    uint64_t contended;  /* locks and semaphores: occurrences that waited */
    uint64_t unfinished; /* entered and never left; closed with what encloses them */
    uint64_t min_ns, p50_ns, p99_ns, max_ns, sum_ns;
    uint64_t sum_error_ns; /* standard error of the sum, and so of excess; 0: not sampled, or only
                              what did not wait */
    uint64_t excess_ns;
    double score;               /* largest of the threads' */
    double score_all;           /* excess over the sum of all threads' lifetimes */
    int64_t why_ns[COMPONENTS]; /* adds up to excess_ns */
    enum confidence confidence;
    bool idle;          /* waiting for events, for time or for a thread's end: shown apart */
    bool ignored;       /* by a rule */
    struct vec threads; /* struct profile_thread_row, by excess */
    struct vec holders; /* struct profile_holder, by wait_ns; locks only */
    struct vec stacks;  /* struct profile_stack, by share */
    struct accumulator *accumulator; /* of all threads, in ticks */
    uint64_t *histogram;             /* likewise; HISTOGRAM_BUCKETS of them */
};

struct profile_thread {
    uint32_t thread; /* index into trace__threads */
    uint64_t lifetime_ns;
    uint64_t cpu_ns, runnable_ns;      /* UINT64_MAX: not known */
    uint64_t component_ns[COMPONENTS]; /* adds up to lifetime_ns */
    uint64_t events;
};

struct profile {
    struct vec classes; /* struct profile_class, ranked: at or above the threshold by lost time,
                           then the others, then idle ones, then ignored ones */
    struct vec threads; /* struct profile_thread, as trace__threads */
    uint64_t wall_ns;
    uint64_t events;
    uint64_t overhead_ns; /* estimate of what recording cost all threads; 0: not known */
    uint64_t lifetime_sum_ns;
    uint64_t unmatched; /* leaves without an enter, e.g. of functions entered before a fork */
    double threshold;
    struct vec warnings; /* char *: e.g. a rule that asks for an argument that was not recorded */
};

/* rules: struct profile_rule. symbols is kept, not copied. */
int profile__compute(const struct trace *trace, const struct symbols *symbols,
                     const struct vec *rules, double threshold, struct profile **profile,
                     struct error *error);
/* Whether acquisitions of locks were left out: who held one is then not always known. */
bool profile__locks_are_sampled(const struct profile *profile);
void profile__free(struct profile *profile);

#endif
