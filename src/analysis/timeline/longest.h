/* longest.h: of each class the occurrences that took longest, with what each consists of.
 *
 *     profile + one walk by threads ──► of each class LONGEST_KEPT occurrences, the longest first
 *
 * Whoever wants to look at single occurrences, and not at sums, gets those that cost most;
 * components add up to the duration. An aggregated run keeps no order of events: it has no result.
 * Memory: LONGEST_KEPT times about 130 bytes for each class. Times are since the run's start. */
#ifndef HEURT_ANALYSIS_TIMELINE_LONGEST_H
#define HEURT_ANALYSIS_TIMELINE_LONGEST_H

#include "analysis/ledger/profile.h"

#define LONGEST_KEPT 1000u

struct long_occurrence {
    uint64_t start_ns, duration_ns;
    uint64_t component_ns[COMPONENTS];
    uint32_t thread; /* index into trace__threads */
    uint64_t offer;  /* private: of equally long ones the earlier is kept */
};

struct longest {
    struct vec *classes; /* struct long_occurrence, by duration; as profile->classes */
    size_t class_count;
};

/* After profile_analysis; a struct longest. */
extern const struct analysis longest_analysis;

#endif
