/* stat_screens.h: what threads did with the CPUs, as a screen, as tables, and as JSON
 * (heurt.stat/1, docs/heurt-stat.md).
 *
 * In goes what was counted, out comes text. It stands on analysis/timeline/service.h. */
#ifndef HEURT_PRESENT_STAT_STAT_SCREENS_H
#define HEURT_PRESENT_STAT_STAT_SCREENS_H

#include "analysis/timeline/service.h"
#include "present/present.h"
#include "present/table/table_format.h"

enum stat_counter {
    STAT_CYCLES,
    STAT_INSTRUCTIONS,
    STAT_STALLED_CYCLES,
    STAT_CACHE_REFERENCES,
    STAT_CACHE_MISSES,
    STAT_COUNTERS,
};

/* What is not known is UINT64_MAX. */
struct stat_view {
    const char *command; /* or the process' name */
    uint32_t pid;        /* attached to; 0: started */
    const struct service_log *log;
    uint32_t cpus;            /* that it may use */
    uint64_t cycles_a_second; /* of the processor's time stamps */
    uint64_t task_clock_ns;   /* CPU time by the kernel's clock of tasks */
    uint64_t usage_ns;        /* by getrusage(2); of a program that was started */
    uint64_t usage_voluntary, usage_involuntary, usage_minor, usage_major; /* likewise */
    uint64_t minor_faults, major_faults;                                   /* counted */
    uint64_t counters[STAT_COUNTERS];
    const char *why_no_counter[STAT_COUNTERS]; /* NULL: it is counted */
    uint64_t lost;                             /* records */
    uint64_t own_ns;                           /* CPU time of heurt meanwhile */
    bool is_cut; /* it ended by a signal or the time that was given, not with the program */
};

/* The verdict, in words. free() it. */
char *stat__sentence(const struct stat_view *view);
/* What figures stand on, and what was not looked at: char *. texts__free it. */
struct vec stat__notes(const struct stat_view *view);
/* Waits for a CPU after a wake-up, of all threads: what the system counts (schedstat) beyond the
 * times that records tell. UINT64_MAX: not known. */
uint64_t stat__woken_ns(const struct stat_view *view);

void stat__put_text(const struct stat_view *view, const struct style *style, FILE *out);
void stat__put_json(const struct stat_view *view, FILE *out);
/* Of a view. */
extern const struct named_table stat_tables[];
#define STAT_TABLES "threads, activity, intervals, model, counters or checks"

/* ---- between the files of this folder -------------------------------------------------------- */

/* So many CPUs as A is modelled on: 1, 2, 4 … until more would change nothing. uint32_t. */
struct vec stat__modelled_cpus(const struct stat_view *view);
/* A figure that is known in two ways. */
struct stat_check {
    const char *what, *of_records, *other; /* constants */
    uint64_t records, others;              /* UINT64_MAX: not known */
    bool is_time, must_agree;
};
/* struct stat_check. vec__free it. */
struct vec stat__checks(const struct stat_view *view);
/* (records − others) / others; NaN: not known. */
double stat_check__difference(const struct stat_check *check);
/* Whether it is a CPU time, and differs by more than 0.5 % and more than 1 ms. */
bool stat_check__fails(const struct stat_check *check);
const char *stat_counter__name(enum stat_counter counter); /* "last_level_misses" */
uint64_t stat__voluntary(const struct stat_view *view);
uint64_t stat__involuntary(const struct stat_view *view);
uint64_t stat__migrations(const struct stat_view *view);
/* As getrusage(2) tells, where it does; else those that were counted. */
uint64_t stat__minor_faults(const struct stat_view *view);
uint64_t stat__major_faults(const struct stat_view *view);

#endif
