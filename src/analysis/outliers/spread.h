/* spread.h: how durations of one kind are spread, and from where on one stands out of them.
 *
 *     kept     a log histogram (accumulate.h), whose blocks get room when they are first needed
 *     usual    the median
 *     reach    what nearly all stay below: all but one in a hundred, of few all but one in eight
 *     bound    reach × factor, at least twice the usual: from here on a duration stands out
 *
 * The factor is that by which the tail itself goes on: squared, what the reach is of the duration
 * that four times as many pass. Were the tail a power law, whatever its exponent, a sixteenth of
 * those above the reach would pass such a bound; tails of normal and log-normal durations are
 * shorter. A rare second mode at the reach is no tail: there the duration that a quarter as many
 * pass is no further away, and the smaller of the two ratios counts. The factor is at least 1.5 and
 * at most 4; of fewer than 400 durations, whose tail is hardly known, at most 2.
 * docs/structure.md has what follows. Ticks. For analysis/ only. */
#ifndef HEURT_ANALYSIS_OUTLIERS_SPREAD_H
#define HEURT_ANALYSIS_OUTLIERS_SPREAD_H

#include "fold/accumulate.h"

#include <stdbool.h>

/* Zeroed: of no durations. */
struct spread {
    uint64_t count;
    uint32_t *blocks[HISTOGRAM_BLOCKS]; /* NULL: none there; counts stop at the largest number */
};

void spread__add(struct spread *spread, uint64_t duration);
void spread__free(struct spread *spread); /* leaves it empty and usable */

/* Durations that fewer than so many are known of are not compared. */
#define SPREAD_MIN 4u

struct spread_limits {
    uint64_t count;
    uint64_t usual; /* 0 of none */
    uint64_t bound; /* the smallest duration that stands out; UINT64_MAX of fewer than SPREAD_MIN */
};

struct spread_limits spread__limits(const struct spread *spread);

#endif
