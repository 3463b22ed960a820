/* overlap.h: does an occurrence take longer while another class runs on another CPU?
 *
 * For each other class the share of every occurrence during which it ran elsewhere is computed, and
 * the time on the CPU regressed on it (least squares, one class at a time). Occurrences that last
 * longer for another reason meet more of everything; what that makes of slope and r² is seen by
 * shifting the other threads' timelines in circles within each window (OVERLAP_SHIFTS different
 * shifts, the same for all classes of a thread), which leaves everything as it is but the
 * coincidence. A class is believed when its r² beats that of all shifts of all candidates and its
 * slope is positive. For analysis/ only. */
#ifndef HEURT_ANALYSIS_OVERLAP_H
#define HEURT_ANALYSIS_OVERLAP_H

#include "analysis/occurrences.h"

#define OVERLAP_SHIFTS 39 /* beaten by chance once in 40 */

/* What is left to explain of each occurrence's time on the CPU, in ticks, by their order in
 * class_occurrences, which has only those that lie in one window from begin to end and are no inner
 * ones. */
struct overlap_question {
    const struct occurrences *all;
    const struct class_occurrences *class;
    const double *left; /* by occurrence */
    bool preempted;     /* false: others that run; true: others that are preempted (spinning) */
};

struct overlap_answer {
    bool is_found;
    struct class_entry *other;
    uint32_t thread;  /* of the other class, the one it was most */
    double slope;     /* ticks that an occurrence takes longer when it is overlapped all the time */
    double explained; /* r² */
    double null;      /* the largest r² of all shifts and candidates */
    double share; /* of the occurrences' excess over the fastest that the slope explains, 0 … 1 */
    double met;   /* of the slow occurrences (above the middle of smallest and largest), the part
                     that was overlapped */
    double meets; /* of the other's intervals that lie in any of the occurrences' threads' time,
                     the part that meets a slow occurrence */
};

void overlap__ask(const struct overlap_question *question, struct overlap_answer *answer);

#endif
