/* overlap.h: does an occurrence take longer while another class runs on another CPU?
 *
 * x is the share of the occurrence's time on a CPU in which the other class ran on other threads,
 * so that a longer occurrence has not the larger x; y is the time on the CPU that is left to
 * explain. The windows are halved until blocks hold some 16 occurrences of a thread, or as long as
 * x still varies in them, and occurrences are compared within their thread and block alone: phases
 * of the program, in which both threads do other things than before, are between blocks. A line by
 * least squares for each class has the r² told here.
 *
 * What chance makes of r² is seen by turning the other threads' time round in each block, by
 * OVERLAP_SHIFTS different parts of it, which leaves everything as it is but the coincidence. A
 * class is believed when
 *
 *     its slope is positive, and still there without the blocks in which times differ most
 *     its r² is larger than that of all shifts of all candidates, by 0.02 and 4 occurrences' worth
 *     what is typical of those that are overlapped more is longer, too: two kinds of work, of which
 *     one comes with the other class, make a slope as well
 *     the share of the occurrence's beginning tells so, too: who starts together with the other and
 *     goes on for longer meets what that does next, without being slowed by it
 *
 * What cannot be told apart: another class that always comes to the moment with the slow ones, for
 * whatever reason, many times and not only in phases. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_OVERLAP_H
#define HEURT_ANALYSIS_CAUSE_OVERLAP_H

#include "analysis/events/occurrences.h"

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
    double null;      /* the largest r² of all shifts and candidates; 0: nothing was possible */
    double share; /* of the occurrences' excess over the fastest that the slope explains, 0 … 1 */
    double met; /* of the slow occurrences (the slowest, that hold 99 % of the squares of what goes
                   beyond the smallest), the part that was overlapped */
    double meets; /* of the time of the other's intervals that lie in any of the occurrences'
                     threads' time, the part of those that meet a slow occurrence */
};

void overlap__ask(const struct overlap_question *question, struct overlap_answer *answer);

#endif
