/* predictions.h: many questions about one trace, answered on all CPUs.
 *
 * In go questions, out come predictions, or why there are none. Each costs a replay of the whole
 * trace on one CPU. It stands on analysis/replay/. */
#ifndef HEURT_CMD_PREDICTIONS_H
#define HEURT_CMD_PREDICTIONS_H

#include "analysis/findings/findings.h"
#include "analysis/replay/whatif.h"

struct question {
    struct vec changes; /* struct change */
    /* The answer: */
    bool told; /* else error says why not */
    struct prediction prediction;
    struct error error;
};

struct question question__of(const struct change *change);
/* Frees the changes and the answer. */
void question__free(struct question *question);

/* Answers all of them. */
void predictions__make(struct whatif *whatif, struct question *questions, size_t count);

/* The wall gain of the classes that the profile ranks as interference, the first ones of many, in a
 * few seconds, of a long run from windows of it: replayed_share and no_gains of the profile tell.
 * only: the one place (from 1) that is asked for; 0: all that reach the profile's threshold, and of
 * the others what they could gain at most.
 * findings (NULL: none) first: each of those that a replay models gets its own. */
void predictions__fill_gains(const struct trace *trace, const struct symbols *symbols,
                             struct profile *profile, struct findings *findings, size_t only);

#endif
