/* subclasses.h: classes by structure: a site's occurrences that call other things are other
 * classes.
 *
 * The fold finds the callee signature (signature.h) of each occurrence and keeps a class for each
 * (site.h). A site that loses enough to be worth it is divided by callee signatures cut to the
 * greatest depth at which a few of them hold most of its occurrences; the others stay together, in
 * the class that was the site's. Where no depth does, or one callee signature alone is frequent,
 * the site stays one class.
 *
 * - Of what is not divided nothing is hidden: Σ over the parts of (d − their minimum) is never more
 *   than over the whole of (d − its minimum).
 * - How often something is repeated in a row makes no class. Neither do waits that come about only
 *   because there is something to wait for (conditions, futexes, sleep, poll, join), or the loss
 *   would become structure; nor what was sampled, of which it is not known where it was.
 *
 * Counts, sums, components and what threads lost are divided exactly. For analysis/ only. */
#ifndef HEURT_ANALYSIS_LEDGER_SUBCLASSES_H
#define HEURT_ANALYSIS_LEDGER_SUBCLASSES_H

#include "analysis/events/spans.h"

/* Divides sites of the table, whose threads were all folded by their callee signatures. */
void classes__divide(struct class_table *table, const struct thread_result *results);

#endif
