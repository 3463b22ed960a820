/* predictions.h: many questions about one trace, answered on all CPUs.
 *
 * In go questions, out come predictions, or why there are none. Each costs a replay of the whole
 * trace on one CPU. It stands on whatif.h. */
#ifndef HEURT_ANALYSIS_REPLAY_PREDICTIONS_H
#define HEURT_ANALYSIS_REPLAY_PREDICTIONS_H

#include "analysis/replay/whatif.h"

struct question {
    struct vec changes; /* struct change */
    /* The answer: */
    bool told; /* else error says why not */
    struct prediction prediction;
    struct error error;
};

struct question question__of(const struct change *change); /* NULL: no change yet */
/* The question of what the classes with these places in profile->classes (uint32_t) cost. */
struct question question__of_classes(const struct profile *profile, const struct vec *places);
/* Frees the changes and the answer. */
void question__free(struct question *question);

/* Answers all of them. */
void predictions__make(struct whatif *whatif, struct question *questions, size_t count);

#endif
