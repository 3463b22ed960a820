/* wall_gains.h: what the wall time would be without what a class or a finding lost, for reports.
 *
 * In go a profile and its findings, out come their gains. It costs a few seconds at most: of a long
 * run windows are replayed. It stands on analysis/replay/. */
#ifndef HEURT_ANALYSIS_FINDINGS_WALL_GAINS_H
#define HEURT_ANALYSIS_FINDINGS_WALL_GAINS_H

#include "analysis/findings/findings.h"

/* Fills wall_gain of the first of those classes that the profile ranks as interference;
 * replayed_share and no_gains of the profile tell what that was made from.
 * only: the one place (from 1) that is asked for; 0: all that reach the profile's threshold, and of
 * the others what they could gain at most.
 * findings (NULL: none) first: each of those that a replay models gets its own. */
void wall_gains__fill(const struct trace *trace, const struct symbols *symbols,
                      struct profile *profile, struct findings *findings, size_t only);

#endif
