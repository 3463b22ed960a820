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
 * Threads that are aside (trace__put_aside) have classes of their own, behind all others: whom
 * waits are blamed on and what is predicted is of all threads, while each class, and every sum, is
 * of the others alone.
 *
 * All tables belong to the profile.  Units are in the names. */
#ifndef HEURT_ANALYSIS_LEDGER_PROFILE_H
#define HEURT_ANALYSIS_LEDGER_PROFILE_H

#include "analysis/analysis.h"
#include "analysis/callsite/definition.h"
#include "analysis/callsite/evidence.h"
#include "analysis/callsite/rules.h"
#include "base/error.h"
#include "base/table.h"
#include "format/reader.h"
#include "format/symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* What the loss is (verdict.h has the rule). */
enum verdict {
    VERDICT_INTERFERENCE,
    VERDICT_WORKLOAD, /* a false positive of the score: what it had to do varies */
    VERDICT_UNCLEAR,  /* not enough evidence */
};

struct profile_thread_row {
    uint32_t thread; /* index into trace__threads */
    uint64_t count, sum_ns, excess_ns;
    double score; /* 0 … 1 */
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

struct profile_class {
    struct class_definition what;
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
    uint32_t number;     /* what evidence calls it; 0, 1, 2 …, in no order */
    uint32_t twin_and_1; /* place of the same class of threads that are aside, or that are not, from
                            1; 0: there is none */
    bool
        has_many_twins; /* there, calls of the function are told apart by what they call, or here */
    bool idle;          /* waiting for work, events, time or a thread's end: shown apart. Of a
                           function: most of what it lost is that */
    bool joins;         /* at a condition or semaphore that tells of the end of a thread */
    struct vec threads; /* struct profile_thread_row, by excess */
    struct vec blames;  /* struct profile_blame, by wait_ns */
    struct accumulator *accumulator; /* of all threads, in ticks */
    uint64_t *histogram;             /* likewise; HISTOGRAM_BUCKETS of them */
    uint64_t thread_excess;          /* ticks: what all threads lost; equals the excess */
};

struct profile_thread {
    uint32_t thread; /* index into trace__threads */
    uint64_t lifetime_ns;
    uint64_t cpu_ns, runnable_ns;      /* UINT64_MAX: not known */
    uint64_t component_ns[COMPONENTS]; /* adds up to lifetime_ns */
    uint64_t creating_ns; /* in calls that made threads: of no class, running for the most part */
    uint64_t idle_end_ns; /* it was in a wait for work, events or time when the trace ended: so much
                             of the component below is that, and of no class */
    enum component idle_end;
    uint64_t served_ns; /* of its waits for messages: others were at work on what it had asked */
    uint64_t kernel_overhead_ns; /* of the overhead: what the kernel's records of it cost */
    uint64_t events;
    int cpu;              /* that it came back to, nearly always; -1: several, or not known */
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

/* A figure against what the system counted by other means. */
enum profile_check_name {
    CHECK_RUNNING,     /* Σ running, and Σ CPU time, ns: no more */
    CHECK_LIVES,       /* Σ lifetimes, and those that the kernel told, ns: as many */
    CHECK_FAULT_TIME,  /* page faults on a CPU, and CPU time in the kernel, ns: no more */
    CHECK_FAULT_COUNT, /* page faults: no more */
    PROFILE_CHECKS
};

/* Holds to one part in a hundred, and what the system's own count is wrong by. */
struct profile_check {
    bool known; /* both are */
    bool holds;
    uint64_t ours, counted;
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
                           ones whose workload varies, then idle ones, then ignored ones, then
                           those of threads that are aside */
    struct vec asides; /* struct profile_class: of threads that are aside, once they are left out */
    struct vec threads;       /* struct profile_thread, as trace__threads, until then */
    struct vec aside_threads; /* struct profile_thread: that are aside, from then on */
    enum class_view view;
    uint64_t wall_ns;
    uint64_t events;
    uint64_t overhead_ns; /* estimate of what recording cost all threads; 0: not known */
    uint64_t lifetime_sum_ns;
    uint64_t
        seen_ns; /* of all threads' time on a CPU: in what occurred twice on its thread; about */
    struct profile_audit audit;
    struct profile_check checks[PROFILE_CHECKS];
    uint64_t unmatched; /* leaves without an enter, e.g. of functions entered before a fork */
    double threshold;
    double replayed_share; /* how much of the run gains are from; 0: nothing was replayed */
    char *no_gains;        /* why nothing could be; NULL: it was, or was not asked for */
    struct vec warnings;   /* char *: e.g. a rule that asks for an argument that was not recorded */
};

struct profile_options {
    enum class_view view;
    const struct vec *rules; /* struct profile_rule; NULL: there are none */
    double threshold;
};

/* With struct profile_options; its symbols outlive the result, a struct profile. */
extern const struct analysis profile_analysis;
/* Leaves out, where threads are aside (format/reader.h), all classes and threads but those that are
 * to be told of: what it comes to (below) is of these in any case. Nothing may be replayed from
 * then on, for that is of all threads. Classes keep their places. */
void profile__leave_out_asides(struct profile *profile, const struct trace *trace);
/* Whether acquisitions of locks were left out: who held one is then not always known. */
bool profile__locks_are_sampled(const struct profile *profile);
void profile__free(struct profile *profile);

/* ---- what it comes to ------------------------------------------------------------------------ */

/* Threads of which the kernel's records are missing, and how many of the others' were lost. */
size_t profile__without_kernel(const struct profile *profile);
uint64_t profile__kernel_lost(const struct profile *profile, const struct trace *trace);
/* Σ cpu_ns over all threads; the number of threads of which it is not known. The CPU time is then
 * the command's as a whole, which the recorder got with its end, if it did. */
uint64_t profile__cpu_ns(const struct profile *profile, const struct trace *trace, size_t *unknown);
/* How many threads' work it was: their CPU time over the run time; NaN: not known. */
double profile__work(const struct profile *profile, const struct trace *trace);
/* What all threads did. */
void profile__component_ns(const struct profile *profile, uint64_t sums[COMPONENTS]);
/* CPUs that other programs used while this one ran; less than OTHERS_FROM, or not known: 0. */
#define OTHERS_FROM 0.2
double profile__cpus_of_others(const struct profile *profile, const struct trace *trace);
/* How far the CPUs were used, by whomever but heurt: 0 … 1. Where one was idle, threads wanted a
 * CPU because of waits that had just ended. 1 where it is not known. */
double profile__use_of_cpus(const struct profile *profile, const struct trace *trace);
/* What recording cost: all threads, and, as far as the CPUs were used, by the CPU time that the
 * recorder took from them meanwhile. 0: not known. */
uint64_t profile__recording_ns(const struct profile *profile, const struct trace *trace);
/* CPU time of the recorder while the program ran. */
uint64_t recorder__cpu_ns(const struct trace *trace);
/* The part of all threads' time on a CPU in code of which the thread did not do the same twice, as
 * far as was recorded: 0 … 1; NaN: none ran. */
double profile__unseen(const struct profile *profile);
/* The waiting that a class's holders share: all of it where acquisitions were sampled, else that of
 * which a holder is known. */
uint64_t profile_class__held_ns(const struct profile *profile, const struct profile_class *class);

/* How many of its occurrences took from lower_ns up to the next one's. */
struct duration_bin {
    uint64_t lower_ns, count;
};
/* From 0, 1, 2, 5, 10, 20, 50 … ns on. */
#define PROFILE_BINS 58
/* Which durations are in a bin is right to a sixteenth of its bounds. False: nothing is known of a
 * class's durations one by one. */
bool profile_class__bins(const struct profile_class *class, const struct trace *trace,
                         struct duration_bin bins[PROFILE_BINS]);

/* ---- whether its parts add up ---------------------------------------------------------------- */

/* An identity: of each class (then wrong counts classes, and the sides are sums over all), or of
 * the whole. */
struct profile_identity {
    const char *name, *left_name, *right_name, *unit;
    uint64_t left, right;
    uint64_t wrong;
    bool of_classes;
    bool is_estimate; /* of sampled occurrences: it need not hold */
    bool is_exact;
};
#define PROFILE_IDENTITIES 5

/* What a class lost, and the sum of its components, to the tick. */
struct profile_sides {
    uint64_t excess, components;
};
struct profile_sides profile_class__sides(const struct profile_class *class);
void profile__identities(const struct profile *profile,
                         struct profile_identity identities[PROFILE_IDENTITIES]);
/* As far as they are no estimates. */
bool profile__adds_up(const struct profile *profile);
/* The same as tables, table_rows__free them: a row an identity, and one row with the audit. */
struct table_rows profile__identity_rows(const struct profile *profile);
struct table_rows profile__audit_row(const struct profile *profile);

/* The table by which whoever walks over the trace again finds the classes of its events: they have
 * the numbers of the profile's rows. Belongs to a profile that was computed; for one walk at a
 * time. For analysis/ only. */
struct class_table *profile__table(const struct profile *profile);

#endif
