/* scaling.h: runs of one program with several numbers of threads, or on several numbers of CPUs:
 * how much faster more of them make it, and which part of it hinders.
 *
 *     alone     1: 8.0 s 8.1 s   2: 4.4 s …   4: 2.6 s …    ──► times, speed-up, the program's law
 *     recorded  1: working in f 7.1 s, serial 0.9 s …       ──► each part's times, and its law
 *
 * What a run's time went to are rows with names that other runs have, too (compare/comparison.h),
 * which add up to its wall time less what recording took. At each count they are scaled to the
 * median time of the runs that were made alone, so that what recording costs is not taken for
 * scaling: a part has the mean of its shares of the recorded runs, and the parts add up to the
 * times of the program by itself. Work that some counts tell under a name of its own and others do
 * not (their functions were not chosen) is one part with all other work; waits that are not there
 * took no time. Parts that never reach 1 % of the run are one part, too.
 *
 * More threads than CPUs is another thing than scaling: such counts are shown, and left out of all
 * laws. What a part costs at a count is its time less what it would take if all the time that it
 * takes with the fewest threads were divided among them. The part that limits is the one that
 * costs most at twice the largest count.
 *
 * In go runs, out come counts, parts and their laws (law.h). It stands on compare/. One thread. */
#ifndef HEURT_ANALYSIS_SCALING_SCALING_H
#define HEURT_ANALYSIS_SCALING_SCALING_H

#include "analysis/compare/comparison.h"
#include "analysis/scaling/law.h"

#include <stdint.h>

/* What is known of a recorded run besides its rows. */
struct sweep_use {
    double at_work;  /* threads on a CPU, while there was one; NaN: not known */
    double alone;    /* of that time, with a single one; likewise */
    double others;   /* CPUs that other programs used meanwhile */
    double spin;     /* of the CPU time, that threads waited on a CPU; 0: none that is known */
    struct vec work; /* struct sweep_work: counts of known calls */
};

/* How often something was done that only the work asks for. */
struct sweep_work {
    const char *what; /* "calls of parallel regions" */
    uint64_t count;
};

/* A run that ended well. */
struct sweep_run {
    uint32_t threads, cpus;
    bool is_recorded;
    uint64_t wall_ns, cpu_ns;    /* cpu_ns: user and system; of one that is recorded unused */
    struct run_figures *figures; /* of recorded runs: wall_ns is the rows' sum. NULL: could not be
                                    read. Not owned */
    struct sweep_use use;        /* likewise */
};

/* A count at which the program was run. */
struct scaling_count {
    uint32_t threads, cpus;
    double count;                /* by which it is sorted: threads, or CPUs */
    size_t alone, recorded;      /* runs */
    double wall_ns, recorded_ns; /* medians; NaN: none */
    double told_ns;              /* likewise, of what the rows of a run add up to */
    double cpu_ns;               /* user and system, of those alone: median; NaN: not known */
    double scatter;              /* (most − least) / median, of those alone; NaN: one run */
    double at_work, alone_share; /* medians; NaN: not known */
    bool is_crowded;             /* more threads than CPUs */
    bool is_used;                /* by the laws */
};

#define SCALING_AHEAD 2 /* twice and four times the largest count */

/* A part of the program. */
struct scaling_part {
    const char *label; /* a run's, or a constant */
    double *ns;        /* by count; 0: it is not there; NaN: nothing was recorded there */
    struct law law;
    struct law_interval ahead[SCALING_AHEAD]; /* no law: by the nearest one, without bounds */
    double cost_ns[SCALING_AHEAD];            /* there */
};

enum scaling_axis {
    SCALING_THREADS,
    SCALING_CPUS, /* one number of threads, on several numbers of CPUs */
};

struct scaling {
    enum scaling_axis axis;
    struct vec counts;                              /* struct scaling_count, by count */
    size_t first, last;                             /* of those used; last == SIZE_MAX: none is */
    struct law law;                                 /* of the whole, alone */
    double ahead[SCALING_AHEAD];                    /* these counts */
    struct law_interval whole_ahead[SCALING_AHEAD]; /* ns; NaN: not known */
    bool is_of_parts;                               /* the whole has no law: sums of the parts */
    struct vec parts;                               /* struct scaling_part, by cost at ahead[0] */
    double recording; /* recorded over alone, less 1: median of the counts; NaN */
    double others;    /* CPUs that other programs used meanwhile: median of the runs; NaN */
    /* The law of all counts but the largest, and what it says of that; NaN: fewer than 4 counts. */
    struct law_interval held_out;
};

/* runs: struct sweep_run; they outlive it. */
struct scaling scaling__of(const struct vec *runs);
void scaling__free(struct scaling *scaling);
/* How many times as fast as with the first count. NaN: not known. */
double scaling__speedup(const struct scaling *scaling, const struct scaling_count *count);
struct law_interval scaling__speedup_ahead(const struct scaling *scaling, size_t ahead);
/* The CPU time with the last count over that with the first one: the same work takes as much. NaN:
 * not known. */
double scaling__cpu_growth(const struct scaling *scaling);
/* Of what the threads (or CPUs) could do: 1 where twice as many take half the time. */
double scaling__efficiency(const struct scaling *scaling, const struct scaling_count *count);
/* The one that limits; NULL: none costs anything, or nothing is known. To want a CPU that other
 * programs use is no limit of the program's. */
const struct scaling_part *scaling__limit(const struct scaling *scaling);

#endif
