/* findings.h: causes of lost time, the most expensive first: what the first screen shows.
 *
 * A finding is one place of the program or one object at which threads keep each other, whichever
 * explains more: classes of the ledger that belong together, with the gain of all of them.  What no
 * class tells by itself comes from the threads' components: CPU shortage, page faults, waits inside
 * the system's libraries, threads that are done long before the last one.
 *
 * Shares are of the life of threads that had work: those with at least WORK_PART of the CPU time of
 * the busiest, those with one start routine that together have so much and hardly wait, and those
 * who meet one of these at a barrier, or wait for what is made once. A finding is ranked when it
 * costs FINDING_SHARE of that or is predicted to gain FINDING_GAIN (more where that is assumed),
 * unless it is idle or an estimate whose error is more than half of it. Idle is a wait for work;
 * not a hand-over: a queue's two ends that wait for one another about as often. A shortage of CPUs
 * is ranked by what threads of the run itself took of them beside the work, and a wait for who has
 * none because of programs outside of it is no loss.
 *
 * Where threads are aside, findings are found of all threads, so that they are the same ones with
 * the same gains; then all but the gain is made that of the others, who count as having had work,
 * whatever they did. One in which these lost nothing is none.
 *
 * All tables belong to the result. Not thread-safe. */
#ifndef HEURT_ANALYSIS_FINDINGS_FINDINGS_H
#define HEURT_ANALYSIS_FINDINGS_FINDINGS_H

#include "analysis/findings/roles.h"
#include "analysis/ledger/profile.h"
#include "analysis/memory/remote.h"
#include "analysis/memory/sharing.h"

#define FINDING_SHARE 0.15
#define FINDING_GAIN 1.1
#define FINDING_NOTED 0.01 /* share from which one that is not ranked is named */
#define FINDING_NO_CLASS UINT32_MAX

enum finding_category {
    FINDING_LOCK,
    FINDING_CONDITION,
    FINDING_BARRIER,
    FINDING_LATCH,
    FINDING_SEMAPHORE,
    FINDING_JOIN,
    FINDING_SPINNING,
    FINDING_YIELD,
    FINDING_POLLING,
    FINDING_DISK,
    FINDING_FILE_LOCK,
    FINDING_STDIO,
    FINDING_ALLOCATOR,
    FINDING_NETWORK,
    FINDING_PIPE,
    FINDING_MESSAGE,
    FINDING_CPU,
    FINDING_PAGE_FAULT,
    FINDING_MEMORY_MAP,
    FINDING_FALSE_SHARING,
    FINDING_TRUE_SHARING,
    FINDING_REMOTE_MEMORY,
    FINDING_RETRY,
    FINDING_IMBALANCE,
    FINDING_CREATION,
    FINDING_TASK,
    FINDING_REGION, /* parallel regions: their threads begin and end */
    FINDING_SIGNAL,
    FINDING_OVERLAP,
    FINDING_UNEXPLAINED,
    FINDING_CATEGORIES
};
const char *finding_category__name(enum finding_category category); /* as in the JSON contract */

/* Whom a part is blamed on. */
struct finding_holder {
    uint32_t process; /* serial */
    uint64_t site;
    uint64_t wait_ns; /* because of it */
    double share;     /* of what is known of the part */
};

/* One place of an object, or one object of a place. */
struct finding_part {
    uint32_t class;             /* that lost most there */
    const struct symbol *place; /* NULL: the class's */
    uint64_t lost_ns;
    struct vec holders; /* struct finding_holder, each function once, by wait_ns */
};

/* How often it was waited for. */
struct finding_counts {
    uint64_t taken, waits; /* of locks and semaphores all acquisitions; else both are occurrences */
    uint64_t wait_ns;      /* Σ over waits */
    uint64_t longest_ns;
    uint64_t blamed_ns;            /* of wait_ns: whoever was waited for is known */
    uint64_t doing_ns[COMPONENTS]; /* what that one did then; adds up to blamed_ns */
    uint64_t unheld_ns; /* of wait_ns, of locks: nobody had it, who was next had no CPU yet */
};

/* How threads, or processes, are waited for. */
enum join_order {
    JOIN_ANY,
    JOIN_SERIAL,   /* they are started and waited for one after another */
    JOIN_IN_ORDER, /* the oldest is waited for, also where younger ones are done, before the next
                      starts */
};

struct finding {
    enum finding_category category;
    bool ranked;
    bool is_noted;      /* not ranked, but one of those that cost the most of the others */
    uint32_t leader;    /* the class that lost most, or that it hit most: place in
                           profile->classes; FINDING_NO_CLASS: none is known */
    struct vec classes; /* uint32_t: places in profile->classes, by what they lost */
    struct vec losses;  /* uint64_t, ns: what each of these lost; or none, when it is one */
    struct vec beside;  /* uint32_t, of locks: functions and loops that take them all the time, and
                           are slower while others do: what they lost is the leader's */
    struct vec parts;   /* struct finding_part, by lost_ns; their sum is the finding's. None:
                           it was found otherwise */
    struct finding_counts counts; /* of its classes; of one lock, of all that take it */
    const struct symbol *place;   /* in the program's own code; NULL: not known */
    bool has_object; /* all of its classes have an object: the leader's; objects: how many */
    uint32_t objects;
    const struct sharing *sharing;      /* FALSE_SHARING, TRUE_SHARING; else NULL */
    const struct remote_object *remote; /* REMOTE_MEMORY; else NULL */
    bool is_between;                    /* IMBALANCE: between parallel regions of OpenMP */
    bool is_dealing; /* TRUE_SHARING: in OpenMP's runtime, which deals out iterations, few at a time
                      */
    uint32_t thread; /* IMBALANCE: the last one: index into trace__threads; else UINT32_MAX */
    uint32_t stage_and_1; /* CONDITION, SEMAPHORE: the others of a pipeline wait for that thread,
                             which works all the time: likewise; 0: there is none */
    uint32_t sleep_and_1; /* of waits for threads: these sleep for half of it at least, most in that
                             class: a place in profile->classes; 0: they do not */
    bool is_effect;       /* a wait for answers which that of another finding makes late */
    bool is_in_answers;   /* others wait longer for answers because of it */
    double slower;        /* OVERLAP: so many times as long as undisturbed; else 0 */
    double own_gain;      /* CPU: of the gain, what would come from the run's own other threads */
    unsigned bound_cpus;  /* CPU: who wanted one stays on so many, and others are free; or 0 */
    uint64_t lost_ns;     /* Σ over threads that had work */
    uint64_t error_ns;    /* of it, where it was sampled */
    uint64_t beside_ns;   /* of it, of locks: no wait, but what is slower while others take it */
    /* Where threads are aside (format/reader.h), all that is above, but the thread, is of the
     * others, and what follows of all: what a replay takes away; none: it cannot. */
    struct vec removed; /* uint32_t: places in profile->classes */
    bool is_of_some;
    double told_part; /* private, as is this: of lost_ns; negative: as its classes are long */
    uint64_t told_beside_ns;    /* of beside_ns */
    double share;               /* of their lives */
    double wall_gain[2];        /* at least, at most; 1, 1: none */
    uint64_t wall_without_ns;   /* what the run would take with the middle of that */
    bool is_gil;                /* LOCK: CPython's */
    bool is_once;               /* LATCH: who comes first makes what all wait for */
    bool is_ordered;            /* LOCK: an ordered section of OpenMP's: who is not next waits */
    double in_vain;             /* CONDITION: that part of those that are woken find nothing, most
                                   of them; 0: it is not so */
    bool is_on_cpu;             /* NETWORK, DISK: no waits, but calls that take CPU time */
    bool is_work;               /* likewise, and that time is needed; POLLING: ranks of MPI sleep */
    bool is_of_pieces;          /* NETWORK: most waits are as long as TCP delays acknowledgements */
    bool is_of_forked;          /* PAGE_FAULT: most of it is in processes that were forked */
    bool is_of_many;            /* PAGE_FAULT: in many programs, in each a little */
    enum join_order join_order; /* of JOIN */
    bool is_assumed; /* the gain hangs on threads that serve or run until they are told to end, on
                        room between the ends of a hand-over, or on answers that need not be waited
                        for one by one */
    bool is_served;  /* NETWORK, PIPE: in most of what was waited, others worked on what had been
                        asked;  it was not their being late */
    enum confidence confidence;
};

struct findings {
    struct vec rows;                 /* struct finding: ranked ones first, by lost_ns */
    const struct sharings *sharings; /* as sharings_analysis tells them, or */
    const struct remotes *remotes;   /* as remote_analysis tells them; NULL: one node */
    struct sharings *own_sharings;   /* the same; NULL: they are that one's */
    bool *had_work;                  /* by trace__threads */
    uint64_t working_ns;             /* Σ lives of threads that had work */
    uint64_t runnable_ns; /* of it: that they wanted a CPU and had none, outside of waits for
                             others */
    uint64_t short_ns;    /* of it: waits for others, that somebody wanted a CPU meanwhile and the
                             machine had none: no finding has that */
    uint64_t idle_ns;     /* of it: that they waited for work */
    uint32_t working_threads;
    uint64_t wall_ns;
    uint64_t rest_ns;   /* the most that one finding costs which is neither ranked nor noted */
    struct vec roles;   /* struct role: those that had work first, by lifetime */
    uint32_t *roles_of; /* by trace__threads: places in roles */
    enum component *waits_as; /* by profile->classes: what its waits are; COMPONENTS: for work */
};

/* Those of the run's profile, a struct findings. */
extern const struct analysis findings_analysis;

/* symbols may be NULL. */
struct findings *findings__find(const struct trace *trace, const struct symbols *symbols,
                                const struct profile *profile);
void findings__free(struct findings *findings); /* NULL is allowed */

/* Whether a replay (whatif.h) models what the finding waits for. */
bool finding__can_be_replayed(const struct profile *profile, const struct finding *finding);
/* Takes over a replay's gain, no more than the estimate that it has, with the part of the work that
 * a replay leaves of it: it does not know that work which is left takes CPUs and its time. Call
 * findings__rank when all have theirs. */
void finding__set_gain(struct finding *finding, const double gain[2], double work_left);
/* Says which are ranked, and sorts. */
void findings__rank(struct findings *findings);
/* The ranked one that a report begins with: the first of which something is to be gained, else the
 * first. NULL: none is ranked. */
const struct finding *findings__verdict(const struct findings *findings);

#endif
