/* audit.h: whether the parts of the ledger add up to the whole. For analysis/ only. */
#ifndef HEURT_ANALYSIS_LEDGER_AUDIT_H
#define HEURT_ANALYSIS_LEDGER_AUDIT_H

#include "analysis/events/spans.h"
#include "analysis/ledger/profile.h"

/* What is in ticks: of all classes of the table, before results are made of them. */
void audit__ticks(struct profile_audit *audit, const struct class_table *table,
                  const struct thread_result *results);

/* What is in ns: of a class's result. */
void audit__result(struct profile_audit *audit, const struct profile_class *class);

#endif
