/* thread_times.h: what threads did over time, and the longest occurrences of each class.
 *
 *     findings + one walk by threads ──► the states of each thread (thread_states.h)
 *                                   └─► of each class the OCCURRENCES_KEPT longest occurrences
 *
 * What a wait is, and whether it is one for work, the findings tell. An aggregated run keeps no
 * order of events: it has no result. Page faults are in states, and no occurrences. Memory:
 * STRETCHES_KEPT for all threads together, and what is kept of classes. Times are since the
 * run's start. */
#ifndef HEURT_ANALYSIS_TIMELINE_THREAD_TIMES_H
#define HEURT_ANALYSIS_TIMELINE_THREAD_TIMES_H

#include "analysis/findings/findings.h"
#include "analysis/timeline/thread_states.h"

#define OCCURRENCES_KEPT 1000u
#define STRETCHES_KEPT 4000000u
#define STRETCHES_LEAST 4096u /* of a thread, however many there are */

struct kept_occurrence {
    uint64_t start_ns, duration_ns;
    uint32_t thread; /* index into trace__threads */
};

struct thread_times {
    struct thread_states *threads; /* by trace__threads */
    size_t thread_count;
    struct vec *longest; /* struct kept_occurrence, by duration; as profile->classes */
    size_t class_count;
    uint64_t begin_ns, end_ns; /* of the first thread, and of the last one */
};

/* After findings_analysis; a struct thread_times. */
extern const struct analysis thread_times_analysis;

#endif
