#include "analysis/ledger/verdict.h"

static bool is_interference(unsigned reason)
{
    return reason < COMPONENT_OVERHEAD ||
           (reason >= REASON_OVERLAP && reason <= REASON_SPIN); /* overlap, sharing, spinning */
}

void verdict__give(struct profile_class *class)
{
    double covered = 0, excess = (double)class->excess_ns;
    unsigned cause = REASON_UNEXPLAINED;
    for (unsigned i = 0; i < REASONS; i++) {
        if (!is_interference(i))
            continue;
        covered += (double)class->why_ns[i];
        if (cause == REASON_UNEXPLAINED || class->why_ns[i] > class->why_ns[cause])
            cause = i;
    }
    class->verdict = VERDICT_UNCLEAR;
    class->cause = REASON_UNEXPLAINED;
    if (class->idle) /* it waited for work, not for others */
        return;
    if (excess > 0 && covered >= excess / 2) {
        class->verdict = VERDICT_INTERFERENCE;
        class->cause = (enum reason)cause;
    } else if (excess > 0 && (double)class->why_ns[REASON_WORKLOAD] >= (excess - covered) / 2) {
        class->verdict = VERDICT_WORKLOAD;
        class->cause = REASON_WORKLOAD;
    }
}
