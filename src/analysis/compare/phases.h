/* phases.h: the loops of two runs, one after the other, laid beside each other.
 *
 *     before   set up ×20   walk ×200   drain ×40
 *     after    set up ×20   walk ×220              report ×3
 *
 * Two are the same when half of the places in their iterations are, and they are loops of one sort;
 * what is the same stands in the same order on both sides, so that as much of both is matched as
 * can be: an alignment (Needleman and Wunsch 1970, "A general method applicable to the search for
 * similarities in the amino acid sequence of two proteins", J. Mol. Biol. 48), where a gap costs
 * nothing and a match is worth the part of the places that both have.
 *
 * In go loops by the names of what is in them, out come pairs. It stands on base/ alone. Costs: n ·
 * m for n loops against m, of which PHASES_ALIGNED a side are looked at. */
#ifndef HEURT_ANALYSIS_COMPARE_PHASES_H
#define HEURT_ANALYSIS_COMPARE_PHASES_H

#include "base/vec.h"

#include <stdint.h>

#define PHASES_ALIGNED 500u
#define PHASE_ALIKE 0.5 /* of all places of two loops, those in both */
#define PHASE_NONE UINT32_MAX

/* A loop of a run. */
struct told_phase {
    char *text;      /* owned; as people read it: "loop of step_gather, step_norm" */
    unsigned sort;   /* loops of different sorts are never the same */
    struct vec body; /* char *: owned; names of places, as both sides call them */
    uint64_t iterations, threads, median_ns, sum_ns;
};
void told_phases__free(struct vec *phases); /* struct told_phase */

struct phase_pair {
    uint32_t before, after; /* places; PHASE_NONE: it is not there */
};

/* struct phase_pair, in the order of both; vec__free it. */
struct vec phases__align(const struct vec *before, const struct vec *after);

#endif
