/* results.h: from ticks and tables of the fold to what profile.h promises. For analysis/ only. */
#ifndef HEURT_ANALYSIS_LEDGER_RESULTS_H
#define HEURT_ANALYSIS_LEDGER_RESULTS_H

#include "analysis/ledger/idle_share.h"
#include "analysis/ledger/profile.h"

/* What every class's result needs. */
struct result_base {
    const struct trace *trace;
    const uint64_t *lifetimes;      /* ticks, by thread */
    uint64_t lifetime_sum;          /* ticks */
    const struct idle_shares *idle; /* by thread */
    bool doubts_running;            /* a check fails that the time which classes ran stands on */
};

/* Moves a class out of entry, which then no longer owns what the result has. */
void class__result(const struct result_base *base, struct class_entry *entry,
                   struct profile_class *result);

/* Waits and lifetime in ns; the components add up to the lifetime. */
void thread__result(const struct result_base *base, const struct trace_thread *thread,
                    uint32_t index, const struct thread_result *folded,
                    struct profile_thread *result);

#endif
