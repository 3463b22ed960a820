/* idle_share.h: how much of the waiting in a function is waiting for work.
 *
 * Which waits are idle is known of calls (polls, joins; blame.h for condition variables and
 * semaphores), whose classes are not in the functions' accumulators one by one. So of each thread
 * the idle share of all its condition waits, network and other blocked time is taken, and of a
 * function that waits in these ways the mean of its threads' shares, by what it lost on each: an
 * estimate. For analysis/ only. */
#ifndef HEURT_ANALYSIS_LEDGER_IDLE_SHARE_H
#define HEURT_ANALYSIS_LEDGER_IDLE_SHARE_H

#include "analysis/events/spans.h"

struct idle_shares {
    double of[COMPONENTS]; /* 0 … 1; 0 of what is never idle */
};

/* By thread; free() it. To be asked when it is known which classes are idle. */
struct idle_shares *idle__shares(const struct class_table *table,
                                 const struct thread_result *results);

/* Of a class: 1 where it is itself idle. */
double idle__share(const struct idle_shares *shares, const struct class_entry *entry,
                   enum component component);

#endif
