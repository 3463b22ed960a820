/* answered.h: what answered sampled accesses, and how long it took, added up.
 *
 * In go samples with what the processor told of them (struct heurt_answer), out come sums by level.
 * Without such a processor there are none. Not thread-safe. */
#ifndef HEURT_ANALYSIS_MEMORY_ANSWERED_H
#define HEURT_ANALYSIS_MEMORY_ANSWERED_H

#include "format/layout.h"

#include <stdbool.h>
#include <stddef.h>

/* Of one level, or of several. */
struct answers {
    uint64_t samples, ns;
    uint64_t timed, cycles; /* of how many the latency is told, and Σ of these */
};

struct answered {
    struct answers levels[HEURT_LEVELS];
    uint64_t modified; /* samples of lines that another core had written last */
};

/* By a cache or the memory of another node. */
static inline bool answer__is_remote(const struct heurt_answer *answer)
{
    return answer->level == HEURT_LEVEL_REMOTE_MEMORY || answer->level == HEURT_LEVEL_REMOTE_CACHE;
}
static inline bool answer__is_of_memory(const struct heurt_answer *answer)
{
    return answer->level == HEURT_LEVEL_REMOTE_MEMORY || answer->level == HEURT_LEVEL_MEMORY;
}

/* answer NULL: nothing is told. ns: what the sample stands for. */
void answered__add(struct answered *self, const struct heurt_answer *answer, uint64_t ns);
void answered__join(struct answered *self, const struct answered *other);
/* Of all levels; of those at other nodes; of memory, this node's and others'. */
struct answers answered__all(const struct answered *self);
struct answers answered__remote(const struct answered *self);
struct answers answered__of_memory(const struct answered *self);
/* In cycles, on the average; COLUMN_UNKNOWN where none is told. */
double answers__latency(const struct answers *self);

#endif
