/* openmp.h: parallel regions of OpenMP: what threads do in them, what they wait for, and what of
 * the program's threads is used at all.
 *
 *     who calls    serial |fork|--- work ---|~ barrier ~|--- work ---|join| serial
 *     another                  |--- work --------------|-- work --|~ end ~|
 *
 * In goes a trace, out come figures by region (a place that is called from, in a process), by
 * number of the thread in its team, by loop in a region, by construct that makes tasks, and for the
 * whole run, as docs/openmp.md defines them. Of a body's time, work is what is left without waits
 * (barriers, locks, tasks that were not there), time without a CPU, and other waits; tasks are work
 * of who runs them. Waits and work are in no two parts, and add up:
 *
 *     team × time = work + fork + barrier + lock + task + other + no CPU + join + recording
 *
 * What recording stops who calls a region for, before the team begins, is no time of the region.
 * A region in another one is work of the thread that calls it there, but for what that waits at its
 * end, and a row of its own.
 *
 * One walk by threads; memory: some 100 bytes a thread and region that is called, and the sums. */
#ifndef HEURT_ANALYSIS_OPENMP_OPENMP_H
#define HEURT_ANALYSIS_OPENMP_OPENMP_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;

/* What threads of teams spent their time with; ns. */
struct team_times {
    uint64_t work_ns;
    uint64_t fork_ns;      /* until their bodies began */
    uint64_t join_ns;      /* from the last body's end until who called goes on */
    uint64_t barrier_ns;   /* explicit ones, and for others at the region's end, */
    uint64_t end_ns;       /* which is so much of it */
    uint64_t lock_ns;      /* critical and ordered sections, locks of any kind */
    uint64_t task_ns;      /* waited for tasks, and there was none to run */
    uint64_t other_ns;     /* blocked otherwise, or in calls: files, sockets, sleep */
    uint64_t no_cpu_ns;    /* wanted a CPU and had none */
    uint64_t recording_ns; /* was being recorded, where that stopped it */
};

/* What was counted in bodies. */
struct team_counts {
    uint64_t locks, locks_waited; /* that were taken; after a wait */
    uint64_t entered, entered_ns; /* critical sections that were free, and the cost of entering
                                     them: of those that were told one by one */
    uint64_t tasks, stolen;       /* that were run; of others */
    uint64_t task_work_ns, made, made_ns, taskwaits, singles, cancels, chunks, iterations;
};

/* A thread of a region's teams, by its number in them. */
struct team_member {
    uint64_t bodies, last; /* in so many it was the last at the end */
    struct team_times times;
    struct team_counts counts;
};

struct parallel_region {
    uint32_t process; /* serial */
    uint64_t site;    /* of the call */
    uint64_t count, ns;
    uint64_t waiting;     /* bodies whose thread waited for tasks, in tasks that it ran, too */
    uint32_t threads;     /* of the largest team */
    bool is_nested;       /* all were called in another one */
    uint64_t capacity_ns; /* Σ team × time */
    uint64_t chain_ns;    /* Σ of the most work that a thread had */
    uint64_t mean_ns;     /* Σ of the work a thread had on the average */
    uint64_t saved_ns;    /* of the wall time, were work evenly divided: at most, on these CPUs */
    double stretched;     /* by others that had the CPUs, so many times as long as work takes */
    struct team_times times;
    struct team_counts counts;
    struct vec members; /* struct team_member, by number */
    struct vec sites;   /* uint64_t: all calls of it; compilers copy code */
};

/* A barrier in a region, or the region's end: what threads did up to it, and who came last. */
struct region_barrier {
    uint32_t process;
    uint64_t region_site, site; /* 0: the region's end */
    uint64_t loop_site;         /* the loop that ends there; 0: none is told */
    uint64_t times;             /* that a team came to it */
    uint32_t threads;           /* of the largest team */
    uint64_t wait_ns;           /* of all threads */
    uint64_t work_ns;           /* of all threads, since the barrier before */
    uint64_t chain_ns;          /* Σ of the most work that a thread had */
    uint64_t mean_ns;           /* Σ of the work a thread had on the average */
    uint64_t span_ns;           /* Σ of the least time that this work takes on these CPUs */
    uint64_t saved_ns;          /* of the wall time, were work evenly divided: at most */
    uint64_t joined_ns;         /* likewise, if nobody waited there for the others */
    struct vec members;         /* struct barrier_member, by number */
};

struct barrier_member {
    uint64_t last; /* so many times it was the last that came */
    uint64_t work_ns, wait_ns;
    uint64_t last_work_ns, last_others_ns; /* its work then, and the others' on the average */
};

/* A lock that is taken in a region. */
struct region_lock {
    uint32_t process;
    uint64_t region_site, site, address; /* where it is taken */
    uint32_t kind;                       /* enum heurt_lock_kind */
    uint64_t count, waited, wait_ns;
    uint64_t held, held_ns; /* of so many it is known how long they were held */
};

/* What to try, each from figures that say so. */
enum openmp_hint_kind {
    HINT_DYNAMIC,       /* schedule(dynamic, n) */
    HINT_GUIDED,        /* schedule(guided) */
    HINT_EVEN,          /* work that is no loop, as far as is known: divide it evenly */
    HINT_COLLAPSE,      /* iterations are too few: figure of them */
    HINT_NOWAIT,        /* no barrier there */
    HINT_LARGER_CHUNKS, /* schedule(dynamic, n): chunks take figure ns */
    HINT_LARGER_TASKS,  /* n as one: they take figure ns */
    HINT_FEWER_WAITS, /* for tasks made there, n of which are made for one; for figure of their time
                         threads have none to run */
    HINT_NO_TASKWAIT, /* in tasks made there: for figure of their time threads wait in one for its
                         own */
    HINT_JOIN_REGIONS,    /* several as one: one takes figure ns */
    HINT_REDUCTION,       /* atomic or reduction: the section takes figure ns */
    HINT_SHORTER_SECTION, /* less in it: likewise */
    HINT_SEVERAL_LOCKS,   /* likewise */
    HINT_FEWER_THREADS,   /* n */
    HINT_BIND,            /* OMP_PROC_BIND: figure moves a second */
    HINT_PASSIVE,         /* OMP_WAIT_POLICY=passive */
};

struct openmp_hint {
    enum openmp_hint_kind kind;
    uint32_t process;
    uint64_t region_site, site; /* 0: the region as a whole */
    uint64_t lock;              /* 0: it is about none */
    uint64_t n;
    double figure;
    uint64_t saved_ns; /* of the wall time; 0: not known */
    bool is_bound;     /* at most so much; else that is replayed */
    double gain;       /* 0: not known */
};

/* A work-shared loop, or sections, in a region. */
struct shared_loop {
    uint32_t process;
    uint64_t site, region_site;
    uint32_t schedule;        /* enum heurt_schedule */
    uint64_t chunk;           /* iterations, of the last one; 0: as the runtime chooses */
    uint64_t times;           /* that threads began it */
    uint64_t iterations;      /* that were done */
    uint64_t chunks, ns;      /* all threads' */
    uint64_t longest_ns;      /* of its chunks that were told on their own; 0: none was */
    uint64_t wait_ns;         /* at the barrier at its end, of all threads */
    uint64_t saved_ns;        /* of the wall time, were its work evenly divided: at most */
    struct vec members;       /* struct loop_member, by number in the team */
    struct loop_costs *costs; /* of its iterations (openmp_schedule.c); NULL: no chunks are told */
};
struct loop_costs;

struct loop_member {
    uint64_t times, iterations, chunks, ns;
    uint64_t wait_ns, last; /* at that barrier; so many times it was the last that came */
};

/* A place that makes tasks. */
struct task_construct {
    uint32_t process;
    uint64_t site;
    uint64_t calls, calls_ns; /* that made them (a taskloop is one) */
    uint64_t count, stolen, ns;
    uint64_t least_ns, most_ns; /* of a task; of those told as one, on the average */
    uint64_t small, small_ns;   /* that took less than TASK_COSTS times what making one takes */
};
#define TASK_COSTS 10

/* A thread, whatever its number in teams. */
struct team_thread {
    uint64_t bodies;       /* of regions that it was in */
    uint64_t task_lost_ns; /* in regions that have tasks: it made them, or had none to run */
};

/* Code that ran between regions. */
struct serial_part {
    uint32_t process;
    uint64_t address; /* in it */
    uint64_t ns;
};

/* The whole run: capacity is all that the largest team could have done while those who call regions
 * lived. All below adds up to it. */
struct efficiency {
    uint32_t threads; /* of the largest team */
    uint64_t capacity_ns;
    uint64_t life_ns;        /* of those who call regions */
    uint64_t serial_ns;      /* of the wall time: in no region. Work, */
    uint64_t serial_lost_ns; /* but the other threads' time then is lost */
    uint64_t between_ns;     /* of serial_ns: from the first region's begin to the last one's end */
    double callers;          /* that were between their first and last region at a time, on the
                                average while any was; 0: none called a region */
    uint64_t unused_ns;      /* teams that were smaller */
    struct team_times times; /* of regions that are in no other one */
};

struct openmp_use {
    struct vec regions;    /* struct parallel_region, of most capacity first */
    struct vec loops;      /* struct shared_loop, of most time first */
    struct vec barriers;   /* struct region_barrier, by region, as they are passed */
    struct vec locks;      /* struct region_lock, of most wait first */
    struct vec hints;      /* struct openmp_hint, of most gain first */
    struct vec constructs; /* struct task_construct, likewise */
    struct vec threads;    /* struct team_thread, by trace__threads */
    struct vec serial;     /* struct serial_part, likewise; empty where nothing was sampled */
    struct vec between;    /* likewise, of code between the first region and the last one alone, by
                              the innermost function of the program */
    struct efficiency efficiency;
    uint64_t task_cost_ns; /* of making one, on the average; 0: none was */
    uint32_t cpus;
    uint64_t wall_ns;
};

/* A struct openmp_use; no result where no region is told. */
extern const struct analysis openmp_analysis;

/* How many times as fast the run would be with all of a region's work evenly divided: at most. */
double parallel_region__gain(const struct openmp_use *use, const struct parallel_region *region);
/* Of the wall time, had threads tasks to run all the time in regions that have any: at most. */
uint64_t openmp_use__saved_by_tasks(const struct openmp_use *use);
/* What gains most of what is to be tried with tasks; NULL: nothing is known to. */
const struct openmp_hint *openmp_use__task_hint(const struct openmp_use *use);
/* Likewise with the chunks of loops that are small. */
const struct openmp_hint *openmp_use__chunk_hint(const struct openmp_use *use);
/* How many times the work of the average thread the busiest would have, were its loops shared in
 * chunks of n (0: guided), on the average; 1: evenly. NAN: chunks are told of none of them. */
double parallel_region__unevenness(const struct openmp_use *use,
                                   const struct parallel_region *region, uint64_t n);
/* What of the capacity was work, in regions and between them: 0 … 1. */
double efficiency__value(const struct efficiency *efficiency);
/* As docs/openmp.md defines them: value = region + serial - 1. */
double efficiency__of_regions(const struct efficiency *efficiency);
double efficiency__of_serial(const struct efficiency *efficiency);
/* Which part of the capacity threads in regions wanted a CPU for, and had none. */
double efficiency__no_cpu(const struct efficiency *efficiency);
double efficiency__balance(const struct openmp_use *use);
/* Of its capacity: all but work. */
static inline uint64_t parallel_region__lost_ns(const struct parallel_region *region)
{
    return region->capacity_ns > region->times.work_ns ? region->capacity_ns - region->times.work_ns
                                                       : 0;
}
/* What critical sections cost that were free: the mean cost of those told, for all. */
uint64_t team_counts__entry_ns(const struct team_counts *counts);

#endif
