/* checks.h: figures of the ledger against what the system counted by other means. */
#ifndef HEURT_ANALYSIS_LEDGER_CHECKS_H
#define HEURT_ANALYSIS_LEDGER_CHECKS_H

#include "analysis/events/spans.h"
#include "analysis/ledger/profile.h"

/* Fills the profile's checks, from its threads, which are there. */
void checks__make(struct profile *profile, const struct trace *trace,
                  const struct thread_result *results);

/* Whether one of those fails that the time which classes ran stands on. */
bool checks__doubt_running(const struct profile *profile);

#endif
