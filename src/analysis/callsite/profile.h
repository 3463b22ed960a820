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
#ifndef HEURT_ANALYSIS_CALLSITE_PROFILE_H
#define HEURT_ANALYSIS_CALLSITE_PROFILE_H

#include "base/error.h"
#include "base/vec.h"
#include "fold/accumulate.h"
#include "fold/kinds.h"
#include "format/reader.h"
#include "format/symbols.h"

#include <stdbool.h>
#include <stdint.h>

const char *class_kind__name(enum class_kind kind); /* as in the JSON contract */

/* Why time was lost: the components of an excess (the same numbers up to OVERHEAD), and what is
 * known about its part on the CPU. */
enum reason {
    REASON_WORKLOAD = COMPONENT_RUNNING, /* other arguments, sizes, numbers of nested calls */
    REASON_SLOW_MACHINE,                 /* everything on that CPU was slower then */
    REASON_OVERLAP,                      /* slower while another class ran on another CPU */
    REASON_SPIN,                         /* it turned while who it waited for was preempted */
    REASON_IDLE, /* of condition, network and other blocked: waiting for work (idle.h) */
    REASON_UNEXPLAINED,
    REASONS
};

/* What the loss is (verdict.h has the rule). */
enum verdict {
    VERDICT_INTERFERENCE,
    VERDICT_WORKLOAD, /* a false positive of the score: what it had to do varies */
    VERDICT_UNCLEAR,  /* not enough evidence */
};

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

/* Whom a wait is blamed on: who held the lock, the last one to arrive at the barrier, who
 * signalled or posted. */
struct profile_blame {
    uint32_t process; /* serial */
    uint64_t site;    /* return address of its acquisition, arrival or signal */
    uint32_t thread;  /* index into trace__threads; UINT32_MAX: several */
    uint64_t wait_ns; /* waited because of it */
    uint64_t waits;
    /* What it did meanwhile; RUNNING: it worked. While it waited for another lock, the one who held
     * that is asked, and so on; LOCK: nobody is known. Adds up to wait_ns. */
    uint64_t doing_ns[COMPONENTS];
};

/* What speaks for one of the reasons of the part on the CPU. */
struct profile_evidence {
    enum reason reason;
    uint64_t ns; /* of the excess */
    enum confidence confidence;
    double explained;     /* share of the variance of the time on the CPU, 0 … 1 */
    double null;          /* likewise, the largest when nothing can be meant: arguments of other
                             occurrences, timelines shifted in time */
    double slope_ns;      /* OVERLAP, SPIN: how much longer an occurrence is that is overlapped all
                             the time; else 0 */
    const char *argument; /* WORKLOAD: what varied: a name, "calls inside", …; else NULL */
    uint32_t other;       /* OVERLAP, SPIN: number of the class; else UINT32_MAX */
    uint32_t thread;      /* OVERLAP, SPIN: the one it was most: index into trace__threads */
};

/* Doubts about a class's smallest duration. */
enum doubt {
    DOUBT_FEW = 1u << 0,     /* fewer than 100 occurrences */
    DOUBT_UNCLEAN = 1u << 1, /* even the fastest one waited, or was off the CPU */
    DOUBT_OUTLIER = 1u << 2, /* the smallest and the 1st percentile are more than 5 % apart */
    DOUBT_HALVES = 1u << 3,  /* the two halves of the run have other minima (more than 5 %) */
    DOUBT_MODES = 1u << 4,   /* durations have several modes */
    DOUBT_KERNEL = 1u << 5,  /* the kernel's records are missing or were lost in some thread */
};

/* A place in the code at which a class's occurrences called something. */
struct profile_inside {
    uint32_t
        level; /* 1: the class itself called it; the next one with a lesser level encloses it */
    uint32_t place; /* number of the place: equal ones are one place */
    enum class_kind kind;
    const char *function;
    uint64_t least, most; /* how often in one occurrence; level 1 only, else 0 */
    bool is_irregular;    /* what is in it differs too much to be told */
};

/* What the occurrences of a class have in common that other classes of the same site have not
 * (division.h): what they call, in order. What is repeated in a row stands there once. */
struct profile_structure {
    unsigned depth;    /* levels that were looked at; more may be inside */
    bool is_rest;      /* those whose structures are none of the others'; no inside is known */
    struct vec inside; /* struct profile_inside */
    uint64_t nest;     /* number: for analysis/ */
};
void profile_structure__free(struct profile_structure *structure); /* NULL is allowed */

struct profile_class {
    enum class_kind kind;
    uint32_t process;     /* serial of the image in which it was first seen */
    const char *function; /* name of the call, function or region */
    uint64_t address;     /* of a patched function or marker, else 0 */
    uint64_t site;        /* return address of a hooked call, else 0 */
    const char *file;     /* of a marker, else NULL */
    uint32_t line;
    bool has_object;
    uint64_t object;                     /* lock, barrier, … */
    struct profile_structure *structure; /* NULL: whatever it is. Classes of one site and key */
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
    uint64_t exclusive_excess_ns; /* of the time in no nested occurrence; see accumulate.h */
    double score;                 /* largest of the threads' */
    double score_all;             /* excess over the sum of all threads' lifetimes */
    /* Wall time over the one without the excess: at least, at most. 0, 0: not known; the
     * profile leaves it so, whatif.h tells. */
    double wall_gain[2];
    int64_t why_ns[REASONS]; /* adds up to excess_ns */
    enum verdict verdict;
    enum reason cause;   /* REASON_UNEXPLAINED: none is known */
    struct vec evidence; /* struct profile_evidence, by ns */
    unsigned doubts;     /* enum doubt */
    enum confidence confidence;
    uint32_t number;    /* what evidence calls it; 0, 1, 2 …, in no order */
    bool idle;          /* waiting for work, events, time or a thread's end: shown apart. Of a
                           function: most of what it lost is that */
    bool ignored;       /* by a rule */
    struct vec threads; /* struct profile_thread_row, by excess */
    struct vec blames;  /* struct profile_blame, by wait_ns */
    struct vec stacks;  /* struct profile_stack, by share */
    struct accumulator *accumulator; /* of all threads, in ticks */
    uint64_t *histogram;             /* likewise; HISTOGRAM_BUCKETS of them */
    uint64_t thread_excess;          /* ticks: what all threads lost; equals the excess */
};

struct profile_thread {
    uint32_t thread; /* index into trace__threads */
    uint64_t lifetime_ns;
    uint64_t cpu_ns, runnable_ns;      /* UINT64_MAX: not known */
    uint64_t component_ns[COMPONENTS]; /* adds up to lifetime_ns */
    uint64_t events;
    bool has_kernel;      /* the kernel's records tell when it was off the CPU */
    uint64_t kernel_lost; /* of these, so many were lost */
};

/* Whether the parts add up to the whole. Ticks. */
struct profile_audit {
    uint64_t classes;          /* looked at */
    uint64_t excess;           /* Σ over them */
    uint64_t wrong_components; /* classes whose components do not add up to the excess: 0 */
    uint64_t wrong_reasons;    /* likewise the reasons, in ns */
    uint64_t wrong_threads;    /* likewise what the threads lost */
    uint64_t covered;          /* what all threads spent in occurrences */
    uint64_t own_sum;          /* Σ of all classes' exclusive times: covered, unless sampled */
    uint64_t own_least;        /* Σ count · smallest exclusive time */
    uint64_t own_excess;       /* Σ of the exclusive excesses: covered − own_least */
    uint64_t sampled_classes;  /* estimates: the exclusive column cannot add up */
};

/* What makes a class besides site and key. */
enum class_view {
    CLASSES_BY_SITE,      /* nothing */
    CLASSES_BY_STRUCTURE, /* what is called inside, down to the depth at which classes stay few:
                             division.h. An aggregated run knows sites only */
};

struct profile {
    struct vec classes; /* struct profile_class, ranked: at or above the threshold by lost time,
                           then the others (verdict INTERFERENCE), then unclear ones, then
                           ones whose workload varies, then idle ones, then ignored ones */
    struct vec threads; /* struct profile_thread, as trace__threads */
    enum class_view view;
    uint64_t wall_ns;
    uint64_t events;
    uint64_t overhead_ns; /* estimate of what recording cost all threads; 0: not known */
    uint64_t lifetime_sum_ns;
    struct profile_audit audit;
    uint64_t unmatched; /* leaves without an enter, e.g. of functions entered before a fork */
    double threshold;
    struct vec warnings; /* char *: e.g. a rule that asks for an argument that was not recorded */
};

/* By structure. rules: struct profile_rule. symbols is kept, not copied. */
int profile__compute(const struct trace *trace, const struct symbols *symbols,
                     const struct vec *rules, double threshold, struct profile **profile,
                     struct error *error);
int profile__compute_by(enum class_view view, const struct trace *trace,
                        const struct symbols *symbols, const struct vec *rules, double threshold,
                        struct profile **profile, struct error *error);
/* Whether acquisitions of locks were left out: who held one is then not always known. */
bool profile__locks_are_sampled(const struct profile *profile);
void profile__free(struct profile *profile);

#endif
