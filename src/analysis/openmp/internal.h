/* internal.h: what the walk by threads hands to the figures. Private to this folder. */
#ifndef HEURT_ANALYSIS_OPENMP_INTERNAL_H
#define HEURT_ANALYSIS_OPENMP_INTERNAL_H

#include "analysis/analysis.h"
#include "analysis/openmp/openmp.h"

/* One thread in one region that is called. Ticks. */
struct region_body {
    uint64_t number; /* of the region in its process */
    uint64_t begin, end;
    uint64_t work;
    uint64_t late, late_end; /* tasks that were run behind its end; when the last one ended */
    uint32_t place, team;    /* number in the team; its threads */
    uint32_t row;            /* in the thread's sums */
    uint32_t wanted_first, wanted_behind; /* of the thread's: before it began */
    bool waits;                           /* for tasks, also in such behind its end */
};

/* In no body a thread wanted a CPU, and had none. */
struct wanted_time {
    uint64_t begin, end;
};

/* What a thread did in a body up to a barrier, or up to the body's end; then it waited. */
struct region_stretch {
    uint64_t number; /* of the region */
    uint64_t begin, end;
    uint64_t work, wait;
    uint64_t barrier; /* the place that calls it; 0: the body's end */
    uint64_t loop;    /* the work-shared loop that ended there; 0: none */
    uint32_t place;   /* number in the team */
    uint32_t index;   /* of its stretches in that body, from 0 */
    size_t body;      /* among the thread's */
};

/* A chunk that was told on its own: its first iteration, as the loop counts. */
struct told_chunk {
    uint64_t loop, region; /* sites */
    int64_t first;
    uint64_t iterations, work;
};
#define TOLD_CHUNKS_MOST 65536u /* of a thread: what comes then is like what came */

/* One call of a region. */
struct region_call {
    uint64_t number, site;
    uint64_t begin, end;
    uint64_t paused; /* of that, by the recording, while its caller was in no body */
    uint32_t wanted_first, wanted_behind; /* of the thread's: behind its own body */
    uint32_t thread;
    bool is_nested;
};

/* What a thread did at one place of region, as one number of a team. Times are ticks here. */
struct region_sum {
    uint64_t site;
    uint32_t place;
    struct team_times times; /* without fork, join and the end's barrier */
    struct team_counts counts;
};

/* What the walk has found of a process's thread. */
struct thread_record {
    uint32_t thread, process; /* index into trace__threads; serial */
    struct vec bodies;        /* struct region_body, by begin but for nested ones */
    struct vec calls;         /* struct region_call, likewise */
    struct vec sums;          /* struct region_sum */
    struct vec loops;         /* struct shared_loop, with one member each, place: loop_places */
    struct vec loop_places;   /* uint32_t */
    struct vec constructs;    /* struct task_tally */
    struct vec wanted;        /* struct wanted_time */
    struct vec stretches;     /* struct region_stretch */
    struct vec chunks;        /* struct told_chunk */
    struct vec locks;         /* struct region_lock, ticks in place of ns */
    uint64_t moves;           /* it was back on another CPU, in a body */
    uint64_t paused;          /* in no region */
};

/* Four sizes from one power of two to the next. */
#define TASK_SIZES 256u
#define TASK_SIZE_LEAST(size) \
    ((size) < 8 ? (uint64_t)(size) : (uint64_t)(4 + (size) % 4) << ((size) / 4 - 1))

/* Tasks that were made at one place; ticks in place of ns. */
struct task_tally {
    struct task_construct sums;
    uint64_t quick, quick_ticks;                    /* calls that made some and were not held up */
    uint64_t counts[TASK_SIZES], ticks[TASK_SIZES]; /* by size, on the average where told as one */
};

/* ---- openmp_tasks.c -------------------------------------------------------------------------- */

/* That of the place, which it appends if need be. */
struct task_tally *task_tally__at(struct vec *tallies, uint32_t process, uint64_t site);
/* So many that took so many ticks together, stolen of them of others. */
void task_tally__add_run(struct task_tally *tally, uint64_t count, uint64_t stolen, uint64_t ticks);
/* From the records' constructs, whose sites were put together, to those of the use. */
void openmp_tasks__find(const struct trace *trace, const struct vec *records,
                        struct openmp_use *use);
/* Of a region's time, had its threads tasks to run all the time: at most. made: making them would
 * cost nothing, either. 0: it has none. */
uint64_t region_tasks__saved_ns(const struct openmp_use *use, const struct parallel_region *region,
                                bool made);

/* ---- openmp_walk.c --------------------------------------------------------------------------- */

void *openmp_walk__thread(const struct trace *trace, uint32_t thread);
void openmp_walk__event(void *part, const struct event *event);
void openmp_walk__end(void *part);
/* Frees the part; thread_record__free it. */
struct thread_record openmp_walk__take(void *part);
void thread_record__free(struct thread_record *record);

/* records: struct thread_record. NULL: there is no region. */
struct openmp_use *openmp_use__of(const struct run *run, const struct vec *records);
/* openmp_barriers.c: what threads did up to each barrier: use's barriers, and of its regions and
 * loops what depends on them. site: where a place is called, as regions are told by. */
void openmp_barriers__find(const struct trace *trace, const struct vec *records,
                           uint64_t (*site)(void *at, uint32_t process, uint64_t address), void *at,
                           struct openmp_use *use);
/* openmp_schedule.c: how long a loop takes that is shared otherwise. */

/* What the iterations of a loop cost, from the first to the last, in as many equal parts. */
#define COST_PARTS 512
struct loop_costs {
    double ns[COST_PARTS]; /* of one time that the loop is run, on the average */
    double ns_in_all;
    uint64_t iterations; /* 0: not known */
};
/* Of chunks of n iterations as threads ask for them; n 0: guided. */
double loop_costs__span_ns(const struct loop_costs *costs, uint64_t n, uint32_t threads,
                           uint32_t cpus);
/* The largest n that is nearly as good as the best; 0: guided is. */
uint64_t loop_costs__best_chunk(const struct loop_costs *costs, uint32_t threads, uint32_t cpus);
/* openmp_hints.c: use->hints. */
void openmp_hints__find(const struct run *run, const struct vec *records, struct openmp_use *use);
/* openmp_serial.c: what ran while nobody was in a region: struct serial_part. */
struct vec serial_parts__of(const struct run *run, const struct vec *records);
/* Between the first region and the last one of each thread that calls any. */
struct vec serial_parts__between(const struct run *run, const struct vec *records);

#endif
